"""Mutated files against the readers: tries, and failures by class. Run it with ``make attack``.

Every seed file is valid. Its bytes are replaced, removed, repeated and cut; some of them unpacked and packed again, so
that damage reaches what lies inside. Some unpack to hundreds of times their size: bombs. All but one in 500 bombs are
made at a 32nd of their size, and then the limits of bivaluate, of memory and of time are those divided by 32.

A reader must give a value or an error of bivaluate's. Counted as failures: any other error, anything that had to be
caught by the last net, 10 s of work or 512 MB of memory more than the undamaged file needs, in the process that reads or
in the one it starts. Files are read in a fork that reads one after the other; a fork that dies or hangs is replaced. That
is a failure too, except in ordinary mode where a C library reads: it may die, hang and take memory there.
``--untrusted`` attacks reading in a process with limits: a second such fork, and for one file in 2,000 the process itself.

Try number n of a class is always the same file: ``--again HDF5:17`` makes and reads it again. ``--record`` adds what is
counted to ``docs/attack.json``, goes on from there when it is started again, and ``docs/generate.py`` makes the table of it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import functools
import gzip
import importlib
import io
import json
import lzma
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import types
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate import BivaluateError, Matrix, read_matrix, read_solution, write_matrix
from bivaluate.io import source, trial
from bivaluate.io.formats import UNTRUSTED
from bivaluate.io.matrices import _dialect, excel
from bivaluate.io.solutions import r_rds
from bivaluate.sweep import Plan, Sweep, check_run, load_run
from tests.io import test_field_matrices as field
from tests.io import test_tool_solutions as tools
from tests.io.rds_writer import biclust_object
from tests.io.test_own_solutions import LISTS, LONG, MATRIX

PIECES = [b"\n", b"\t", b",", b'"', b"[", b"\x00", b"99999999999", b"-1", b"\xff\xff\xff\x7f", b"\xff\xfe", b"\x00\xd8"]
SECONDS, MEGABYTES = 10.0, 512.0
BOMBS, SMALLER, FULL = "unpacking to far more", 32, 500  # bombs are made smaller, except one of so many
LIMITS = ((source, "FREE_UNPACKED"), (source, "LOOKED_AFTER"), (source, "FREE_LINES"), (source, "MAX_LINE"))
LIMITS += ((source, "HEAD_BYTES"), (_dialect, "MAX_FIELDS"), (excel, "FREE_UNPACKED"), (r_rds, "FREE_NUMBERS"))
SLOW = (BOMBS, "zarr", "run folders")  # classes that get the fewest tries
LIBRARIES = ("HDF5", "Parquet", "rds", "zarr")  # read by C libraries, which may die
SLACK = 8.0  # megabytes that do not shrink with the file
TRIES, SAVED = 2000, 60.0  # tries of a fork; seconds between records
RUNS = tuple(f"run{n}" for n in range(8))
FOLDERS = (*RUNS, "z2.zarr", "z3.zarr", "shards.zarr")
SHARED = Path("/dev/shm")  # files in memory
RECORD = Path(__file__).parents[1] / "docs" / "attack.json"
CLASSES = {  # the first that the name of a seed file begins or ends with
    BOMBS: ("bomb",),
    "zarr": (".zarr",),
    "run folders": RUNS,
    "HDF5": (".h5", ".h5ad", ".h5mu", ".loom"),
    "Parquet": (".parquet",),
    "npy and npz": (".npy", ".npz"),
    "rds": (".rds",),
    "Excel": (".xlsx",),
    "UTF-16": ("utf16.csv", "utf16.txt"),
    "gzipped text": (".gz",),
    "text of matrices": (".csv", ".gct", ".pcl", ".mtx"),
}


def seeds(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Return the seed files: what reads them, and their bytes, by the name they are read under."""
    values = np.random.default_rng(0).normal(size=(7, 5)).round(3)
    X = Matrix(values, tuple(f"g{i}" for i in range(7)), tuple(f"c{j}" for j in range(5)))
    for name in ("m.csv", "m.npy", "m.npz", "m.parquet"):
        write_matrix(X, folder / name)
    _hdf5(folder, values)
    files = {path.name: ("matrix", path.read_bytes()) for path in sorted(folder.iterdir())}
    files |= {name: (kind, _as_bytes(made)) for name, kind, made in _folders(folder)}
    text = (folder / "m.csv").read_text()
    files["utf16.csv"] = ("matrix", text.encode("utf-16"))
    files["m.csv.gz"] = ("matrix", gzip.compress(text.encode(), mtime=0))
    for name, content in (("m.gct", field.GCT_3), ("m.pcl", field.PCL), ("m.mtx", field.MTX)):
        files[name] = ("matrix", content.encode())
    for k, (key, content) in enumerate(tools.CASES):
        files[f"{key}{k}"] = ("solution", content.encode())
    for k, content in enumerate((LISTS, LONG, MATRIX)):
        files[f"members{k}.csv"] = ("solution", content.encode())
    files["utf16.txt"] = ("solution", tools.CASES[0][1].encode("utf-16"))
    files["b.rds"] = ("solution", gzip.compress(biclust_object(*tools.masks()), mtime=0))
    files["m.xlsx"] = ("matrix", _workbook([["", "a", "b"], *([f"g{i}", i, i / 7] for i in range(8))]))
    files |= {name: (kind, b"") for name, (kind, _) in CONTENTS.items()}
    shutil.rmtree(folder)
    folder.mkdir()
    return files


