"""Options are spelled the same in every command, and messages speak the words of the command that was typed."""

import ast
import dataclasses
import inspect
import os
import pickle
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import bivaluate
from bivaluate import Biclustering
from bivaluate._text import Advice, Option, distinct
from bivaluate.algorithms import ALGORITHMS
from bivaluate.benchmark import run_benchmark
from bivaluate.cli import main, options
from bivaluate.cli.files import FOLDERS
from bivaluate.cli.main import COMMANDS
from bivaluate.cli.options import MatrixFile, SolutionFile
from tests.processes import LIMIT, started

SOURCES = Path(bivaluate.__file__).parent
READ_A_MATRIX = ("score", "compare", "prune", "run", "sweep", "convert")
READ_A_SOLUTION = ("score", "compare", "prune", "convert")


def commands():
    """Every command by name, those below others too."""
    found = {name: main._load(name) for name in COMMANDS}
    waiting = list(found)
    for name in waiting:
        below = {f"{name} {sub}": command for sub, command in getattr(found[name], "commands", {}).items()}
        found |= below
        waiting += below
    return found


@pytest.mark.parametrize(("names", "group"), [(READ_A_MATRIX, MatrixFile), (READ_A_SOLUTION, SolutionFile)])
def test_reading_options_are_in_every_command_that_reads(names, group):
    known = commands()
    for name in names:
        assert {f.name for f in dataclasses.fields(group)} <= options.spellings(known[name]).keys(), name


def test_one_spelling_for_each_thing():
    by_name, by_option = {}, {}
    for command in commands().values():
        for parameter in command.params:
            if parameter.opts[0].startswith("-"):
                by_name.setdefault(parameter.name, set()).add(tuple(sorted(parameter.opts)))
                for spelling in parameter.opts:
                    by_option.setdefault(spelling, set()).add(parameter.is_flag)
    assert {name: spelled for name, spelled in by_name.items() if len(spelled) > 1} == {}
    assert {option: kinds for option, kinds in by_option.items() if len(kinds) > 1} == {}
    gone = {"--output", "--random-state", "--set", "--to", "--found-format"}
    assert not gone & by_option.keys()
    assert {"--out", "-o", "-k", "--seed", "--param", "--csv", "--json", "--format"} <= by_option.keys()


def test_there_are_no_more_options_than_a_user_can_read():
    """At most 20 of `score`, at most 200 of all commands; those that say how files are read are counted once."""
    reading = {f.name for group in (MatrixFile, SolutionFile) for f in dataclasses.fields(group)}
    named = {
        name: {p.name for p in command.params if p.opts[0].startswith("-")} for name, command in commands().items()
    }
    own = {name: len(known - reading) for name, known in named.items()}
    assert own["score"] <= 20
    assert sum(own.values()) + len(reading) <= 200


def messages():
    """Texts of the library that name an argument as Python does, or an option."""
    for path in sorted(SOURCES.rglob("*.py")):
        if path.relative_to(SOURCES).parts[0] in ("cli", "datasets"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        skipped |= {id(p) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for p in node.values}
        for node in ast.walk(tree):
            text = ""
            if isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "7" for p in node.values)
                text = "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
                text = node.value
            if " " in text and re.search(r"\b[a-z_]+=['\"\dTF]|(?<![\w-])--[a-z]{2}", text):
                yield text


#: What may be named in plain text: whole commands, calls, one spelling of two, and the assignments `--param` and `--score` take.
PLAIN = r"bivaluate [a-z]+ |^--[a-z-]+ \S+$|propose_pruning|select_k with scoring|NAME=VALUE|n_samples=|--param|`[a-z]+=` |mytool |from_labels\(|need --full|layer='raw' takes"

#: Which public functions say the advice of a file; what it names must be a parameter of one of them.
SAID_BY = {
    "_check": (bivaluate.evaluate,),
    "evaluation": (bivaluate.evaluate,),
    "chance": (bivaluate.chance_table, bivaluate.evidence_table),
    "io/matrices": (bivaluate.read_matrix, bivaluate.io.write_h5ad_results),
    "io/members": (bivaluate.read_solution, bivaluate.read_matrix),
    "io": (bivaluate.read_solution,),
    "solution": (bivaluate.read_matrix,),
    "judge": (bivaluate.evaluate, bivaluate.Matrix.of),
    "enrichment": (bivaluate.enrichment.enrich,),
    "algorithms": (bivaluate.algorithms.CoherentSubmatrices,),
    "elsewhere": (bivaluate.confirm, bivaluate.recur),
}
#: No command has these: its messages leave the clause out.
PYTHON_ONLY = {"absent"}


