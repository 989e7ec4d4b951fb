"""The first answer of a fresh installation: CPU seconds of commands with an empty folder of numba's, and of their second call.

The first call compiles what it needs, and its line says so.

python -m benchmarks.bench_start
python -m benchmarks.bench_start --warm     what is left to compile after `bivaluate doctor --warm`
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import Comparison, print_table, seconds
from bivaluate import Biclustering, Matrix, write_matrix

MOST = 2.5  # times the second call


def commands(folder: Path) -> dict[str, list[str]]:
    """Write what they need and return the commands by name."""
    rng = np.random.default_rng(0)
    for name, shape, K, r, c in (("large", (3000, 170), 10, 200, 20), ("small", (300, 40), 4, 41, 10)):
        X = rng.normal(size=shape)
        write_matrix(Matrix.of(X), folder / f"{name}.csv")
        pairs = [(rng.permutation(shape[0])[:r], rng.permutation(shape[1])[:c]) for _ in range(K)]
        Biclustering(pairs, shape).to_json(folder / f"{name}.json")
    plan = ["sweep", "scenario:S1", "--algorithms", "cca,las,spectral", "-k", "2,3", "--out", "run"]
    return {
        "score, 3000x170": ["score", "large.csv", "large.json"],
        "run las, 300x40": ["run", "small.csv", "--algorithm", "las", "-k", "4", "--out", "las.json"],
        "run cca, 300x40": ["run", "small.csv", "--algorithm", "cca", "-k", "4", "--out", "cca.json"],
        "find, 300x40": ["find", "small.csv", "--out", "found.json"],
        "a small sweep": plan,
    }


def spent(command: list[str], folder: Path, cache: Path) -> tuple[float, float, bool]:
    """Return CPU and wall seconds of one call, and whether it compiled anything."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    called = subprocess.run(
        [sys.executable, "-m", "bivaluate", *command],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    if called.returncode:
        raise RuntimeError(f"{command} failed:\n{called.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - start, "compiling kernels" in called.stderr


def main() -> list[Comparison]:
    """Print first and second calls."""
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, command in commands(folder).items():
            cache = folder / f"cache of {name}"
            first, second = (spent(_into(command, place), folder, cache) for place in ("first", "second"))
            note = f"first {seconds(first[1])}, second {seconds(second[1])} of wall time{', compiling' if first[2] else ''}"
            lines.append(Comparison(f"first call, {name}", "second call (CPU)", second[0], first[0], 1 / MOST, 1, note))
    return print_table("first answers of a fresh installation", lines)


def after_doctor() -> None:
    """Print how long `doctor --warm` takes with nothing compiled, and which commands still compile after it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        every, cache = commands(folder), folder / "cache"
        print(f"doctor --warm: {seconds(spent(['doctor', '--warm'], folder, cache)[1])}")
        compiled = [name for name, command in every.items() if spent(_into(command, "warm"), folder, cache)[2]]
        print(f"compiling still after it: {', '.join(compiled) or 'nothing'}")


def _into(command: list[str], place: str) -> list[str]:
    """Return a command that writes into a place of its own."""
    return [f"{place}-{word}" if last == "--out" else word for last, word in zip(["", *command], command, strict=False)]


if __name__ == "__main__":
    if "--warm" in sys.argv:
        after_doctor()
    else:
        main()
