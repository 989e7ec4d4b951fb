"""The journal of a run, where what is finished stands: one SQLite file, one writer; a fit is in it wholly or not."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._document import checked_document, parse_json
from bivaluate._errors import RunError
from bivaluate._files import check_reachable, check_readable, disk_error
from bivaluate._text import packed
from bivaluate.algorithms.algorithm import OLD_KEYS
from bivaluate.solution import Biclustering
from bivaluate.sweep.cells import DATA, NULLS, Cell, Outcome, Slot

LAYOUT = 1
MOST_UNPACKED = 1 << 28  # bytes of a solution, or of the mergers of one
_PLACE = "variant, run, dataset, algorithm, k, seed"  # `run` numbers the copy of the data
# Algorithms by the keys of today, in journals of version 0.1.0 too.
_RENAMED = " ".join(f"WHEN '{old}' THEN '{new}'" for old, new in OLD_KEYS.items())
_ALGORITHM = f"CASE algorithm {_RENAMED} ELSE algorithm END"
_IS_CELL = f"dataset = ? AND {_ALGORITHM} = ? AND k = ? AND seed = ?"
SAFE = "Finished fits are safe. "

# Columns of the tables with their types; a ? follows what may be missing.
_TABLES = {
    "meta": "key TEXT, value TEXT",
    "matrices": "dataset TEXT, seed INTEGER?, file TEXT, checksum TEXT, n_rows INTEGER, n_cols INTEGER, source TEXT, "
    "truth BLOB?",
    "cells": "position INTEGER PRIMARY KEY, variant TEXT, run INTEGER, dataset TEXT, algorithm TEXT, k INTEGER, "
    "seed INTEGER, status TEXT?, reason TEXT?, scores TEXT?, biclusters TEXT?, findings TEXT?, solution BLOB?, "
    "mergers BLOB?, fit_seconds REAL?, score_seconds REAL?",
    "sessions": "started TEXT?, ended TEXT?, command TEXT?, jobs TEXT?, cells INTEGER",
}
_UNIQUE = {"meta": ", UNIQUE (key)", "matrices": ", UNIQUE (dataset, seed)", "cells": f", UNIQUE ({_PLACE})"}
# What SQLite calls the values of each type; blobs are unpacked when they are asked for, and named then.
_STORED = {"TEXT": ("text",), "INTEGER": ("integer",), "REAL": ("real", "integer"), "BLOB": ("blob", "text")}
MEASURES = "measures"  # in the meta: which way is better of the user's own, by key
NEEDED = ("layout", "version", "plan", "provenance")


class Journal:
    """Read and write the journal of a run folder."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        self._write = write
        try:
            self._db = _connect(path, write)
        except sqlite3.Error as error:
            raise RunError(f"cannot open the journal {path}: {error}. Is this a run folder?") from error
        weakref.finalize(self, self._db.close)

    def create(self, meta: dict[str, str], matrices: Iterable[tuple[Any, ...]], slots: Iterable[Slot]) -> None:
        """Lay out a new journal in one transaction: afterwards it is complete, before it is empty."""
        with self.transaction():
            for table, columns in _TABLES.items():
                self._db.execute(f"CREATE TABLE {table} ({columns.replace('?', '')}{_UNIQUE.get(table, '')})")
            self._db.executemany("INSERT INTO meta VALUES (?, ?)", {**meta, "layout": str(LAYOUT)}.items())
            self._db.executemany("INSERT INTO matrices VALUES (?, ?, ?, ?, ?, ?, ?, ?)", matrices)
            self.add(slots)

    def add(self, slots: Iterable[Slot]) -> None:
        """Add places within a transaction."""
        places = ((slot.variant, slot.copy, *slot.cell) for slot in slots)
        self._db.executemany(f"INSERT INTO cells ({_PLACE}) VALUES (?, ?, ?, ?, ?, ?)", places)

    @property
    def empty(self) -> bool:
        """Whether nothing has been laid out yet."""
        return bool(next(self.found("SELECT count(*) = 0 FROM sqlite_master"))[0])

    @property
    def meta(self) -> dict[str, str]:
        """Plan, versions and provenance, as texts."""
        return dict(self.found("SELECT key, value FROM meta"))

    def check(self) -> None:
        """Raise where it is not made of tables, lacks one, or holds a value of a wrong type; name the row."""
        made_of = list(self.found("SELECT type, name FROM sqlite_master"))
        for kind, name in made_of:
            if kind not in ("table", "index"):
                raise RunError(f"the journal {self.path} holds the {kind} {name!r}; only tables are read.")
        for table, columns in _TABLES.items():
            if ("table", table) not in made_of:
                raise RunError(f"the journal {self.path} has no table {table!r}.")
            there = {row[1] for row in self.found(f"PRAGMA table_info({table})")}
            for column, declared, *_ in map(str.split, columns.split(", ")):
                if column not in there:
                    raise RunError(f"the journal {self.path} is damaged: {table} has no column {column!r}.")
                allowed = (*_STORED[declared.rstrip("?")], *(["null"] if declared.endswith("?") else []))
                known = ", ".join(f"'{kind}'" for kind in allowed)
                query = f"SELECT rowid, typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ({known})"
                for row, kind in self.found(query):
                    where = f"row {row} of {table} in the journal {self.path}"
                    raise RunError(f"{where} is damaged: {column} holds {kind}.")
        for entry in self.records("matrices"):
            if PurePath(entry["file"]).name != entry["file"] or "\\" in entry["file"]:
                said = f"the matrix of {entry['dataset']} is said to be in {entry['file']!r}"
                raise RunError(f"{said}, outside {self.path.parent}.")
        for key in NEEDED:
            if key not in self.meta:
                raise RunError(f"the journal {self.path} does not say its {key}.")

    def faults(self) -> list[str]:
        """Return what SQLite finds wrong with the file; nothing where it is whole."""
        with suppress(RunError):
            return [text for (text,) in self.found("PRAGMA integrity_check(10)") if text != "ok"]
        return ["it cannot be read to its end"]

    def found(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; damage is reported in words."""
        try:
            for row in self._db.execute(query, values):  # noqa: UP028 -- it would close the cursor of a closed journal
                yield row
        except sqlite3.Error as error:
            kept = "The tables and solutions beside it are as they were last written"
            whole = f"'bivaluate doctor {self.path.parent}' says what is whole"
            raise RunError(f"the journal {self.path} is damaged ({error}). {kept}; {whole}.") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; a full disk becomes a plain sentence."""
        try:
            with self._db:  # commits at the end, or rolls back
                self._db.execute("BEGIN IMMEDIATE")
                yield
        except sqlite3.Error as error:
            raise disk_error(self.path.parent, error, SAFE) from error

    def finish(self, slots: Sequence[Slot], outcomes: Sequence[Outcome]) -> None:
        """Record finished cells, together or not at all; a finished cell is never written again."""
        columns = [f.name for f in fields(Outcome) if f.name != "k"]
        new = ", ".join(f"{name} = ?" for name in columns)
        statement = f"UPDATE cells SET {new} WHERE status IS NULL AND variant = ? AND run = ? AND {_IS_CELL}"
        with self.transaction():
            for slot, outcome in zip(slots, outcomes, strict=True):
                said = [packed(text) for text in outcome.findings]
                values = [said if name == "findings" else getattr(outcome, name) for name in columns]
                plain = [json.dumps(value) if isinstance(value, (dict, list)) else value for value in values]
                if self._db.execute(statement, (*plain, slot.variant, slot.copy, *slot.cell)).rowcount != 1:
                    copy = f", copy {slot.copy} of {slot.variant}," if slot.variant else ""
                    raise RunError(f"{slot.cell}{copy} is finished already or is not part of this run.")

    def take_over(self, path: Path) -> None:
        """Copy what is finished in another journal of the same plan, together or not at all."""
        self._db.execute("ATTACH ? AS part", (str(path),))
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO cells SELECT * FROM part.cells WHERE status IS NOT NULL")
            self._db.execute("INSERT INTO sessions SELECT * FROM part.sessions")
        self._db.execute("DETACH part")

    def note(self, key: str, value: str | None) -> None:
        """Keep a text in place of the one before, or none."""
        with self.transaction():
            self._db.execute("DELETE FROM meta WHERE key = ?", (key,))
            if value is not None:
                self._db.execute("INSERT INTO meta VALUES (?, ?)", (key, value))

    def reopen(self, statuses: Sequence[str]) -> None:
        """Forget the outcome of cells that ended with one of these statuses."""
        with self.transaction():
            self._db.executemany("UPDATE cells SET status = NULL WHERE status = ?", [(status,) for status in statuses])

    def slots(self, *, finished: bool | None = None, variants: bool = True) -> list[Slot]:
        """Return the places of the journal in the order of the plan."""
        where = {None: "1", True: "status IS NOT NULL", False: "status IS NULL"}[finished]
        kept = (DATA, *NULLS) if variants else (DATA,)  # copies of other kinds are of version 0.1.0
        data = " AND variant IN (" + ", ".join(f"'{variant}'" for variant in kept) + ")"
        query = f"SELECT {_current(_PLACE)} FROM cells WHERE {where}{data} ORDER BY position"
        return [Slot(Cell(*cell), variant, copy) for variant, copy, *cell in self.found(query)]

    def rows(self, columns: Sequence[str], *, variants: bool = False) -> Iterator[tuple[Any, ...]]:
        """Yield columns of the finished cells in the order of the plan."""
        where = f"status IS NOT NULL AND variant {'!=' if variants else '='} '{DATA}'"
        return self.found(f"SELECT {_current(', '.join(columns))} FROM cells WHERE {where} ORDER BY position")

    def row(self, cell: Cell, columns: str) -> tuple[Any, ...] | None:
        """Return columns of one finished cell, or None."""
        query = f"SELECT {columns} FROM cells WHERE variant = '' AND status IS NOT NULL AND {_IS_CELL}"
        numbered = (cell.dataset, cell.algorithm, int(cell.k), int(cell.seed))  # those of a table are NumPy's
        return next(self.found(query, numbered), None)

    def packed(self, cell: Cell, column: str) -> bytes:
        """Return the solution or the mergers of a finished cell as they are stored."""
        row = self.row(cell, f"{column}, status, reason")
        if row is None:
            known = cell in [slot.cell for slot in self.slots(variants=False)]
            raise RunError(f"{cell} is not {'finished' if known else 'part of this run'}.")
        if row[0] is None:
            raise RunError(f"{cell} has no solution: {row[1]} ({row[2]}).")
        return row[0] if isinstance(row[0], bytes) else b""

    def records(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of ``"matrices"`` (in the order of the plan) or ``"sessions"`` by column."""
        names = [row[1] for row in self.found(f"PRAGMA table_info({table})")]
        return [dict(zip(names, row, strict=True)) for row in self.found(f"SELECT * FROM {table} ORDER BY rowid")]

    @contextmanager
    def session(self, command: str, jobs: str, finished: Callable[[], int]) -> Iterator[None]:
        """Note that a process works on this run, and in the end how many fits it finished."""
        with self.transaction():
            row = self._db.execute("INSERT INTO sessions VALUES (?, NULL, ?, ?, 0)", (now(), command, jobs)).lastrowid
        try:
            yield
        finally:
            with self.transaction():
                self._db.execute("UPDATE sessions SET ended = ?, cells = ? WHERE rowid = ?", (now(), finished(), row))

    def close(self) -> None:
        """Close the file; a writer leaves it as one file that can be copied."""
        if self._write:
            with suppress(sqlite3.Error):  # while someone is reading: the next writer does it
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()


def _current(columns: str) -> str:
    """Return columns of a query with the algorithm by its key of today."""
    return columns.replace("algorithm", _ALGORITHM)


def _connect(path: Path, write: bool) -> sqlite3.Connection:
    """Open a journal; in a folder without write permission it can still be read."""
    if write:
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        # Write-ahead logging survives a killed process without one fsync per cell.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        return db
    if not os.path.isfile(path):
        check_reachable(path)
        raise RunError(f"{path.parent} is not a run folder: it has no {path.name}.")
    for mode in ("mode=ro", "immutable=1"):
        try:
            db = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, check_same_thread=False)
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            break
        except sqlite3.OperationalError:
            check_readable(path)
            if mode != "mode=ro":
                raise
    return db


def now() -> str:
    """Return the time as the journal notes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def parsed(text: str) -> Any:
    """Return what a JSON text of the journal says."""
    with _sound("a text in the journal is"):
        return json.loads(text)


def pack_solution(solution: Biclustering) -> bytes:
    """Compress a solution for the journal."""
    return zlib.compress(json.dumps(solution.to_dict()).encode(), 1)


@contextmanager
def _sound(what: str) -> Iterator[None]:
    """Say what is damaged; zlib, zipfile and NumPy each have their own words for it."""
    try:
        yield
    except Exception as error:
        raise RunError(f"{what} damaged ({error}).") from error


def solution_text(blob: bytes) -> str:
    """Return a packed solution as the text of a solution file."""
    with _sound("a solution in the journal is"):
        return _unpacked(blob).decode("utf-8")


def unpack_solution(blob: bytes, of: str = "") -> Biclustering:
    """Restore a packed solution; `of` says whose, where it is damaged."""
    with _sound(f"{of}a solution in the journal is"):
        document = checked_document(parse_json(_unpacked(blob).decode("utf-8"), "the journal"), "the journal")
        return Biclustering(document.members, document.shape, names=document.names, info=document.info)


def pack_mergers(mergers: dict[str, NDArray[np.float64]]) -> bytes:
    """Compress symmetric merger matrices for the journal: the upper triangles."""
    buffer = io.BytesIO()
    np.savez(buffer, **{key: values[np.triu_indices(len(values))] for key, values in mergers.items()})  # type: ignore[arg-type]
    return zlib.compress(buffer.getvalue(), 1)


def unpack_mergers(blob: bytes, of: str = "") -> dict[str, NDArray[np.float64]]:
    """Restore packed merger matrices."""
    with _sound(f"{of}the mergers of a fit in the journal are"):
        stored, mergers = np.load(io.BytesIO(_unpacked(blob)), allow_pickle=False), {}
        for key in stored.files:
            k = int((np.sqrt(8 * len(stored[key]) + 1) - 1) / 2)
            full = np.zeros((k, k))
            full[np.triu_indices(k)] = stored[key]
            mergers[key] = np.where(np.tri(k, k=-1, dtype=bool), full.T, full)
        return mergers


def _unpacked(blob: bytes) -> bytes:
    """Return what was packed; what unpacks to more than any solution has is damaged, or made to hurt."""
    stream = zlib.decompressobj()
    data = stream.decompress(blob, MOST_UNPACKED)
    if not stream.eof:
        raise zlib.error(f"it is cut off, or unpacks to more than {MOST_UNPACKED >> 20} MB")
    return data