def options_named():
    """File, name and value of every option that advice of the library names, and whether it is in a clause of its own.

    A clause (it begins with a blank, a comma or a semicolon) is left out where a command has no such option.
    """
    for path in sorted(SOURCES.rglob("*.py")):
        file = path.relative_to(SOURCES).as_posix()
        if file.startswith("cli/") or file == "_text.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        clauses = [call for call in calls if getattr(call.func, "id", "") == "Advice" and _is_clause(call.args[0])]
        optional = {id(argument) for clause in clauses for argument in clause.args}
        for node in calls:
            if getattr(node.func, "id", "") == "Option":
                words = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
                constant = [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args]
                yield file, constant, words, id(node) in optional


def _is_clause(first):
    return isinstance(first, ast.Constant) and str(first.value)[:1] in (" ", ",", ";")


def test_every_table_is_also_json_and_csv():
    known = commands()
    files = (SOURCES / "cli").glob("*.py")
    printing = {file.stem for file in files if re.search(r"print_(table|records)\(", file.read_text())} - {
        "tables",
        "elsewhere",
    }
    assert len(printing) > 10
    for name in (printing - {"scenarios"}) | {
        "refine",
        "confirm",
        "recur",
        "traits",
        "datasets scenarios",
        "datasets scenarios planted",
    }:
        assert {"--json", "--csv"} <= set(options.spellings(known[name]).values()), name


def test_folders_are_listed():
    """Whatever is a folder is listed as one; every other path may be `-`."""
    named = {
        parameter.name
        for command in commands().values()
        for parameter in command.params
        if re.match(
            r"(The|Also write .* into this)?\s?(run )?folder\b", getattr(parameter, "help", "") or "", re.IGNORECASE
        )
    }
    assert named == set(FOLDERS)


def test_no_plain_text_names_an_option():
    assert [text for text in messages() if not re.search(PLAIN, text)] == []


def test_every_option_that_advice_names_exists_in_both_languages():
    known = commands()
    by_name = {name: word for command in known.values() for name, word in options.spellings(command).items()}
    walked = 0
    for file, constant, words, _ in options_named():
        if words:  # spelled out in both languages
            assert words.keys() == {"python", "command"}
            named = set(re.findall(r"--[a-z-]+", words["command"]))
            assert named <= set(by_name.values()), (file, words)
            keyword = re.search(r"([a-z_]+)=", words["python"])[1]
            functions = [
                bivaluate.evaluate,
                bivaluate.propose_pruning,
                bivaluate.read_solution,
                bivaluate.Plan,
                bivaluate.Matrix.called,
                run_benchmark,
                bivaluate.algorithms.CommandEstimator,
            ]
            functions += [record.estimator for record in ALGORITHMS.values()] if "--param" in named else []
            assert any(keyword in inspect.signature(f).parameters for f in functions), (file, words)
        elif constant[0] is not None and len(constant) > 1:
            name = constant[0]
            functions = next(found for room, found in SAID_BY.items() if file.startswith(room))
            assert any(name in inspect.signature(function).parameters for function in functions), (file, name)
            assert name in by_name.keys() | PYTHON_ONLY, (file, name)
        walked += 1
    assert walked > 12


#: Which commands say the advice of a file, where it is not a clause that is left out: each has the options it names.
SAID_IN = {
    "io/matrices": "transpose",  # whatever has this option
    "io": "index_base",
    "solution": "transpose",
    "judge": ("score",),
    "evaluation": ("score",),
    "chance": ("prune",),
    "enrichment": ("enrich",),
    "algorithms": ("run", "sweep"),
    "registry": ("sweep",),
    "elsewhere": ("confirm",),
    "benchmark": ("benchmark",),
}


