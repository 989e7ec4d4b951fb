"""Mutated files against the readers: tries, and failures by class. Run it with ``make attack``.

Every seed file is valid. Its bytes are replaced, removed, repeated and cut; some of them unpacked and packed again, so
that damage reaches what lies inside. Some unpack to hundreds of times their size, and are read in a process of their own
to see what they take. A reader must give a value or an error of bivaluate's. Counted as failures: any other error, anything
that had to be caught by the last net, 10 s of work or 512 MB of memory more than the undamaged file needs, in this process
or in those it starts. Every class of files gets its share of the time. ``--untrusted`` attacks reading in a process with
limits; without it, formats of C libraries are read in a fork, and a library that dies or hangs there is counted as such,
which ordinary reading does not promise to prevent. ``--record`` adds the counts to ``docs/attack.json``, from which
``docs/generate.py`` makes the table.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import fnmatch
import gzip
import importlib
import io
import itertools
import json
import os
import random
import resource
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
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate import Matrix, read_matrix, read_solution, write_matrix
from bivaluate._errors import BivaluateError
from bivaluate.io import trial
from bivaluate.io.formats import UNTRUSTED
from bivaluate.sweep import Plan, Sweep, load_run
from tests.io import test_field_matrices as field
from tests.io import test_tool_solutions as tools
from tests.io.rds_writer import biclust_object
from tests.io.test_own_solutions import LISTS, LONG, MATRIX

PIECES = [b"\n", b"\t", b",", b'"', b"[", b"\x00", b"99999999999", b"-1", b"\xff\xff\xff\x7f", b"\xff\xfe", b"\x00\xd8"]
SECONDS, MEGABYTES = 10.0, 512.0
NOTHING = ("refused", 0.0, 0.0)
BOMBS = "unpacking to far more"
APART = ("HDF5", "Parquet", "rds", "zarr")  # read in a fork: a library may die
SHARES = {BOMBS: 2, "HDF5": 6, "Parquet": 3, "rds": 3, "zarr": 4, "run folders": 2}  # of the time
LIBRARY = ("died", "hung")  # no failures of ordinary reading
RECORD = Path(__file__).parents[1] / "docs" / "attack.json"
CLASSES = {  # the first that the name of a seed file begins or ends with
    BOMBS: ("bomb",),
    "zarr": (".zarr",),
    "run folders": ("run",),
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
    files |= {name: (kind, _packed(name, content())) for name, (kind, content) in CONTENTS.items()}
    shutil.rmtree(folder)
    folder.mkdir()
    return files


def _folders(folder: Path) -> Iterable[tuple[str, str, Path]]:
    """Yield zarr folders of both versions, and a run folder, with their names and kinds."""
    import zarr

    for version in (2, 3):
        root = zarr.open_group(folder / f"z{version}.zarr", mode="w", zarr_format=version)
        root.create_array("X", data=np.arange(35.0).reshape(5, 7), chunks=(2, 7))
        for key, count in (("obs", 5), ("var", 7)):
            group = root.create_group(key)
            group.attrs["_index"] = "_index"
            group.create_array("_index", data=np.array([f"{key}{i}" for i in range(count)]))
        yield f"z{version}.zarr", "matrix", folder / f"z{version}.zarr"
    Sweep(Plan(["scenario:S9b"], ["cca"], k=[2, 3]), folder / "run").run()
    yield "run", "run", folder / "run"


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
    if path.suffix != ".zarr" and path.name != "run":
        path.write_bytes(mutated(data, rng) if rng else data)
        return
    shutil.rmtree(path, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        bad = rng.choice([name for name in names if not name.endswith(".csv")]) if rng else ""
        for name in names:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            content = archive.read(name)
            (path / name).write_bytes(_damaged(content, rng) if rng and name == bad else content)
    if rng and path.name == "run" and rng.random() < 0.7:
        (path / "journal.sqlite").write_bytes(archive_of(data, "journal.sqlite"))
        _tamper(path / "journal.sqlite", rng)


def archive_of(data: bytes, name: str) -> bytes:
    """Return one file of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(name)


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


def _array() -> bytes:
    array = io.BytesIO()
    np.save(array, np.tile(np.random.default_rng(0).normal(size=50), (1 << 15, 5)))
    return array.getvalue()


