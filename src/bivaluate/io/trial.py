"""A file of strangers, read first in a process with limits of time and memory: ``python -P -m bivaluate.io.trial``.

Its C library may hang, crash or take all memory there. What does not end well is never read here. The process reads one
file and ends, with this one at the latest. Where a system sets no limits (Windows), only time is limited.
"""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate import _errors
from bivaluate._errors import BivaluateError, FileError, FormatError, MissingExtraError, ParameterError
from bivaluate._files import FilePath
from bivaluate.io.formats import UNTRUSTED, first_line
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix

SECONDS = 10  # of processor time, and one more for every `BYTES_A_SECOND`
BYTES_A_SECOND = 20_000_000
MEMORY = 512 << 20  # bytes above what the libraries take, and `MEMORY_PER_BYTE` for every byte of the file
MEMORY_PER_BYTE = 8
ASLEEP = 600  # seconds; a process that waits for something, and does not work, is ended too

_SLOW = (signal.SIGXCPU, signal.SIGALRM) if hasattr(signal, "SIGXCPU") else ()
# Libraries that are loaded before memory is limited, by how a file begins.
_LIBRARIES = {
    b"\x89HDF": ("h5py", "numpy.ma", "scipy.sparse"),
    b"PAR1": ("pyarrow.parquet",),
    b"PK\x03\x04": ("openpyxl", "scipy.sparse"),
}


def check(kind: str, path: FilePath, options: dict[str, Any], X: Matrix | None = None) -> None:
    """Read a file in a process of its own; raise what that raised, or what it died of."""
    source = Source(path)
    size = sum(file.stat().st_size for file in source.path.rglob("*")) if source.is_folder else source.size
    known = None if X is None else [X.shape, X.row_labels, X.col_labels]
    request = {"kind": kind, "path": os.path.abspath(path), "name": source.name, "size": size, "options": options}
    asked = json.dumps({**request, "X": known, "parent": os.getpid()}).encode()
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    here = {UNTRUSTED: "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # pyarrow's own allocator reserves a gigabyte of addresses, which the limit would count
    environment = {**os.environ, **one_thread, **here, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "env": environment}
    command = [sys.executable, "-P", "-m", "bivaluate.io.trial"]
    answer: dict[str, Any] = {}
    signalled = 0
    try:
        done = subprocess.run(command, input=asked, timeout=ASLEEP, check=False, **streams)
        signalled = -done.returncode
        with contextlib.suppress(ValueError):
            answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        signalled = _SLOW[0] if _SLOW else 0
    if signalled > 0 and signalled in _SLOW:
        raise source.fault(f"damaged: reading it takes longer than {_seconds(size)} s of work.")
    if signalled > 0 or not answer:
        how = f"by signal {signalled}" if signalled > 0 else "the process"
        raise source.fault(f"damaged: its library ended {how} on reading it.")
    if answer["error"] == "MemoryError":
        limit = (MEMORY + MEMORY_PER_BYTE * size) >> 20
        raise source.fault(f"damaged: {size:,} bytes that take more than {limit:,} MB of memory to read.")
    if answer["error"]:
        raise getattr(_errors, answer["error"], FormatError)(answer["text"])


def _seconds(size: int) -> int:
    return SECONDS + size // BYTES_A_SECOND


def main() -> None:
    """Read the file named on standard input and say how that ended."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print do not disturb the answer
    request = json.load(sys.stdin.buffer)
    _end_with(request["parent"])
    _load_libraries(Path(request["path"]))
    _limit(request["size"])
    replies.write(json.dumps(_outcome(request)).encode())
    replies.flush()
    os._exit(0)


def _end_with(parent: int) -> None:
    """End this process when the one that waits for it ends, even while a library hangs."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.name == "posix" and os.getppid() != parent:
        os._exit(1)


def _load_libraries(path: Path) -> None:
    if path.is_file():
        with path.open("rb") as stream:
            names = _LIBRARIES.get(stream.read(4), ("rdata",) if path.suffix == ".rds" else ())
    else:
        names = ("zarr", "scipy.sparse")
    for name in ("bivaluate.io.matrices", "bivaluate.io.solutions", *names):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _limit(size: int) -> None:
    """Limit time and memory of this process; a limit that was set for it from outside stays."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    held = _held()
    most = {resource.RLIMIT_CPU: int(time.process_time()) + 1 + _seconds(size)}
    if held:
        most[resource.RLIMIT_AS] = held + MEMORY + MEMORY_PER_BYTE * size
    for which, limit in most.items():
        outside = resource.getrlimit(which)[1]
        resource.setrlimit(which, (limit if outside == resource.RLIM_INFINITY else min(limit, outside), outside))


def _held() -> int:
    """Return the bytes of addresses that this process holds; 0 on systems that, unlike Linux, hide it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _outcome(request: dict[str, Any]) -> dict[str, str]:
    """Read the file as its owner will; return what it is refused for."""
    try:
        _read(request)
    except (ParameterError, MissingExtraError, FileError):
        pass  # for the owner to raise, in words of the caller's
    except Exception as error:
        is_full = "memory" in str(error).lower() and "alloc" in str(error)
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError) or is_full:
            return {"error": "MemoryError", "text": ""}
        ours = isinstance(error, BivaluateError)
        text = str(error) if ours else f"{request['name']}: damaged ({first_line(error)})."
        text = text.replace(request["path"], request["name"])[:1000].encode("utf-8", "replace").decode()
        return {"error": type(error).__name__ if ours else "FormatError", "text": text}
    return {"error": "", "text": ""}


def _read(request: dict[str, Any]) -> None:
    from bivaluate.io.matrices import read_matrix
    from bivaluate.io.solutions import read_members

    if request["kind"] == "matrix":
        _probe(read_matrix(request["path"], **request["options"]).source)
        return
    matrix = None
    if request["X"] is not None:
        shape, rows, cols = request["X"]
        matrix = Matrix(np.broadcast_to(0.0, shape), rows and tuple(rows), cols and tuple(cols))
    read_members(request["path"], matrix, **request["options"])


def _probe(cells: Any) -> None:
    """Read a row of what stays in the file, by the side it is stored by, or as much of it as the source says."""
    if hasattr(cells, "probe"):
        cells.probe()
        return
    if hasattr(cells, "transposed") and (getattr(cells, "turned", False) or hasattr(cells, "converted_from")):
        cells = cells.transposed()
    if cells.shape[0]:
        cells.rows(0, 1)
        if hasattr(cells, "store"):
            cells.rows(cells.shape[0] - 1, cells.shape[0])


if __name__ == "__main__":
    main()
