"""The journal of a run: one SQLite file, one writer; a cell is in it wholly or not at all."""

from __future__ import annotations

import errno
import io
import json
import sqlite3
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import FileError, RunError
from bivaluate.solution import Biclustering
from bivaluate.sweep.plan import Cell

LAYOUT = 1
DATA = ""  # the variant of a cell that was run on the data themselves

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE matrices (
    dataset TEXT, seed INTEGER, file TEXT, checksum TEXT, n_rows INTEGER, n_cols INTEGER,
    source TEXT, truth BLOB, PRIMARY KEY (dataset, seed));
CREATE TABLE cells (
    position INTEGER PRIMARY KEY, variant TEXT, run INTEGER, dataset TEXT, algorithm TEXT, k INTEGER, seed INTEGER,
    status TEXT, reason TEXT, scores TEXT, biclusters TEXT, findings TEXT, solution BLOB, mergers BLOB,
    fit_seconds REAL, score_seconds REAL, UNIQUE (variant, run, dataset, algorithm, k, seed));
CREATE TABLE sessions (started TEXT, ended TEXT, command TEXT, jobs TEXT, cells INTEGER);
"""


@dataclass
class Outcome:
    """What became of one cell."""

    k: int
    status: str  # ok | degenerate | failed | timed out
    reason: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    biclusters: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    solution: bytes | None = None
    mergers: bytes | None = None
    fit_seconds: float | None = None
    score_seconds: float | None = None


@dataclass(frozen=True)
class Slot:
    """A place in the journal: a cell, and the surrogate or perturbed copy (if any) it runs on."""

    cell: Cell
    variant: str = DATA
    run: int = 0


class Journal:
    """Read and write the journal of a run folder."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        self._write = write
        try:
            if write:
                self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
                # Write-ahead logging survives a killed process without one fsync per cell.
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")
            else:
                self._db = _connect_to_read(path)
            self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            raise RunError(f"cannot open the journal {path}: {error}. Is this a run folder?") from error
        weakref.finalize(self, self._db.close)

    def create(self, meta: dict[str, str], matrices: Iterable[dict[str, Any]], slots: Iterable[Slot]) -> None:
        """Lay out a new journal in one transaction: afterwards it is complete, before it is empty."""
        with self.transaction():
            for statement in _SCHEMA.split(";"):
                if statement.strip():
                    self._db.execute(statement)
            self._db.executemany("INSERT INTO meta VALUES (?, ?)", {**meta, "layout": str(LAYOUT)}.items())
            self._db.executemany(
                "INSERT INTO matrices VALUES (:dataset, :seed, :file, :checksum, :n_rows, :n_cols, :source, :truth)",
                matrices,
            )
            self._db.executemany(
                "INSERT INTO cells (variant, run, dataset, algorithm, k, seed) VALUES (?, ?, ?, ?, ?, ?)",
                ((slot.variant, slot.run, *slot.cell) for slot in slots),
            )

    @property
    def empty(self) -> bool:
        """Whether nothing has been laid out yet."""
        return bool(self._db.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()[0])

    @property
    def meta(self) -> dict[str, str]:
        """Plan, versions and provenance, as texts."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; a full disk becomes a plain sentence."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise disk_error(self.path.parent, error) from error

    def finish(self, slots: Sequence[Slot], outcomes: Sequence[Outcome]) -> None:
        """Record finished cells, together or not at all; a finished cell is never written again."""
        with self.transaction():
            for slot, outcome in zip(slots, outcomes, strict=True):
                done = self._db.execute(
                    "UPDATE cells SET status = ?, reason = ?, scores = ?, biclusters = ?, findings = ?, solution = ?,"
                    " mergers = ?, fit_seconds = ?, score_seconds = ? WHERE status IS NULL AND variant = ? AND run = ?"
                    " AND dataset = ? AND algorithm = ? AND k = ? AND seed = ?",
                    (
                        outcome.status,
                        outcome.reason,
                        json.dumps(outcome.scores),
                        json.dumps(outcome.biclusters),
                        json.dumps(outcome.findings),
                        outcome.solution,
                        outcome.mergers,
                        outcome.fit_seconds,
                        outcome.score_seconds,
                        slot.variant,
                        slot.run,
                        *slot.cell,
                    ),
                )
                if done.rowcount != 1:
                    raise RunError(f"{slot} is finished already or is no part of this run.")

    def reopen(self, statuses: Sequence[str]) -> None:
        """Forget the outcome of cells that ended with one of these statuses."""
        with self.transaction():
            self._db.executemany("UPDATE cells SET status = NULL WHERE status = ?", [(status,) for status in statuses])

    def slots(self, *, finished: bool | None = None, variants: bool = True) -> list[Slot]:
        """Return the places of the journal in the order of the plan."""
        where = {None: "1", True: "status IS NOT NULL", False: "status IS NULL"}[finished]
        data = "" if variants else f" AND variant = '{DATA}'"
        query = "SELECT variant, run, dataset, algorithm, k, seed FROM cells WHERE "
        return [
            Slot(Cell(*cell), variant, run)
            for variant, run, *cell in self._db.execute(query + where + data + " ORDER BY position")
        ]

    def rows(self, columns: str, *, variants: bool = False) -> Iterator[tuple[Any, ...]]:
        """Yield columns of the finished cells in the order of the plan."""
        data = "variant != ''" if variants else "variant = ''"
        return iter(
            self._db.execute(f"SELECT {columns} FROM cells WHERE status IS NOT NULL AND {data} ORDER BY position")
        )

    def row(self, cell: Cell, columns: str) -> tuple[Any, ...] | None:
        """Return columns of one finished cell, or None."""
        found = self._db.execute(
            f"SELECT {columns} FROM cells WHERE variant = '' AND status IS NOT NULL"
            " AND dataset = ? AND algorithm = ? AND k = ? AND seed = ?",
            tuple(cell),
        ).fetchone()
        return None if found is None else tuple(found)

    def matrices(self) -> list[dict[str, Any]]:
        """Return what is known about the matrices, in the order of the plan."""
        names = ("dataset", "seed", "file", "checksum", "n_rows", "n_cols", "source", "truth")
        query = f"SELECT {', '.join(names)} FROM matrices ORDER BY rowid"
        return [dict(zip(names, row, strict=True)) for row in self._db.execute(query)]

    def start_session(self, started: str, command: str, jobs: str) -> int:
        """Note that a process works on this run; return the number of its turn."""
        with self.transaction():
            row = self._db.execute("INSERT INTO sessions VALUES (?, NULL, ?, ?, 0)", (started, command, jobs)).lastrowid
        return int(row or 0)

    def end_session(self, session: int, ended: str, cells: int) -> None:
        """Note that this turn ended and how many cells it finished."""
        with self.transaction():
            self._db.execute("UPDATE sessions SET ended = ?, cells = ? WHERE rowid = ?", (ended, cells, session))

    def sessions(self) -> list[dict[str, Any]]:
        """Return the sessions that worked on this run."""
        names = ("started", "ended", "command", "jobs", "cells")
        query = f"SELECT {', '.join(names)} FROM sessions ORDER BY rowid"
        return [dict(zip(names, row, strict=True)) for row in self._db.execute(query)]

    def close(self) -> None:
        """Close the file; a writer leaves it as one file that can be copied."""
        if self._write:
            with suppress(sqlite3.Error):  # while someone is reading: the next writer does it
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open an existing journal; a folder nobody may write to can still be read."""
    if not path.is_file():
        raise RunError(f"{path.parent} is no run folder: it has no {path.name}.")
    uri = path.resolve().as_uri()
    try:
        db = sqlite3.connect(f"{uri}?mode=ro", uri=True, check_same_thread=False)
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db = sqlite3.connect(f"{uri}?immutable=1", uri=True, check_same_thread=False)
    return db