_MARKET = b"%%MatrixMarket matrix coordinate real general\n30000 30000 16777216\n"
_CELLS = b"<row><c><v>1</v></c><c><v>1</v></c><c><v>1</v></c></row>"
CONTENTS: dict[str, tuple[str, Callable[[], bytes]]] = {  # of bombs, before they are packed; a .npz holds its .npy
    "bomb.npz": ("matrix", _array),
    "bomb.npy.gz": ("matrix", _array),
    "bomb-lines.csv.gz": ("matrix", lambda: b"ab,1\n" * (1 << 24)),
    "bomb-line.csv.gz": ("matrix", lambda: b"1," * (1 << 25)),
    "bomb-wide.csv.gz": ("matrix", lambda: (b"ab," + b"0," * 400 + b"0\n") * (1 << 16)),
    "bomb.mtx.gz": ("matrix", lambda: _MARKET + b"1 2 3\n" * (1 << 24)),
    "bomb.rds": ("solution", lambda: biclust_object(*tools.masks()) + bytes(1 << 27)),
    "bomb-lines.txt.gz": ("solution", lambda: tools.CASES[0][1].encode() + b"a\n" * (1 << 24)),
    "bomb.xlsx": ("matrix", lambda: _CELLS * (1 << 19)),
}


def _packed(name: str, content: bytes) -> bytes:
    if name.endswith(".xlsx"):
        return _workbook([["g", 1, 2]], content)
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


def attempt(kind: str, path: Path) -> tuple[str, float, float]:
    """Read a file; return how that ended ("value", "refused" or a class of failure), seconds of work and megabytes."""
    memory, start = _most_memory(), time.process_time()
    try:
        if kind == "matrix":
            read_matrix(path).values  # noqa: B018
        elif kind == "run":
            _read_run(path)
        else:
            read_solution(path, tools.X)
        ended = "value"
    except BivaluateError as error:
        caught = error.__cause__
        is_ours = kind == "run" or caught is None or isinstance(caught, (BivaluateError, OSError, UnicodeError))
        ended = "refused" if is_ours else f"caught at last: {type(caught).__name__}"
    except Exception as error:
        ended = type(error).__name__
    seconds = time.process_time() - start
    return ended, seconds, (_most_memory() - memory) / 1024


