"""Which biclusters are supported: the cost of naming them, forward selection, redundancy, verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bivaluate._parallel import count_cores, share_out
from bivaluate._text import number
from bivaluate._types import Flags, Floats, Ints
from bivaluate.chance.evidence._cells import NOT_RAISED, SHAPES, FirstSums, Judged, all_cells, every_row, first_sums
from bivaluate.chance.evidence.normal import Normal, independent_columns
from bivaluate.chance.evidence.weights import Weights, log_weights
from bivaluate.chance.moments import log_choose
from bivaluate.matrix import Matrix
from bivaluate.measures.cover import Cover
from bivaluate.solution import Bicluster

Family = Any  # Normal or Weights: blocks, and what is known once some are accepted, are as each of them wants
SUPPORTED, REDUNDANT, NOT_SUPPORTED, TOO_SMALL = VERDICTS = ("supported", "redundant", "not_supported", "too_small")
NONE, LOGARITHMS = "none", "logarithms"
# Two biclusters that share this part of their cells (Jaccard index) are duplicates.
DUPLICATE = 0.9
# One bicluster may explain two that share this part of the smaller one's rows or columns.
ALIKE = 0.5
# From this many cells of blocks on, in all and on average, a second thread is worth it.
_MANY_CELLS, _CELLS_PER_BLOCK = 200_000, 5000
# Beyond this, or below its inverse, values are brought near 1 first.
_LARGEST = 1e70
_LOG_2 = math.log(2)
# A group that is given, and named by nobody's search, moves together from −log .05 on.
_GIVEN = math.log(20)
# Levels of two blocks are alike from this share of one that the other explains; so many are tried last.
_SHADOW, _TRIES = 0.1, 3
# Totals may vary by so many times what their cells scatter; asked of matrices of up to so many cells.
_EVEN, _MOST_EVEN = 2.0, 4_000_000
# Values that are more skewed than this are judged by their logarithms; asked of so many rows, and up to so many cells.
_SKEWED, _ROWS_LOOKED_AT, _MOST_LOGS = 2.0, 500, 32_000_000
_NO_NOISE = "the means of rows and columns explain every value of the matrix"
_SHADOWED = "supported alone, but what the supported biclusters leave of it is no more than noise gives"
_NO_CELLS = "no value is observed"
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
    if first.lowest >= 0 and not first.binary and first.cells <= _MOST_LOGS and _of_logs(matrix, first):
        logs = Matrix(log_weights(matrix, first), nouns=matrix.nouns)
        model = Normal(logs, first_sums(logs))
        model.name = model.name if first.weights else LOGARITHMS
        return model
    return Weights(matrix, first) if first.weights else Normal(matrix, first)


def _of_logs(matrix: Matrix, first: FirstSums) -> bool:
    """Return whether the logarithms of cells are judged: of skewed values, and of counts of even depth."""
    if first.weights:
        return not first.gaps and first.cells <= _MOST_EVEN and is_even(matrix)
    x = every_row(matrix, -(-matrix.shape[0] // _ROWS_LOOKED_AT))
    x = x[~np.isnan(x)] if first.gaps else x.ravel()
    x = x - x.sum() / max(len(x), 1)
    squares = x * x
    return bool(squares @ x * math.sqrt(len(x)) > _SKEWED * squares.sum() ** 1.5)


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

    def is_part(self, bicluster: Bicluster) -> bool:
        """Return whether the rows of a block are one whole part of all rows, and its columns likewise."""
        sides = zip(self.parts, (bicluster.rows, bicluster.cols), strict=True)
        return all(np.array_equal(np.flatnonzero(parts == parts[at[0]]), at) for parts, at in sides)

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
    judged = _judge(model, bicluster, model.block(bicluster))
    gain = judged.raw - Names(model.matrix.shape).cost(bicluster) - model.log_tests
    return gain, model.patterns.get(judged.form, NONE)


def _judge(model: Family, bicluster: Bicluster, block: Any) -> Judged:
    """Return what speaks for a block alone: nothing where it has a single row or column, which any values would fit."""
    return model.judge(block, model.start) if min(bicluster.shape) > 1 else Judged(0.0)


def select(model: Family, cover: Cover, n_jobs: int | None) -> Evidence:
    """Return the selection of most evidence: also without shapes, which may hide blocks within them."""
    solution, K = cover.solution, len(cover.solution)
    n_jobs = n_jobs if sum(b.size for b in solution) >= max(_MANY_CELLS, _CELLS_PER_BLOCK * K) else 1
    blocks = _for_each(lambda k: model.block(solution[k]), K, n_jobs)
    found, shaped = _in_best_order(model, cover, blocks, n_jobs)
    if shaped and (np.nan_to_num(found.alone) > 0).sum() > len(found.order):
        other, _ = _in_best_order(model.without_shapes(), cover, blocks, n_jobs, found)
        return max(found, other, key=_total)
    return found


def _in_best_order(
    model: Family, cover: Cover, blocks: Sequence[Any], n_jobs: int | None, by_itself: Evidence | None = None
) -> tuple[Evidence, bool]:
    """Return the selection by gain, or one that leaves to the end a block that may be the shadow of another."""
    judged = _for_each(lambda k: _judge(model, cover.solution[k], blocks[k]), len(blocks), n_jobs)
    found = [_select(model, cover, blocks, list(judged), by_itself)]
    for k in _beside_others(cover, found[0][0])[:_TRIES]:
        found.append(_select(model, cover, blocks, list(judged), by_itself, k))
    return max(found, key=lambda one: one[0].total)


def _total(found: Evidence) -> float:
    return found.total


def _beside_others(cover: Cover, found: Evidence) -> list[int]:
    """Return accepted blocks, in their order, whose level is like that of later ones with which they share no cell.

    A block that is lowered raises, beside the means of rows and columns, all others of its rows and its columns.
    """
    some = np.nan_to_num(found.alone) > 0
    if not found.order or not np.delete(some, found.order[0]).any() or _tiled(cover):
        return []  # all blocks of a partition are beside others
    like = np.ones((len(found.alone),) * 2)
    for shared, n in zip((cover.shared_rows, cover.shared_cols), cover.solution.shape, strict=True):
        size = np.diag(shared).astype(np.float64)
        spread = np.maximum(size * (1 - size / n), 1e-9)
        like *= (shared - size[:, None] * size / n) ** 2 / (spread[:, None] * spread)
    apart = (cover.shared_rows == 0) | (cover.shared_cols == 0)
    like = np.where(apart & some, like, 0.0)
    beside = []
    for k in found.order:
        like[:, k] = 0.0
        beside += [k] if like[k].max() > _SHADOW else []
    return beside


def _select(
    model: Family,
    cover: Cover,
    blocks: Sequence[Any],
    judged: list[Judged],
    by_itself: Evidence | None = None,
    last: int | None = None,
) -> tuple[Evidence, bool]:
    """Accept the bicluster of largest gain as long as there is one, each judged given those before it.

    Returned with whether one that is accepted has a shape. What biclusters are alone may be known from `by_itself`;
    `last` is looked at when no other has a gain.
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
        ready = waiting if last is None else waiting & (np.arange(K) != last)
        k = _highest(gain, ready)
        if not ready[k] or (gain[k] <= 0 and not stale[ready].any()):
            if last is None:
                break
            last = None
            continue
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
        names.accept(solution[k])
        if waiting.any() or redundant:  # others are judged given this one
            state = model.accept(blocks[k], judged[k], state)
        stale |= waiting
    waiting[list(redundant)] = True
    shown, alone = (patterns, alone) if by_itself is None else (by_itself.patterns, by_itself.alone)
    _raw_of_rest(model, cover, blocks, judged, raws, state, waiting)
    redundant |= {
        k: tuple(other for other in sorted(order) if cover.shared_cells(k, other))
        for k in np.flatnonzero(alone > 0).tolist()
        if k not in order and k not in redundant and cover.shared_cells(k, order).any()
    }
    redundant = _following(cover, order, names) | redundant
    seen = [block.cells > 0 for block in blocks]
    judgeable = [
        bool(k in order or k in redundant or not seen[k] or _side(solution[k], model))
        or (min(solution[k].shape) > 1 and model.best(blocks[k], plain[k]) > plain[k])
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
            ""
            if k in order or k in redundant
            else _SHADOWED
            if alone[k] > 0
            else _reason(solution[k], seen[k], judgeable[k], judged[k], model, whole)
            for k in range(K)
        ),
        tuple(order),
        cover.share if len(order) == K else Cover(solution.select(order)).share,
        model.name,
        model.series,
    )
    return found, shaped


