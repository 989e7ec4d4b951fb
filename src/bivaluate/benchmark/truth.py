"""How good a solution is by what is known about the data, never by the values of its cells."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from scipy.stats import entropy

from bivaluate._types import Flags, Floats, Ints
from bivaluate.benchmark.cases import Problem
from bivaluate.elsewhere.confirm import confirm
from bivaluate.enrichment import enrich, load_yeast_ontology
from bivaluate.measures.cover import cell_jaccard
from bivaluate.measures.external import adjusted_rand_index, compare
from bivaluate.solution import Bicluster, Biclustering

Classes = Mapping[str, Flags]
N_RANDOM = 50
_ontology = functools.cache(load_yeast_ontology)
CLEAR_TERM, SMALLEST_P = 5.0, 1e-300


class Truth:
    """What a problem knows, asked about solutions.

    Planted: clustering error (CE) of a solution, best cell Jaccard index of a bicluster. Classes: F1 of the best one,
    less that of permuted labels, as a share of the rest. Genes: L = −log10 p of the best GO term, L/(L + 5). A second
    matrix: z of the rows there, as :func:`bivaluate.confirm` has it, z/(z + 5).
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        sides = {"rows": problem.row_classes, "cols": problem.col_classes}
        self._sides = {side: classes for side, classes in sides.items() if classes}
        self._enriched: dict[bytes, dict[str, Any]] = {}
        self._matched: dict[bytes, dict[str, float]] = {}
        self._chances: dict[tuple[str, int], dict[str, float]] = {}

    def of(self, solution: Biclustering) -> tuple[float, list[float]]:
        """Return the truth of a solution, and of each of its biclusters."""
        if not len(solution):
            return 0.0, []
        if self.problem.other is not None:
            return self._elsewhere(solution)
        if self.problem.genes:
            return self._of_genes(solution)
        if self.problem.truth is not None:
            truth = self.problem.truth
            each = [max((cell_jaccard(b, t) for t in truth), default=0.0) for b in solution]
            return float(compare(truth, solution, metrics="ce")["ce"] or 0.0) if len(truth) else math.nan, each
        each = [self._match(b)["f1"] for b in solution]
        return float(np.mean(each)), each

    def _elsewhere(self, solution: Biclustering) -> tuple[float, list[float]]:
        records = confirm(solution, self.problem.matrix, self.problem.other, surrogates=0).records
        z = np.array([record["z"] for record in records])
        strength = np.maximum(z[np.isfinite(z)], 0.0)
        return float(np.mean(strength / (strength + CLEAR_TERM))) if len(strength) else math.nan, z.tolist()

    def by_class(self, solution: Biclustering) -> dict[str, float]:
        """Return F1, NMI and CARI of the best-matching classes, found, by chance and beyond; {} without classes."""
        if not self._sides:
            return {}
        keys = [*AGREEMENTS, *(f"{key}{kind}" for key in AGREEMENTS for kind in ("_found", "_chance"))]
        each = [self._match(b) for b in solution]
        means = {f"class_{key}": float(np.mean([match[key] for match in each])) if each else 0.0 for key in keys}
        return means | {"class_recall": self._recall(solution)}

    def _recall(self, solution: Biclustering) -> float:
        """Return the best F1 that a bicluster has with a class, the mean over all classes of the better side."""
        masks = {side: np.array(list(classes.values())) for side, classes in self._sides.items()}
        return max(class_recall([getattr(b, side) for b in solution], of) for side, of in masks.items())

    def _of_genes(self, solution: Biclustering) -> tuple[float, list[float]]:
        new = [b for b in solution if b.rows.tobytes() not in self._enriched]  # the first of nested ones come again
        if new:
            found = enrich(Biclustering(new, solution.shape), self.problem.matrix, _ontology(), n_random=N_RANDOM)
            self._enriched |= {b.rows.tobytes(): row for b, row in zip(new, found.biclusters, strict=True)}
        rows = [self._enriched[b.rows.tobytes()] for b in solution]
        strength = [-math.log10(max(row["p"], SMALLEST_P)) if row["p"] <= 1 else math.nan for row in rows]
        known = np.array([value for value in strength if not math.isnan(value)])
        return float(np.mean(known / (known + CLEAR_TERM))) if len(known) else 0.0, strength

    def _match(self, bicluster: Bicluster) -> dict[str, float]:
        """Return what the best class of either side gives, by each agreement: as it is, by chance, beyond chance."""
        key = bicluster.rows.tobytes() + b"|" + bicluster.cols.tobytes()
        if key not in self._matched:
            found = [self._match_side(side, getattr(bicluster, side), of) for side, of in self._sides.items()]
            best = {name: max(found, key=itemgetter(name)) for name in AGREEMENTS}
            kinds = ("", "_found", "_chance")
            self._matched[key] = {f"{name}{kind}": of[f"{name}{kind}"] for name, of in best.items() for kind in kinds}
        return self._matched[key]

    def _match_side(self, side: str, members: Ints, classes: Classes) -> dict[str, float]:
        masks = np.array(list(classes.values()))
        across = self.problem.matrix.shape[1 if side == "rows" else 0]
        found = best_agreements(members, masks, across)
        chance = self._chance(side, len(members), masks, across)
        match: dict[str, float] = {}
        for name, value in found.items():
            by_chance = chance[name]
            match |= {f"{name}_found": value, f"{name}_chance": by_chance}
            match[name] = (value - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
        return match

    def _chance(self, side: str, size: int, masks: Flags, across: int) -> dict[str, float]:
        """Return the mean of the best with the labels permuted, which is that of random members, as many."""
        if (side, size) not in self._chances:
            rng = np.random.default_rng([size, masks.shape[1]])
            draws = [rng.choice(masks.shape[1], size, replace=False) for _ in range(N_RANDOM)]
            found = [best_agreements(draw, masks, across) for draw in draws]
            self._chances[side, size] = {name: float(np.mean([each[name] for each in found])) for name in AGREEMENTS}
        return self._chances[side, size]


def class_recall(members: Sequence[Ints], masks: Flags) -> float:
    """Return the mean over classes of the best F1 that any of several sets of members has with it.

    >>> masks = np.array([[True, True, True, False], [False, False, False, True]])
    >>> class_recall([np.array([0, 1]), np.array([3])], masks)
    0.9
    """
    sizes = masks.sum(axis=1)
    found = [2 * masks[:, own].sum(axis=1) / (len(own) + sizes) for own in members]
    return float(np.max(found, axis=0).mean()) if found else 0.0


def best_agreements(members: Ints, masks: Flags, across: int = 1) -> dict[str, float]:
    """Return, by each agreement, that of members with the class that fits best.

    >>> masks = np.array([[True, True, True, False], [False, False, False, True]])
    >>> {name: round(value, 3) for name, value in best_agreements(np.array([0, 1]), masks).items()}
    {'f1': 0.8, 'nmi': 0.344, 'cari': 0.0}
    """
    shared, sizes = masks[:, members].sum(axis=1).astype(np.float64), masks.sum(axis=1).astype(np.float64)
    n, m = masks.shape[1], len(members)
    tables = [np.array([[s, m - s], [size - s, n - m - size + s]]) for s, size in zip(shared, sizes, strict=True)]
    return {name: max(agree(table, across) for table in tables) for name, agree in AGREEMENTS.items()}


def _f1(table: Floats, across: int) -> float:
    """2·|shared| / (|members| + |class|)."""
    return float(2 * table[0, 0] / (table[0].sum() + table[:, 0].sum()))


def _nmi(table: Floats, across: int) -> float:
    """Mutual information of being a member and being of the class, over the mean of their entropies."""
    joint = table / table.sum()
    down, side, both = map(entropy, (joint.sum(axis=1), joint.sum(axis=0), joint.ravel()))
    return float(max(0.0, 2 * (down + side - both) / (down + side))) if down + side > 0 else 1.0


def _cari(table: Floats, across: int) -> float:
    """CARI of members and class, each with all lines of the other side, which has no classes."""
    return adjusted_rand_index([table, np.array([[float(across)]])], int(table.sum()) * across)


AGREEMENTS: dict[str, Callable[[Floats, int], float]] = {"f1": _f1, "nmi": _nmi, "cari": _cari}
