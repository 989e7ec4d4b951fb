"""The plan behind `bivaluate find`: which fits come next, given the scores of those that are done, never the clock.

A few K for every algorithm, all of them where one fit serves all; larger ones while more biclusters are supported; the
K around the best of those that come near; more seeds of the best algorithm; at last the best solution refined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

from bivaluate._text import FINAL
from bivaluate.judge.choice import EVIDENCE, best_solution
from bivaluate.sweep.cells import EXTRA_SEED

FIRST_K = (2, 3, 5, 8)
WIDER_K = (12, 16, 24)
MORE_SEEDS, MORE_OF_NESTED = 4, 2
WORTH_WIDENING = 0.5  # share of the best evidence from which larger K of an algorithm are tried
AS_GOOD = 0.9  # share of the best evidence from which larger K, or the K around its best, are tried
SUPPORTED = "n_supported"


class Fit(NamedTuple):
    """One fit of the plan: an algorithm, the K asked for, and the seed."""

    algorithm: str
    k: int
    seed: int


Score = Mapping[str, float]  # of a solution, by measure


class Searched(NamedTuple):
    """An algorithm of the plan: whether it finds K itself, whether one fit serves all K, whether to look closer."""

    finds_k: bool
    nested: bool
    closer: bool = True  # not in large matrices, where every K between, and every other seed, is a long fit
    view: str = ""  # in what form it gets the data
    parameters: Mapping[str, Any] = MappingProxyType({})
    word: str = ""  # what makes it, where that is not its name


def next_fits(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> list[Fit]:
    """Return the fits that come next, and nothing once the plan is done."""
    for stage in (_first, _wider, _finer, _seeds, _final):
        new = [fit for fit in stage(algorithms, done, seed) if fit not in done]
        if new:
            return new
    return []


def best_fit(done: Mapping[Fit, Score | None]) -> Fit | None:
    """Return the best solution of all; None where no fit succeeded.

    An algorithm whose best solution has less evidence once only its supported part is left counts with that part.
    """
    weaker = {fit.algorithm for fit in done if -math.inf < _evidence(done, fit, FINAL) < _evidence(done, fit)}
    scored = [(fit, score) for fit, score in done.items() if score is not None and fit.algorithm not in weaker]
    at = best_solution([score for _, score in scored])
    return scored[at or 0][0] if scored else None  # where all tie, the first says as much as any


def _first(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> Iterator[Fit]:
    for name, searched in algorithms.items():
        ks = (WIDER_K[-1],) if searched.finds_k else FIRST_K
        for k in range(1, ks[-1] + 1) if searched.nested and not searched.finds_k else ks:
            yield Fit(name, k, seed)


def _wider(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> Iterator[Fit]:
    most = max((score[EVIDENCE] for score in done.values() if score is not None), default=0.0)
    for name, searched in algorithms.items():
        of_k = {fit.k: score for fit, score in _own(done, name, seed).items() if score and fit.k in FIRST_K + WIDER_K}
        larger = [k for k in WIDER_K if of_k and k > max(of_k)]
        if searched.finds_k or not larger:
            continue
        last = of_k.pop(max(of_k))
        evidence, supported = (max((one[key] for one in of_k.values()), default=0.0) for key in (EVIDENCE, SUPPORTED))
        if last[EVIDENCE] >= max(AS_GOOD * evidence, WORTH_WIDENING * most) and last[SUPPORTED] > supported:
            yield from (Fit(name, k, seed) for k in (range(1, larger[-1] + 1) if searched.nested else larger[:1]))


def _finer(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> Iterator[Fit]:
    best = best_fit({fit: score for fit, score in done.items() if fit.algorithm in algorithms})
    for name, searched in algorithms.items():
        mine = _own(done, name, seed)
        own = best_fit(mine)
        least = math.inf if best is None or searched.nested else AS_GOOD * _evidence(done, best)
        if own is None or not _worth_more(searched, done, own, least):
            continue
        for low, high in pairwise(sorted({1, *(fit.k for fit in mine)})):
            if own.k in (low, high):
                step = max(1, (high - low) // 3)
                yield from (Fit(name, k, seed) for k in range(low + step, high, step))


def _seeds(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> Iterator[Fit]:
    best = best_fit({fit: score for fit, score in done.items() if fit.algorithm in algorithms})
    if best is not None and seed < EXTRA_SEED and _worth_more(algorithms[best.algorithm], done, best):
        own = best_fit(_own(done, best.algorithm, seed))
        assert own is not None
        most = MORE_OF_NESTED if algorithms[best.algorithm].nested else MORE_SEEDS
        yield from (Fit(best.algorithm, own.k, seed + more * EXTRA_SEED) for more in range(1, most + 1))


def _final(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> Iterator[Fit]:
    best = best_fit(done)
    if best is not None and best.algorithm in algorithms and _evidence(done, best) > 0:
        yield best._replace(algorithm=best.algorithm + FINAL)


def _evidence(done: Mapping[Fit, Score | None], fit: Fit, behind: str = "") -> float:
    score = done.get(fit._replace(algorithm=fit.algorithm + behind))
    return -math.inf if score is None else score[EVIDENCE]


def _own(done: Mapping[Fit, Score | None], algorithm: str, seed: int) -> dict[Fit, Score | None]:
    """Return the fits of an algorithm with one seed."""
    return {fit: score for fit, score in done.items() if fit[::2] == (algorithm, seed)}


def _worth_more(searched: Searched, done: Mapping[Fit, Score | None], best: Fit, least: float = 0.0) -> bool:
    """Whether the K around the best of an algorithm, and more seeds, are tried."""
    return searched.closer and _evidence(done, best) > least
