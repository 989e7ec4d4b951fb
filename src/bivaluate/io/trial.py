"""Files whose C libraries may hang, crash or take all memory are first read in a process of their own, with limits.

One helper process, ``python -m bivaluate.io.trial``, is started with the first such file and ends with this process.
It has the libraries loaded and forks a reader, which reads one file after the other, each within its limits, for as
long as they are sound, so that a trial costs milliseconds. After a file that is not, the next one gets a new reader.
What the trial refuses is never read here. Where there is no fork (Windows) files are read without a trial.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
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
GROWN = 64 << 20  # bytes; a reader that holds so many more than at first is not kept

_REFUSED, _READ, _NO_MEMORY = "refused", "read", "no memory"  # how a trial ends, if its reader does not
_SLOW = (signal.SIGXCPU, signal.SIGALRM)
_MODULES = {None: "numpy", "pyarrow": "pyarrow.parquet"}
# What reading by a package loads besides: from the second reader on the helper holds it, and none loads it again.
_ALSO = {"h5py": ("numpy.ma", "scipy.sparse")}
_HELD = threading.Lock()
_IS_HELPER = False
_helper: tuple[int, subprocess.Popen[bytes]] | None = None  # of which process
# In the helper: who reads, the connection to the owner, and the packages that some reader needed.
_reader: _Reader | None = None
_kept_open: list[int] = []
_loaded: set[str] = set()


def is_possible() -> bool:
    """Whether this system can try a file, and this process is not already the one that does."""
    return hasattr(os, "fork") and not _IS_HELPER


def check(
    source: Source, kind: str, key: str, options: dict[str, Any] | None = None, package: str | None = "h5py"
) -> str:
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
    package
        What reading it needs.

    Returns
    -------
    str
        The key of the format that was found out; "" where it was not.
    """
    if not is_possible():
        return ""
    said = {name: value for name, value in (options or {}).items() if value != getattr(Options, name)}
    answer = None if said else source.tried.get((kind, key))
    if answer is None:
        request = {"path": str(source.path.absolute()), "name": source.name, "size": source.size}
        answer = _ask({**request, "kind": kind, "key": key, "options": said, "package": _MODULES.get(package, package)})
    if recognised := answer["recognised"]:
        # what reading came to is told when it is asked for
        source.tried[kind, recognised] = {**answer, "recognised": ""}
        return str(recognised)
    if answer["signal"] in _SLOW:
        raise source.fault(f"damaged: reading it takes longer than {_seconds(source.size)} s of work.")
    if answer["signal"]:
        raise source.fault(f"damaged: its library ended by signal {answer['signal']} on reading it.")
    if not answer["end"]:
        raise source.fault("damaged: its library ended the process on reading it.")
    if answer["end"] == _NO_MEMORY:
        limit = (MEMORY + MEMORY_PER_BYTE * source.size) >> 20
        raise source.fault(f"damaged: {source.size:,} bytes that take more than {limit:,} MB of memory to read.")
    if answer["error"]:
        raise FormatError(answer["error"])
    return ""


def _seconds(size: int) -> int:
    return SECONDS + size // BYTES_A_SECOND


def _ask(request: dict[str, Any]) -> dict[str, Any]:
    with _HELD:
        for _ in range(2):  # a helper that somebody ended is started again
            process = _started()
            assert process.stdin is not None
            assert process.stdout is not None
            answer = b""
            try:
                with contextlib.suppress(OSError):
                    process.stdin.write(json.dumps(request).encode() + b"\n")
                    process.stdin.flush()
                    _load(request["package"])  # here too, while the helper does
                    answer = process.stdout.readline()
            finally:
                # without an answer it is gone, or this was interrupted: what it says later is not about the next file
                if not answer:
                    _end()
            if answer:
                return dict(json.loads(answer))
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
    _kept_open[:] = (sys.stdin.fileno(), replies.fileno())
    for line in sys.stdin.buffer:
        replies.write(json.dumps(_tried(json.loads(line))).encode() + b"\n")
        replies.flush()


def _tried(request: dict[str, Any]) -> dict[str, Any]:
    """Let a reader read a file and return how that ended."""
    global _reader
    from bivaluate.io.formats import matrix_formats, solution_formats

    (matrix_formats if request["kind"] == "matrix" else solution_formats)()  # loaded here, not in every reader
    package = request["package"]
    while True:
        is_used = _reader is not None and _reader.package == package
        if _reader is None or not is_used:
            if _reader is not None:
                _reader.end()
            _reader = _Reader(package)
        answer = _reader.read(request)
        if answer["stays"]:
            return answer
        answer["signal"] = _reader.end()
        _reader = None
        if answer["end"] or answer["signal"] in _SLOW or not is_used:
            return answer
        # What it died of may be what an earlier file left behind: a new reader tells.


