"""Evidence B and the held-out experiment: do scores of whole solutions prefer the truth?"""

from __future__ import annotations

import numpy as np

from benchmarks.evidence_data import KEYS, LOW_IS_BETTER, Floats, best, planted, random_blocks, scores, searched
from benchmarks.noise_search import search_block
from bivaluate import Biclustering
from bivaluate.chance.assumptions import prepare_values

MATRIX = (300, 40)
FOUR = [(38, 10)] * 4


def evidence_b(rng: np.random.Generator, repeats: int = 6) -> list[list[str]]:
    """Mean scores of good and bad solutions."""
    collected: dict[str, list[dict[str, float]]] = {}

    def add(name: str, X: Floats, pairs: object) -> None:
        collected.setdefault(name, []).append(scores(X, pairs))  # type: ignore[arg-type]

    for _ in range(repeats):
        X, truth = planted("shift", FOUR, 0.3, MATRIX, rng)
        add("planted additive, sigma .3, 4 of 38x10", X, truth)
        add("its best 6x6 corners", X, _corners(X, truth, rng))
        add("junk searched in the same data, 4 of 5x2", X, searched(X, [(5, 2)] * 4, rng))
        add("junk searched in the same data, 4 of 3x3", X, searched(X, [(3, 3)] * 4, rng))
        for name, pairs in _spectral(X).items():
            add(name, X, pairs)
        add("planted scaling, sigma .3", *planted("scale", FOUR, 0.3, MATRIX, rng))
        add("planted additive, sigma .6", *planted("shift", FOUR, 0.6, MATRIX, rng))
        add("tiling, sigma .4, 8 of 25x5", *planted("shift", [(25, 5)] * 8, 0.4, MATRIX, rng))
        add("four clones of one pattern", *planted("shift", FOUR, 0.3, MATRIX, rng, clones=True))
        noise = rng.normal(size=MATRIX)
        for shape in ((20, 3), (10, 6), (38, 10)):
            add(f"pure noise searched, 4 of {shape[0]}x{shape[1]}", noise, searched(noise, [shape] * 4, rng))
        add("pure noise, random 3x2", noise, random_blocks([(3, 2)] * 4, MATRIX, rng))
    return [[name, *(f"{np.mean([one[key] for one in many]):.3f}" for key in KEYS)] for name, many in collected.items()]


def _corners(X: Floats, truth: Biclustering, rng: np.random.Generator) -> list[object]:
    corners: list[object] = []
    for b in truth:
        inner, _ = search_block(b.of(X), 6, 6, rng=rng, restarts=20, steps=40)
        corners.append((b.rows[inner.rows], b.cols[inner.cols]))
    return corners


def _spectral(X: Floats) -> dict[str, Biclustering]:
    from sklearn.cluster import SpectralBiclustering, SpectralCoclustering

    checkerboard = SpectralBiclustering((2, 2), random_state=0).fit(X)
    diagonal = SpectralCoclustering(4, random_state=0).fit(X - X.min() + 0.1)
    return {
        "SpectralBiclustering 2x2 on planted data": Biclustering.from_estimator(checkerboard),
        "SpectralCoclustering, 4, on planted data": Biclustering.from_estimator(diagonal),
    }


def choosing_k(rng: np.random.Generator, repeats: int = 6) -> list[list[str]]:
    """Mean scores of the first K planted blocks and of spoilt truths."""
    collected: dict[str, list[dict[str, float]]] = {}
    for _ in range(repeats):
        X, truth = planted("shift", FOUR, 0.3, MATRIX, rng)
        pairs = [(b.rows, b.cols) for b in truth]
        junk = searched(X, [(5, 2)] * 2, rng)
        union = (np.union1d(pairs[0][0], pairs[1][0]), np.union1d(pairs[0][1], pairs[1][1]))
        halves = [(pairs[0][0][:19], pairs[0][1]), (pairs[0][0][19:], pairs[0][1])]
        options = {f"first {k}" + (" (the truth)" if k == 4 else ""): pairs[:k] for k in (1, 2, 3, 4)}
        options |= {
            "truth + 1 junk": pairs + junk[:1],
            "truth + 2 junk": pairs + junk,
            "truth + a duplicate": [*pairs, pairs[0]],
            "two merged": [union, *pairs[2:]],
            "one split": halves + pairs[1:],
        }
        for name, option in options.items():
            collected.setdefault(name, []).append(scores(X, option))
    return [[name, *(f"{np.mean([one[key] for one in many]):.3f}" for key in KEYS)] for name, many in collected.items()]


