"""Cheng-Church and LAS against the public reference implementation: same answers, how many times faster.

python -m benchmarks.bench_algorithms           (some minutes: the reference is slow)
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks import peer
from benchmarks.timing import Comparison, best_of, in_fresh_process, print_table
from bivaluate import coverage_ratio
from bivaluate.algorithms import (
    ChengChurch,
    LargeAverageSubmatrices,
    LeidenCommunities,
    LouvainCommunities,
    NMFBiclusters,
    SpectralCheckerboard,
    SpectralCoclusters,
)

SCENARIOS = ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9a", "S9b"]
PEER = "biclustlib 0.0.13"


def compare_cheng_church(folder: Path, name: str, K: int, repeat: int) -> tuple[float, float, bool]:
    """Return the seconds of both sides and whether the biclusters are the same."""
    X = peer.matrix(folder, name)
    model = ChengChurch(K, random_state=42)
    ours = best_of(lambda: model.fit(X), repeat)
    theirs = in_fresh_process("benchmarks.peer:cheng_church", str(folder), name, K, 42, repeat)
    found = [[b.rows.tolist(), b.cols.tolist()] for b in model.solution_]
    return theirs["seconds"], ours, found == theirs["biclusters"]


def compare_las(folder: Path, name: str, restarts: int, seed: int = 0) -> tuple[float, float, bool]:
    """Return the seconds per restart of both sides and whether our score is at least theirs."""
    X = peer.matrix(folder, name)
    model = LargeAverageSubmatrices(1, n_restarts=restarts, min_score=-1e9, random_state=seed)
    ours = best_of(lambda: model.fit(X), 3)
    theirs = in_fresh_process("benchmarks.peer:las", str(folder), name, restarts, seed)
    good = model.scores_[0] >= theirs["score"] - 1e-9 * max(1.0, abs(theirs["score"]))
    return theirs["seconds"] / restarts, ours / restarts, bool(good)


def cheng_church_table(folder: Path) -> list[Comparison]:
    yeast = [compare_cheng_church(folder, name, 15, 5) for name in peer.yeast_names(folder)]
    theirs, ours = sum(t for t, _, _ in yeast), sum(o for _, o, _ in yeast)
    same = f"identical on {sum(s for _, _, s in yeast)} of {len(yeast)}"
    lines = [Comparison("CCA, 17 yeast matrices, K=15", PEER, theirs, ours, 8, 15, same)]
    for name, K, must, goal in (
        ("300x40", 5, 8, 15),
        ("1000x17", 5, 8, 15),
        ("2993x173", 5, 25, 60),
        ("20000x200", 1, 60, 150),
    ):
        theirs, ours, identical = compare_cheng_church(folder, name, K, 1)
        note = "identical" if identical else "DIFFERENT"
        lines.append(Comparison(f"CCA, {name} K={K}", PEER, theirs, ours, must, goal, note))
    return print_table("Cheng and Church against biclustlib 0.0.13", lines)


def las_table(folder: Path) -> list[Comparison]:
    yeast = [compare_las(folder, name, 1000) for name in peer.yeast_names(folder)]
    theirs, ours = np.mean([t for t, _, _ in yeast]), np.mean([o for _, o, _ in yeast])
    good = f"score at least theirs on {sum(g for _, _, g in yeast)} of {len(yeast)}"
    lines = [Comparison("LAS per restart, 17 yeast matrices", PEER, float(theirs), float(ours), 20, 45, good)]
    scenarios = [compare_las(folder, name, 1000, seed) for name in SCENARIOS for seed in range(2)]
    theirs, ours = np.mean([t for t, _, _ in scenarios]), np.mean([o for _, o, _ in scenarios])
    good = f"score at least theirs in {sum(g for _, _, g in scenarios)} of {len(scenarios)} runs"
    lines.append(Comparison("LAS per restart, 10 scenarios 300x40", PEER, float(theirs), float(ours), 20, 45, good))
    for name, restarts in (("2993x173", 200), ("20000x200", 40)):
        seconds = compare_las(folder, name, restarts)
        note = f"{restarts} restarts" + ("" if seconds[2] else ", LOWER score")
        lines.append(Comparison(f"LAS per restart, {name}", PEER, seconds[0], seconds[1], 12, 25, note))
    return print_table("Large Average Submatrices against biclustlib 0.0.13", lines)


def called_table() -> list[Comparison]:
    """What bivaluate adds to the libraries it calls, and what fits for several K share."""
    from sklearn.cluster import SpectralBiclustering, SpectralCoclustering
    from sklearn.decomposition import NMF
    from sknetwork.clustering import Leiden, Louvain
    from threadpoolctl import threadpool_limits

    counts = sparse_counts()
    dense = peer.matrix("", "2993x173")
    ks = (3, 5, 8, 10, 15)

    def spectral() -> None:
        shared: dict[str, object] = {}
        for K in ks:
            model = SpectralCheckerboard(K, random_state=0)
            model._shared = shared
            model.fit(dense)

    def each_k() -> None:
        for K in ks:
            SpectralBiclustering((K, K), random_state=0).fit(dense)

    pairs = [
        ("Spectral co-clustering, sparse 6000x1500 K=8", "scikit-learn",
         lambda: SpectralCoclustering(8, random_state=0).fit(counts),
         lambda: SpectralCoclusters(8, random_state=0).fit(counts)),
        ("NMF, sparse 6000x1500 K=8", "scikit-learn",
         lambda: NMF(8, max_iter=400, random_state=0).fit_transform(counts),
         lambda: NMFBiclusters(8, random_state=0).fit(counts)),
        ("Louvain, sparse 6000x1500", "scikit-network",
         lambda: Louvain(shuffle_nodes=True, random_state=0).fit(counts, force_bipartite=True),
         lambda: LouvainCommunities(random_state=0).fit(counts)),
        ("Leiden, sparse 6000x1500", "scikit-network",
         lambda: Leiden(shuffle_nodes=True, random_state=0).fit(counts, force_bipartite=True),
         lambda: LeidenCommunities(random_state=0).fit(counts)),
        ("Spectral over five K, 2993x173", "scikit-learn, each K", each_k, spectral),
    ]  # fmt: skip
    lines = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for work, against, theirs, ours in pairs:
            lines.append(Comparison(work, against, best_of(theirs, 3), best_of(ours, 3)))
    return print_table("Algorithms that are called, against the libraries themselves, one thread", lines)


def sparse_counts() -> csr_matrix:
    """Return counts with eight blocks, 2 % of the cells filled."""
    rng = np.random.default_rng(0)
    n, m = 6000, 1500
    rows, cols = rng.integers(0, n, 120_000), rng.integers(0, m, 120_000)
    for k in range(8):
        rows = np.append(rows, rng.integers(700 * k, 700 * k + 600, 8000))
        cols = np.append(cols, rng.integers(180 * k, 180 * k + 150, 8000))
    return csr_matrix((np.ones(len(rows)), (rows, cols)), (n, m))


def facts(folder: Path) -> None:
    """Print the numbers of the paper that the algorithms must give on the yeast matrices."""
    print("\nfacts")
    X = peer.matrix(folder, "04_elutriation")
    las = LargeAverageSubmatrices(8, random_state=1).fit(X).solution_
    print(f"LAS, 04_elutriation, K=8: {100 * coverage_ratio(las):.2f} % covered (5.2 ± 0.3)")
    spectral = SpectralCheckerboard(3, random_state=42).fit(X).solution_
    print(f"Spectral, 04_elutriation, K=3: {100 * coverage_ratio(spectral):.1f} % covered (43.3)")
    X = peer.matrix(folder, "13_heat_shock_2")
    las = LargeAverageSubmatrices(8, random_state=1).fit(X).solution_
    print(
        f"LAS, 13_heat_shock_2: {[b.shape for b in las]}, {100 * coverage_ratio(las):.2f} % covered ([(15, 1)], 0.21)"
    )


def threads() -> None:
    """Print what a second thread brings, on small and large matrices."""
    print("\nLAS, seconds with 1 and 2 threads")
    for name, restarts in (("40x10", 1000), ("300x40", 1000), ("1100x18", 1000), ("2993x173", 200)):
        X = peer.matrix("", name)
        seconds = []
        for jobs in (1, 2):
            model = LargeAverageSubmatrices(1, n_restarts=restarts, n_jobs=jobs, random_state=0)
            seconds.append(best_of(lambda model=model, X=X: model.fit(X), 3))
        print(f"  {name:<10} {seconds[0]:.4f} {seconds[1]:.4f}")


def main() -> list[Comparison]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = peer.fetch(Path(temporary))
        found = cheng_church_table(folder) + las_table(folder)
        facts(folder)
    threads()
    return found + called_table()


if __name__ == "__main__":
    main()
