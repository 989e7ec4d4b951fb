"""The public reference implementation (biclustlib 0.0.13), fetched from PyPI and run in processes of its own.

It is GPL: nothing of it is copied or imported by the product. Its wheel also carries the 17 yeast matrices.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

Result = dict[str, Any]
YEAST = "biclustlib/datasets/data/yeast_benchmark"


def fetch(folder: Path) -> Path:
    """Download and unpack the wheel and the one compiled module it needs; return where they are."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wanted = ["--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "download", *wanted, "--dest", folder, "biclustlib==0.0.13"], check=True)
    subprocess.run([*pip, "install", *wanted, "--target", folder / "peer", "bottleneck"], check=True)
    with zipfile.ZipFile(next(folder.glob("biclustlib-*.whl"))) as wheel:
        wheel.extractall(folder / "peer")
    return folder / "peer"


def yeast_names(peer: Path) -> list[str]:
    """Return the names of the 17 yeast matrices."""
    return sorted(file.stem for file in (peer / YEAST).glob("*.csv"))


def matrix(peer: str | Path, name: str) -> np.ndarray:
    """Return a yeast matrix by name, a scenario by its id, or planted blocks in noise by shape ("2993x173")."""
    if name.startswith("S"):
        from bivaluate.datasets.scenarios import make_scenario

        return np.asarray(make_scenario(name, 0)[0], dtype=float)
    if not name[:2].isdigit() or name[2] != "_":
        n, m = map(int, name.split("x"))
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, m))
        for k in range(5):
            rows, cols = rng.choice(n, n // 12, replace=False), rng.choice(m, m // 5, replace=False)
            X[np.ix_(rows, cols)] = 0.5 * k + rng.normal(size=(len(rows), 1)) + rng.normal(size=len(cols))
        return X + rng.normal(0, 0.1, X.shape)
    lines = (Path(peer) / YEAST / f"{name}.csv").read_text().splitlines()[1:]
    return np.array([line.split()[2:] for line in lines], dtype=float)


def cheng_church(peer: str, name: str, K: int, seed: int, repeat: int) -> Result:
    """Return the seconds (best of `repeat`) and the biclusters."""
    sys.path.insert(0, peer)
    warnings.simplefilter("ignore")
    from biclustlib.algorithms import ChengChurchAlgorithm

    X = matrix(peer, name)
    best = np.inf
    for _ in range(repeat):
        np.random.seed(seed)  # noqa: NPY002 - the peer draws from the global generator
        start = time.process_time()
        found = ChengChurchAlgorithm(K).run(X)
        best = min(best, time.process_time() - start)
    biclusters = [[sorted(map(int, b.rows)), sorted(map(int, b.cols))] for b in found.biclusters]
    return {"seconds": best, "biclusters": biclusters}


def las(peer: str, name: str, restarts: int, seed: int) -> Result:
    """Return the seconds for one bicluster from `restarts` starts, and its score."""
    sys.path.insert(0, peer)
    warnings.simplefilter("ignore")
    from biclustlib.algorithms import LargeAverageSubmatrices
    from sklearn.preprocessing import scale

    X = matrix(peer, name)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the peer draws from the global generators
    model = LargeAverageSubmatrices(1, randomized_searches=restarts)
    start = time.process_time()
    data = scale(X)
    score = max(model._find_bicluster(data)[-1] for _ in range(restarts))
    return {"seconds": time.process_time() - start, "score": float(score)}


def paper_run(peer: str, counts: list[int]) -> Result:
    """Run the three algorithms afresh for every K, with naive measures, on one thread; return CPU seconds by part."""
    sys.path.insert(0, peer)
    warnings.simplefilter("ignore")
    from biclustlib.algorithms import ChengChurchAlgorithm, LargeAverageSubmatrices
    from sklearn.cluster import SpectralBiclustering
    from threadpoolctl import threadpool_limits

    from benchmarks.baselines import FIRST, baseline
    from bivaluate.datasets.scenarios import SCENARIOS, make_scenario

    spent = dict.fromkeys(("cca", "las", "spectral", "measures"), 0.0)

    def clock(part: str, function: Any) -> Any:
        start = time.process_time()
        result = function()
        spent[part] += time.process_time() - start
        return result

    scenarios = (make_scenario(name, 0)[:2] for name in SCENARIOS)
    work = [(np.asarray(X), len(truth)) for X, truth in scenarios]
    work += [(matrix(peer, name), K) for name in yeast_names(Path(peer)) for K in counts]
    with threadpool_limits(1):
        for X, K in work:
            random.seed(0)
            np.random.seed(0)  # noqa: NPY002 - the peer draws from the global generators
            solutions = []
            for part, model in (("cca", ChengChurchAlgorithm(K)), ("las", LargeAverageSubmatrices(K))):
                found = clock(part, lambda model=model, X=X: model.run(X)).biclusters
                solutions.append([(np.sort(b.rows), np.sort(b.cols)) for b in found])
            if min(X.shape) >= K:
                board = clock("spectral", lambda K=K, X=X: SpectralBiclustering((K, K), random_state=0).fit(X))
                cells = [board.get_indices(k) for k in range(K)]
                solutions.append([(r, c) for r, c in cells if len(r) and len(c)])
            for pairs in solutions:
                clock("measures", lambda X=X, pairs=pairs: baseline(FIRST)(X, pairs))
    return spent
