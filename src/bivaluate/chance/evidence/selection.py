"""Which biclusters are supported: the cost of naming them, forward selection, redundancy, verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from bivaluate._parallel import count_cores, share_out
from bivaluate._text import number
from bivaluate._types import Flags, Floats, Ints
from bivaluate.chance.evidence._cells import NOT_RAISED, SHAPES, Judged, all_cells, first_sums
from bivaluate.chance.evidence.normal import Normal, independent_columns
from bivaluate.chance.evidence.weights import Weights, log_weights
from bivaluate.chance.moments import log_choose
from bivaluate.matrix import Matrix
from bivaluate.measures.cover import Cover
from bivaluate.solution import Bicluster

Family = Any  # Normal or Weights: blocks, and what is known once some are accepted, are as each of them wants
SUPPORTED, REDUNDANT, NOT_SUPPORTED, TOO_SMALL = VERDICTS = ("supported", "redundant", "not_supported", "too_small")
NONE = "none"
# Two biclusters that share this part of their cells (Jaccard index) are duplicates.
DUPLICATE = 0.9
# One bicluster may explain two that share this part of the smaller one's rows or columns.
ALIKE = 0.5
# From this many cells of blocks on, in all and on average, a second thread is worth it.
_MANY_CELLS, _CELLS_PER_BLOCK = 200_000, 5000
# Beyond this, or below its inverse, values are brought near 1 first.
_LARGEST = 1e70
_LOG_2 = math.log(2)
# Totals may vary by so many times what their cells scatter; asked of matrices of up to so many cells.
_EVEN, _MOST_EVEN = 2.0, 4_000_000
_NO_NOISE = "the means of rows and columns explain every cell of the matrix"
_NO_CELLS = "no cell is observed"
_NOT_RAISED = "no higher than its rows and columns are elsewhere; among counts and zeros only raised blocks are judged"


def model_of(matrix: Matrix) -> Family | None:
    """Return the family of a matrix, fitted to its cells; None where these leave nothing to judge by."""
    with np.errstate(over="ignore", invalid="ignore"):
        first = first_sums(matrix)
    if first.largest > 0 and not _LARGEST > first.largest > 1 / _LARGEST:  # squares would not be numbers
        matrix = Matrix(np.ldexp(matrix.values, -math.frexp(first.largest)[1]))
        first = first_sums(matrix)
    rounding = (32 * np.finfo(np.float64).eps * first.largest) ** 2
    if not first.cells or not first.variance > rounding:
        return None
    if first.weights and not first.binary and not first.gaps and first.cells <= _MOST_EVEN and is_even(matrix):
        logs = Matrix(log_weights(matrix, first))
        return Normal(logs, first_sums(logs))
    return Weights(matrix, first) if first.weights else Normal(matrix, first)


def is_even(matrix: Matrix) -> bool:
    """Return whether rows, and columns, of weights differ no more in their totals than their cells scatter.

    Asked of columns in the half of the rows with the smaller totals, and of rows in that half of the columns, so that
    raised blocks of up to half of either do not count. Then the logarithms of weights scatter around one level, and a
    block can be judged by the normal family; where depths differ, margins have to be allowed for.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(1.0, size=(80, 30)).astype(float)
    >>> X[:20, :10] += rng.poisson(3.0, size=(20, 10))
    >>> is_even(Matrix.of(X)), is_even(Matrix.of(rng.poisson(np.exp(rng.normal(size=30)), size=(80, 30))))
    (True, False)
    """
    X = all_cells(matrix)
    for cells in (X, X.T):
        totals = cells.sum(axis=1)
        low = cells[totals <= np.median(totals)]
        within = float(low.var(axis=0).mean())
        if len(low) < 2 or within == 0 or float(low.sum(axis=0).var()) > _EVEN * len(low) * within:
            return False
    return True


class Names:
    """What it costs to name the members of a block, and less so where accepted blocks have named them before."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.parts: list[Any] = [np.zeros(n, dtype=np.int64) for n in shape]
        self.sizes: list[Any] = [np.array([n]) for n in shape]

    def cost(self, bicluster: Bicluster) -> float:
        """Return log C(n, r) + log n, or Σ over parts, with log 2 for the choice; rows and columns alike."""
        return sum(map(self._of_side, self.parts, self.sizes, (bicluster.rows, bicluster.cols)))

    @staticmethod
    def _of_side(parts: Ints, sizes: Ints, members: Ints) -> float:
        n = len(parts)
        plain = log_choose(n, len(members)) + math.log(n)
        if len(sizes) == 1:
            return plain
        logs, inside = _log_factorials(n), np.bincount(parts[members], minlength=len(sizes))
        within = float((logs[sizes] - logs[inside] - logs[sizes - inside] + np.log1p(sizes)).sum())
        return min(plain, within) + _LOG_2

    def accept(self, bicluster: Bicluster) -> None:
        """Split parts into members of a block and others."""
        for side, members in enumerate((bicluster.rows, bicluster.cols)):
            split = 2 * self.parts[side]
            split[members] += 1
            sizes = np.bincount(split)
            self.parts[side] = (np.cumsum(sizes > 0) - 1)[split]
            self.sizes[side] = sizes[sizes > 0]


