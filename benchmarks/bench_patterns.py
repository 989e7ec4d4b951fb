"""BiBit, Bimax, QUBIC, xMOTIFs and OPSM against public programs: the same answers, how many times faster.

python -m benchmarks.bench_patterns           (some minutes: the peers are slow)

Seconds of the processor on both sides; neither uses threads of its own, except Java.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peer, peers_patterns
from benchmarks.timing import Comparison, best_of, in_fresh_process, print_table
from bivaluate.algorithms import BiBit, Bimax, OrderPreservingSubmatrices, Qubic, XMotifs
from bivaluate.algorithms.opsm import best_model, ranks_of

BICLUSTLIB = "biclustlib 0.0.13"
EVERYTHING = 10**9
MUST, GOAL = 10, 100


def as_set(pairs: Any) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return biclusters as a set."""
    return {(tuple(map(int, rows)), tuple(map(int, cols))) for rows, cols in pairs}


def bibit_lines(folder: Path) -> list[Comparison]:
    """All biclusters, with and without larger minimum sizes."""
    lines = []
    for shape, density, least in (("300x40", 0.2, (2, 2)), ("1000x60", 0.3, (20, 4))):
        X = peers_patterns.ones(shape, density).astype(float)
        model = BiBit(EVERYTHING, min_rows=least[0], min_columns=least[1])
        ours = best_of(lambda model=model, X=X: model.fit(X), 3)
        theirs = in_fresh_process("benchmarks.peers_patterns:bibit", str(folder), shape, density, *least)
        a, b = as_set(model.solution_), as_set(theirs["biclusters"])
        note = f"identical, {len(a)} biclusters" if a == b else f"DIFFERENT: {len(a & b)} of {len(b)} found"
        work = f"BiBit, {shape}, at least {least[0]} x {least[1]}"
        lines.append(Comparison(work, BICLUSTLIB, theirs["seconds"], ours, MUST, GOAL, note))
    return lines


def bimax_lines(folder: Path) -> list[Comparison]:
    """All biclusters; the peer drops some, and must have no other."""
    lines = []
    for shape in ("100x20", "90x30"):
        X = peers_patterns.ones(shape, 0.3).astype(float)
        model = Bimax(EVERYTHING)
        ours = best_of(lambda model=model, X=X: model.fit(X), 3)
        theirs = in_fresh_process("benchmarks.peers_patterns:bimax", str(folder), shape, 0.3)
        a, b = as_set(model.solution_), as_set(theirs["biclusters"])
        note = f"{len(a & b)} of its {len(b)} biclusters among our {len(a)}"
        lines.append(Comparison(f"Bimax, {shape}", "BiFuncLib 1.1.8", theirs["seconds"], ours, MUST, GOAL, note))
    return lines


def xmotifs_lines(folder: Path) -> list[Comparison]:
    """One motif; the peer draws columns with replacement, so ours draws as many as its motif has."""
    lines = []
    for shape, n_levels, n_sets in (("300x40", 3, 100), ("1000x60", 3, 50)):
        X = peers_patterns.levels(shape, n_levels).astype(float)
        theirs = in_fresh_process("benchmarks.peers_patterns:xmotifs", str(folder), shape, n_levels, n_sets)
        n_rows, n_cols = theirs["shape"]
        model = XMotifs(1, n_sets=n_sets, states="given", random_state=0)
        ours = best_of(lambda model=model, X=X: model.fit(X), 3)
        same = XMotifs(1, n_sets=n_sets, set_size=max(1, n_cols - 1), states="given", random_state=0).fit(X)
        found = same.solution_[0].shape
        note = f"{found[0]} x {found[1]} against {n_rows} x {n_cols}" + ("" if found[0] >= n_rows else ", FEWER rows")
        work = f"xMOTIFs, {shape}, {n_sets} sets"
        lines.append(Comparison(work, BICLUSTLIB, theirs["seconds"], ours, MUST, GOAL, note))
    return lines


def qubic_lines(folder: Path) -> list[Comparison]:
    """Ten biclusters each; what the paper maximises is min(rows, columns)."""
    lines = []
    for name in ("S1", "S5", "S8", "01_alpha_factor", "2993x173"):
        X = peer.matrix(folder, name)
        model = Qubic(10)
        ours = best_of(lambda model=model, X=X: model.fit(X), 3)
        theirs = in_fresh_process("benchmarks.peers_patterns:qubic", str(folder), name, 10)
        a = sum(min(b.shape) for b in model.solution_)
        b = sum(min(len(rows), len(cols)) for rows, cols in theirs["biclusters"])
        note = f"sum of min(rows, columns) {a} against {b}" + ("" if a >= b else ", LOWER")
        lines.append(Comparison(f"QUBIC, {name}, K=10", "QUBIC 1.0 (C)", theirs["seconds"], ours, None, None, note))
    return lines


def opsm_lines(folder: Path) -> list[Comparison]:
    """The best model of every size: how many rows support it, strictly."""
    lines = []
    for name, n_models in (("S1", 100), ("S5", 100), ("200x50", 100), ("01_alpha_factor", 100)):
        X = peer.matrix(folder, name)
        model = OrderPreservingSubmatrices(n_models=n_models)
        ours = best_of(lambda model=model, X=X: model.fit(X), 2)
        theirs = in_fresh_process("benchmarks.peers_patterns:opsm", str(folder), name, n_models)
        ranks, equal, more, sizes = ranks_of(X), 0, 0, 0
        for rows, order in theirs["models"]:
            strict = sum((np.diff(X[row][order]) > 0).all() for row in rows)
            found = len(best_model(ranks, len(order), n_models)[0])
            sizes, equal, more = sizes + 1, equal + (found == strict), more + (found > strict)
        note = f"of {sizes} sizes as many rows in {equal}, more in {more}, fewer in {sizes - equal - more}"
        work = f"OPSM, {name}, {n_models} models"
        lines.append(Comparison(work, "OPSM.jar (Java)", theirs["seconds"], ours, None, MUST, note))
    return lines


def main() -> list[Comparison]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = peer.fetch(Path(temporary))
        lines = bibit_lines(folder) + bimax_lines(peers_patterns.fetch_bimax(Path(temporary)))
        lines += xmotifs_lines(folder) + qubic_lines(folder) + opsm_lines(folder)
    return print_table("Blocks of ones, marks, states and orders against public programs", lines)


if __name__ == "__main__":
    main()