def held_out(rng: np.random.Generator, repeats: int = 30) -> tuple[list[list[str]], list[list[str]]]:
    """A generator that was not used to choose any form: how often does the truth win, and is its K chosen?"""
    wins = {key: 0 for key in LOW_IS_BETTER}
    picked = {key: 0 for key in LOW_IS_BETTER}
    means: dict[str, list[dict[str, float]]] = {}
    for i in range(repeats):
        matrix, K = ((500, 30), (120, 60), (400, 50))[i % 3], (3, 6)[i % 2]
        shapes = [(int(rng.integers(12, 19 if matrix[0] == 120 else 45)), int(rng.integers(6, 16))) for _ in range(K)]
        X, pairs = _fresh(matrix, shapes, overlap=i % 4 == 3, rng=rng)
        clone_X, clone_pairs = _fresh(matrix, shapes, overlap=False, rng=rng, clones=True)
        noise = prepare_values(rng.standard_t(6, size=matrix), "columns")
        thin, tiny = searched(X, [(5, 2)] * K, rng), searched(X, [(3, 3)] * K, rng)
        rivals = {
            "planted": scores(X, pairs),
            "junk, thin (5x2)": scores(X, thin),
            "junk, tiny (3x3)": scores(X, tiny),
            "random, same shapes": scores(X, random_blocks(shapes, matrix, rng)),
            "clones": scores(clone_X, clone_pairs),
            "searched noise, same shapes": scores(noise, searched(noise, shapes, rng)),
        }
        for name, values in rivals.items():
            means.setdefault(name, []).append(values)
        choices = {f"first {k}": scores(X, pairs[:k]) for k in range(2, K)}
        choices |= {
            "truth": rivals["planted"],
            "thin junk added": scores(X, pairs + thin[:1]),
            "duplicate added": scores(X, [*pairs, pairs[0]]),
            "random block added": scores(X, pairs + random_blocks(shapes[:1], matrix, rng)),
        }
        for key in LOW_IS_BETTER:
            wins[key] += best(rivals, key) == "planted"
            picked[key] += best(choices, key) == "truth"
    table = [[name, *(f"{np.nanmean([one[key] for one in many]):.3f}" for key in KEYS)] for name, many in means.items()]
    return table, [[key, f"{wins[key]}/{repeats}", f"{picked[key]}/{repeats}"] for key in LOW_IS_BETTER]


def _fresh(
    matrix: tuple[int, int],
    shapes: list[tuple[int, int]],
    overlap: bool,
    rng: np.random.Generator,
    clones: bool = False,
) -> tuple[Floats, list[tuple[np.ndarray, np.ndarray]]]:
    X = rng.standard_t(6, size=matrix) / np.sqrt(1.5)
    order = rng.permutation(matrix[0])
    pairs, start = [], 0
    cols = np.sort(rng.choice(matrix[1], min(c for _, c in shapes), replace=False))
    wave = _pattern(len(cols), rng)
    for r, c in shapes:
        rows = order[start : start + r]
        start += r - (r // 4 if overlap else 0)
        if not clones:
            cols = np.sort(rng.choice(matrix[1], c, replace=False))
            wave = _pattern(c, rng)
        sigma = rng.uniform(0.15, 0.45)
        scale, shift = rng.uniform(0.5, 1.5, size=(r, 1)), rng.normal(size=(r, 1))
        X[np.ix_(rows, cols)] = shift + scale * wave + sigma * rng.standard_t(6, size=(r, len(cols))) / np.sqrt(1.5)
        pairs.append((rows, cols))
    return prepare_values(X, "columns"), pairs


def _pattern(c: int, rng: np.random.Generator) -> Floats:
    wave = (
        np.sin(np.linspace(0, 2 * np.pi * rng.uniform(0.7, 2), c) + rng.uniform(0, 6))
        if rng.random() < 0.5
        else rng.random(c)
    )
    return np.asarray((wave - wave.mean()) / wave.std())
