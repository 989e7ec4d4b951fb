"""The run folder on disk: where things lie, who may write, and the matrices of the run."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from bivaluate._errors import FileError, RunError
from bivaluate._files import atomic_path, disk_error, encoded, write_whole
from bivaluate.matrix import Matrix

JOURNAL = "journal.sqlite"
LOCK = ".lock"
PLAN = "plan.toml"
PROVENANCE = "provenance.json"
MATRICES = "matrices"
SOLUTIONS = "solutions"
TABLES = ("results.csv", "biclusters.csv", "times.csv", "variants.csv", "null.csv")
LARGEST_COPY = 200_000_000  # bytes; a larger matrix is kept as a checked reference


def is_own(path: Path) -> bool:
    """Whether a path within a run folder is part of the run, and not what somebody put there."""
    return path.parts[0] in (MATRICES, SOLUTIONS) or path.name in (JOURNAL, LOCK, PLAN, PROVENANCE, *TABLES)


def prepare_folder(folder: Path) -> None:
    """Make the folder, or check that an existing one is empty or a run folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = {entry.name for entry in folder.iterdir()}
        if present and LOCK not in present and JOURNAL not in present:
            held = f"{folder} is not empty and is not a run folder (it holds {min(present)!r})"
            raise RunError(f"{held}. Choose another folder.")
        (folder / MATRICES).mkdir(exist_ok=True)
    except FileExistsError:
        raise FileError(f"{folder} is a file, and a folder is needed.") from None
    except OSError as error:
        raise disk_error(folder, error) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; the operating system frees it however the process ends."""
    try:
        file = open(folder / LOCK, "a+b")  # noqa: SIM115 -- closed below, after the lock
    except OSError as error:
        raise disk_error(folder, error) from error
    with file:
        if not _try_lock(file):
            raise RunError(f"another process is working on {folder}. Wait until it ends, or choose another folder.")
        yield


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def file_name(text: str) -> str:
    """Return `text` as part of a file name, the same on every system; different texts never meet.

    >>> file_name("yeast:04_elutriation")
    'yeast_04_elutriation'
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._") or "x"
    if plain.lower() == text.replace(":", "_", 1).lower() and len(plain) <= 100:
        return plain
    return f"{plain[:80]}-{hashlib.sha256(encoded(text)).hexdigest()[:8]}"


def stored_bytes(matrix: Matrix) -> int:
    """Return how many bytes the cells take as they are: all of them, or those a sparse matrix stores."""
    n, m = matrix.shape
    if not matrix.sparse:
        return 8 * n * m
    return sum(12 * matrix.source.rows(start, stop).nnz for start, stop in matrix.chunks())


def checksum(matrix: Matrix) -> str:
    """Return the SHA-256 of shape, values and labels; of a large sparse matrix, of the cells it stores."""
    n, m = matrix.shape
    digest = hashlib.sha256(repr(matrix.shape).encode())
    for start, stop in matrix.chunks():
        cells = matrix.checked(matrix.source.rows(start, stop), "omit", start)
        if matrix.sparse and 8 * n * m > LARGEST_COPY:
            digest.update(matrix.absent.encode())
            for part in (cells.indptr.astype(np.int64), cells.indices.astype(np.int64), cells.data):
                digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(np.ascontiguousarray(matrix.dense(cells)).data)
    digest.update(json.dumps([matrix.row_labels, matrix.col_labels]).encode())
    return digest.hexdigest()


def store_matrix(folder: Path, dataset: str, seed: int | None, matrix: Matrix, source: str) -> str:
    """Keep a compressed copy, or a reference to `source` if it is large; return the file's name."""
    name = file_name(dataset) + ("" if seed is None else f"-seed{seed}")
    if stored_bytes(matrix) > LARGEST_COPY and Path(source).is_file():
        content = {"path": str(Path(source).resolve()), "checksum": checksum(matrix)}
        write_whole(folder / MATRICES / f"{name}.json", json.dumps(content, indent=1) + "\n")
        return f"{name}.json"
    with atomic_path(folder / MATRICES / f"{name}.npz") as temporary:
        rows, cols = _encode(matrix.row_labels), _encode(matrix.col_labels)
        if matrix.sparse:
            cells = matrix.checked(matrix.source.rows(0, matrix.shape[0]), "omit")
            parts = {"data": cells.data, "indices": cells.indices, "indptr": cells.indptr}
            parts |= {"shape": np.array(matrix.shape), "absent": _encode((matrix.absent,))}
        else:
            parts = {"values": matrix.values}
        _save(temporary, **parts, rows=rows, cols=cols, nouns=_encode(matrix.nouns))
    return f"{name}.npz"


def _save(path: Path, **arrays: Any) -> None:
    """Do what `np.savez_compressed` does, packed less: rounded numbers take a fifth of its time, others nine tenths."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)


def restore_matrix(folder: Path, entry: dict[str, Any], read: dict[str, Any]) -> Matrix:
    """Read a matrix of the run back; a referenced file is read with the plan's `read` options and checked."""
    path = folder / MATRICES / entry["file"]
    try:
        if path.suffix == ".npz":
            from bivaluate.io.matrices.numpy_files import matrix_of_run
            from bivaluate.io.source import Source

            path.open("rb").close()
            if (found := matrix_of_run(Source(path), (entry["n_rows"], entry["n_cols"]))) is None:
                raise ValueError("labels are not a list of texts")
            return found.renamed(entry["dataset"])
        reference = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(reference, dict) or not {"path", "checksum"} <= reference.keys():
            raise ValueError("a path and a checksum are needed")
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}.") from error
    except Exception as error:  # zipfile, zlib and NumPy each have their own words for damage
        raise RunError(f"{path} is damaged ({error}). Start a new run folder.") from error
    from bivaluate.io import read_matrix

    matrix = read_matrix(reference["path"], **read).renamed(entry["dataset"])
    if checksum(matrix) != reference["checksum"]:
        raise RunError(f"{reference['path']} has changed since the run in {folder} was made.")
    return matrix


def _encode(labels: tuple[str, ...] | None) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(json.dumps(labels).encode(), dtype=np.uint8)


def solution_path(folder: Path, dataset: str, algorithm: str, k: int, seed: int) -> Path:
    """Return where the solution of a cell is exported."""
    return folder / SOLUTIONS / file_name(dataset) / f"{file_name(algorithm)}-k{k}-seed{seed}.json"
