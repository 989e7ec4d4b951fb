"""How good a solution is by what is known about the data, never by the values of its cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bivaluate.benchmark.cases import Problem
from bivaluate.enrichment import enrich, load_yeast_ontology
from bivaluate.enrichment.gene_sets import GeneSets
from bivaluate.measures.cover import cell_jaccard
from bivaluate.measures.external import compare
from bivaluate.solution import Bicluster, Biclustering

Floats = NDArray[np.float64]
N_RANDOM = 50


class Truth:
    """What a problem knows, asked about solutions.

    Planted biclusters: the clustering error (CE) of a solution, the best cell Jaccard index of a bicluster. Classes of
    rows or columns: F1 of the best-matching class, less what random members in the same number reach, as a share of
    what is left. Genes: the share of biclusters enriched in a GO term, less that of random genes; of a bicluster the
    decimal logarithm of its best p, with the sign turned.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def of(self, solution: Biclustering) -> tuple[float, list[float]]:
        """Return the truth of a solution, and of each of its biclusters."""
        if not len(solution):
            return 0.0, []
        if self.problem.genes:
            found = enrich(solution, self.problem.matrix, self._ontology, n_random=N_RANDOM)
            logs = [-math.log10(row["p"]) if row["p"] > 0 else math.nan for row in found.biclusters]
            return found.scores["share_beyond_random"], logs
        if self.problem.truth is not None:
            truth = self.problem.truth
            each = [max((cell_jaccard(b, t) for t in truth), default=0.0) for b in solution]
            return float(compare(truth, solution)["ce"] or 0.0) if len(truth) else math.nan, each
        each = [max(self._class_score(b)) for b in solution]
        return float(np.mean(each)), each

    @cached_property
    def _ontology(self) -> GeneSets:
        return load_yeast_ontology()

    def _class_score(self, bicluster: Bicluster) -> list[float]:
        found = []
        for members, classes in (
            (bicluster.rows, self.problem.row_classes),
            (bicluster.cols, self.problem.col_classes),
        ):
            if classes:
                best = best_f1(members, classes)
                chance = self._chance(len(members), classes)
                found.append((best - chance) / (1 - chance) if chance < 1 else 0.0)
        return found or [math.nan]

    def _chance(self, size: int, classes: Mapping[str, NDArray[np.bool_]]) -> float:
        """Return the mean best F1 of random members, as many."""
        length = len(next(iter(classes.values())))
        rng = np.random.default_rng([size, length])
        draws = (rng.choice(length, size, replace=False) for _ in range(N_RANDOM))
        return float(np.mean([best_f1(draw, classes) for draw in draws]))


def best_f1(members: NDArray[np.int64], classes: Mapping[str, NDArray[np.bool_]]) -> float:
    """Return F1 of the class that fits best: 2·|shared| / (|members| + |class|).

    >>> best_f1(np.array([0, 1]), {"a": np.array([True, True, True, False]), "b": np.array([False, False, False, True])})
    0.8
    """
    return max(float(2 * mask[members].sum() / (len(members) + mask.sum())) for mask in classes.values())
