"""The plan behind `bivaluate find`: which fits come next, given the scores of those that are done, never the clock.

A few K for every algorithm, all of them where one fit serves all; larger ones while evidence grows; the K around the
best; more seeds of the best algorithm, unless it is nested; at last the best solution refined.
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
MORE_SEEDS = 4
WORTH_WIDENING = 0.5  # share of the best evidence from which larger K of an algorithm are tried
GROWS = 1.01


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
        totals = _totals(done, name, seed)
        ks = sorted(totals)
        larger = [k for k in WIDER_K if k > ks[-1]] if ks else []
        if searched.finds_k or not larger or not totals[ks[-1]] > 0:
            continue
        before = max((totals[k] for k in ks[:-1]), default=0.0)
        if totals[ks[-1]] > GROWS * before and totals[ks[-1]] >= WORTH_WIDENING * most:
            wider = range(ks[-1] + 1, larger[-1] + 1) if searched.nested else larger[:1]
            yield from (Fit(name, k, seed) for k in wider)


def _finer(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> Iterator[Fit]:
    best = best_fit({fit: score for fit, score in done.items() if fit.seed == seed and fit.algorithm in algorithms})
    if best is None or not _worth_more(algorithms[best.algorithm], _evidence(done, best)):
        return
    ks = sorted({1, *_totals(done, best.algorithm, seed)})
    for low, high in pairwise(ks):
        if best.k in (low, high):
            step = max(1, (high - low) // 3)
            yield from (Fit(best.algorithm, k, seed) for k in range(low + step, high, step))


def _seeds(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> Iterator[Fit]:
    best = best_fit({fit: score for fit, score in done.items() if fit.algorithm in algorithms})
    if best is not None and seed < EXTRA_SEED and _worth_more(algorithms[best.algorithm], _evidence(done, best)):
        own = best_fit({fit: score for fit, score in done.items() if fit[::2] == (best.algorithm, seed)})
        assert own is not None
        yield from (Fit(best.algorithm, own.k, seed + more * EXTRA_SEED) for more in range(1, MORE_SEEDS + 1))


def _final(algorithms: Mapping[str, Searched], done: Mapping[Fit, Score | None], seed: int) -> Iterator[Fit]:
    best = best_fit(done)
    if best is not None and best.algorithm in algorithms and _evidence(done, best) > 0:
        yield best._replace(algorithm=best.algorithm + FINAL)


def _evidence(done: Mapping[Fit, Score | None], fit: Fit, behind: str = "") -> float:
    score = done.get(fit._replace(algorithm=fit.algorithm + behind))
    return -math.inf if score is None else score[EVIDENCE]


def _totals(done: Mapping[Fit, Score | None], algorithm: str, seed: int) -> dict[int, float]:
    """Return the evidence of an algorithm by K; fits that failed have none."""
    return {fit.k: _evidence(done, fit) for fit in done if fit[::2] == (algorithm, seed)}


def _worth_more(searched: Searched, evidence: float) -> bool:
    """Whether the K around the best, and more seeds, are tried."""
    return searched.closer and not searched.nested and evidence > 0
