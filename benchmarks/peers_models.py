"""Peers of the model-based algorithms, fetched from PyPI and run in processes of their own.

biclustlib 0.0.13 (GPL) has a plaid model, BiFuncLib 1.1.8 (MIT) sparse SVD, clustering-geodata-cubes 0.8.0 (Apache-2)
Bregman block averages. Nothing of them is copied or imported by the product.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import time
import types
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

Result = dict[str, Any]
WHEELS = ("biclustlib==0.0.13", "BiFuncLib==1.1.8", "clustering-geodata-cubes==0.8.0")


def fetch(folder: Path) -> Path:
    """Download and unpack the wheels and the one compiled module they need; return where they are."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wanted = ["--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "download", *wanted, "--dest", folder, *WHEELS], check=True)
    subprocess.run([*pip, "install", *wanted, "--target", folder / "peers", "bottleneck"], check=True)
    for file in folder.glob("*.whl"):
        with zipfile.ZipFile(file) as wheel:
            wheel.extractall(folder / "peers")
    return folder / "peers"


def layered(shape: list[int], n_blocks: int, kind: str, seed: int) -> np.ndarray:
    """Return noise with planted blocks: ``"raised"``, ``"additive"`` or ``"scaled"`` (rows times columns)."""
    rng = np.random.default_rng(seed)
    n, m = shape
    X = rng.normal(size=shape)
    for _ in range(n_blocks):
        rows, cols = rng.choice(n, n // 10, replace=False), rng.choice(m, m // 4, replace=False)
        block = {
            "raised": np.full((len(rows), len(cols)), 4.0),
            "additive": 4.0 + 1.5 * rng.normal(size=(len(rows), 1)) + 1.5 * rng.normal(size=len(cols)),
            "scaled": 4.0 * rng.normal(size=(len(rows), 1)) * rng.uniform(0.5, 1.5, len(cols)),
        }[kind]
        X[np.ix_(rows, cols)] += block
    return X


def board(shape: list[int], clusters: list[int], density: float, seed: int) -> np.ndarray:
    """Return a checkerboard of positive rates with noise; of counts, about this share of them above 0, if it is below 1."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(clusters[0], size=shape[0]), rng.integers(clusters[1], size=shape[1])
    rates = rng.gamma(2, 1, clusters)[rows][:, cols]
    if density < 1:
        return rng.poisson(rates * density / 2).astype(float)
    return rates * rng.gamma(4, 0.25, shape) + 1e-3


def plaid(folder: str, shape: list[int], K: int, kind: str, seed: int, repeat: int) -> Result:
    """Return the seconds (best of `repeat`) and the layers of the plaid model, without significance tests."""
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")
    from biclustlib.algorithms import Plaid

    vars(np)["int"] = int  # the name went away with NumPy 1.24
    X = layered(shape, K, kind, seed)
    best = np.inf
    for _ in range(repeat):
        np.random.seed(seed)  # noqa: NPY002 - the peer draws from the global generator
        start = time.process_time()
        found = Plaid(K, significance_tests=0).run(X)
        best = min(best, time.process_time() - start)
    return {"seconds": best, "biclusters": [[list(map(int, b.rows)), list(map(int, b.cols))] for b in found.biclusters]}


def sparse_svd(folder: str, shape: list[int], K: int, weight: float, seed: int) -> Result:
    """Return the seconds and the layers of sparse singular value decomposition."""
    package = types.ModuleType("BiFuncLib")  # its own start-up imports every model it has, and PyTorch
    package.__path__ = [f"{folder}/BiFuncLib"]
    sys.modules["BiFuncLib"] = package
    from BiFuncLib.ssvd_main_func import ssvd_bc

    X = layered(shape, K, "scaled", seed)
    with contextlib.redirect_stdout(io.StringIO()):
        start = time.process_time()
        found = ssvd_bc(X, K=K, gamu=weight, gamv=weight)
        seconds = time.process_time() - start
    # Entries that the penalty makes 0 may be 1e-17 there.
    layers = [[np.flatnonzero(np.abs(one[side]) > 1e-12).tolist() for side in "uv"] for one in found.info["res"]]
    return {"seconds": seconds, "biclusters": layers[: found.Number]}


def block_average(
    folder: str, shape: list[int], K: list[int], density: float, seed: int, n_starts: int, repeat: int
) -> Result:
    """Return the seconds of all starts (best of `repeat`) and the labels of the best of them."""
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")
    from cgc.coclustering import Coclustering

    X = board(shape, K, density, seed)
    # The peer takes the logarithm of block averages: empty blocks are lifted a little.
    lifted = X if density == 1 else X + 1e-12
    best = np.inf
    for _ in range(repeat):
        np.random.seed(seed)  # noqa: NPY002 - the peer draws from the global generator
        start = time.process_time()
        found = Coclustering(lifted, *K, 1e-9 * X.sum(), 100, n_starts).run_with_threads(1)
        best = min(best, time.process_time() - start)
    return {"seconds": best, "labels": [found.row_clusters.tolist(), found.col_clusters.tolist()]}


def modularity(shape: list[int], K: int, density: float, seed: int, n_starts: int) -> Result:
    """Return the seconds and the modularity of the paper's loop in NumPy: the matrix B built, one start at a time."""
    A = board(shape, [K, K], density, seed)
    first = np.random.RandomState(seed).randint(K, size=(n_starts, shape[1]))
    start = time.process_time()
    total = A.sum()
    B = A - np.outer(A.sum(axis=1), A.sum(axis=0)) / total
    labels, best = np.eye(K), -np.inf
    for w in first:
        before = -np.inf
        for _ in range(100):
            z = (B @ labels[w]).argmax(axis=1)
            gain = B.T @ labels[z]
            w = gain.argmax(axis=1)
            Q = gain.max(axis=1).sum()
            if Q - before <= 1e-9 * total:
                break
            before = Q
        best = max(best, Q)
    return {"seconds": time.process_time() - start, "modularity": float(best / total)}


def signature(shape: list[int], n_blocks: int, n_seeds: int, seed: int) -> Result:
    """Return the seconds and the number of modules of the paper's loop in NumPy, one seed at a time."""
    from bivaluate.algorithms.signature import random_sets
    from tests.reference.signature import modules

    X = layered(shape, n_blocks, "raised", seed)
    seeds = random_sets(shape[0], n_seeds, np.random.RandomState(seed))
    start = time.process_time()
    found = modules(X, seeds, [(a, b) for a in (1.5, 2.0, 2.5) for b in (1.5, 2.0, 2.5)], False)
    return {"seconds": time.process_time() - start, "modules": len(found)}