@lru_cache(maxsize=4)
def _log_factorials(n: int) -> Floats:
    return np.array([math.lgamma(k + 1) for k in range(n + 1)])


@dataclass(frozen=True)
class Evidence:
    """The evidence for each bicluster and for the solution, in nats; made by :func:`bivaluate.evidence_table`."""

    gain: Floats
    alone: Floats
    raw: Floats
    patterns: tuple[str, ...]
    verdicts: tuple[str, ...]
    redundant_with: tuple[tuple[int, ...], ...]
    reasons: tuple[str, ...]
    order: tuple[int, ...]
    coverage: float
    family: str
    series: float

    @property
    def total(self) -> float:
        """Evidence of the supported biclusters together."""
        return math.fsum(self.gain[list(self.order)])

    @property
    def total_raw(self) -> float:
        """Raw evidence of all biclusters together."""
        return math.fsum(self.raw)

    @property
    def supported(self) -> Flags:
        """Which biclusters are supported."""
        return np.array([verdict == SUPPORTED for verdict in self.verdicts], dtype=np.bool_)

    @property
    def n_supported(self) -> int:
        """Number of supported biclusters."""
        return len(self.order)


def judged_alone(model: Family, bicluster: Bicluster) -> tuple[float, str]:
    """Return the evidence of a bicluster as if it were the only one, and its pattern."""
    judged = model.judge(model.block(bicluster), model.start)
    gain = judged.raw - Names(model.matrix.shape).cost(bicluster) - model.log_tests
    return gain, model.patterns.get(judged.form, NONE)


def select(model: Family, cover: Cover, n_jobs: int | None) -> Evidence:
    """Return the selection, or that without shapes, which may hide blocks within them, if it has more evidence."""
    solution, K = cover.solution, len(cover.solution)
    n_jobs = n_jobs if sum(b.size for b in solution) >= max(_MANY_CELLS, _CELLS_PER_BLOCK * K) else 1
    blocks = _for_each(lambda k: model.block(solution[k]), K, n_jobs)
    judged = _for_each(lambda k: model.judge(blocks[k], model.start), K, n_jobs)
    found, shaped = _select(model, cover, blocks, judged)
    if shaped and (np.nan_to_num(found.alone) > 0).sum() > len(found.order):
        plain = model.without_shapes()
        judged = _for_each(lambda k: plain.judge(blocks[k], plain.start), K, n_jobs)
        other, _ = _select(plain, cover, blocks, judged, found)
        return other if other.total > found.total else found
    return found