def _folders(folder: Path) -> Iterable[tuple[str, str, Path]]:
    """Yield zarr folders of both versions, and a run folder, with their names and kinds."""
    import zarr

    for name, version, shards in (("z2.zarr", 2, None), ("z3.zarr", 3, None), ("shards.zarr", 3, (4, 7))):
        root = zarr.open_group(folder / name, mode="w", zarr_format=version)
        root.create_array("X", data=np.arange(35.0).reshape(5, 7), chunks=(2, 7), shards=shards)
        for key, count in (("obs", 5), ("var", 7)):
            group = root.create_group(key)
            group.attrs["_index"] = "_index"
            group.create_array("_index", data=np.array([f"{key}{i}" for i in range(count)]))
        yield name, "matrix", folder / name
    Sweep(Plan(["scenario:S9b"], ["cca"], k=[2, 3]), folder / "run").run()
    for name in RUNS:  # one in eight is checked as well
        yield name, "check" if name == RUNS[-1] else "run", folder / "run"


def _as_bytes(folder: Path) -> bytes:
    """Return a folder as the bytes of an archive, of which single files are damaged."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != ".lock":
                archive.writestr(str(path.relative_to(folder)), path.read_bytes())
    return packed.getvalue()


def place(path: Path, data: bytes, rng: random.Random | None) -> None:
    """Write a seed where it is read from, damaged; of a folder one file is."""
    if not path.name.startswith(FOLDERS):
        path.write_bytes(mutated(data, rng) if rng else data)
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = {path / name: archive.read(name) for name in archive.namelist()}
    bad = rng.choice([name for name in content if name.suffix != ".csv"]) if rng else None
    for left in path.rglob("*"):
        if left not in content and left.is_file():
            left.unlink()
    for name, whole in content.items():
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(_damaged(whole, rng) if rng and name == bad else whole)
    if rng and path.name in RUNS and rng.random() < 0.7:
        (path / "journal.sqlite").write_bytes(content[path / "journal.sqlite"])
        _tamper(path / "journal.sqlite", rng)


def _tamper(path: Path, rng: random.Random) -> None:
    """Change a value of a journal, or its tables, through SQLite."""
    values = (None, 0, -1, 10**15, 1.5, "", "x", "[]", "{}", '{"a": [1]}', "../../x", b"", b"\x78\x01\x00", "9" * 5000)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        tables = ("cells", "matrices", "meta", "sessions")
        table = rng.choice(tables)
        column = rng.choice([row[1] for row in db.execute(f"PRAGMA table_info({table})")])
        with contextlib.suppress(sqlite3.Error):
            if rng.random() < 0.1:
                db.execute(
                    rng.choice(
                        (
                            f"DROP TABLE {table}",
                            f"ALTER TABLE {table} DROP COLUMN {column}",
                            "CREATE VIEW v AS SELECT 1",
                        )
                    )
                )
            else:
                db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (rng.choice(values), rng.choice((1, 2))))


def _array(smaller: int) -> bytes:
    array = io.BytesIO()
    np.save(array, np.tile(np.random.default_rng(0).normal(size=50), ((1 << 15) // smaller, 5)))
    return array.getvalue()


_MARKET = b"%%MatrixMarket matrix coordinate real general\n30000 30000 16777216\n"
_CELLS = b"<row><c><v>1</v></c><c><v>1</v></c><c><v>1</v></c></row>"
CONTENTS: dict[str, tuple[str, Callable[[int], bytes]]] = {  # of bombs, before they are packed; a .npz holds its .npy
    "bomb.npz": ("matrix", _array),
    "bomb.npy.gz": ("matrix", _array),
    "bomb-lines.csv.gz": ("matrix", lambda smaller: b"ab,1\n" * ((1 << 24) // smaller)),
    "bomb-line.csv.gz": ("matrix", lambda smaller: b"1," * ((1 << 25) // smaller)),
    "bomb-wide.csv.gz": ("matrix", lambda smaller: (b"ab," + b"0," * 400 + b"0\n") * ((1 << 16) // smaller)),
    "bomb.mtx.gz": ("matrix", lambda smaller: _MARKET + b"1 2 3\n" * ((1 << 24) // smaller)),
    "bomb.rds": ("solution", lambda smaller: biclust_object(*tools.masks()) + bytes((1 << 27) // smaller)),
    "bomb-xz.rds": ("solution", lambda smaller: biclust_object(*tools.masks()) + bytes((1 << 27) // smaller)),
    "bomb-lines.txt.gz": ("solution", lambda smaller: tools.CASES[0][1].encode() + b"a\n" * ((1 << 24) // smaller)),
    "bomb.xlsx": ("matrix", lambda smaller: _CELLS * ((1 << 19) // smaller)),
}


@functools.cache
def _content(name: str, smaller: int) -> bytes:
    return CONTENTS[name][1](smaller)


def _packed(name: str, content: bytes) -> bytes:
    if name.endswith(".xlsx"):
        return _workbook([["g", 1, 2]], content)
    if name == "bomb-xz.rds":
        return lzma.compress(content, preset=0)
    if not name.endswith(".npz"):
        return gzip.compress(content, 1, mtime=0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", content)
    return packed.getvalue()


def _workbook(rows: list[list[Any]], more: bytes = b"") -> bytes:
    """Return a workbook; `more` is added to its sheet as it is."""
    import openpyxl

    book, saved, packed = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(saved)
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if more and name.endswith("sheet1.xml"):
                content = content.replace(b"</sheetData>", more + b"</sheetData>").replace(b"<dimension", b"<dimensio_")
            new.writestr(name, content)
    return packed.getvalue()


def class_of(name: str) -> str:
    """Return what kind of file a seed is."""
    found = (kind for kind, marks in CLASSES.items() if name.startswith(marks) or name.endswith(marks))
    return "solutions" if name.startswith("members") else next(found, "solutions")


def _hdf5(folder: Path, values: Any) -> None:
    import h5py

    stored = {"data": [1.0, 2.0, 3.0], "indices": [0, 2, 1], "indptr": [0, 1, 2, 2, 3, 3, 3, 3]}
    names = {"obs": [f"c{j}" for j in range(5)], "var": [f"g{i}" for i in range(7)]}
    with h5py.File(folder / "plain.h5", "w") as file:
        file.create_dataset("numbers", data=values, chunks=(2, 5), compression="gzip")
    with h5py.File(folder / "m.h5ad", "w") as file:
        file["X"] = values.T
        for key, labels in names.items():
            file.create_group(key).attrs["_index"] = "_index"
            file[key]["_index"] = labels
    with h5py.File(folder / "sparse.h5ad", "w") as file:
        file.create_group("X").attrs.update(
            {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [7, 5]}
        )
        for key, cells in stored.items():
            file[f"X/{key}"] = cells
        for key, other in (("obs", "var"), ("var", "obs")):
            file.create_group(key).attrs["_index"] = "_index"
            file[f"{key}/_index/categories"], file[f"{key}/_index/codes"] = names[other], np.arange(len(names[other]))
    with h5py.File(folder / "m.h5mu", "w") as file:
        file["mod/rna/X"] = values.T
        for key, labels in names.items():
            file.create_group(f"mod/rna/{key}").attrs["_index"] = "_index"
            file[f"mod/rna/{key}/_index"] = labels
    with h5py.File(folder / "m.loom", "w") as file:
        file["matrix"] = values
        file["row_attrs/Gene"], file["col_attrs/CellID"] = names["var"], names["obs"]
    with h5py.File(folder / "ranger.h5", "w") as file:
        for key, cells in stored.items():
            file[f"matrix/{key}"] = cells
        file["matrix/shape"], file["matrix/barcodes"] = [5, 7], names["var"]
        file["matrix/features/id"] = names["obs"]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return the file damaged; half of the packed ones inside their packing."""
    if data[:2] == b"\x1f\x8b" and rng.random() < 0.7:
        return gzip.compress(_damaged(gzip.decompress(data), rng), mtime=0)
    if data[:2] == b"PK" and rng.random() < 0.7:
        packed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
            for name in old.namelist():
                content = old.read(name)
                new.writestr(name, _damaged(content, rng) if rng.random() < 0.6 else content)
        return packed.getvalue()
    return _damaged(data, rng)