def disk_error(folder: Path, error: Exception) -> FileError:
    """Turn what the disk said into an error that says what to do."""
    text = str(error)
    if "full" in text or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return FileError(
            f"the disk of {folder} is full. Finished cells are safe: free some space and start the same command again."
        )
    if "readonly" in text or isinstance(error, PermissionError):
        return FileError(f"no permission to write in {folder}. Choose another --out, or change its permissions.")
    return FileError(f"cannot write in {folder}: {getattr(error, 'strerror', None) or error}.")


def pack_solution(solution: Biclustering) -> bytes:
    """Compress a solution for the journal."""
    return zlib.compress(json.dumps(solution.to_dict()).encode(), 1)


def unpack_solution(blob: bytes) -> Biclustering:
    """Restore a packed solution."""
    content = json.loads(zlib.decompress(blob))
    pairs = [(np.array(b["rows"], np.int64), np.array(b["cols"], np.int64)) for b in content["biclusters"]]
    return Biclustering(pairs, content["shape"], info=content.get("info"))


def pack_mergers(mergers: dict[str, NDArray[np.float64]]) -> bytes:
    """Compress symmetric merger matrices for the journal: the upper triangles."""
    buffer = io.BytesIO()
    np.savez(buffer, **{key: values[np.triu_indices(len(values))] for key, values in mergers.items()})  # type: ignore[arg-type]
    return zlib.compress(buffer.getvalue(), 1)


def unpack_mergers(blob: bytes) -> dict[str, NDArray[np.float64]]:
    """Restore packed merger matrices."""
    mergers = {}
    with np.load(io.BytesIO(zlib.decompress(blob)), allow_pickle=False) as stored:
        for key in stored.files:
            upper = stored[key]
            k = int((np.sqrt(8 * len(upper) + 1) - 1) / 2)
            full = np.zeros((k, k))
            full[np.triu_indices(k)] = upper
            mergers[key] = _mirror(full)
    return mergers


def _mirror(full: NDArray[np.float64]) -> NDArray[np.float64]:
    lower = np.tril_indices(len(full), -1)
    full[lower] = full.T[lower]
    return full
