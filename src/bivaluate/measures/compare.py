"""Compare a solution with a known truth by all external measures at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bivaluate.measures import external
from bivaluate.measures.external import Comparison
from bivaluate.solution import Biclustering, check_solution


@dataclass(frozen=True)
class ExternalMeasure:
    """What is known about one external measure; high is better for all of them."""

    key: str
    name: str
    range: tuple[float, float]
    summary: str
    function: Callable[[Comparison], float]
    reference: str
    needs_shape: bool = False


_UNIT = (0.0, 1.0)
_BELOW_ONE = (float("-inf"), 1.0)
_PATRIKAINEN = "Patrikainen & Meilă 2006, Comparing subspace clusterings, doi:10.1109/TKDE.2006.106"
_HANCZAR = "Hanczar & Nadif 2013, Precision-recall space to correct external indices for biclustering, ICML"

EXTERNAL: dict[str, ExternalMeasure] = {
    measure.key: measure
    for measure in (
        ExternalMeasure(
            "prelic_relevance", "Prelić relevance", _UNIT,
            "How well each found bicluster matches some true one; rows and columns matched apart.",
            external.prelic_relevance, "Prelić et al. 2006, doi:10.1093/bioinformatics/btl060",
        ),
        ExternalMeasure(
            "prelic_recovery", "Prelić recovery", _UNIT,
            "How well each true bicluster is matched by some found one.",
            external.prelic_recovery, "Prelić et al. 2006, doi:10.1093/bioinformatics/btl060",
        ),
        ExternalMeasure(
            "liu_wang", "Liu–Wang match score", _UNIT,
            "Like Prelić's relevance, rows and columns matched together.",
            external.liu_wang, "Liu & Wang 2007, doi:10.1093/bioinformatics/btl560",
        ),
        ExternalMeasure(
            "consensus", "consensus score", _UNIT,
            "Best one-to-one matching of cell Jaccard indices; extra biclusters cost.",
            external.consensus, "Hochreiter et al. 2010, FABIA, doi:10.1093/bioinformatics/btq227",
        ),
        ExternalMeasure(
            "ce", "CE similarity", _UNIT,
            "Share of the covered cells in the best one-to-one matching (1 minus the clustering error).",
            external.clustering_error, _PATRIKAINEN,
        ),
        ExternalMeasure(
            "rnia", "RNIA similarity", _UNIT,
            "Share of the covered cells both solutions cover equally often; who covers them does not matter.",
            external.rnia, _PATRIKAINEN,
        ),
        ExternalMeasure(
            "e4sc", "E4SC", _UNIT,
            "Harmonic mean of how well true biclusters are found and found ones are true, by F1 on cells.",
            external.e4sc, "Günnemann et al. 2011, doi:10.1145/2063576.2063774",
        ),
        ExternalMeasure(
            "csi", "Campello soft index", _UNIT,
            "Agreement over pairs of cells on how many biclusters they share.",
            external.campello_soft_index, "Campello 2010, Generalized external indexes, Pattern Recognition Letters 31:966-975", needs_shape=True,
        ),
        ExternalMeasure(
            "agri", "13AGRI", _BELOW_ONE,
            "Chance-adjusted agreement over pairs of cells: 0 is what chance gives.",
            external.adjusted_generalised_rand_index, "Horta & Campello 2015, JMLR 16:2949-2997", needs_shape=True,
        ),
        ExternalMeasure(
            "corrected_precision", "corrected precision", _BELOW_ONE,
            "Share of the found cells that are true, corrected for the size of the truth.",
            external.corrected_precision, _HANCZAR, needs_shape=True,
        ),
        ExternalMeasure(
            "corrected_recall", "corrected recall", _BELOW_ONE,
            "Share of the true cells that were found, corrected for the size of what was found.",
            external.corrected_recall, _HANCZAR, needs_shape=True,
        ),
    )
}  # fmt: skip


def compare(truth: Biclustering, found: Biclustering, *, shape: Sequence[int] | None = None) -> dict[str, float | None]:
    """Compare what was found with the truth by every external measure; high is better.

    Parameters
    ----------
    truth, found
        Two solutions of one matrix.
    shape
        Shape of the matrix, if neither solution knows it. Without it ``csi``, ``agri``, ``corrected_precision``
        and ``corrected_recall`` are None, because they count cells outside all biclusters too.

    Returns
    -------
    dict
        Values by key. Two solutions without biclusters give 1.0, one without and one with give 0.0.

    Examples
    --------
    >>> truth = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [3, 4, 5])], (5, 6))
    >>> found = Biclustering([([0, 1], [0, 1, 2, 3]), ([2, 3, 4], [3, 4, 5]), ([0, 4], [5])], (5, 6))
    >>> scores = compare(truth, found)
    >>> round(scores["ce"], 6), round(scores["agri"], 6)
    (0.636364, 0.407537)
    """
    comparison = Comparison(check_solution(truth, "truth"), check_solution(found, "found"), shape)
    scores: dict[str, float | None] = {}
    for key, measure in EXTERNAL.items():
        if measure.needs_shape and not comparison.has_shape:
            scores[key] = None
        elif comparison.settled is not None:
            scores[key] = comparison.settled
        else:
            scores[key] = measure.function(comparison)
    return scores
