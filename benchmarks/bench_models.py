"""Plaid, sparse SVD, co-clustering and ISA against peers: same answer or objective, how many times faster.

python -m benchmarks.bench_models           (a few minutes)

Seconds of the processor on both sides, from the call a user would make to the answer. Plaid: on both sides 6 runs of 2-means
and 10 rounds for each layer. Block averages: what is asked for is at least what the peer keeps from 10 random starts. Modularity:
the same 10 starts. With OMP_NUM_THREADS=1 no side spends time on waiting for threads of linear algebra.
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from benchmarks import peers_models as peers
from benchmarks.timing import Comparison, best_of, in_fresh_process, print_table
from bivaluate.algorithms import BlockAverageCoclustering, IterativeSignature, ModularityCoclustering, Plaid, SparseSVD
from bivaluate.algorithms import signature as isa
from bivaluate.algorithms.plaid import backfit, fit_layer, subtract

PLAID, SSVD, CGC = "biclustlib 0.0.13", "BiFuncLib 1.1.8", "clustering-geodata-cubes 0.8.0"
NUMPY = "the paper's loop in NumPy"


def left_over(X: np.ndarray, biclusters: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the mean square that a background and these layers leave over, their effects fitted well."""
    members = [(np.arange(X.shape[0]), np.arange(X.shape[1])), *((np.sort(r), np.sort(c)) for r, c in biclusters)]
    residual, layers = X.copy(), []
    for rows, cols in members:
        layers.append(fit_layer(residual, rows, cols))
        subtract(residual, layers[-1])
    for _ in range(20):
        layers = backfit(residual, layers)
    return float((residual**2).mean())


def plaid_table(folder: Path) -> list[Comparison]:
    lines = []
    for shape, K, repeat in (([300, 40], 3, 5), ([2993, 173], 5, 2)):
        theirs, ours, good = 0.0, 0.0, []
        for kind, seed in product(("raised", "additive"), range(4)):
            X = peers.layered(shape, K, kind, seed)
            peer = in_fresh_process("benchmarks.peers_models:plaid", str(folder), shape, K, kind, seed, repeat)
            model = Plaid(K, n_shuffles=0, random_state=seed)
            ours += best_of(lambda model=model, X=X: model.fit(X), repeat)
            theirs += peer["seconds"]
            peer_left = left_over(X, [(np.array(r), np.array(c)) for r, c in peer["biclusters"]])
            good.append(left_over(X, [tuple(b) for b in model.solution_]) <= peer_left * 1.001)
        note = f"at most as much left over in {sum(good)} of {len(good)} runs"
        name = "x".join(map(str, shape))
        lines.append(Comparison(f"Plaid, {name} K={K}, 8 matrices", PLAID, theirs, ours, 10, 20, note))
    return print_table(f"Plaid model against {PLAID}", lines)


def sparse_svd_table(folder: Path) -> list[Comparison]:
    lines = []
    for shape, weight in (([300, 40], 2.0), ([2993, 173], 2.0), ([2993, 173], 0.0)):
        X = peers.layered(shape, 5, "scaled", 0)
        peer = in_fresh_process("benchmarks.peers_models:sparse_svd", str(folder), shape, 5, weight, 0)
        model = SparseSVD(5, row_weight=weight, col_weight=weight, centred=False)
        ours = best_of(lambda model=model, X=X: model.fit(X), 5)
        found = [[b.rows.tolist(), b.cols.tolist()] for b in model.solution_]
        same = sum(a == b for a, b in zip(found, peer["biclusters"], strict=False))
        note = f"{same} of the {len(peer['biclusters'])} layers it ends with identical"
        name = "x".join(map(str, shape))
        lines.append(Comparison(f"SSVD, {name} K=5, weight {weight:g}", SSVD, peer["seconds"], ours, 10, 25, note))
    return print_table(f"Sparse singular value decomposition against {SSVD}", lines)


