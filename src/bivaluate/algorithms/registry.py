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
    """What is known about an algorithm.

    Parameters
    ----------
    key : str
        Name in tables, plans and on the command line.
    name : str
        Its name in words.
    label : str
        Its short name, as figures, pages and sentences show it.
    estimator : type
        The scikit-learn estimator.
    nested : bool
        Whether the first k of K biclusters are those of a fit for k.
    summary : str
        One plain sentence.
    reference : str
        Where it was published.

    Examples
    --------
    >>> ALGORITHMS["cca"].label
    'CCA'
    """

    key: str
    name: str
    label: str
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
            "CCA",
            ChengChurch,
            nested=True,
            summary="Deletes and adds rows and columns until the mean squared residue is below a threshold, then masks.",
            reference="Cheng & Church 2000, Biclustering of expression data, Proc. ISMB 8:93-103",
        ),
        Algorithm(
            LargeAverageSubmatrices.key,
            "Large Average Submatrices",
            "LAS",
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
            "Spectral",
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
            "Find",
            CoherentSubmatrices,
            nested=True,
            summary="Climbs to blocks whose rows follow one pattern, by their evidence against noise; finds K itself.",
            reference="bivaluate, docs/find.md",
        ),
    )
}


def get_algorithm(key: str) -> Algorithm:
    """Return the record of an algorithm.

    Parameters
    ----------
    key : str
        Key of the registry.

    Returns
    -------
    Algorithm
        Its record.

    Raises
    ------
    ParameterError
        If there is no such algorithm.

    Examples
    --------
    >>> get_algorithm("las").name
    'Large Average Submatrices'
    """
    if key not in ALGORITHMS:
        raise ParameterError(
            f"there is no algorithm {key!r}; known: {', '.join(ALGORITHMS)}.{suggest(key, ALGORITHMS)}"
        )
    return ALGORITHMS[key]


def algorithm_label(key: str) -> str:
    """Return the short name of an algorithm as figures, pages and sentences show it.

    Parameters
    ----------
    key : str
        Key of the registry, or anything else, which is shown as it is.

    Returns
    -------
    str
        The label.

    Examples
    --------
    >>> algorithm_label("spectral"), algorithm_label("my.package:Class")
    ('Spectral', 'my.package:Class')
    """
    return ALGORITHMS[key].label if key in ALGORITHMS else key


def parameters_of(key: str) -> dict[str, Any]:
    """Return the parameters of an algorithm with their defaults, without those every algorithm has.

    Parameters
    ----------
    key : str
        Key of the registry.

    Returns
    -------
    dict
        Default by name; the number of biclusters and the seed are left out, a cell sets them.

    Raises
    ------
    ParameterError
        If there is no such algorithm.

    Examples
    --------
    >>> parameters_of("spectral")
    {'selection': 'first'}
    """
    defaults = get_algorithm(key).estimator().get_params(deep=False)
    return {name: value for name, value in defaults.items() if name not in ("n_biclusters", "random_state")}


def make_estimator(key: str, n_biclusters: int, random_state: Any = None, **parameters: Any) -> BiclusteringEstimator:
    """Return an unfitted estimator.

    Parameters
    ----------
    key : str
        Key of the registry.
    n_biclusters : int
        Number of biclusters to find.
    random_state : int, RandomState or None, default=None
        Source of randomness.
    **parameters : object
        Further parameters of the estimator; :func:`parameters_of` lists them.

    Returns
    -------
    estimator
        An estimator with ``fit(X)`` and, once fitted, ``solution_``.

    Raises
    ------
    ParameterError
        If there is no such algorithm, or it has no such parameter.

    Examples
    --------
    >>> make_estimator("cca", 5, random_state=1, max_residue=0.5)
    ChengChurch(max_residue=0.5, n_biclusters=5, random_state=1)
    """
    record, known = get_algorithm(key), parameters_of(key)
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"{record.name} ({key}) has no parameter {name!r}; it has: {', '.join(known)}.{suggest(name, known)}"
            )
    return record.estimator(n_biclusters=n_biclusters, random_state=random_state, **parameters)
