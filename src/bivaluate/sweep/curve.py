"""Solutions of one matrix by K, each beside biclusters of the same sizes and overlaps placed at random."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from bivaluate._check import check_int
from bivaluate._errors import BivaluateWarning
from bivaluate.evaluation import Evaluation, evaluate
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

PLACEMENTS = 5
_SCORES = ("total_evidence", "n_paying", "explained", "nve")
_COMPARED = ("total_evidence", "nve")


def k_curve(
    evaluations: Sequence[Evaluation], *, placements: int = PLACEMENTS, random_state: int = 0
) -> list[dict[str, Any]]:
    """Return the curve over K of solutions of one matrix, with what chance alone gives.

    The null keeps how many rows and columns every bicluster has and how much they share, and puts them anywhere:
    rows and columns change places at random. It needs no algorithm, so it serves results of any tool; it does not
    allow for the search that found them.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of solutions of one matrix.
    placements : int, default=5
        How many random placements of each solution; 0 for none.
    random_state : int, default=0
        Seed.

    Returns
    -------
    list of dict
        One record per solution, by K: ``solution``, ``k``, the scores ``total_evidence``, ``n_paying``, ``explained``
        and ``nve``, and ``null_total_evidence`` and ``null_nve``, means over the placements.

    Raises
    ------
    ParameterError
        If `placements` is not a whole number from 0.

    See Also
    --------
    bivaluate.io.read_solutions : Reads every K of a cNMF run.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 15))
    >>> X[:12, ::2] += 4
    >>> S = Biclustering([(range(12), range(0, 15, 2)), (range(20, 30), range(1, 9))], X.shape, info={"k": 2})
    >>> curve = k_curve([evaluate(X, S)], placements=2)
    >>> curve[0]["k"], curve[0]["total_evidence"] > curve[0]["null_total_evidence"]
    (2, True)
    """
    check_int("placements", placements, 0)
    records = []
    for evaluation in evaluations:
        info = evaluation.solution.info
        record = {"solution": info.get("name"), "k": int(info.get("k", len(evaluation.solution)))}
        score = partial(_scores, evaluation.matrix.settled(), asdict(evaluation.options))
        found = {**evaluation.scores, **score(evaluation.solution, _missing(evaluation, _SCORES))}
        record |= {key: found[key] for key in _SCORES}
        rng = np.random.default_rng(random_state)
        drawn = [score(_placed(evaluation.solution, rng), _COMPARED) for _ in range(placements)]
        record |= {f"null_{key}": float(np.mean([d[key] for d in drawn])) if drawn else np.nan for key in _COMPARED}
        records.append(record)
    return sorted(records, key=lambda record: record["k"])


def _missing(evaluation: Evaluation, keys: Sequence[str]) -> list[str]:
    return [key for key in keys if key not in evaluation.scores]


def _scores(matrix: Matrix, options: dict[str, Any], solution: Biclustering, keys: Sequence[str]) -> dict[str, float]:
    if not keys:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        return evaluate(matrix, solution, metrics=keys, **options).scores


def _placed(solution: Biclustering, rng: np.random.Generator) -> Biclustering:
    """Return the solution with rows and columns renumbered at random."""
    rows, cols = (rng.permutation(n) for n in solution.shape)
    return Biclustering([(rows[b.rows], cols[b.cols]) for b in solution], solution.shape)
