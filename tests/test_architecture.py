"""Layers point one way, numba is imported in one place, and importing bivaluate is cheap."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PACKAGES

SOURCE = Path(__file__).parents[1] / "src" / "bivaluate"
LAYERS = {
    "_errors": 0,
    "_files": 1,
    "_text": 0,
    "_types": 0,
    "_zarr": 1,
    "_stored": 1.5,
    "_anndata": 1.7,
    "_soma": 1,
    "_check": 1,
    "_glossary": 0,
    "_rows": 1,
    "_cluster": 1.5,
    "_document": 1,
    "_factors": 2,
    "_parallel": 2,
    "matrix": 2,
    "solution": 3,
    "_arrange": 4,
    "_jit": 3,
    "io": 4,
    "measures": 4,
    "chance": 5,
    "registry": 6,  # gathers the measures of both rooms
    "judge": 7,
    "evaluation": 8,
    "datasets": 9,
    "algorithms": 9,
    "enrichment": 10,
    "sweep": 10,
    "elsewhere": 10.5,
    "plots": 11,
    "report": 12,
    "benchmark": 13,
    "replicate": 13,
    "cli": 14,
    "__main__": 15,
}

# Results can draw themselves and write their report: these reach for the rooms above when they are called.
LOOK_AHEADS = {
    *(("sweep.find", "plots"), ("sweep.find", "report"), ("sweep.search", "plots"), ("sweep.search", "report"))
}


def modules():
    return sorted(SOURCE.rglob("*.py"))


def layer(parts):
    return LAYERS[parts[0]]


def imported(path):
    """Names of bivaluate modules imported anywhere in a file, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "bivaluate":
            if node.module == "bivaluate":
                yield from (alias.name for alias in node.names if alias.name in LAYERS)
            else:
                name = node.module.removeprefix("bivaluate.")
                yield name
                inside = [
                    alias.name for alias in node.names if SOURCE.joinpath(*name.split("."), f"{alias.name}.py").exists()
                ]
                yield from (f"{name}.{module}" for module in inside)
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("bivaluate.") for a in node.names if a.name.startswith("bivaluate."))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_to_lower_layers(path):
    own = path.relative_to(SOURCE).with_suffix("").parts
    if own == ("__init__",):
        return
    for name in imported(path):
        parts = name.split(".")
        if (".".join(own), parts[0]) in LOOK_AHEADS:
            continue
        assert parts[0] == own[0] or layer(parts) < layer(own), f"{path.name} imports bivaluate.{name}"


def test_results_reach_what_shows_them_by_their_public_names_alone():
    """Only an evaluation asks the package for a name; no import, lazy ones included, leads from it to the report."""
    whole = [p.name for p in modules() if any(_imports_package(node) for node in ast.walk(ast.parse(p.read_text())))]
    assert whole == ["evaluation.py"]
    uses = re.findall(r"\bbivaluate\.(\w+(?:\.plot\w*)?)\(", (SOURCE / "evaluation.py").read_text())
    assert set(uses) == {"build_report", "plots.plot_solution_heatmap"}


def _imports_package(node):
    return isinstance(node, ast.Import) and any(alias.name == "bivaluate" for alias in node.names)


# Modules with an underscore belong to their room. Other rooms ask these: the formulas on blocks and mergers, of which there
# is one each; two pieces that `sweep` shares with what it runs; and what `doctor --warm` compiles.
ASKED_BY_OTHERS = {
    "measures._blocks": {"algorithms", "chance", "elsewhere"},
    "measures._engine": {"cli"},
    "measures._engine._kernels_two_pass": {"cli"},
    "measures._engine.missing": {"chance"},
    "measures._sample": {"evaluation"},
    "algorithms._estimator": {"sweep"},
}


def test_private_modules_belong_to_their_room():
    asked = {}
    for path in modules():
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        for name in imported(path):
            parts = name.split(".")
            if parts[0] != room and any(part.startswith("_") for part in parts[1:]):
                asked.setdefault(name, set()).add(room)
    assert asked == ASKED_BY_OTHERS


def test_layers_name_every_part_of_the_package():
    parts = {p.relative_to(SOURCE).with_suffix("").parts[0] for p in modules()} - {"__init__"}
    assert parts == {name.split(".")[0] for name in LAYERS}


UPPER = [name for name, level in LAYERS.items() if level >= LAYERS["plots"]]


