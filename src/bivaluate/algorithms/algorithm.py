"""The record every algorithm has, and the decorator that makes it; the registry collects them."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY as KW_ONLY
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from bivaluate._errors import MissingExtraError

if TYPE_CHECKING:
    from bivaluate.algorithms._estimator import BiclusteringEstimator

Estimator = TypeVar("Estimator", bound="type[BiclusteringEstimator]")

# How classes call the number of biclusters; one that has several means the first.
COUNTS = ("n_biclusters", "n_clusters", "n_components")
OLD_KEYS = {"find": "coherent"}  # of version 0.1.0: in plans and run folders

PACKAGES = {"graph": ("sknetwork", "scikit-network")}  # of the extras: what is imported, what is installed

# What every estimator has.
RANDOM_STATE = """random_state : int, RandomState, Generator or None, default=None
    Seed or source of everything random; not used where nothing is.
"""
ATTRIBUTES = {
    "solution_ : Biclustering": "The biclusters found.",
    "rows_, columns_ : ndarray of bool, of shape (K, n_rows) and (K, n_cols)": "The same as masks.",
}
# Kinds of pattern an algorithm may seek in the cells of a bicluster.
PATTERNS = {
    "constant": "values all alike",
    "raised": "values higher (or lower) than elsewhere",
    "constant rows": "each row has a value of its own",
    "constant columns": "each column has a value of its own",
    "additive": "a value of the row plus one of the column",
    "multiplicative": "a value of the row times one of the column",
    "order": "rows that put the columns in the same order",
    "ones": "zeros and ones: nothing but ones, or nearly so",
    "dense": "rows and columns that meet in many or large values, as in counts and networks",
    "checkerboard": "every row in one cluster, every column in one cluster, each crossing a block",
}


def count_among(parameters: Iterable[str]) -> str:
    """Return which of the parameters is the number of biclusters; in a pipeline it is one of a step.

    Empty if none of them is.

    >>> count_among(["n_components", "n_clusters", "n_init"]), count_among(["scale__copy", "nmf__n_components"])
    ('n_clusters', 'nmf__n_components')
    """
    given = list(parameters)
    return next((name for count in COUNTS for name in given if name.rpartition("__")[2] == count), "")


@dataclass(frozen=True)
class Algorithm:
    """What is known about an algorithm.

    Parameters
    ----------
    key, name, label, summary : str
        Its name in tables and on the command line, in words, as figures show it; and one plain sentence.
    path : str
        Module and name of the estimator, which is not imported to know its record.
    seeks : tuple of str
        Kinds of pattern it seeks, of :data:`PATTERNS`.
    reference : str
        Where it was published.
    nested, finds_k : bool
        Whether the first k of K biclusters are those of a fit for k; whether it finds the number of biclusters
        itself: the number asked for is then an upper bound, and ``"auto"`` sets none.
    sparse, missing, binary, nonnegative : bool
        Whether it keeps sparse matrices sparse, works around missing cells (``missing="omit"``), works on zeros and
        ones (other data are binarised first), refuses negative cells.
    extra : str
        The optional dependency of bivaluate it needs; empty for none.

    See Also
    --------
    get_algorithm, make_estimator

    Examples
    --------
    >>> from bivaluate.algorithms import ALGORITHMS
    >>> ALGORITHMS["cca"].label, ALGORITHMS["coherent"].finds_k
    ('CCA', True)
    """

    key: str
    name: str
    label: str
    summary: str
    path: str
    seeks: tuple[str, ...]
    reference: str
    nested: bool = False
    finds_k: bool = False
    sparse: bool = False
    missing: bool = False
    binary: bool = False
    nonnegative: bool = False
    extra: str = ""

    def __post_init__(self) -> None:
        assert set(self.seeks) <= set(PATTERNS), self.seeks
        # the number asked for keeps the first ones of those it finds
        object.__setattr__(self, "nested", self.nested or self.finds_k)

    @property
    def estimator(self) -> type[BiclusteringEstimator]:
        """The scikit-learn estimator.

        Examples
        --------
        >>> from bivaluate.algorithms import ALGORITHMS
        >>> ALGORITHMS["cca"].estimator
        <class 'bivaluate.algorithms.cheng_church.ChengChurch'>
        """
        module, _, name = self.path.partition(":")
        found: type[BiclusteringEstimator] = getattr(importlib.import_module(module), name)
        return found

    def check_installed(self) -> None:
        """Say how to install what the algorithm needs, if it is not there.

        Raises
        ------
        MissingExtraError
            If the package of its extra is missing.

        Examples
        --------
        >>> from bivaluate.algorithms import ALGORITHMS
        >>> ALGORITHMS["cca"].check_installed()
        """
        module, package = PACKAGES.get(self.extra, ("", ""))
        if module and importlib.util.find_spec(module) is None:
            raise MissingExtraError(f"the algorithm {self.key}", package)

    @property
    def published(self) -> str:
        """Who published it, and when.

        Examples
        --------
        >>> from bivaluate.algorithms import ALGORITHMS
        >>> ALGORITHMS["cca"].published
        'Cheng & Church 2000'
        """
        by = re.match(r".*?\b\d{4}\b", self.reference)
        return by[0] if by else self.reference


def with_shared_texts(doc: str, reference: str) -> str:
    """Return the docstring of an estimator with what is said of every estimator, and its reference."""
    doc = re.sub(r"(?m)^n_biclusters : .*\n(?:    .*\n)+", rf"\g<0>{RANDOM_STATE}", inspect.cleandoc(doc))
    if "\nAttributes\n" not in doc:
        doc = doc.replace("\nSee Also\n", "\nAttributes\n----------\n\nSee Also\n")
    attributes = "".join(f"{name}\n    {text}\n" for name, text in ATTRIBUTES.items() if name not in doc)
    before, header, after = doc.partition("Attributes\n----------\n")
    before, header, after = f"{before}{header}{attributes}{after}".rpartition("Examples\n--------\n")
    return f"{before}References\n----------\n{reference}.\n\n{header}{after}\n"


@dataclass_transform(eq_default=False)
def algorithm(
    key: str, name: str, label: str, summary: str, *, seeks: tuple[str, ...], reference: str, **traits: Any
) -> Callable[[Estimator], Estimator]:
    """Return a decorator that gives an estimator its record, as ``estimator.record``, and its ``__init__``.

    The registry finds every decorated class of this folder: there is no list to add it to. It reads the words between
    the brackets without importing the file, so they are plain texts, tuples, True and False. An algorithm that finds
    the number of biclusters itself is nested, because the number asked for keeps the first ones.
    """

    def decorate(estimator: Estimator) -> Estimator:
        dataclass(eq=False, repr=False)(estimator)
        path = f"{estimator.__module__}:{estimator.__qualname__}"
        estimator.record = Algorithm(key, name, label, summary, path, seeks, reference, **traits)
        estimator.__doc__ = with_shared_texts(estimator.__doc__ or "", reference)
        return estimator

    return decorate