def _damaged(whole: bytes, rng: random.Random) -> bytes:
    data = bytearray(whole)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        kind = rng.random()
        if kind < 0.4 and data:
            data[min(at, len(data) - 1)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif kind < 0.8:
            data[at : at + rng.randint(0, 6)] = rng.choice((*PIECES, rng.randbytes(rng.randint(0, 6))))
        elif kind < 0.9:
            other = rng.randrange(len(data) + 1)
            data[at : at + 8] = data[other : other + 8]
        else:
            del data[at : len(data) if rng.random() < 0.2 else at + rng.randint(1, 40)]
    return bytes(data)


def attempt(request: dict[str, Any]) -> str:
    """Read a file; return how that ended: "value", "refused" or a class of failure."""
    kind, path = request["kind"], Path(request["path"])
    try:
        with _limits_divided(request["smaller"]):
            _read(kind, path)
    except BivaluateError as error:
        caught = error.__cause__
        is_refused = caught is None or isinstance(caught, (BivaluateError, OSError, UnicodeError))
        is_refused = is_refused or kind in ("run", "check") or _is_of_library(caught)
        return "refused" if is_refused else f"caught at last: {type(caught).__name__}"
    except Exception as error:
        return type(error).__name__
    return "value"


def _is_of_library(error: BaseException) -> bool:
    """Whether a library refused a file, rather than that our own code stumbled over it."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and not str(traceback.tb_frame.f_globals.get("__name__")).startswith("bivaluate.")


def _read(kind: str, path: Path) -> None:
    if kind == "matrix":
        read_matrix(path).values  # noqa: B018
    elif kind == "solution":
        read_solution(path, tools.X)
    else:
        _read_run(path, kind == "check")


def _read_run(path: Path, checked: bool) -> None:
    if checked:
        check_run(path)
    run = load_run(path)
    for cell in run.cells:
        run.findings(cell)
        run.solution(cell)
        run.mergers(cell)
    for entry in run.matrices.values():
        run.matrix(entry["dataset"], entry["seed"])
    if checked:
        repr(run.tables)
    repr(run.provenance)


@contextlib.contextmanager
def _limits_divided(by: int) -> Iterator[None]:
    usual = [getattr(*limit) for limit in LIMITS]
    Fork.smaller = by
    for limit, value in zip(LIMITS, usual, strict=True):
        setattr(*limit, value // by)
    try:
        yield
    finally:
        for limit, value in zip(LIMITS, usual, strict=True):
            setattr(*limit, value)


def _memory(which: str) -> float:
    """Return the megabytes that this process holds (VmRSS), or the most it held (VmHWM) since that was reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(which)).split()[1]) / 1024