def test_what_a_command_is_told_to_say_it_has():
    known = commands()
    for file, constant, words, is_clause in options_named():
        if is_clause or file == "_check.py" or (not words and (constant[0] is None or len(constant) < 2)):
            continue
        room = next(room for room in SAID_IN if file.startswith(room))
        said_in = SAID_IN[room]
        if isinstance(said_in, str):
            said_in = [name for name, command in known.items() if said_in in options.spellings(command)]
            assert len(said_in) > 4
        for name in said_in:
            spelled = options.spellings(known[name])
            named = set(re.findall(r"--[a-z-]+", words["command"])) if words else {f"--{constant[0].replace('_', '-')}"}
            assert named <= set(spelled.values()), (file, name, named)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([Option("small"), " is 'x'; allowed: 'flag'."], "--score small is 'x'; allowed: 'flag'."),
        ([Option("gaps"), " is 'x'."], "gaps is 'x'."),
        (
            ["1 left.", Advice(" Pass ", Option("degenerate", "formula"), " for 0.")],
            "1 left. Pass --score degenerate=formula for 0.",
        ),
        (["1 left.", Advice(" Pass ", Option("centre", "rows"), " for 0.")], "1 left."),
        (["say which: ", Option("item", 0), " … 3."], "say which: --item 0 … 3."),
        (["say ", Option("decimal", ","), "."], "say --decimal ,."),
        (["call ", Option(python="f(x=1)", command="bivaluate g --x"), "."], "call bivaluate g --x."),
    ],
)
def test_words_of_the_command_line(parts, said):
    text = Advice(*parts)
    assert text.said(options.spellings(commands()["score"]).get) == said
    assert str(pickle.loads(pickle.dumps(text))) == text
    assert pickle.loads(pickle.dumps(text)).parts == text.parts
    assert "--" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("score s.json m.csv", "error: s.json holds biclusters, not a matrix. Were the two swapped?"),
        ("prune s.json m.csv", "error: s.json holds biclusters, not a matrix. Were the two swapped?"),
        ("score - -", "error: '-' is named more than once: only one file can be read from standard input."),
        ("score m.csv s.json --csv - --json", "error: only one thing can be written to standard output"),
        ("sweep - -k 3", "error: MATRICES is '-'; standard input cannot be read here: name a file."),
        ("select -", "error: RUN is '-'; a folder is needed here: name one."),
        ("convert s.json", "error: name a file to read and a file to write: bivaluate convert IN OUT."),
        ("score m.csv t.json", "Read the matrix with --transpose or, if it was, without."),
        ("score m.csv one.json", "Read the solution with --index-base 1."),
        ("run m.csv -k three", "error: -k needs a whole number."),
        ("score m.csv s.json --jobs low", "error: --jobs needs a whole number."),
        ("score m.csv s.json --score nonsense=1", "error: --score is 'nonsense'; allowed: 'min_rows'"),
        ("run m.csv -k 0", "error: -k is 0; it must be at least 1."),
        ("run m.csv --param random_state=5", "error: --param random_state=5: use --seed for this one."),
        ("score m.csv s.json --matrix-format xsl", "error: --matrix-format is 'xsl'; allowed: "),
        ("score holes.csv s.json", "or pass --missing omit to average over the observed values."),
        ("prune holes.csv s.json", "Impute them, or pass --missing omit"),
        (
            "prune m.csv s.json -o p.rds",
            "or `bivaluate convert` with --format: biclustlib, bivaluate, csv, gene-lists, r-text.",
        ),
        ("prune m.csv s.json -o no/p.json", "error: cannot write no/p.json: there is no folder no."),
        ("compare q.blocks s.json", "q.blocks names its members by label and another file by index: give their "),
        ("convert q.blocks x.json --format biclustlib", "Name it with --matrix."),
        ("report s.json", "bivaluate score MATRIX s.json --report report.html"),
        ("score m.csv s.json -q", "-q comes before the command: bivaluate -q score …"),
    ],
)
def test_refusals_say_what_to_do(type_in, words, message):
    code, out, err = type_in(*words.split())
    assert code == 2
    assert message in err
    assert "missing=" not in err
    assert out == ""


def test_same_named_files_are_told_apart(type_in):
    code, out, err = type_in("score", "m.csv", "s.json", "d/s.json")
    assert code == 0
    assert {line.partition(": ")[0] for line in out.splitlines()} >= {"s.json", "d/s.json"}
    assert "--score degenerate=formula takes the formula's 0" in " ".join(out.split())
    assert err == ""
    same = ["a.json"] * 2
    assert distinct(["a", "a"], same) == ["a.json (1)", "a.json (2)"]
    assert distinct(["x", "y"], same) == ["x", "y"]


def test_pruning_everything_says_so(type_in, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 12))
    np.save(tmp_path / "noise.npy", X)
    Biclustering([(range(20), range(6)), (range(20, 40), range(6, 12))], X.shape).to_json(tmp_path / "two.json")
    code, out, err = type_in("prune", "noise.npy", "two.json", "--out", "p.json")
    assert code == 0
    assert "Nothing is left: no bicluster here is supported." in out
    assert "wrote p.json: a solution without biclusters, because none of 2 is supported" in err
    assert len(Biclustering.from_json(tmp_path / "p.json")) == 0


def test_numbers_are_never_cut(run, example):
    shown = run("score", "matrix.csv", "solution.json", COLUMNS="30")
    assert "…" not in shown.out.split("\n\n")[0]
    assert "1.091" in shown.out
    wide = run("datasets", "scenarios", COLUMNS="60").out.splitlines()
    assert max(map(len, wide)) <= 66
    assert "│" not in "".join(wide)