def test_everything_else_imports_without_what_shows_it():
    """Plots, report, replication, benchmark and command line can be taken away."""
    names = [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in modules()]
    rest = [name.removesuffix(".__init__") for name in names if ".".join(name.split(".")[1:2]) not in UPPER]
    code = (
        "import importlib, sys\n"
        f"sys.modules.update(dict.fromkeys({[f'bivaluate.{name}' for name in UPPER]}))\n"
        f"for name in {rest}: importlib.import_module(name)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("room", sorted({name.split(".")[0] for name in LAYERS} - {*UPPER, "__main__"}))
def test_tests_of_a_room_need_nothing_that_shows_it(room):
    tests = Path(__file__).parent
    for path in sorted((tests / room).rglob("*.py")):
        taken = {name.split(".")[0] for name in imported(path)}
        assert not taken & {*UPPER}, path


def test_names_of_files_say_whether_they_hold_kernels():
    for path in modules():
        body = ast.parse(path.read_text(encoding="utf-8")).body
        taken = [node.module.removeprefix("bivaluate.") for node in body if _is_ours(node)]
        assert path.name.startswith("_kernels") or "_jit" not in taken, path


def _is_ours(node):
    return isinstance(node, ast.ImportFrom) and node.module.startswith("bivaluate.")


@pytest.mark.parametrize(
    "path", [p for p in modules() if p.name.startswith("_kernels")], ids=lambda p: str(p.relative_to(SOURCE))
)
def test_a_kernel_is_cut_where_a_reader_would_breathe(path):
    """No kernel has more than a hundred lines, its docstring and its comments left aside."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            head = range(node.lineno, node.body[0].lineno)
            body = node.body[ast.get_docstring(node) is not None :]
            lines = [text.splitlines()[k - 1] for k in (*head, *range(body[0].lineno, node.end_lineno + 1))]
            assert sum(bool(line.partition("#")[0].strip()) for line in lines) <= 100, f"{path.name}: {node.name}"


def test_only_jit_imports_numba():
    users = [p.name for p in modules() for node in ast.walk(ast.parse(p.read_text())) if _imports(node, "numba")]
    assert set(users) == {"_jit.py"}


def test_extras_are_imported_where_the_lean_tests_look():
    """Without extras only LEAN_TESTS of the Makefile are run: all that imports an extra has its tests there."""
    tested = {
        "_anndata": "tests/test_anndata_objects.py",
        "_cluster": "tests/test_any_source.py",
        "_stored": "tests/io",
        "_zarr": "tests/io",
        "algorithms.communities": "tests/algorithms/test_called.py",
        "datasets.labelled": "tests/datasets/test_real.py",
        "io": "tests/io",
        "matrix": "tests/test_what_users_have.py",
        "plots.heatmap": "tests/plots",
    }
    packages = {*PACKAGES.values(), "dask", "h5py"}
    users = set()
    for path in modules():
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        nodes = list(ast.walk(ast.parse(path.read_text())))
        called = {node.args[0].value for node in nodes if _imports_by_call(node)}
        if called & packages or any(_imports(node, package) for node in nodes for package in packages):
            users.add("io" if name.startswith("io.") else name)
    assert users == tested.keys()
    makefile = (SOURCE.parents[1] / "Makefile").read_text()
    listed = re.search(r"^LEAN_TESTS := ((?:.*\\\n)*.*)", makefile, flags=re.MULTILINE)[1].replace("\\", "").split()
    assert set(tested.values()) <= set(listed)
    assert all((SOURCE.parents[1] / path.partition("::")[0]).exists() for path in listed)


def _imports_by_call(node):
    is_call = isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if is_call else ""
    return name in ("import_module", "import_optional", "find_spec")


def _imports(node, package):
    if isinstance(node, ast.Import):
        return any(a.name.split(".")[0] == package for a in node.names)
    return isinstance(node, ast.ImportFrom) and bool(node.module) and node.module.split(".")[0] == package


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import bivaluate", {"numpy", "pandas", "sklearn", "numba", "scipy", "matplotlib", "typer", "rich"}),
        ("import bivaluate.cli.main", {"numpy", "pandas", "sklearn", "numba", "scipy", "matplotlib"}),
        (
            "import numpy; from bivaluate import Biclustering, evaluate;"
            "evaluate(numpy.eye(6), Biclustering([([0, 1], [0, 1, 2]), ([2, 3], [3, 4, 5])]))",
            {"pandas", "sklearn", "numba", "matplotlib", "scipy.stats"},
        ),
    ],
)
def test_heavy_packages_load_only_when_used(statement, forbidden):
    code = f"{statement}\nimport sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not forbidden & set(loaded)


def test_measures_are_named_by_the_registry():
    """No sentence, table or script that shows results types the symbol of a measure: a new symbol would reach them all."""
    from bivaluate.registry import RECORDS

    symbols = "|".join(
        re.escape(record.symbol) for record in RECORDS.values() if re.match("[a-z]?[A-Z]{2}", record.symbol)
    )
    typed = re.compile(rf"\b(?:{symbols})\b")
    rooms = [SOURCE / name for name in ("judge", "sweep", "plots", "report")]
    for path in [SOURCE / "evaluation.py", *(p for room in rooms for p in sorted(room.rglob("*.py")))]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        said = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings explain
        assert not [node.value for node in said if id(node) not in told and typed.search(node.value)], path
    for path in [*(SOURCE / "report" / "static").glob("*.js"), *(SOURCE / "report" / "templates").glob("*")]:
        text = re.sub(r"(?s)/\*.*?\*/", "", path.read_text(encoding="utf-8"))
        assert path.name == "d3.min.js" or not typed.search(text), f"{path.name}: {typed.search(text)}"


TESTS = [path for path in Path(__file__).parent.rglob("*.py") if path.name != "test_architecture.py"]
PATCHES = {"setattr", "setitem", "delattr", "delitem"}


def private_imports(tree):
    """Import statements that reach for something of bivaluate whose name, or whose module's, begins with an underscore."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        parts = {part for name in names if name.split(".")[0] == "bivaluate" for part in name.split(".")}
        if any(part.startswith("_") and not part.startswith("__") for part in parts):
            yield node


def test_tests_are_not_bound_to_how_things_are_done():
    """What can be had by a public call, a file or a fixture of conftest needs no patch and no private import."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in TESTS]
    calls = [node.func for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    patches = [call for call in calls if isinstance(call, ast.Attribute) and call.attr in PATCHES]
    limits = [call for call in calls if isinstance(call, ast.Name) and call.id in ("limits", "limited")]
    assert len([node for tree in trees for node in private_imports(tree)]) <= 40
    assert len(patches) <= 40  # of `monkeypatch`, or of a name for it
    assert len(limits) <= 85  # a smaller limit makes small data large
