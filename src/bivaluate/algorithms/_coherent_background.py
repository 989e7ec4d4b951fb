"""What is not a bicluster: what columns share in every row, and what the search finds where there is nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate.algorithms._coherent_field import copy_field, fit, make_field, refresh, remove
from bivaluate.algorithms._coherent_prepare import bend, column_covariance, median, standardise, tails, without_effects
from bivaluate.algorithms._coherent_refine import Scored
from bivaluate.algorithms._coherent_search import Search
from bivaluate.algorithms._estimator import Pair, Values

# Patterns common to half of all rows that are taken out at most.
MOST_PATTERNS = 8
# Surrogates of data that look harmless, and of doubtful data or where one of the former holds a block.
FEW_COPIES, COPIES = 3, 11
# Then a bicluster must be this unlikely to be the best of a surrogate; beyond the other after a few, it will not be.
LARGEST_P = 0.01
HOPELESS_P, COPIES_TO_TELL = 0.2, 5
# Parts of the rows, each predicted from the others; how often columns are centred anew without the blocks found.
PARTS, MOST_ROUNDS = 5, 3
# Blocks looked for at most, and rounds in which missing cells are filled from each other.
MOST_BLOCKS, SWEEPS = 100, 20


@dataclass(frozen=True)
class Background:
    """A prepared matrix (NaN where missing), the covariance of its columns if that matters, and the field to search.

    `unbent` is the matrix before its tails were bent to normal.
    """

    Z: Values
    unbent: Values
    covariance: Values | None
    field: Any

    @classmethod
    def of(cls, Z: Values, unbent: Values, covariance: Values | None) -> Background:
        """Return the background of Z with columns of this covariance, independent ones if it is None."""
        return cls(Z, unbent, covariance, background_field(Z, covariance))

    @property
    def correlated(self) -> bool:
        """Whether the columns are taken as correlated."""
        return self.covariance is not None

    def copy(self) -> Any:
        """Return a copy of the field from which blocks may be removed."""
        return copy_field(self.field)


def find_background(
    Z: Values, unbent: Values, search: Search, rng: np.random.RandomState
) -> tuple[Background, list[Pair]]:
    """Return the background of Z, and the blocks that were met on the way.

    Correlation of columns looks like blocks, and blocks with many rows like correlation: whichever saves more nats is
    taken. Blocks on most of the columns, or with as many rows as a bicluster may have, do not count here: that is what
    a factor of all rows looks like. Where blocks save more, columns are centred without their cells, and the question
    is asked again of what the blocks do not explain.
    """
    background = Background.of(Z, unbent, None)
    blocks: list[Pair] = []
    gain = covariance_evidence(Z)
    for _ in range(MOST_ROUNDS):
        if gain <= search.threshold:
            return background, blocks
        known, blocks, total = blocks, [], 0.0
        for score, pair in search.peel(background.copy(), rng, MOST_BLOCKS, known):
            if len(pair[0]) == search.most_rows or 2 * len(pair[1]) > Z.shape[1]:
                break
            blocks.append(pair)
            total += score
        if total <= gain:
            return Background.of(Z, unbent, column_covariance(Z)), blocks
        Z, unbent = centred_without(Z, blocks), centred_without(unbent, blocks)
        background = Background.of(Z, unbent, None)
        gain = covariance_evidence(explained(Z, blocks))
    return background_beside(Z, unbent, search, blocks), blocks


def background_beside(Z: Values, unbent: Values, search: Search, blocks: Iterable[Pair]) -> Background:
    """Return the background of Z where blocks are known: its covariance, if it has one, is that of the other cells.

    Blocks with more rows than a bicluster may have are part of the background: without them little would be left of it.
    """
    kept = [(rows, cols) for rows, cols in blocks if len(rows) <= search.most_rows]
    correlated = covariance_evidence(explained(Z, kept)) > search.threshold
    return Background.of(Z, unbent, column_covariance(without_cells(Z, kept)) if correlated else None)


def covariance_evidence(Z: Values) -> float:
    """Return how many nats are saved if every row is predicted with the covariance of columns in other rows.

    The rows are split into parts, and each part is predicted from the others: parameters need no further price.
    """
    from bivaluate.algorithms._kernels_coherent import ROW_WHOLE

    part = np.arange(len(Z)) % PARTS
    saved = 0.0
    for k in range(PARTS):
        covariance, rows = column_covariance(Z[part != k]), Z[part == k]
        scale = np.diag(covariance)
        correlated, alone = background_field(rows, covariance), background_field(rows, np.diag(scale))
        log_det = np.linalg.slogdet(covariance)[1] - np.log(scale).sum()
        saved += float((correlated.lines[ROW_WHOLE] - alone.lines[ROW_WHOLE] - 0.5 * log_det).sum())
    return saved


def without_cells(Z: Values, blocks: Iterable[Pair]) -> Values:
    """Return Z with the cells of blocks missing."""
    seen = Z.copy()
    for rows, cols in blocks:
        seen[np.ix_(rows, cols)] = np.nan
    return seen


def centred_without(Z: Values, blocks: Iterable[Pair]) -> Values:
    """Return Z with column effects as they are in the cells outside the blocks."""
    return standardise(Z - median(without_cells(Z, blocks), 0))


def explained(Z: Values, blocks: Iterable[Pair]) -> Values:
    """Return Z with the blocks turned into background: what their patterns leave, at the scale of their rows."""
    field = make_field(Z)
    out = Z.copy()
    for rows, cols in blocks:
        model = fit(field, rows, cols)
        cells = model.centre[:, np.newaxis] + model.residuals()
        out[np.ix_(rows, cols)] = np.where(np.isnan(Z[np.ix_(rows, cols)]), np.nan, cells)
    return out


def fill(Z: Values, precision: Values) -> Values:
    """Return Z with missing cells at what the other cells of their row lead one to expect."""
    gap = np.isnan(Z)
    filled = np.where(gap, 0.0, Z)
    rows_of = {int(j): np.flatnonzero(gap[:, j]) for j in np.flatnonzero(gap.any(axis=0))}
    for _ in range(SWEEPS):
        for j, rows in rows_of.items():
            filled[rows, j] -= filled[rows] @ precision[:, j] / precision[j, j]
    return filled


def background_field(Z: Values, covariance: Values | None) -> Any:
    """Return the field to search, with columns of this covariance, or independent ones if it is None."""
    from bivaluate.algorithms._kernels_coherent import ROW_SIZE

    if covariance is None:
        return make_field(Z)
    precision: Values = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    field = make_field(fill(Z, precision), 0.5 * (precision + precision.T))
    gap = np.isnan(Z)
    if gap.any():
        field.lines[ROW_SIZE] = (~gap).sum(axis=1)
        field = field._replace(seen=np.ascontiguousarray((~gap).T.astype(np.uint8)))
        refresh(field, np.arange(len(Z)))
    return field


def take_out(background: Background, block: Pair) -> tuple[Values, Values]:
    """Return Z, and Z before bending, without the pattern of a block that is common to half of all rows."""
    rows, cols = block
    pattern = np.zeros(background.Z.shape[1])
    pattern[cols] = fit(background.field, rows, cols).pattern

    def without_pattern(Z: Values) -> Values:
        loading = np.where(np.isnan(Z), 0.0, Z) @ pattern
        return without_effects(Z - loading[:, np.newaxis] * pattern)

    return without_pattern(background.Z), without_pattern(background.unbent)


@dataclass(frozen=True)
class Calibration:
    """The blocks that stand out, their p-values, and whether surrogates had to set the threshold."""

    blocks: list[Scored]
    p_values: Values
    by_surrogates: bool


def permuted(Z: Values, rng: np.random.RandomState) -> Values:
    """Return Z with the observed cells of every row in random order: the rows keep their values, nothing else."""
    order = np.argsort(np.where(np.isnan(Z), np.inf, rng.random_sample(Z.shape)), axis=1)
    out = np.full_like(Z, np.nan)
    count = (~np.isnan(Z)).sum(axis=1)
    there = np.arange(Z.shape[1]) < count[:, np.newaxis]
    out[~np.isnan(Z)] = np.take_along_axis(Z, order, axis=1)[there]
    return out


def flipped(Z: Values, rng: np.random.RandomState) -> Values:
    """Return the standardised rows of Z with random signs of their coordinates along the principal axes of the columns.

    The covariance of the columns stays, and so does how much of each axis every row holds; which rows go together does
    not. For an ordered series this is what drawing random phases does.
    """
    gap = np.isnan(Z)
    rows = Z - np.nanmean(Z, axis=1, keepdims=True)
    rows = np.where(gap, 0.0, rows / np.maximum(np.nanstd(Z, axis=1, keepdims=True), 1e-300))
    axes = np.linalg.eigh(rows.T @ rows)[1]
    along = rows @ axes
    copy = (along * rng.choice([-1.0, 1.0], along.shape)) @ axes.T
    copy[gap] = np.nan
    return np.asarray(copy)


def best_of_copy(search: Search, background: Background, Z: Values, rng: np.random.RandomState, n_starts: int) -> float:
    """Return the best S in a surrogate of Z, 0 if nothing exceeds the threshold.

    A surrogate in correlated columns goes the way of the data, preparation included: with few columns, scaling rows by
    their own background makes blocks of its own.
    """
    if background.correlated:
        copy = without_effects(flipped(Z, rng))
        copy = bend(copy, *tails(copy))[0]
        field = background_field(copy, column_covariance(copy))
    else:
        field = make_field(permuted(Z, rng))
    found = search.from_starts(field, n_starts, rng)
    return float(found.scores[0]) if len(found) else 0.0


def tail_probability(best: Values, threshold: float, score: float) -> float:
    """Return the probability that a surrogate's best block reaches `score`, from the best S of several surrogates.

    Above their median (or the threshold, if that is higher) best scores are taken as exponential; this is the
    predictive tail, which allows for how few they are. One more exceedance, of a nat, stands for what the score itself
    claims.
    """
    start = max(float(np.median(best)), threshold)
    above = best[best > start] - start
    k = len(above) + 1
    mean = (float(above.sum()) + 1.0) / k
    beyond = max(score - start, 0.0) / (k * mean)
    return float(k / (len(best) + 1.0) * (1.0 + beyond) ** -k)


def calibrate(
    search: Search,
    background: Background,
    blocks: list[Scored],
    rng: np.random.RandomState,
    doubtful: bool,
    tell: Callable[[int, int], None],
) -> Calibration:
    """Keep the blocks that are better than what the search finds in surrogates.

    Of data that are not `doubtful` (transformed, or with few or correlated columns), a few surrogates without the
    blocks are looked at; if they hold nothing, no p-value is needed. Otherwise eleven surrogates
    with the blocks in place, searched with as many starts as the data, say how likely the best of a
    surrogate is to reach S: first for the data as a whole and then for what is left without the blocks that passed.
    `tell` hears how many have been searched.
    """
    if not blocks:
        return Calibration([], np.zeros(0), False)
    if not doubtful:
        rest, quarter = without_blocks(background, blocks), max(search.n_starts // 4, 75)
        if all(best_of_copy(search, background, rest, rng, quarter) == 0 for _ in range(FEW_COPIES)):
            return Calibration(blocks, np.full(len(blocks), np.nan), False)
    scores = comparable_scores(background, blocks)
    Z = background.unbent if background.correlated else background.Z
    p_values = _p_values(search, background, Z, scores, rng, tell)
    passed = p_values <= LARGEST_P
    if passed.any() and not passed.all():
        kept = [block for block, ok in zip(blocks, passed, strict=True) if ok]
        rest = without_blocks(background, kept)
        p_values[~passed] = _p_values(search, background, rest, scores[~passed], rng, tell)
        passed = p_values <= LARGEST_P
    return Calibration([block for block, ok in zip(blocks, passed, strict=True) if ok], p_values[passed], True)


def comparable_scores(background: Background, blocks: list[Scored]) -> Values:
    """Return S of the blocks as it would be in a surrogate: with the covariance of all cells, theirs included.

    Leaving the cells of a block out of the covariance makes it stand out the more, also one that is chance.
    """
    scores = np.array([score for score, _ in blocks])
    if not background.correlated:
        return scores
    field = background_field(background.Z, column_covariance(background.Z))
    for k, (_, (rows, cols)) in enumerate(blocks):
        scores[k] = min(scores[k], fit(field, rows, cols).score)
        remove(field, rows, cols)
    return scores


def _p_values(
    search: Search,
    background: Background,
    Z: Values,
    scores: Values,
    rng: np.random.RandomState,
    tell: Callable[[int, int], None],
) -> Values:
    """Return the p-values of scores by surrogates of Z; by few, if these already do as well as all of them."""
    best: list[float] = []
    while len(best) < COPIES:
        best.append(best_of_copy(search, background, Z, rng, search.n_starts))
        tell(len(best), COPIES)
        hopeless = tail_probability(np.array(best), search.threshold, float(scores.max())) > HOPELESS_P
        if len(best) == COPIES_TO_TELL and hopeless:
            break
    return np.array([tail_probability(np.array(best), search.threshold, float(score)) for score in scores])


def without_blocks(background: Background, blocks: list[Scored]) -> Values:
    """Return the prepared matrix with the blocks explained away (correlated columns) or their cells missing."""
    if not background.correlated:
        Z = background.Z.copy()
        for _, (rows, cols) in blocks:
            Z[np.ix_(rows, cols)] = np.nan
        return Z
    field = background.copy()
    for _, (rows, cols) in blocks:
        remove(field, rows, cols)
    return np.ascontiguousarray(field.Zt.T)