def _load(package: str) -> None:
    with contextlib.suppress(ImportError):
        importlib.import_module(package)


class _Reader:
    """A fork of the helper that reads files for as long as they are sound."""

    def __init__(self, package: str) -> None:
        self.package = package
        for name in (package, *(_ALSO.get(package, ()) if package in _loaded else ())):
            _load(name)
        _loaded.add(package)
        asked, answered = os.pipe(), os.pipe()
        gc.freeze()  # what is held already is not looked through, and so not copied, in the fork
        self._pid = os.fork()
        if self._pid == 0:
            try:
                for end in (asked[1], answered[0], *_kept_open):
                    os.close(end)
                _serve(asked[0], answered[1])
            finally:
                os._exit(0)
        os.close(asked[0])
        os.close(answered[1])
        self._requests, self._answers = os.fdopen(asked[1], "wb"), os.fdopen(answered[0], "rb")

    def read(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what a file was recognised as, if that was asked, and how reading it ended."""
        answer = {"recognised": "", "signal": 0, "end": "", "error": "", "stays": False}
        with contextlib.suppress(OSError):
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
            while not answer["end"] and (line := self._answers.readline()):
                answer |= json.loads(line)
        return answer

    def end(self) -> int:
        """Close the connection, on which the reader ends if it has not yet; return the signal it ended by, or 0."""
        for stream in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                stream.close()
        status = os.waitpid(self._pid, 0)[1]
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _serve(requests: int, answers: int) -> None:
    """Read files, each within its limits, until one is refused, or memory was kept, or the helper asks no more."""
    import resource

    def tell(**answer: str | bool) -> None:
        os.write(answers, json.dumps(answer).encode() + b"\n")

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    at_first = _held()[1]
    for line in os.fdopen(requests, "rb"):
        request = json.loads(line)
        signal.alarm(ASLEEP)
        _limit(resource.RLIMIT_CPU, int(time.process_time()) + _seconds(request["size"]))
        if held := _held()[0]:
            _limit(resource.RLIMIT_AS, held + MEMORY + MEMORY_PER_BYTE * request["size"])
        end, error = _read(request, tell)
        gc.collect()  # closes the file
        gc.freeze()  # modules that were loaded for it are not looked through with the next
        signal.alarm(0)
        stays = end == _READ and _held()[1] <= at_first + GROWN
        tell(end=end, error=error, stays=stays)
        if not stays:
            return


def _limit(which: int, most: int) -> None:
    """Limit what this process takes; a limit that was set for it from outside stays."""
    import resource

    outside = resource.getrlimit(which)[1]
    resource.setrlimit(which, (most if outside == resource.RLIM_INFINITY else min(most, outside), outside))


def _held() -> tuple[int, int]:
    """Return the bytes of addresses and of memory that this process holds; 0 on systems that, unlike Linux, hide it."""
    try:
        addresses, memory = Path("/proc/self/statm").read_text().split()[:2]
    except OSError:
        return 0, 0
    return int(addresses) * os.sysconf("SC_PAGE_SIZE"), int(memory) * os.sysconf("SC_PAGE_SIZE")


def _read(request: dict[str, Any], tell: Callable[..., None]) -> tuple[str, str]:
    """Read the file as its owner will; return how it ended, and what it is refused for."""
    from bivaluate.io.formats import reader, recognise

    source = Source(request["path"])
    source.name = request["name"]
    try:
        if request["key"]:
            record = reader(request["kind"], source, request["key"])
        elif (recognised := recognise(request["kind"], source)) is not None:
            record = recognised
            tell(recognised=record.key)
        else:
            return _REFUSED, ""
        found = record.load(source, Options(**request["options"]))
        if request["kind"] == "matrix":
            _probe(found.source)
        return _READ, ""
    except ParameterError:
        return _REFUSED, ""  # a question to the caller: asked again in words of the caller's
    except Exception as error:
        if isinstance(error.__cause__, MemoryError) or ("memory" in str(error).lower() and "alloc" in str(error)):
            return _NO_MEMORY, ""
        text = str(error) if isinstance(error, BivaluateError) else f"{source.name}: damaged ({first_line(error)})."
        return _REFUSED, text.encode("utf-8", "replace")[:4000].decode("utf-8", "ignore")


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
