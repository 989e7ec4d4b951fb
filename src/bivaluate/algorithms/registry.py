"""One record per algorithm: tables, the command line and experiments find algorithms here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bivaluate._errors import ParameterError, suggest
from bivaluate.algorithms._estimator import BiclusteringEstimator
from bivaluate.algorithms.cheng_church import ChengChurch
from bivaluate.algorithms.coherent import CoherentSubmatrices
from bivaluate.algorithms.large_average import LargeAverageSubmatrices
from bivaluate.algorithms.spectral import SpectralCheckerboard


@dataclass(frozen=True)
class Algorithm:
    """What is known about an algorithm; `nested` says that the first k of K biclusters are those of a run for k."""

    key: str
    name: str
    estimator: type[BiclusteringEstimator]
    nested: bool
    summary: str
    reference: str


ALGORITHMS: dict[str, Algorithm] = {
    record.key: record
    for record in (
        Algorithm(
            ChengChurch.key,
            "Cheng and Church",
            ChengChurch,
            nested=True,
            summary="Deletes and adds rows and columns until the mean squared residue is below a threshold, then masks.",
            reference="Cheng & Church 2000, Biclustering of expression data, Proc. ISMB 8:93-103",
        ),
        Algorithm(
            LargeAverageSubmatrices.key,
            "Large Average Submatrices",
            LargeAverageSubmatrices,
            nested=True,
            summary="Searches from many random starts for blocks with a significantly high average.",
            reference=(
                "Shabalin, Weigman, Perou & Nobel 2009, Finding large average submatrices in high dimensional data, "
                "Ann. Appl. Stat. 3(3):985-1012, doi:10.1214/09-AOAS239"
            ),
        ),
        Algorithm(
            SpectralCheckerboard.key,
            "Spectral checkerboard",
            SpectralCheckerboard,
            nested=False,
            summary="Clusters rows and columns into a K x K checkerboard by singular vectors, and takes K of its cells.",
            reference=(
                "Kluger, Basri, Chang & Gerstein 2003, Spectral biclustering of microarray data, "
                "Genome Res. 13:703-716, doi:10.1101/gr.648603"
            ),
        ),
        Algorithm(
            CoherentSubmatrices.key,
            "Coherent submatrices",
            CoherentSubmatrices,
            nested=True,
            summary="Climbs to blocks whose rows follow one pattern, by their evidence against noise; finds K itself.",
            reference="bivaluate, docs/find.md",
        ),
    )
}


def get_algorithm(key: str) -> Algorithm:
    """Return the record of an algorithm.

    >>> get_algorithm("las").name
    'Large Average Submatrices'
    """
    if key not in ALGORITHMS:
        raise ParameterError(
            f"there is no algorithm {key!r}; known: {', '.join(ALGORITHMS)}.{suggest(key, ALGORITHMS)}"
        )
    return ALGORITHMS[key]


def make_estimator(
    key: str, n_biclusters: int, random_state: Any = None, **parameters: Any
) -> BiclusteringEstimator:
    """Return an unfitted estimator; further `parameters` are those of its class.

    >>> make_estimator("cca", 5, random_state=1, max_residue=0.5)
    ChengChurch(max_residue=0.5, n_biclusters=5, random_state=1)
    """
    record = get_algorithm(key)
    known = record.estimator().get_params()
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"{record.name} ({key}) has no parameter {name!r}; it has: {', '.join(known)}.{suggest(name, known)}"
            )
    return record.estimator(n_biclusters=n_biclusters, random_state=random_state, **parameters)