def block_average_table(folder: Path) -> list[Comparison]:
    lines, n_starts = [], 10
    for shape, K, density, repeat in (
        ([300, 40], [3, 3], 1.0, 50),
        ([1000, 500], [5, 4], 1.0, 5),
        ([2993, 173], [10, 8], 1.0, 3),
        ([2000, 1500], [6, 6], 0.02, 1),
    ):
        X = peers.board(shape, K, density, 0)
        Y = X if density == 1 else csr_array(X)
        peer = in_fresh_process(
            "benchmarks.peers_models:block_average", str(folder), shape, K, density, 0, n_starts, repeat
        )
        options = {"n_column_clusters": K[1], "divergence": "i-divergence", "random_state": 0}
        model = BlockAverageCoclustering(K[0], **options)
        ours = best_of(lambda model=model, Y=Y: model.fit(Y), max(repeat, 3))
        theirs = kept_by(X, *map(np.array, peer["labels"]), K)
        kept = kept_by(X, model.row_labels_, model.column_labels_, K)
        note = f"{model.n_starts} starts and moves keep {kept / theirs:.2f} of what its {n_starts} starts keep"
        name = "x".join(map(str, shape)) + ("" if density == 1 else ", sparse counts")
        lines.append(Comparison(f"Block averages, {name}, {K[0]} x {K[1]}", CGC, peer["seconds"], ours, 10, 20, note))
    return print_table(f"Bregman block averages (I-divergence) against {CGC}", lines)


def kept_by(X: np.ndarray, rows: np.ndarray, cols: np.ndarray, K: list[int]) -> float:
    """Return what labels keep of the I-divergence from the mean."""
    R, C = np.eye(K[0])[rows], np.eye(K[1])[cols]
    sums, cells = R.T @ X @ C, np.outer(R.sum(axis=0), C.sum(axis=0))
    return float(xlogy(sums, sums / np.maximum(cells, 1) / X.mean()).sum())


def modularity_table() -> list[Comparison]:
    lines = []
    for shape, K, density in (([1000, 800], 5, 0.02), ([2000, 1500], 6, 0.02)):
        Y = csr_array(peers.board(shape, [K, K], density, 0))
        peer = in_fresh_process("benchmarks.peers_models:modularity", shape, K, density, 0, 10)
        model = ModularityCoclustering(K, n_starts=10, random_state=0)
        ours = best_of(lambda model=model, Y=Y: model.fit(Y), 3)
        note = f"modularity {model.modularity_:.4f}, theirs {peer['modularity']:.4f}"
        name = "x".join(map(str, shape))
        lines.append(Comparison(f"CoclustMod, {name} sparse, K={K}", NUMPY, peer["seconds"], ours, 10, 20, note))
    return print_table("Modularity co-clustering against its loop with a dense matrix", lines)


def signature_table() -> list[Comparison]:
    lines = []
    for shape in ([300, 40], [2993, 173]):
        X = peers.layered(shape, 5, "raised", 0)
        peer = in_fresh_process("benchmarks.peers_models:signature", shape, 5, 100, 0)
        seeds = isa.random_sets(shape[0], 100, np.random.RandomState(0))
        pairs = np.array(list(product((1.5, 2.0, 2.5), repeat=2)))
        ours = best_of(lambda X=X, seeds=seeds, pairs=pairs: isa.iterate(X, seeds, pairs, False), 3)
        found = IterativeSignature(5, random_state=0).fit(X).solution_
        note = f"900 fixed points; first five modules {[b.shape for b in found]}"
        name = "x".join(map(str, shape))
        lines.append(Comparison(f"ISA, {name}, 900 seeds", NUMPY, peer["seconds"], ours, 5, 10, note))
    return print_table("Iterative signature algorithm against one seed at a time", lines)


def main() -> list[Comparison]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = peers.fetch(Path(temporary))
        found = plaid_table(folder) + sparse_svd_table(folder) + block_average_table(folder)
    return found + modularity_table() + signature_table()


if __name__ == "__main__":
    main()
