"""Read a run folder: tables, matrices, solutions and mergers, as a report needs them."""

from __future__ import annotations

import json
import os
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import FileError, RunError
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering
from bivaluate.sweep import tables
from bivaluate.sweep.folder import JOURNAL, restore_matrix
from bivaluate.sweep.journal import LAYOUT, Journal, unpack_mergers, unpack_solution
from bivaluate.sweep.plan import Cell, Plan

if TYPE_CHECKING:
    import pandas as pd


def load_run(path: str | os.PathLike[str]) -> Run:
    """Open a run folder for reading; also while a sweep is still working on it.

    Parameters
    ----------
    path
        The folder given to ``bivaluate sweep --out``.

    Examples
    --------
    >>> load_run("no such folder")
    Traceback (most recent call last):
        ...
    bivaluate._errors.FileError: there is no run folder 'no such folder'.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise FileError(f"there is no run folder {os.fspath(path)!r}.")
    return Run(folder)


class Run:
    """A run folder, read-only. Tables are in the order of the plan, never of completion."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._journal = Journal(folder / JOURNAL)
        if self._journal.empty:
            raise RunError(f"{folder} was never started: its journal is empty.")
        self._meta = self._journal.meta
        if self._meta.get("layout") != str(LAYOUT):
            raise RunError(
                f"{folder} has layout {self._meta.get('layout')}, written by bivaluate {self._meta.get('version')}; "
                f"this version reads layout {LAYOUT}."
            )
        self._matrix = lru_cache(maxsize=8)(self._read_matrix)

    @cached_property
    def plan(self) -> Plan:
        """What was asked for."""
        return Plan.from_dict(json.loads(self._meta["plan"]), f"the plan in {self.path}")

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Versions, command, seeds, matrix checksums and the sessions that worked on the run."""
        return tables.provenance(self._journal)

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells of the plan, finished or not."""
        return [slot.cell for slot in self._journal.slots(variants=False)]

    @cached_property
    def missing(self) -> list[Cell]:
        """Cells that are not finished."""
        return [slot.cell for slot in self._journal.slots(finished=False, variants=False)]

    @cached_property
    def missing_copies(self) -> int:
        """How many cells on surrogates and perturbed copies are not finished."""
        return len(self._journal.slots(finished=False)) - len(self.missing)

    @cached_property
    def results(self) -> pd.DataFrame:
        """One row per finished cell: status, sizes, coverage and every measure."""
        return tables.results(self._journal)

    @cached_property
    def biclusters(self) -> pd.DataFrame:
        """One row per bicluster of every finished cell."""
        return tables.biclusters(self._journal)

    @cached_property
    def times(self) -> pd.DataFrame:
        """Seconds per finished cell; a nested run's fit stands once, at its largest K."""
        return tables.times(self._journal)

    @cached_property
    def variants(self) -> pd.DataFrame:
        """One row per finished cell of a surrogate or perturbed matrix; columns ``variant`` and ``run`` first."""
        return tables.variants(self._journal)

    @cached_property
    def null(self) -> pd.DataFrame:
        """One row per finished cell and measure: its null band, gap and p-value; empty without a null."""
        return tables.null(self._journal)

    @cached_property
    def datasets(self) -> list[str]:
        """Names of the data sets in the order of the plan."""
        return list(dict.fromkeys(entry["dataset"] for entry in self._journal.matrices()))

    def matrix(self, dataset: str, seed: int | None = None) -> Matrix:
        """Return the matrix of a data set; a scenario has one per seed, any other data set one for all."""
        return self._matrix(*self._matrix_key(dataset, seed))

    def truth(self, dataset: str, seed: int | None = None) -> Biclustering | None:
        """Return the planted biclusters of a scenario's matrix; None for other data sets."""
        blob = self._entries[self._matrix_key(dataset, seed)]["truth"]
        return None if blob is None else unpack_solution(blob)

    def solution(self, cell: Cell) -> Biclustering:
        """Return the biclusters found in a cell."""
        blob = self._stored(cell, "solution")
        return unpack_solution(blob)

    def mergers(self, cell: Cell) -> dict[str, NDArray[np.float64]]:
        """Return the K x K merger matrices ``"ve"`` and ``"msr"`` of a cell."""
        return unpack_mergers(self._stored(cell, "mergers"))

    def findings(self, cell: Cell) -> list[str]:
        """Return what the evaluation found worth saying about a cell."""
        row = self._journal.row(Cell(*cell), "findings")
        return [] if row is None or row[0] is None else list(json.loads(row[0]))

    @cached_property
    def _entries(self) -> dict[tuple[str, int | None], dict[str, Any]]:
        return {(entry["dataset"], entry["seed"]): entry for entry in self._journal.matrices()}

    def _matrix_key(self, dataset: str, seed: int | None) -> tuple[str, int | None]:
        if (dataset, None) in self._entries:
            return dataset, None
        if (dataset, seed) in self._entries:
            return dataset, seed
        seeds = [s for name, s in self._entries if name == dataset]
        if not seeds:
            raise RunError(f"{self.path} has no data set {dataset!r}; it has {', '.join(map(repr, self.datasets))}.")
        raise RunError(f"{dataset} has one matrix per seed, and none for seed {seed}; seeds: {seeds}.")

    def _read_matrix(self, dataset: str, seed: int | None) -> Matrix:
        return restore_matrix(self.path, self._entries[dataset, seed], dict(self.plan.read))

    def _stored(self, cell: Cell, column: str) -> bytes:
        cell = Cell(*cell)
        row = self._journal.row(cell, f"{column}, status, reason")
        if row is None:
            state = "is not finished" if cell in self.cells else "is no part of this run"
            raise RunError(f"{tuple(cell)} {state}.")
        if row[0] is None:
            raise RunError(f"{tuple(cell)} has no solution: {row[1]} ({row[2]}).")
        return bytes(row[0])

    def __repr__(self) -> str:
        finished = len(self.cells) - len(self.missing)
        return f"Run({str(self.path)!r}, {finished} of {len(self.cells)} cells finished)"