def test_exit_codes(type_in, monkeypatch):
    assert type_in("score", "m.csv", "s.json")[0] == 0
    code, out, err = type_in("sweep", "m.csv", "-a", "spectral", "-k", "13", "--out", "RUN")
    assert code == 1
    assert "spectral: 1 failed of 1 fit. For example: n_biclusters is 13" in out
    assert "next:" not in out
    assert "error: every fit of Spectral failed; all reasons are in RUN/results.csv." in err
    assert type_in("score", "m.csv", "s.json", "--nonsense")[0] == 2
    assert type_in("score", "m.csv", "absent.json")[0] == 2

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("bivaluate.io.read_solutions", interrupted)
    code, _, err = type_in("score", "m.csv", "s.json")
    assert code == 130
    assert "stopped: interrupted from the keyboard." in err


INTERRUPTED = """
import atexit, os, signal, sys

class Errors:
    def write(self, text):
        sys.__stderr__.write(text)
        if MOMENT == "wrote" and "wrote" in text:
            os.kill(os.getpid(), signal.SIGINT)
    def flush(self):
        sys.__stderr__.flush()

MOMENT = sys.argv.pop(1)
sys.stderr = Errors()
if MOMENT == "shutdown":
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
from bivaluate.cli.main import script
script()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")
@pytest.mark.parametrize("moment", ["wrote", "shutdown"])
def test_an_interrupt_after_everything_is_written_is_one(example, tmp_path, moment):
    words = ["score", "matrix.csv", "solution.json", "--csv", "table.csv"]
    with started(["-c", INTERRUPTED, moment, *words], cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        errors = process.communicate(timeout=LIMIT)[1].decode()
    assert (process.returncode, (tmp_path / "table.csv").exists()) == (130, True), errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "words",
    [
        ["score", "LONG", "s.json"],
        ["score", "m.csv", "LONG"],
        ["score", "m.csv", "s.json", "--csv", "LONG.csv"],
        ["sweep", "LONG", "-a", "cca", "-k", "2", "--out", "run"],
        ["sweep", "m.csv", "-a", "cca", "-k", "2", "--out", "LONG"],
        ["sweep", "--plan", "LONG", "--out", "run"],
        ["report", "LONG"],
        ["select", "LONG"],
        ["doctor", "LONG"],
    ],
)
def test_a_name_no_file_can_have_is_refused_in_words(type_in, words):
    code, _, errors = type_in(*(word.replace("LONG", "x" * 300) for word in words))
    assert code in (1, 2)
    assert "x" * 300 in errors.replace("\n", "")


@pytest.mark.parametrize("after", [False, True])
def test_files_of_strangers_are_tried_where_a_command_says_so(run, tmp_path, monkeypatch, tried, after):
    (tmp_path / "x.csv").write_text("g,a,b\nr,1,2\ns,3,5\n")
    (tmp_path / "s.csv").write_text("bicluster,rows,cols\nB1,r s,a b\n")
    words = ["score", "x.csv", "s.csv"]
    monkeypatch.setenv("BIVALUATE_UNTRUSTED", "0")  # which the command changes, and the test restores
    assert run(*words).code == 0
    assert tried == []
    assert run(*(["--untrusted", *words], [*words, "--untrusted"])[after]).code == 0
    assert tried == ["matrix", "solution"]


@pytest.mark.parametrize(("name", "now"), [("check", "doctor RUN"), ("scenarios", "datasets scenarios")])
def test_commands_that_moved_say_where_they_are(run, name, now):
    said = run(name, "x")
    assert said.code == 2
    assert f"{name} is part of another command now: bivaluate {now}" in said.err


@pytest.mark.parametrize(
    "words", [["find", "m.csv", "-o", "closed/s.json"], ["score", "m.csv", "s.json", "--report", "closed/p.html"]]
)
def test_a_folder_that_cannot_be_written_is_named_before_the_work(type_in, tmp_path, monkeypatch, words):
    (tmp_path / "closed").mkdir()
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "closed" and access(path, mode))
    (tmp_path / "m.csv").unlink()  # which is not looked for before
    code, _, errors = type_in(*words)
    assert code == 2
    assert "no permission to write in closed" in errors


def test_a_log_says_how_much_is_done(capsys, monkeypatch):
    from bivaluate.cli import tables

    monkeypatch.setattr(tables, "err", Console(stderr=True))
    monkeypatch.setattr(tables, "EVERY", 0.0)
    token = tables.command.set("replicate")
    with tables.progress() as update, tables.progress("fits") as tell:
        update("yeast", 12, 1040)
        tell(3, 4)
    tables.command.reset(token)
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if " of " in line and "experiments" not in line] == [
        "yeast: 12 of 1,040",
        "fits: 3 of 4",
    ]
    with tables.progress("reading") as none:
        assert none is None
