"""Public programs for binary, qualitative, conserved and ordered patterns, each run in a process of its own.

biclustlib 0.0.13 (GPL) brings BiBit and xMOTIFs in Python, the authors' QUBIC 1.0 and an OPSM in Java; BiFuncLib 1.1.8
(MIT) brings Bimax. Nothing of them is copied or imported by the product. Seconds are those of the processor, so that other
work on the machine does not count.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
import types
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peer import Result, matrix

WRAPPERS = "biclustlib/algorithms/wrappers"


def fetch_bimax(folder: Path) -> Path:
    """Download and unpack BiFuncLib, without the many packages it asks for and Bimax does not need."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "download", "--no-deps", "--only-binary=:all:", "--dest", str(folder), "BiFuncLib==1.1.8"]
    subprocess.run(command, check=True)
    with zipfile.ZipFile(
        next(path for path in folder.glob("*.whl") if path.name.lower().startswith("bifunclib"))
    ) as wheel:
        wheel.extractall(folder / "bifunclib")
    return folder / "bifunclib"


def ones(shape: str, density: float) -> np.ndarray:
    """Return zeros and ones with one planted block."""
    n, m = map(int, shape.split("x"))
    X = np.random.default_rng(0).random((n, m)) < density
    X[: n // 5, : m // 4] = True
    return X


def levels(shape: str, n_levels: int) -> np.ndarray:
    """Return whole numbers with one planted motif over three quarters of the columns."""
    n, m = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_levels, (n, m))
    X[: n // 8, : 3 * m // 4] = rng.integers(0, n_levels, (n // 8, 1))
    return X


def _biclustlib(peer: str) -> Any:
    sys.path.insert(0, peer)
    warnings.simplefilter("ignore")
    setattr(np, "int", int)  # noqa: B010 - a name NumPy has taken out
    import biclustlib.algorithms

    return biclustlib.algorithms


def bibit(peer: str, shape: str, density: float, min_rows: int, min_columns: int) -> Result:
    """Return the seconds and the biclusters."""
    X = ones(shape, density)
    model = _biclustlib(peer).BitPatternBiclusteringAlgorithm(min_rows, min_columns)
    start = time.process_time()
    found = model.run(X).biclusters
    seconds = time.process_time() - start
    return {"seconds": seconds, "biclusters": [[sorted(map(int, b.rows)), sorted(map(int, b.cols))] for b in found]}


def xmotifs(peer: str, shape: str, n_levels: int, n_sets: int) -> Result:
    """Return the seconds for one motif, and its rows and columns."""
    X = levels(shape, n_levels)
    model = _biclustlib(peer).ConservedGeneExpressionMotifs(1, num_sets=n_sets)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the peer draws from the global generators
    start = time.process_time()
    found = model.run(X).biclusters[0]
    return {"seconds": time.process_time() - start, "shape": [len(found.rows), len(found.cols)]}


def bimax(folder: str, shape: str, density: float) -> Result:
    """Return the seconds and the biclusters."""
    package = types.ModuleType("BiFuncLib")  # its own start would import torch
    package.__path__ = [str(Path(folder) / "BiFuncLib")]
    sys.modules["BiFuncLib"] = package
    from BiFuncLib.bimax_biclus import bimax_biclus

    X = ones(shape, density).astype(int)
    start = time.process_time()
    found = bimax_biclus(X, 2, 2, 10**6)
    seconds = time.process_time() - start
    rows, cols = np.asarray(found.RowxNumber, bool).T, np.asarray(found.NumberxCol, bool)
    pairs = [[np.flatnonzero(r).tolist(), np.flatnonzero(c).tolist()] for r, c in zip(rows, cols, strict=True)]
    return {"seconds": seconds, "biclusters": pairs}


def _clock(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _written(folder: Path, X: np.ndarray) -> Path:
    """Write a matrix as QUBIC takes it."""
    lines = ["\t".join(["o", *(f"c{j}" for j in range(X.shape[1]))])]
    lines += ["\t".join([f"g{i}", *map(repr, row)]) for i, row in enumerate(X.tolist())]
    path = folder / "data.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def qubic(peer: str, name: str, n_biclusters: int) -> Result:
    """Return the seconds, less those it takes to start, and the biclusters."""
    program = Path(peer) / WRAPPERS / "bin/qubic/qubic"
    program.chmod(0o755)
    with tempfile.TemporaryDirectory() as temporary:
        small = _written(Path(temporary), np.arange(24.0).reshape(6, 4) % 5)
        started = min(_clock([str(program), "-i", str(small), "-o", "1"]) for _ in range(3))
        path = _written(Path(temporary), matrix(peer, name))
        seconds = _clock([str(program), "-i", str(path), "-o", str(n_biclusters)])
        blocks = Path(f"{path}.blocks").read_text().splitlines()
    lines = [line.split(":")[1].split() for line in blocks if line.startswith((" Genes", " Conds"))]
    numbers = [sorted(int(word[1:]) for word in line) for line in lines]
    return {"seconds": max(seconds - started, 1e-4), "biclusters": list(zip(numbers[::2], numbers[1::2], strict=True))}


def opsm(peer: str, name: str, n_models: int) -> Result:
    """Return the seconds, less those Java takes to start, and (rows, ordered columns) of every model."""
    program = ["java", "-jar", str(Path(peer) / WRAPPERS / "jar/opsm/OPSM.jar")]
    with tempfile.TemporaryDirectory() as temporary:
        out, path = f"{temporary}/out", f"{temporary}/data.txt"

        def run(X: np.ndarray) -> float:
            np.savetxt(path, X, fmt="%.17g")
            return _clock([*program, path, str(X.shape[0]), str(X.shape[1]), out, str(n_models)])

        started = min(run(np.arange(12.0).reshape(4, 3)) for _ in range(3))
        seconds = run(matrix(peer, name))
        lines = [list(map(int, line.split())) for line in Path(out).read_text().splitlines() if line.strip()]
    return {"seconds": max(seconds - started, 1e-4), "models": list(zip(lines[::2], lines[1::2], strict=True))}
