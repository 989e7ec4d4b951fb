"""Evidence A: do scores of single blocks tell planted ones from what a search finds in noise?"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence_data import Floats, block
from benchmarks.noise_search import search_block
from bivaluate.chance.assumptions import prepare_values
from bivaluate.chance.scores import score_blocks
from bivaluate.measures._blocks import virtual_error_value

MATRIX = (300, 40)
THIN = [(5, 2), (20, 2), (5, 3), (10, 3), (20, 3), (50, 3), (120, 3), (3, 3), (3, 6), (3, 10), (2, 10), (3, 20)]
LARGE = [(10, 6), (10, 10), (20, 6), (20, 10), (20, 20), (38, 10), (60, 6), (60, 10), (60, 20), (120, 10), (120, 20)]
SIGMAS = (0.1, 0.25, 0.5, 0.75)
SCORES = ("VE", "VE/E0", "z", "aVE")

RANKS = partial(prepare_values, normalise="rank")


def centre_columns(X: Floats) -> Floats:
    """Subtract from each column its mean."""
    return prepare_values(X, "columns")


def score(blocks: list[tuple[float, int, int]], matrix: tuple[int, int] = MATRIX) -> dict[str, Floats]:
    """All four scores of blocks (VE, rows, columns), turned so that low is better."""
    ve, rows, cols = (np.array(column) for column in zip(*blocks, strict=True))
    scored = score_blocks(ve, rows, cols, matrix)
    return {"VE": ve, "VE/E0": scored.ratio, "z": -scored.z, "aVE": scored.adjusted}


def auc(good: Floats, bad: Floats) -> float:
    """Probability that a planted block is ranked above a noise block."""
    return float((good[:, None] < bad[None, :]).mean() + (good[:, None] == bad[None, :]).mean() / 2)


def searched_noise(
    shapes: list[tuple[int, int]], n: int, rng: np.random.Generator, matrix: tuple[int, int] = MATRIX, **effort: int
) -> list[tuple[float, int, int]]:
    """VE of the best blocks found in `n` matrices of noise."""
    found = []
    for _ in range(n):
        noise = rng.normal(size=matrix)
        found += [(search_block(noise, r, c, rng=rng, **effort)[1], r, c) for r, c in shapes]
    return found


def planted_blocks(
    rows: list[int], cols: list[int], sigma: float, n: int, rng: np.random.Generator
) -> list[tuple[float, int, int]]:
    """VE of planted blocks of all shapes and kinds."""
    return [
        (virtual_error_value(block(kind, r, c, sigma, rng)), r, c)
        for kind in ("shift", "scale", "both") for r in rows for c in cols for _ in range(n)
    ]  # fmt: skip


def evidence_a(rng: np.random.Generator) -> dict[str, object]:
    """Area under the curve per noise level and kind of negative, and the spread of aVE on searched noise."""
    thin, large = searched_noise(THIN, 6, rng), searched_noise(LARGE, 6, rng)
    random = [(virtual_error_value(rng.normal(size=shape)), *shape) for shape in THIN for _ in range(25)]
    negatives = {
        "searched, thin or tiny": score(thin),
        "searched, large shapes": score(large),
        "random, thin or tiny": score(random),
    }
    rows = []
    for kind, negative in negatives.items():
        for sigma in SIGMAS:
            good = score(planted_blocks([20, 30, 60, 120], [6, 10, 20], sigma, 8, rng))
            rows.append(
                [kind, f"{sigma} ({good['VE'].mean():.2f})", *(f"{auc(good[s], negative[s]):.3f}" for s in SCORES)]
            )
    for sigma in SIGMAS:
        good = score(planted_blocks([10], [6, 10, 20], sigma, 16, rng))
        rows.append(
            ["searched, large; planted with 10 rows", f"{sigma} ({good['VE'].mean():.2f})",
             *(f"{auc(good[s], negatives['searched, large shapes'][s]):.3f}" for s in SCORES)]
        )  # fmt: skip
    spread = np.concatenate([negatives["searched, thin or tiny"]["aVE"], negatives["searched, large shapes"]["aVE"]])
    return {"table": rows, "spread": spread, "random": negatives["random, thin or tiny"]["aVE"]}


def fresh_cut(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """aVE of fresh searched noise: the standard search on other matrices, and a nine times heavier one."""
    shapes = [(10, 6), (20, 10), (30, 5), (10, 12), (5, 5), (20, 3), (60, 10), (40, 8)]
    standard = [
        score(searched_noise(shapes, 3, rng, matrix), matrix)["aVE"]
        for matrix in ((500, 30), (120, 60), (400, 50), (300, 40))
    ]
    heavy_shapes = [(10, 10), (10, 20), (20, 10), (10, 6)]
    heavy = score(searched_noise(heavy_shapes, 4, rng, restarts=300, steps=150))["aVE"]
    return np.concatenate(standard), heavy


def broken_assumptions(rng: np.random.Generator) -> list[list[str]]:
    """Lowest aVE a search finds in noise that breaks the assumptions, as it is and after the remedy."""
    m = MATRIX[1]
    smooth = rng.normal(size=MATRIX)
    for j in range(1, m):
        smooth[:, j] = 0.7 * smooth[:, j - 1] + np.sqrt(1 - 0.49) * smooth[:, j]
    kinds = {
        "normal": (rng.normal(size=MATRIX), None),
        "lognormal": (np.exp(rng.normal(size=MATRIX)), RANKS),
        "t with 3 degrees of freedom": (rng.standard_t(3, size=MATRIX), RANKS),
        "column effects of sd 1": (rng.normal(size=MATRIX) + rng.normal(size=m), centre_columns),
        "AR(1) along columns, 0.7": (smooth, None),
    }
    rows = []
    for name, (noise, remedy) in kinds.items():
        found = [_lowest(noise, rng), _lowest(remedy(noise), rng) if remedy else None]
        named = {None: "", RANKS: "rank-normalise", centre_columns: "centre columns"}[remedy]
        rows.append([name, f"{found[0]:.3f}", "" if found[1] is None else f"{found[1]:.3f}", named])
    return rows


def _lowest(noise: Floats, rng: np.random.Generator) -> float:
    shapes = [(10, 6), (10, 10), (20, 10), (40, 10), (10, 20)]
    return float(score([(search_block(noise, r, c, rng=rng)[1], r, c) for r, c in shapes])["aVE"].min())
