"""Run a command for its owner: in a process group of its own, within limits, and no longer than the owner lives.

Started by path with ``python -I``, so that it needs nothing but the standard library. Reads a request (JSON) from its
standard input, and prints how the command ended (JSON) on its standard output.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FIRST_LOOK, NEXT_LOOK = 0.005, 0.1  # seconds between looks at the command: often at first, because many end soon


def memory_of(group: int) -> int:
    """Return the bytes of memory the processes of a group hold, where the system tells (Linux)."""
    total = 0
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return total


def supervise(request: dict[str, Any]) -> dict[str, Any]:
    """Run the command and return how it ended: its code, or the limit it broke."""
    owner, start = os.getppid(), time.monotonic()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by the owner, it would be by the command
    with open(request["stdout"], "wb") as out, open(request["stderr"], "wb") as err:
        try:
            process = subprocess.Popen(
                request["command"],
                cwd=request["folder"],
                env=request["environment"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            return {"error": error.strerror or str(error)}

    def end() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def stop(*_: Any) -> None:
        end()
        sys.exit(1)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    wait = FIRST_LOOK
    broken = ""
    while process.poll() is None and not broken:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait)
        wait = min(2 * wait, NEXT_LOOK)
        if request["seconds"] is not None and time.monotonic() - start > request["seconds"]:
            broken = "seconds"
        elif request["bytes"] is not None and memory_of(process.pid) > request["bytes"]:
            broken = "bytes"
        elif os.getppid() != owner:
            stop()
    end()  # what it left running goes too
    return {"broken": broken} if broken else {"code": process.wait()}


if __name__ == "__main__":
    print(json.dumps(supervise(json.load(sys.stdin))))
