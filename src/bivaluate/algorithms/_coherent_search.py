"""The coherent submatrix search: starts, climbs, and blocks taken one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bivaluate._parallel import SliceThreads
from bivaluate.algorithms._coherent_field import fit_pattern, remove
from bivaluate.algorithms._estimator import Pair
from bivaluate.measures.cover import cell_jaccard
from bivaluate.solution import member_masks

Masks = NDArray[np.uint8]
Scored = tuple[float, Pair]

FEWEST_COLS = 2
FEWEST_STARTS, MOST_STARTS = 400, 1200
MOST_PARTS = 6
# Blocks that share this much of their cells are one.
SAME = 0.5
MOST_SPLITS = 20
MOST_CLIMBED_AGAIN = 200
SHARE_INSIDE = 0.25
SHARE_BETWEEN = 0.10
# Cells that hold less than this share of the evidence per cell are not worth having: a block without them is better.
WORTH = 0.15
# Climbs that keep many rows in their first rounds: from this many to a sixth of all, and the share that does not.
WARM_ROWS = 15
COLD_SHARE = 1 / 3


class Candidates(NamedTuple):
    """Blocks found so far, best first, no two the same."""

    scores: NDArray[np.float64]
    rows: Masks
    cols: Masks

    def pair(self, k: int) -> Pair:
        return np.flatnonzero(self.rows[k]), np.flatnonzero(self.cols[k])

    def take(self, which: Any) -> Candidates:
        return Candidates(*(part[which] for part in self))


@dataclass(frozen=True)
class Search:
    """How to search: bounds on the size of a block, the score it must exceed, the number of starts, the threads."""

    n_starts: int
    threshold: float
    fewest_rows: int
    most_rows: int
    workers: SliceThreads

    def drop(self, blocks: Sequence[Scored]) -> list[Scored]:
        """Return the blocks above the threshold, best first, without those that are nearly a better one."""
        kept: list[Scored] = []
        for score, pair in sorted(blocks, key=lambda block: -block[0]):
            fits = score > self.threshold and len(pair[0]) < self.most_rows
            if fits and all(cell_jaccard(pair, other) < SAME for _, other in kept):
                kept.append((score, pair))
        return kept

    def climb(
        self, field: Any, row_sets: Masks, col_sets: Masks, warm_rows: NDArray[np.int64] | None = None
    ) -> Candidates:
        """Climb from every start and return the blocks above the threshold; the first rounds keep `warm_rows`."""
        from bivaluate.algorithms._kernels_coherent_climb import climb_all

        row_sets, col_sets = row_sets.copy(), col_sets.copy()
        scores = np.empty(len(row_sets))
        warm = np.zeros(len(row_sets), np.int64) if warm_rows is None else warm_rows

        def task(part: slice) -> None:
            climb_all(field, row_sets[part], col_sets[part], warm[part], scores[part], self.fewest_rows, self.most_rows)

        self.workers.run(task, len(scores))
        return distinct_blocks(scores, row_sets, col_sets, self.threshold)

    def from_starts(self, field: Any, n_starts: int, rng: np.random.RandomState) -> Candidates:
        """Return what climbs from new starts find."""
        n = field.Zt.shape[1]
        largest = max(n // 6, 1)
        warm = np.exp(rng.uniform(np.log(min(WARM_ROWS, largest)), np.log(largest), n_starts)).astype(np.int64)
        warm[rng.random_sample(n_starts) < COLD_SHARE] = 0
        return self.climb(field, *starts(field, n_starts, rng), warm)

    def peel(
        self, field: Any, rng: np.random.RandomState, most: int, known: Sequence[Pair] = (), once: bool = False
    ) -> Iterator[Scored]:
        """Yield (S, block) one after the other, each explained away before the next; `field` is changed.

        New starts are made until they find nothing, or only `once`; the first ones are joined by `known` blocks.
        """
        count = 0
        while count < most:
            if once and count:
                return
            found = self.from_starts(field, self.n_starts, rng)
            if known and not count:
                found = join(found, self.climb(field, *as_masks(known, field.Zt.shape[::-1])), self.threshold)
            if not len(found.scores):
                return
            for block in self.peel_candidates(field, found, most - count):
                count += 1
                yield block

    def peel_candidates(self, field: Any, found: Candidates, most: int) -> Iterator[Scored]:
        """Yield (S, block) of the best candidate, explain it away, climb again from the others, and so on."""
        count = 0
        while len(found.scores) and count < most:
            found = join(found, self.climb(field, *parts(field, found.pair(0))), self.threshold)
            best = best_part(found)
            rows, cols = found.pair(best)
            yield float(found.scores[best]), (rows, cols)
            count += 1
            remove(field, rows, cols)
            touched = found.rows[:, rows].any(axis=1)
            again = np.flatnonzero(touched & (np.arange(len(found.scores)) != best))[:MOST_CLIMBED_AGAIN]
            new = self.climb(field, found.rows[again], found.cols[again])
            found = join(found.take(~touched), new, self.threshold)


def starts(field: Any, n_starts: int, rng: np.random.RandomState) -> tuple[Masks, Masks]:
    """Return row and column masks to climb from: most by correlation of rows, one in six by random columns."""
    m, n = field.Zt.shape
    Z = np.ascontiguousarray(field.Zt.T)
    row_sets, col_sets = np.zeros((n_starts, n), np.uint8), np.zeros((n_starts, m), np.uint8)
    first = n_starts - n_starts // 6
    near = np.minimum(rng.choice([2, 5, 10], n_starts), n - 1)
    # A row, those most correlated with it, and the columns where these agree most.
    C = np.clip(Z, -4, 4)
    C -= C.mean(axis=1, keepdims=True)
    length = np.sqrt((C * C).sum(axis=1, keepdims=True))
    C /= np.where(length > 0, length, 1.0)
    rows = np.concatenate([rng.permutation(n) for _ in range(-(-first // n))])[:first]
    n_cols = np.exp(rng.uniform(np.log(2), np.log(max(m / 2, 2)), first)).round().astype(np.int64)
    for s, i in enumerate(rows):
        r = C @ C[i]
        who = _largest(np.abs(r), near[s], i)
        total = np.abs(C[i] + np.where(r[who] > 0, 1.0, -1.0) @ C[who])
        row_sets[s, who], row_sets[s, i] = 1, 1
        col_sets[s, np.argsort(-total, kind="stable")[: np.clip(n_cols[s], 2, m)]] = 1
    # A row, a few random columns, and the rows that vary most in line with it over these.
    for s in range(first, n_starts):
        i, cols = rng.randint(n), rng.permutation(m)[: rng.randint(3, 7)]
        part = Z[:, cols]
        product = np.abs(part @ (part[i] - part[i].mean()))
        who = _largest(product / np.sqrt(part.var(axis=1) * len(cols) + 0.25 * len(cols)), near[s], i)
        row_sets[s, who], row_sets[s, i] = 1, 1
        col_sets[s, cols] = 1
    return row_sets, col_sets


def _largest(values: NDArray[np.float64], count: int, without: int) -> NDArray[np.int64]:
    """Return the places of the largest values, of which one does not count."""
    values[without] = -1.0
    return np.argpartition(values, len(values) - count)[len(values) - count :]


def distinct_blocks(scores: NDArray[np.float64], rows: Masks, cols: Masks, threshold: float) -> Candidates:
    """Return the blocks above the threshold, best first; among equals the first found, repeats dropped."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > threshold]
    seen: set[bytes] = set()
    kept = []
    for k in order:
        name = np.packbits(rows[k]).tobytes() + np.packbits(cols[k]).tobytes()
        if name not in seen:
            seen.add(name)
            kept.append(k)
    at = np.array(kept, dtype=np.int64)
    return Candidates(scores[at], rows[at], cols[at])


