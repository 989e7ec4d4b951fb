"""Commands that go on from a run, as they are typed: continue it, work on one of its matrices, ask held-out cells."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bivaluate.sweep.folder import MATRICES
from bivaluate.sweep.plan import parse_assignments

if TYPE_CHECKING:
    from bivaluate.sweep.load import Run

FOLDS = 5


def _is_name(spec: str) -> bool:
    from bivaluate.datasets.named import is_name

    return is_name(spec)


def continue_command(run: Run) -> str:
    """Return the command that continues an unfinished run."""
    return shlex.join(["bivaluate", "sweep", "--out", str(run.path)])


def matrix_words(run: Run, dataset: str, seed: int) -> str:
    """Return the matrix of a cell as a command names it: the file it came from, or the copy the run keeps."""
    entries = {(entry["dataset"], entry["seed"]): entry for entry in run.matrices()}
    own = (dataset, seed) in entries
    entry = entries[dataset, seed if own else None]
    read = dict(run.plan.read)
    stored = run.path / MATRICES / entry["file"]
    if not own and os.path.isfile(entry["source"]) and (not read or stored.suffix != ".npz"):
        return shlex.join([entry["source"], *reading_words(read)])
    return shlex.quote(str(stored))


def held_out_command(run: Run) -> str:
    """Return the sweep that asks held-out cells about the same candidates, into a new folder.

    Surrogates and perturbed copies are left out: they answer another question. So are algorithms that cannot take every
    data set. Nothing is returned where the plan cannot be typed: a file is not where it was, or several algorithms are
    commands.
    """
    from bivaluate.algorithms.registry import split_name

    plan = run.plan
    fitted = {(cell.dataset, cell.algorithm) for cell in run.cells}
    names = {word: split_name(word)[0] or word for word in plan.algorithms}
    algorithms = [word for word, name in names.items() if all((dataset, name) in fitted for dataset in run.datasets)]
    here = all(os.path.exists(spec) or _is_name(spec) for spec in plan.datasets)
    if not algorithms or not here or any("cmd:" in a and "cmd:" not in b for a, b in pairwise(algorithms)):
        return ""
    words = ["bivaluate", "sweep", *plan.datasets, "-a", ",".join(algorithms)]
    words += ["-k", plan.k if isinstance(plan.k, str) else _numbers(plan.k), "--seeds", _seeds(plan.seeds)]
    if plan.algorithm_seed is not None:
        words += ["--algorithm-seed", str(plan.algorithm_seed)]
    if plan.metrics == "all":
        words.append("--all")
    elif plan.metrics != "default":
        words += ["--metrics", ",".join(plan.metrics)]
    for name in algorithms:
        words += _assigned(
            "--param", {f"{names[name]}.{key}": value for key, value in plan.parameters.get(name, {}).items()}
        )
    words += [*_assigned("--score", plan.score), *reading_words(plan.read)]
    if plan.time_limit is not None:
        words += ["--time-limit", str(plan.time_limit)]
    return shlex.join([*words, "--held-out", str(FOLDS), "--out", _new_folder(run.path)])


def _numbers(values: Any) -> str:
    return ",".join(map(str, values))


def _seeds(seeds: Any) -> str:
    """Return seeds as the command line takes them: how many, or which.

    >>> _seeds((0, 1, 2)), _seeds((4,)), _seeds((4, 7))
    ('3', '4-4', '4,7')
    """
    if list(seeds) == list(range(len(seeds))):
        return str(len(seeds))
    return f"{seeds[0]}-{seeds[0]}" if len(seeds) == 1 else _numbers(seeds)


def _assigned(option: str, values: Mapping[str, Any]) -> list[str]:
    return [word for name, value in values.items() for word in (option, f"{name}={_value(value)}")]


def _new_folder(path: Path) -> str:
    """Return a name beside a run folder that nothing has yet."""
    names = (f"{path}-held-out{number}" for number in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(name for name in names if not os.path.exists(name))


def reading_words(read: Mapping[str, Any]) -> list[str]:
    """Return the options on how to read a matrix, by the names :func:`bivaluate.read_matrix` has for them.

    >>> reading_words({"transpose": True, "format": "csv", "header": False, "index_cols": 2})
    ['--transpose', '--matrix-format', 'csv', '--no-header', '--index-cols', '2']
    """
    words = []
    for name, value in read.items():
        option = "matrix-format" if name == "format" else name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words += [f"--{option}", str(value)]
    return words


def _value(value: Any) -> str:
    """Return a value as ``NAME=VALUE`` takes it.

    >>> [_value(value) for value in (True, None, 0.5, [1, 2], "best", "12")]
    ['true', 'none', '0.5', '[1, 2]', 'best', '"12"']
    """
    if value is None:
        return "none"
    if isinstance(value, str) and parse_assignments("", [f"x={value}"])["x"] == value:
        return value
    return json.dumps(value)
