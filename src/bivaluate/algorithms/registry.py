"""One record per algorithm: tables, the command line and experiments find algorithms here."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import bivaluate.algorithms
from bivaluate._errors import ParameterError, suggest
from bivaluate.algorithms._estimator import BiclusteringEstimator
from bivaluate.algorithms.algorithm import Algorithm


def _records() -> list[Algorithm]:
    """Return the record of every decorated class of this folder."""
    names = [module.name for module in pkgutil.iter_modules(bivaluate.algorithms.__path__)]
    names = [name for name in names if not name.startswith("_") and name not in ("algorithm", "registry")]
    modules = [importlib.import_module(f"bivaluate.algorithms.{name}") for name in names]
    classes = [(module, value) for module in modules for value in vars(module).values() if isinstance(value, type)]
    return [cls.record for module, cls in classes if cls.__module__ == module.__name__ and "record" in vars(cls)]  # type: ignore[attr-defined]


ALGORITHMS: dict[str, Algorithm] = {record.key: record for record in sorted(_records(), key=lambda r: r.key)}


def default_algorithms() -> list[str]:
    """Return the keys of the algorithms that run when none are named.

    Returns
    -------
    list of str
        Keys, in the order of the registry.

    Examples
    --------
    >>> default_algorithms()
    ['cca', 'las', 'spectral']
    """
    return [key for key, record in ALGORITHMS.items() if record.default]


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
            f"there is no algorithm {key!r}.{suggest(key, ALGORITHMS)} `bivaluate algorithms` lists all of them."
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


def make_estimator(
    key: str, n_biclusters: int | str, random_state: Any = None, **parameters: Any
) -> BiclusteringEstimator:
    """Return an unfitted estimator.

    Parameters
    ----------
    key : str
        Key of the registry.
    n_biclusters : int or "auto"
        Number of biclusters to find; "auto" for an algorithm that finds it itself.
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
