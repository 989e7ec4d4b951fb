"""Files whose C libraries may hang, crash or take all memory are first read in a process of their own, with limits.

One helper process, ``python -m bivaluate.io.trial``, is started with the first such file and ends with this process.
It has the libraries loaded and forks for every file, so that a trial costs milliseconds. What the trial refuses is
never read here. Where there is no fork (Windows) files are read without a trial.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from bivaluate._errors import BivaluateError, FormatError, ParameterError
from bivaluate.io.formats import Options
from bivaluate.io.source import Source, first_line

SECONDS = 10  # of processor time, and one more for every `BYTES_A_SECOND`
BYTES_A_SECOND = 20_000_000
MEMORY = 512 << 20  # bytes above what the helper holds, and `MEMORY_PER_BYTE` for every byte of the file
MEMORY_PER_BYTE = 8
ASLEEP = 600  # seconds; a reader that waits for something, and does not work, is ended too

_NO_MEMORY, _READ = 70, 71  # exit codes of a trial
_RECOGNISED = (
    "recognised as "  # what a trial answers that was to find out the format; how reading went on is asked again
)
# What reading by a package loads besides: from the second file on the helper holds it, and no trial loads it again.
_ALSO = {"h5py": ("numpy.ma", "scipy.sparse"), "pyarrow.parquet": ("pandas",)}
_TRIED: set[str] = set()  # the packages that some trial in this helper needed
_HELD = threading.Lock()
_IS_HELPER = False
_helper: tuple[int, subprocess.Popen[bytes]] | None = None  # of which process


def is_possible() -> bool:
    """Whether this system can try a file, and this process is not already the one that does."""
    return hasattr(os, "fork") and not _IS_HELPER


def check(source: Source, kind: str, key: str, options: dict[str, Any] | None = None) -> None:
    """Read a file in the helper; raise what it raised, or what it died of.

    Parameters
    ----------
    source
        The file.
    kind
        "matrix" or "solution".
    key
        The format to read it in; "" to find out which it is, and to read it so, which another call need not do again.
    options
        What the caller said about the file.
    """
    said = {name: value for name, value in (options or {}).items() if value != getattr(Options, name)}
    if not is_possible() or (source.tried == (kind, key) and not said):
        return
    request = {"path": str(source.path.absolute()), "name": source.name, "kind": kind, "key": key, "size": source.size}
    answer = _ask({**request, "options": said})
    if answer["error"].startswith(_RECOGNISED):
        source.tried = (kind, answer["error"].removeprefix(_RECOGNISED)) if answer["code"] == _READ else None
        return
    if answer["signal"] in (signal.SIGXCPU, signal.SIGALRM):
        raise source.fault(f"damaged: reading it takes longer than {_seconds(source.size)} s of work.")
    if answer["signal"]:
        raise source.fault(f"damaged: its library ended by signal {answer['signal']} on reading it.")
    if answer["code"] == _NO_MEMORY:
        limit = (MEMORY + MEMORY_PER_BYTE * source.size) >> 20
        raise source.fault(f"damaged: {source.size:,} bytes that take more than {limit:,} MB of memory to read.")
    if answer["error"]:
        raise FormatError(answer["error"])


def _seconds(size: int) -> int:
    return SECONDS + size // BYTES_A_SECOND


def _ask(request: dict[str, Any]) -> dict[str, Any]:
    with _HELD:
        for _ in range(2):  # a helper that somebody ended is started again
            process = _started()
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError):
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                if answer := process.stdout.readline():
                    return dict(json.loads(answer))
            _end()
    raise FormatError(f"{request['name']} cannot be tried: the helper process does not stay alive.")


def _started() -> subprocess.Popen[bytes]:
    global _helper
    if _helper is not None and _helper[0] != os.getpid():
        _helper = None  # of the process this one was forked from
    if _helper is None:
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        # pyarrow's own allocator reserves a gigabyte of addresses, which the limit would count
        one_thread["ARROW_DEFAULT_MEMORY_POOL"] = "system"
        _helper = (
            os.getpid(),
            subprocess.Popen(
                [sys.executable, "-m", "bivaluate.io.trial"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **one_thread, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is for its owner
            ),
        )
        atexit.register(_end)
    return _helper[1]


def _end() -> None:
    global _helper
    atexit.unregister(_end)
    if _helper is not None and _helper[0] == os.getpid():
        process = _helper[1]
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
    _helper = None


def main() -> None:
    """Serve as the helper until the owner closes the connection."""
    global _IS_HELPER
    _IS_HELPER = True
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print do not disturb the answers
    for line in sys.stdin.buffer:
        replies.write(json.dumps(_tried(json.loads(line))).encode() + b"\n")
        replies.flush()


def _tried(request: dict[str, Any]) -> dict[str, Any]:
    """Read a file in a fork with limits and return how that ended."""
    from bivaluate.io.formats import matrix_formats, solution_formats

    records: dict[str, Any] = {**(matrix_formats() if request["kind"] == "matrix" else solution_formats())}
    needed = records[request["key"]].needs or "numpy" if request["key"] else "h5py"
    package = "pyarrow.parquet" if needed == "pyarrow" else needed
    for name in (package, *(_ALSO.get(package, ()) if package in _TRIED else ())):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    _TRIED.add(package)
    end, start = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(end)
            _limit(request["size"])
            code = _read(request, start)
        finally:
            os._exit(code)
    os.close(start)
    with os.fdopen(end, "rb") as stream:
        error = stream.read().decode("utf-8", "replace")
    status = os.waitpid(pid, 0)[1]
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return {"signal": ended, "code": os.WEXITSTATUS(status) if not ended else 0, "error": error}


def _limit(size: int) -> None:
    import resource

    signal.alarm(ASLEEP)
    resource.setrlimit(resource.RLIMIT_CPU, (_seconds(size), _seconds(size) + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # Linux tells, and keeps, the size of a process
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = held + MEMORY + MEMORY_PER_BYTE * size
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _read(request: dict[str, Any], pipe: int) -> int:
    """Read the file as its owner will; write what it is refused for to the pipe."""
    from bivaluate.io.formats import reader, recognise

    source = Source(request["path"])
    source.name = request["name"]
    try:
        if request["key"]:
            record = reader(request["kind"], source, request["key"])
        elif (recognised := recognise(request["kind"], source)) is not None:
            record = recognised
            os.write(pipe, f"{_RECOGNISED}{record.key}".encode())
        else:
            return 0
        found = record.load(source, Options(**request["options"]))
        if request["kind"] == "matrix":
            _probe(found.source)
        return _READ
    except ParameterError:
        pass  # a question to the caller: asked again in words of the caller's
    except Exception as error:
        if isinstance(error.__cause__, MemoryError) or ("memory" in str(error).lower() and "alloc" in str(error)):
            return _NO_MEMORY
        text = str(error) if isinstance(error, BivaluateError) else f"{source.name}: damaged ({first_line(error)})."
        os.write(pipe, text.encode("utf-8", "replace")[:4000])
    return 0


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
    from bivaluate.io import trial  # the module readers see, not this one

    trial.main()
