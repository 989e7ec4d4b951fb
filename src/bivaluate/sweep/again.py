"""Commands that go on from a run, as they are typed: continue it, work on one of its matrices, ask held-out cells."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bivaluate.sweep.folder import LARGEST_COPY, MATRICES
from bivaluate.sweep.portfolio import AUTO

if TYPE_CHECKING:
    from bivaluate.sweep.load import Run

FOLDS = 5


def continue_command(run: Run) -> str:
    """Return the command that continues an unfinished run."""
    return shlex.join(["bivaluate", "sweep", "--out", str(run.path)])


def matrix_words(run: Run, dataset: str, seed: int) -> str:
    """Return the matrix of a cell as a command names it: the file it came from, or the copy the run keeps."""
    own = (dataset, seed) in run.matrices
    entry = run.matrices[dataset, seed if own else None]
    read = dict(run.plan.read)
    stored = run.path / MATRICES / entry["file"]
    if not own and os.path.isfile(entry["source"]) and (not read or stored.suffix != ".npz"):
        return shlex.join([entry["source"], *reading_words(read)])
    return shlex.quote(str(stored))


def held_out_command(run: Run) -> str:
    """Return the sweep that asks held-out cells about the same candidates; nothing where it cannot be repeated."""
    from bivaluate.algorithms.registry import split_name
    from bivaluate.datasets.named import is_name

    plan = run.plan
    fitted = {(cell.dataset, cell.algorithm) for cell in run.cells}
    names = [split_name(word)[0] or word for word in plan.algorithms if word != AUTO]
    everywhere = all((dataset, name) in fitted for dataset in run.datasets for name in names)
    dense = all(8 * entry["n_rows"] * entry["n_cols"] <= LARGEST_COPY for entry in run.matrices.values())
    if not (everywhere and dense and all(os.path.exists(spec) or is_name(spec) for spec in plan.datasets)):
        return ""
    words = ["bivaluate", "sweep", "--plan", str(run.path), "--held-out", str(FOLDS), "--out", _new_folder(run.path)]
    return shlex.join([*words, *(["--trust-commands"] if any(":" in word for word in plan.algorithms) else [])])


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