def _select(
    model: Family, cover: Cover, blocks: Sequence[Any], judged: list[Judged], by_itself: Evidence | None = None
) -> tuple[Evidence, bool]:
    """Accept the bicluster of largest gain as long as there is one, each judged given those before it.

    Returned with whether one that is accepted has a shape. What biclusters are alone may be known from `by_itself`.
    """
    solution, K = cover.solution, len(cover.solution)
    state, names, shaped = model.start, Names(model.matrix.shape), False
    plain = np.array([names.cost(b) + model.log_tests for b in solution])
    raws = np.array([one.raw for one in judged])
    alone = raws - plain
    gain, patterns = alone.copy(), [model.patterns.get(one.form, NONE) for one in judged]
    repeats = _Repeats(model, cover, alone, patterns)
    redundant: dict[int, tuple[int, ...]] = {}
    order: list[int] = []
    waiting, stale = raws > 0, np.zeros(K, dtype=np.bool_)

    while waiting.any():
        k = _highest(gain, waiting)
        if gain[k] <= 0 and not stale.any():
            break
        if gain[k] <= 0 or stale[k]:
            for again in [k] if gain[k] > 0 else np.flatnonzero(stale).tolist():
                judged[again] = model.judge(blocks[again], state)
                raws[again] = judged[again].raw
                gain[again] = raws[again] - names.cost(solution[again]) - model.log_tests
                stale[again] = False
            continue
        waiting[k] = False
        if repeated := repeats.among(k, order, gain[k]):
            redundant[k] = repeated
            continue
        order.append(k)
        shaped = shaped or judged[k].form in SHAPES
        if waiting.any() or redundant:  # others are judged given this one
            state = model.accept(blocks[k], judged[k], state)
            names.accept(solution[k])
        stale |= waiting
    waiting[list(redundant)] = True
    shown, alone = (patterns, alone) if by_itself is None else (by_itself.patterns, by_itself.alone)
    _raw_of_rest(model, cover, blocks, judged, raws, state, waiting)
    redundant |= {
        k: tuple(other for other in sorted(order) if cover.shared_cells(k, other))
        for k in np.flatnonzero(alone > 0).tolist()
        if k not in order and k not in redundant and cover.shared_cells(k, order).any()
    }
    seen = [block.cells > 0 for block in blocks]
    judgeable = [
        bool(k in order or k in redundant or not seen[k] or _side(solution[k], model))
        or model.best(blocks[k]) > plain[k]
        for k in range(K)
    ]
    whole = {_side(solution[k], model) for k in order}
    found = Evidence(
        np.where(seen, gain, np.nan),
        np.where(seen, alone, np.nan),
        raws,
        tuple(patterns[k] if k in order else shown[k] if alone[k] > 0 else NONE for k in range(K)),
        tuple(
            SUPPORTED if k in order else REDUNDANT if k in redundant else NOT_SUPPORTED if judgeable[k] else TOO_SMALL
            for k in range(K)
        ),
        tuple(redundant.get(k, ()) for k in range(K)),
        tuple(
            "" if k in order or k in redundant else _reason(solution[k], seen[k], judgeable[k], judged[k], model, whole)
            for k in range(K)
        ),
        tuple(order),
        cover.share if len(order) == K else Cover(solution.select(order)).share,
        model.name,
        model.series,
    )
    return found, shaped


def _side(bicluster: Bicluster, model: Family) -> str:
    """Return which side of the matrix a bicluster takes in as a whole; "" for none."""
    n, m = model.matrix.shape
    return "column" if bicluster.shape[1] == m else "row" if bicluster.shape[0] == n else ""