class Fork:
    """A fork that answers one request after another, with the seconds and megabytes that each took."""

    smaller = 1  # what limits are divided by now
    inner: Fork | None = None  # the fork in the place of the process with limits
    more = (0.0, 0.0)  # seconds and megabytes of that one

    def __init__(self, serve: Callable[[dict[str, Any]], Any]) -> None:
        self.serve, self.left, self.pid = serve, 0, 0

    def ask(self, request: dict[str, Any]) -> tuple[Any, float, float, int]:
        """Return the answer (None where the fork died), seconds, megabytes and the signal it died by."""
        if not self.left:
            self.end()
            self._start()
        self.left -= 1
        self.requests.write(json.dumps(request) + "\n")
        self.requests.flush()
        if line := self.answers.readline():
            return *json.loads(line), 0
        return None, 0.0, 0.0, self.end()

    def end(self) -> int:
        """End the fork; return the signal that it died by."""
        if not self.pid:
            return 0
        with contextlib.suppress(BrokenPipeError):
            self.requests.close()
        self.answers.close()
        status, self.pid, self.left = os.waitpid(self.pid, 0)[1], 0, 0
        return status & 0x7F

    def _start(self) -> None:
        (request_end, request_start), (answer_end, answer_start) = os.pipe(), os.pipe()
        parent, self.left, self.pid = os.getpid(), TRIES, os.fork()
        if self.pid == 0:
            os.close(request_start)
            os.close(answer_end)
            Fork.inner = None  # one that this process had is no child of the fork
            trial._end_with(parent)
            with contextlib.suppress(BaseException):
                self._answer(request_end, answer_start)
            os._exit(0)
        os.close(request_end)
        os.close(answer_start)
        self.requests, self.answers = os.fdopen(request_start, "w"), os.fdopen(answer_end)

    def _answer(self, request_end: int, answer_start: int) -> None:
        most = 0.0
        with os.fdopen(request_end) as requests, os.fdopen(answer_start, "w") as answers:
            for line in requests:
                signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)
                signal.alarm(int(30 * SECONDS))
                if most > MEGABYTES / SMALLER / 4:
                    ctypes.CDLL(None).malloc_trim(0)  # what was freed, and is used again, would not be counted
                held = _memory("VmRSS")
                Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted from here
                start, Fork.more = time.process_time(), (0.0, 0.0)
                found = self.serve(json.loads(line))
                seconds = time.process_time() - start + Fork.more[0]
                most = max(_memory("VmHWM") - held, Fork.more[1])
                answers.write(json.dumps([found, seconds, most]) + "\n")
                answers.flush()


