"""A worker process: performs tasks one after another, one thread each, until its owner is gone.

Started as ``python -m bivaluate.sweep.worker``; speaks over standard input and output with
:mod:`bivaluate.sweep.child`.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
from collections import OrderedDict
from typing import IO, Any

from bivaluate.matrix import Matrix

KEPT_BYTES = 1_000_000_000
HEADER = struct.Struct("<Q")


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message."""
    data = pickle.dumps(message, protocol=5)
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message; EOFError when the other side is gone."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError
    (length,) = HEADER.unpack(header)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


class Matrices:
    """Matrices this process has seen, the oldest forgotten first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, Matrix] = OrderedDict()

    def get(self, key: Any) -> Matrix | None:
        """Return a matrix if it is still here."""
        return self._kept.get(key)

    def put(self, key: Any, matrix: Matrix) -> None:
        """Keep a matrix."""
        self._kept[key] = matrix
        while len(self._kept) > 1 and sum(m.values.nbytes for m in self._kept.values()) > KEPT_BYTES:
            self._kept.popitem(last=False)


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer tasks until the owner closes the connection; the first reply says that all is loaded."""
    import bivaluate.algorithms.registry
    import bivaluate.evaluation  # noqa: F401
    from bivaluate.sweep.work import perform

    matrices = Matrices()
    send(replies, "ready")
    while True:
        try:
            run_key, task = receive(requests)
        except EOFError:
            return
        key = (run_key, task.matrix_key)
        matrix = matrices.get(key)
        send(replies, matrix is None)
        if matrix is None:
            matrix = receive(requests)
            matrices.put(key, matrix)
        send(replies, perform(task, matrix))


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    """Serve on standard input and output; what algorithms print goes nowhere near them."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    sys.path[:] = receive(requests)
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    serve(requests, replies)


if __name__ == "__main__":
    main()
