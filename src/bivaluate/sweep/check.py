"""Whether a run folder is whole: its journal, matrices, solutions and tables, each against the others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from bivaluate._errors import BivaluateError
from bivaluate._files import table_text
from bivaluate._text import plural
from bivaluate.sweep.cells import Cell
from bivaluate.sweep.folder import checksum, solution_path
from bivaluate.sweep.journal import unpack_solution
from bivaluate.sweep.load import Run, load_run


def check_run(path: str | os.PathLike[str]) -> list[str]:
    """Verify a run folder without changing it.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    list of str
        What is wrong, in words; nothing where the folder is whole.

    Raises
    ------
    FileError, RunError
        If there is no such folder, it may not be read, is not a run folder or of a layout this version does not read.

    See Also
    --------
    load_run

    Examples
    --------
    >>> run = Sweep(Plan(["scenario:S9b"], ["cca"], k=[2])).run()
    >>> check_run(run.path)
    []
    """
    run = load_run(path)
    found = [f"the journal is damaged: {fault}" for fault in run.journal.faults()]
    try:
        found += _matrices(run)
        found += _solutions(run)
        found += _tables(run)
    except BivaluateError as error:  # of a page of the journal that cannot be read
        found.append(str(error))
    return found


def _matrices(run: Run) -> Iterator[str]:
    for entry in run.matrices.values():
        name = entry["dataset"] + ("" if entry["seed"] is None else f", seed {entry['seed']}")
        try:
            matrix = run.matrix(entry["dataset"], entry["seed"])
        except BivaluateError as error:
            yield f"the matrix of {name} cannot be read: {error}"
            continue
        if checksum(matrix) != entry["checksum"]:
            yield f"the matrix of {name} is not the one the run was made with: its checksum differs."


def _solutions(run: Run) -> Iterator[str]:
    for *place, blob in run.journal.rows([*Cell._fields, "solution"]):
        cell = Cell(*place)
        if blob is None:
            continue
        try:
            solution = unpack_solution(blob)
        except BivaluateError as error:
            yield f"{cell.spelt}: {error}"
            continue
        entry = run.matrices.get((cell.dataset, cell.seed)) or run.matrices.get((cell.dataset, None), {})
        shape = (entry.get("n_rows"), entry.get("n_cols"))
        if solution.shape != shape:
            yield f"{cell.spelt}: the solution is of a matrix of {solution.shape}, the matrix is {shape}."
        exported = solution_path(run.path, *cell)
        if not exported.exists():
            yield f"{cell.spelt}: {exported.relative_to(run.path)} is missing. Starting the sweep again writes it."
        elif not _same(exported, solution.to_dict()):
            yield f"{cell.spelt}: {exported.relative_to(run.path)} is not the solution of the journal."


def _same(path: Path, content: object) -> bool:
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(content)))
    except (OSError, ValueError):
        return False


def _tables(run: Run) -> Iterator[str]:
    for name, frame in run.tables().items():
        path = run.path / f"{name}.csv"
        if not path.exists():
            yield f"{path.name} is missing. Starting the sweep again writes it."
        elif path.read_bytes() != table_text(frame):
            yield f"{path.name} is not what the journal holds ({plural(len(frame), 'row')} there)."