def _with_limits(request: dict[str, Any]) -> dict[str, str]:
    """Do what the process of an untrusted file does; its limits are set anew for every file."""
    trial._limit(request["size"])
    os.environ[UNTRUSTED] = "0"
    with _limits_divided(request["smaller"]):
        return trial._outcome(request)


def forked(words: list[str], *, input: bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Stand in for the process of an untrusted file: starting Python takes far longer than reading."""
    if Fork.smaller == 1 and random.random() < 1 / 2000:
        return subprocess.run(words, input=input, **options)
    if Fork.inner is None:
        Fork.inner = Fork(_with_limits)
    answer, *more, signalled = Fork.inner.ask({**json.loads(input), "parent": os.getpid(), "smaller": Fork.smaller})
    Fork.more = tuple(more)
    return subprocess.CompletedProcess(words, -signalled, json.dumps(answer or {}).encode())


class Attack:
    """Seed files by class, and the fork that reads what is made of them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed, self.fork = folder, seed, Fork(attempt)
        self.files = seeds(folder)
        self.classes: dict[str, list[str]] = {}
        for name in self.files:
            self.classes.setdefault(class_of(name), []).append(name)
            if class_of(name) != BOMBS:  # what is imported at the first file of a kind is no file's fault
                place(folder / name, self.files[name][1], None)
                attempt({"kind": self.files[name][0], "path": folder / name, "smaller": 1})
        self.usual = functools.cache(self._usual)

    def place(self, kind: str, n: int) -> tuple[str, int]:
        """Write a file of a class; return its name and what limits are divided by."""
        rng, name = random.Random(f"{self.seed} {kind} {n}"), self.classes[kind][n % len(self.classes[kind])]
        smaller = SMALLER if kind == BOMBS and n % FULL else 1
        if kind == BOMBS:
            (self.folder / name).write_bytes(_damaged_bomb(name, smaller, rng))
        else:
            place(self.folder / name, self.files[name][1], rng)
        return name, smaller

    def ended(self, kind: str, n: int) -> str:
        """Return how a try ended; one that takes far more than the undamaged file does is a failure."""
        name, smaller = self.place(kind, n)
        ended, seconds, megabytes = self._ask(name, smaller)
        most = MEGABYTES / smaller + (SLACK if smaller > 1 else 0)
        if ended == "refused" and (seconds > SECONDS / smaller or megabytes > most):
            ended, again, megabytes = self._ask(name, smaller)  # once more, should the machine have been slow
            usual = self.usual(name, smaller) if kind == BOMBS else (0.0, 0.0)
            self.place(kind, n)
            if min(seconds, again) > SECONDS / smaller + usual[0]:
                return "time"
            if megabytes > most + usual[1]:
                return "memory"
        return ended

    def _ask(self, name: str, smaller: int) -> tuple[str, float, float]:
        request = {"kind": self.files[name][0], "path": str(self.folder / name), "smaller": smaller}
        ended, seconds, megabytes, signalled = self.fork.ask(request)
        hung = signalled in (signal.SIGPROF, signal.SIGALRM)
        return ended or ("hung" if hung else "died"), seconds, megabytes

    def _usual(self, name: str, smaller: int) -> tuple[float, float]:
        """Return what an undamaged bomb takes; nothing where it is refused."""
        (self.folder / name).write_bytes(_packed(name, _content(name, smaller)))
        ended, *usual = self._ask(name, smaller)
        return tuple(usual) if ended == "value" else (0.0, 0.0)


def _damaged_bomb(name: str, smaller: int, rng: random.Random) -> bytes:
    """Return a bomb damaged in its packed bytes, or near the end of what it holds."""
    content = _content(name, smaller)
    if rng.random() < 0.5:
        return _damaged(_packed(name, content), rng)
    return _packed(name, content[:-1000] + _damaged(content[-1000:], rng))


def run(attack: Attack, counts: dict[str, dict[str, int]], wanted: dict[str, int], minutes: float) -> Iterator[None]:
    """Try until every class has as many as wanted, or the time is over; stop by now and then, to record."""
    start = saved = time.monotonic()
    tries = {kind: sum(counts.get(kind, {}).values()) for kind in attack.classes}
    while time.monotonic() - start < 60 * minutes:
        kind = min(tries, key=lambda kind: tries[kind] / wanted[kind])
        if tries[kind] >= wanted[kind]:
            return
        ended = attack.ended(kind, tries[kind])
        if ended not in ("value", "refused"):
            print(f"{kind}:{tries[kind]} {ended}", flush=True)
        counts.setdefault(kind, {}).setdefault(ended, 0)
        counts[kind][ended] += 1
        tries[kind] += 1
        if time.monotonic() - saved > SAVED:
            saved = time.monotonic()
            yield


def _failures(counts: dict[str, dict[str, int]], untrusted: bool) -> int:
    died = ("died", "hung", "memory")
    return sum(
        n
        for kind, ends in counts.items()
        for ended, n in ends.items()
        if ended not in ("value", "refused") and (untrusted or kind not in LIBRARIES or ended not in died)
    )


def main() -> None:
    """Attack, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--tries", type=int, default=200_000, help="of all classes together, if there is time")
    parser.add_argument("--least", type=int, default=10_000, help="tries of every class, if there is time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--untrusted", action="store_true", help="read in a process with limits")
    parser.add_argument("--record", action="store_true", help=f"go on from {RECORD.name} and add to it")
    parser.add_argument("--again", help="make and read one file again, such as HDF5:17")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ[UNTRUSTED] = str(int(given.untrusted))
    names = {name: getattr(subprocess, name) for name in ("PIPE", "DEVNULL", "TimeoutExpired")}
    trial.subprocess = types.SimpleNamespace(run=forked, **names)
    for library in ("h5py", "pyarrow.parquet", "rdata", "scipy.sparse", "zarr.storage", "openpyxl"):
        importlib.import_module(library)  # not in every fork anew
    with tempfile.TemporaryDirectory(dir=SHARED if SHARED.is_dir() else None) as temporary:
        attack = Attack(Path(temporary), given.seed)
        if given.again:
            kind, _, n = given.again.partition(":")
            name, smaller = attack.place(kind, int(n))
            print(attack.ended(kind, int(n)))
            with _limits_divided(smaller):
                _read(attack.files[name][0], attack.folder / name)
            return
        usual = max(given.least, (given.tries - given.least * len(SLOW)) // (len(attack.classes) - len(SLOW)))
        wanted = {kind: given.least if kind in SLOW else usual for kind in attack.classes}
        recorded = json.loads(RECORD.read_text()) if given.record and RECORD.exists() else {}
        counts = recorded.setdefault("untrusted" if given.untrusted else "ordinary", {})
        for _ in run(attack, counts, wanted, given.minutes):
            _save(recorded, given.record)
        attack.fork.end()
    _save(recorded, given.record)
    for kind, ends in sorted(counts.items()):
        print(
            f"{kind}: {sum(ends.values()):,} tries, " + ", ".join(f"{n:,} {what}" for what, n in sorted(ends.items()))
        )
    failures = _failures(counts, given.untrusted)
    print(f"{sum(sum(ends.values()) for ends in counts.values()):,} tries, {failures} failures")
    sys.exit(failures > 0)


def _save(recorded: dict[str, Any], wanted: bool) -> None:
    if wanted:
        RECORD.with_suffix(".new").write_text(json.dumps(recorded, indent=1) + "\n")
        RECORD.with_suffix(".new").replace(RECORD)


if __name__ == "__main__":
    main()