def join(one: Candidates, two: Candidates, threshold: float) -> Candidates:
    """Return the blocks of both, best first."""
    pairs: Any = zip(one, two, strict=True)
    return distinct_blocks(*Candidates._make(np.concatenate(pair) for pair in pairs), threshold)


def parts(field: Any, block: Pair) -> tuple[Masks, Masks]:
    """Return starts inside a block, in case it is several: columns above and below the pattern's middle, rows likewise.

    Two blocks side by side look like one whose pattern is high on the columns of the one and low on the others.
    """
    rows, cols = block
    model = fit_pattern(field, rows, cols)
    pieces: list[Pair] = []
    upper = model.pattern > 0
    for chosen in (upper, ~upper):
        if chosen.sum() < FEWEST_COLS:
            continue
        level = np.abs(field.Zt[np.ix_(cols[chosen], rows)].mean(axis=0))
        strong = level >= np.median(level)
        pieces += [(rows, cols[chosen]), (rows[strong], cols[chosen])]
    turned = model.slope > 0
    pieces += [(rows[side], cols) for side in (turned, ~turned) if 2 <= side.sum() < len(rows)]
    return as_masks([piece for piece in pieces if len(piece[0]) >= 2], (field.Zt.shape[1], len(field.Zt)))


def best_part(found: Candidates) -> int:
    """Return the best candidate, or the best of what is inside it if that, alone or together, can stand for it."""
    R, C = found.rows.astype(np.float64), found.cols.astype(np.float64)
    area = R.sum(axis=1) * C.sum(axis=1)
    top = 0
    for _ in range(MOST_SPLITS):
        inside = (R @ R[top]) * (C @ C[top]) / area
        part = np.flatnonzero((area < area[top]) & (inside >= SHARE_INSIDE))
        winner = next((k for k in part.tolist() if stand_for(found.scores, area, [k], top)), top)
        if winner != top:
            top = winner
            continue
        for order in (part, part[np.argsort(-(found.scores[part] / area[part]), kind="stable")]):
            chosen: list[int] = []
            for k in order:
                shared = (R[chosen] @ R[k]) * (C[chosen] @ C[k]) / np.minimum(area[chosen], area[k])
                if (shared <= SHARE_BETWEEN).all():
                    chosen.append(int(k))
                    if len(chosen) == MOST_PARTS:
                        break
            if len(chosen) >= 2 and stand_for(found.scores, area, chosen, top):
                winner = min(chosen)
                break
        if winner == top:
            return top
        top = winner
    return top


def stand_for(scores: NDArray[np.float64], area: NDArray[np.float64], parts: Sequence[int], whole: int) -> bool:
    """Return whether parts say as much as the whole, but for cells that are not worth having."""
    spared = max(1.0 - float(area[parts].sum() / area[whole]), 0.0)
    return bool(scores[parts].sum() > (1.0 - WORTH * spared) * scores[whole])


def as_masks(blocks: Sequence[Pair], shape: tuple[int, int]) -> tuple[Masks, Masks]:
    """Return row and column masks of blocks."""
    rows, cols = (member_masks([block[side] for block in blocks], shape[side]).view(np.uint8) for side in (0, 1))
    return rows, cols