def _most_memory() -> int:
    """Return the most kilobytes that this process, or one that it started, has held."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _read_run(path: Path) -> None:
    run = load_run(path)
    for cell in run.cells:
        run.findings(cell)
        run.solution(cell)
        run.mergers(cell)
    for entry in run.matrices.values():
        run.matrix(entry["dataset"], entry["seed"])
    run.tables()
    repr(run.provenance)


def attempt_apart(kind: str, path: Path) -> tuple[str, float, float]:
    """Read a file in a fork: what it takes of memory is then its own."""
    end, start = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)
            signal.alarm(int(30 * SECONDS))
            os.write(start, json.dumps(attempt(kind, path)).encode())
        finally:
            os._exit(0)
    os.close(start)
    with os.fdopen(end) as stream:
        answer = stream.read()
    signalled = os.waitpid(pid, 0)[1] & 0x7F
    hung = signalled in (signal.SIGPROF, signal.SIGALRM)
    return tuple(json.loads(answer)) if answer else ("hung" if hung else "died", 0.0, 0.0)


def forked(words: list[str], *, input: bytes, **_: Any) -> subprocess.CompletedProcess[bytes]:
    """Do what the process of an untrusted file does, in a fork: starting Python takes far longer than reading."""
    request = json.loads(input)
    end, start = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            trial._limit(request["size"])
            os.environ[UNTRUSTED] = "0"
            os.write(start, json.dumps(trial._outcome(request)).encode())
        finally:
            os._exit(0)
    os.close(start)
    with os.fdopen(end, "rb") as stream:
        answer = stream.read()
    return subprocess.CompletedProcess(words, -(os.waitpid(pid, 0)[1] & 0x7F), answer)


def judged(found: tuple[str, float, float], honest: tuple[str, float, float]) -> str:
    """Return how a try ended; one that took far more than the undamaged file does is a failure."""
    ended, seconds, megabytes = found
    if ended == "refused" and seconds > SECONDS + honest[1]:
        return "time"
    return "memory" if ended == "refused" and megabytes > MEGABYTES + honest[2] else ended


def attack(minutes: float, seed: int, keep: Path | None, only: str = "*") -> dict[str, Any]:
    """Mutate and read until the time is over; return the counts."""
    rng, counts = random.Random(seed), collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = {name: seed for name, seed in seeds(folder).items() if fnmatch.fnmatch(name, only)}
        turns = {name: itertools.cycle(found) for name, found in _by_class(files).items()}
        spent = dict.fromkeys(turns, 0.0)
        honest = {name: _honest(*files[name], folder / name) for name in _by_class(files).get(BOMBS, ())}
        start = time.monotonic()
        while sum(spent.values()) < 60 * minutes:
            chosen = min(spent, key=lambda name: spent[name] / SHARES.get(name, 1))
            name = next(turns[chosen])
            kind, whole = files[name]
            path = folder / name
            if chosen == BOMBS:
                path.write_bytes(_damaged_bomb(name, whole, rng))
                ended = judged(attempt_apart(kind, path), honest[name])
            else:
                place(path, whole, rng)
                ended = judged((attempt_apart if chosen in APART else attempt)(kind, path), NOTHING)
            counts[name][ended] += 1
            if ended not in ("value", "refused") and keep is not None:
                keep.mkdir(exist_ok=True)
                kept = keep / f"{sum(counts[name].values())}-{ended.split()[-1]}-{name}"
                shutil.copytree(path, kept) if path.is_dir() else kept.write_bytes(path.read_bytes())
            spent[chosen] += -start + (start := time.monotonic())
    return {name: dict(found) for name, found in counts.items()}


def _honest(kind: str, whole: bytes, path: Path) -> tuple[str, float, float]:
    """Return what an undamaged bomb takes; nothing where it is refused."""
    path.write_bytes(whole)
    found = attempt_apart(kind, path)
    return found if found[0] == "value" else NOTHING


def _by_class(names: Iterable[str]) -> dict[str, list[str]]:
    classes: dict[str, list[str]] = {}
    for name in names:
        classes.setdefault(class_of(name), []).append(name)
    return classes


def _damaged_bomb(name: str, whole: bytes, rng: random.Random) -> bytes:
    """Return a bomb damaged in its packed bytes, or near the end of what it holds."""
    if rng.random() < 0.5:
        return _damaged(whole, rng)
    content = CONTENTS[name][1]()
    return _packed(name, content[:-1000] + _damaged(content[-1000:], rng))


def main() -> None:
    """Attack, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the files that failed")
    parser.add_argument("--only", default="*", help="a pattern of names of seed files, such as '*.h5*'")
    parser.add_argument("--untrusted", action="store_true", help="read in a process with limits")
    parser.add_argument("--record", action="store_true", help=f"add the counts to {RECORD.name}")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ[UNTRUSTED] = str(int(given.untrusted))
    names = {name: getattr(subprocess, name) for name in ("PIPE", "DEVNULL", "TimeoutExpired")}
    trial.subprocess = types.SimpleNamespace(run=forked, **names)
    for library in ("h5py", "pyarrow.parquet", "rdata", "scipy.sparse", "zarr.storage"):  # not in every fork anew
        importlib.import_module(library)
    counts = attack(given.minutes, given.seed, given.keep, given.only)
    total: collections.Counter[str] = sum(
        (collections.Counter(found) for found in counts.values()), collections.Counter()
    )
    for name, found in counts.items():
        print(f"{name:20} " + ", ".join(f"{n} {what}" for what, n in sorted(found.items())))
    classes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name, found in counts.items():
        classes[class_of(name)].update(found)
    for kind, ends in sorted(classes.items()):
        told = ", ".join(f"{n:,} {what}" for what, n in sorted(ends.items()))
        print(f"{kind}: {sum(ends.values()):,} tries, {told}")
    if given.record:
        runs = json.loads(RECORD.read_text()) if RECORD.exists() else []
        mode = "untrusted" if given.untrusted else "ordinary"
        runs.append(
            {
                "seed": given.seed,
                "mode": mode,
                "minutes": given.minutes,
                "classes": {k: dict(v) for k, v in classes.items()},
            }
        )
        RECORD.write_text(json.dumps(runs, indent=1) + "\n")
    allowed = ("value", "refused", *(() if given.untrusted else LIBRARY))
    failures = {what: n for what, n in total.items() if what not in allowed}
    print(f"{sum(total.values()):,} tries, {sum(failures.values())} failures {failures or ''}".rstrip())
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