def _reason(bicluster: Bicluster, seen: bool, judgeable: bool, judged: Judged, model: Family, whole: set[str]) -> str:
    """Return why a bicluster is not supported, where there is more to say than that noise gives as much.

    `whole` are the sides of the matrix that supported biclusters take in.
    """
    if not seen:
        return _NO_CELLS
    worth = model.series and f"worth {number(independent_columns(bicluster.cols, model.series))} independent ones"
    if side := _side(bicluster, model):
        (n, m), (rows, columns) = model.matrix.shape, model.matrix.nouns
        if side == "row" or side in whole or judged.raw <= 0:
            return f"its {columns if side == 'row' else rows} do not move together more than chance would give"
        few = f"{m:,} {columns}, {worth}," if model.series else f"{m:,} {columns}"
        chance = f"so many groups of {n:,} {rows} are possible that {few} cannot rule out chance"
        return f"{chance}; what {rows} of a group share elsewhere may still be real"
    if not judgeable and model.series:
        said = "its {1} columns are a time series, {2}; no block of {0} × {1} could be supported in this matrix"
        return said.format(*bicluster.shape, worth)
    if not judgeable:
        return "{} × {}: no block of this size could be supported in this matrix".format(*bicluster.shape)
    return _NOT_RAISED if judged.form == NOT_RAISED else ""


def _raw_of_rest(
    model: Family, cover: Cover, blocks: Sequence[Any], judged: list[Judged], raws: Floats, state: Any, rest: Flags
) -> None:
    """Give raw evidence to those that are not accepted, each given those that have more and share cells with it."""
    stale = np.zeros(len(rest), dtype=np.bool_)
    while rest.any():
        k = _highest(raws, rest)
        if raws[k] <= 0:
            break
        if stale[k]:
            judged[k] = model.judge(blocks[k], state)
            raws[k] = judged[k].raw
            stale[k] = False
            continue
        rest[k] = False
        shared = rest & (cover.shared_cells(k) > 0)
        if shared.any():
            state = model.accept(blocks[k], judged[k], state)
            stale |= shared


def _highest(values: Floats, among: Flags) -> int:
    """Return the position of the largest of some values, the first where they tie."""
    return int(np.where(among, values, -np.inf).argmax())


class _Repeats(NamedTuple):
    """Which accepted biclusters a bicluster is redundant with."""

    model: Family
    cover: Cover
    alone: Floats
    patterns: Sequence[str]

    def among(self, k: int, accepted: Sequence[int], gain: float) -> tuple[int, ...]:
        """Return the accepted biclusters that share nearly all cells with k, or that one block explains with it.

        That block must have the pattern of one of the two: a richer one would explain unlike biclusters, too.
        """
        at = np.array(accepted, dtype=np.int64)
        same = at[self.cover.jaccard(k, at) >= DUPLICATE]
        if len(same):
            return (int(same[0]),)
        rows, cols = self.cover.shared_rows, self.cover.shared_cols
        share = [shared[k, at] / np.minimum(shared[k, k], shared[at, at]) for shared in (rows, cols)]
        alike = at[np.maximum(*share) >= ALIKE] if len(at) else at
        return tuple(other for other in alike.tolist() if self._explained_by_one(k, other, self.alone[other] + gain))

    def _explained_by_one(self, k: int, other: int, pair: float) -> bool:
        solution = self.cover.solution
        gain, pattern = judged_alone(self.model, union_of(solution[k], solution[other]))
        return gain >= pair and pattern in (self.patterns[k], self.patterns[other])


def union_of(one: Bicluster, other: Bicluster) -> Bicluster:
    """Return all rows of two biclusters by all their columns."""
    return Bicluster(np.union1d(one.rows, other.rows), np.union1d(one.cols, other.cols))


def undefined(cover: Cover) -> Evidence:
    """Return what is said where a matrix leaves nothing to judge by."""
    K = len(cover.solution)
    nothing, verdicts = np.full(K, np.nan), (NOT_SUPPORTED,) * K
    said = (NONE,) * K, verdicts, ((),) * K, (_NO_NOISE,) * K, ()
    return Evidence(nothing, nothing, np.zeros(K), *said, coverage=0.0, family="normal", series=0.0)


def _for_each(function: Callable[[int], Any], count: int, n_jobs: int | None) -> list[Any]:
    found: dict[int, Any] = {}
    share_out([partial(_into, found, function, k) for k in range(count)], count_cores(n_jobs))
    return [found[k] for k in range(count)]


def _into(found: dict[int, Any], function: Callable[[int], Any], k: int) -> None:
    found[k] = function(k)