def _following(cover: Cover, order: Sequence[int], names: Names) -> dict[int, tuple[int, ...]]:
    """Return which supported blocks others of a partition follow from: rows and columns of these are named by them."""
    solution, (n, m) = cover.solution, cover.solution.shape
    if not order or not _tiled(cover) or any(b.shape[0] == n or b.shape[1] == m for b in solution):
        return {}
    linked = cover.shared_rows + cover.shared_cols
    rest = [k for k in range(len(solution)) if k not in order and names.is_part(solution[k])]
    return {k: tuple(other for other in sorted(order) if linked[k, other]) for k in rest}


def _tiled(cover: Cover) -> bool:
    """Return whether every cell lies in one bicluster."""
    return bool(cover.sizes.sum() == math.prod(cover.solution.shape) and not cover.cells_shared)


def _side(bicluster: Bicluster, model: Family) -> str:
    """Return which side of the matrix a bicluster takes in as a whole; "" for none."""
    n, m = model.matrix.shape
    return "column" if bicluster.shape[1] == m else "row" if bicluster.shape[0] == n else ""


def _reason(bicluster: Bicluster, seen: bool, judgeable: bool, judged: Judged, model: Family, whole: set[str]) -> str:
    """Return why a bicluster is not supported, where there is more to say than that chance is not ruled out.

    `whole` are the sides of the matrix that supported biclusters take in.
    """
    if not seen:
        return _NO_CELLS
    worth = model.series and f"worth {number(independent_columns(bicluster.cols, model.series))} independent ones"
    if side := _side(bicluster, model):
        (n, m), (rows, columns) = model.matrix.shape, model.matrix.nouns
        if side == "row" or judged.raw <= model.log_tests + _GIVEN:
            return f"its {columns if side == 'row' else rows} do not move together more than chance would give"
        if side in whole:
            return f"its {rows} move together, but no more than the best of so many possible groups would by chance"
        few = f"{m:,} {columns}, {worth}," if model.series else f"{m:,} {columns}"
        chance = f"so many groups of {n:,} {rows} are possible that {few} cannot rule out chance"
        return f"{chance}; what {rows} of a group share elsewhere may still be real"
    if min(bicluster.shape) == 1:
        return "a single {}: nothing shows whether its {} behave alike".format(
            *("row", "columns") if bicluster.shape[0] == 1 else ("column", "rows")
        )
    if model.series:
        r, c = bicluster.shape
        small = f"no block of {r} × {c} could be supported in this matrix"
        said = "chance is not ruled out" if judgeable else small
        return f"its {c} columns are a time series, {worth}; {said}"
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
    tasks = [lambda k=k: found.update({k: function(k)}) for k in range(count)]
    share_out(tasks, count_cores(n_jobs))
    return [found[k] for k in range(count)]
