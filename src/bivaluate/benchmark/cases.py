"""The data of the benchmark, each with a truth beside it. They are fixed here: a run chooses among them, no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bivaluate.datasets import load_labelled, make_scenario
from bivaluate.datasets.catalogue import DATASETS
from bivaluate.datasets.scenarios import SCENARIOS
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


@dataclass(frozen=True)
class Problem:
    """A matrix with what is known about it.

    Parameters
    ----------
    matrix : Matrix
        The data.
    truth : Biclustering, optional
        The planted biclusters; none were planted in noise.
    row_classes, col_classes : mapping of str to ndarray of bool
        Known classes of rows or columns.
    genes : bool
        Whether the rows are genes of yeast, so that the Gene Ontology is the truth.

    Examples
    --------
    >>> CASES["noise"].load(0).truth
    Biclustering(0 biclusters of a matrix of 200 x 40)
    """

    matrix: Matrix
    truth: Biclustering | None = None
    row_classes: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    col_classes: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    genes: bool = False


@dataclass(frozen=True)
class Case:
    """One kind of data: how it is made from a seed, and in which forms of the benchmark it takes part.

    Parameters
    ----------
    name : str
        What tables call it.
    domain : {"planted", "noise", "genes", "classes"}
        Where its truth comes from.
    load : callable
        From a seed to a :class:`Problem`; real data do not depend on it.
    quick : bool
        Whether the quick form has it too.
    imputed : bool
        Whether missing cells were replaced by the means of their rows, so that every algorithm can take part.

    Examples
    --------
    >>> CASES["raised"].domain, CASES["raised"].load(1).matrix.shape
    ('planted', (200, 40))
    """

    name: str
    domain: str
    load: Callable[[int], Problem]
    quick: bool = False
    imputed: bool = False


SHAPE = (200, 40)
BLOCKS = ((30, 10), (40, 8), (25, 12))


def _gaussian(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape)


def _heavy(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.standard_t(3, size=shape)


def _correlated(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Neighbouring columns are alike: a first-order autoregression with 0.6."""
    noise = rng.normal(size=shape)
    values = noise.copy()
    for column in range(1, shape[1]):
        values[:, column] = 0.6 * values[:, column - 1] + 0.8 * noise[:, column]
    return values


def _planted(
    kind: str, shape: tuple[int, int] = SHAPE, draw: Draw = _gaussian, shared: float = 0.0, scale: int = 1
) -> Callable[[int], Problem]:
    """Plant three blocks of a kind; neighbours share a part of their rows and columns."""

    def load(seed: int) -> Problem:
        rng = np.random.default_rng([seed, sum(map(ord, kind)), *shape, round(100 * shared)])
        values = draw(rng, shape)
        rows, cols = rng.permutation(shape[0]), rng.permutation(shape[1])
        pairs, row, col = [], 0, 0
        for n_rows, n_cols in ((scale * r, c) for r, c in BLOCKS):
            pair = (np.sort(rows[row : row + n_rows]), np.sort(cols[col : col + n_cols]))
            values[np.ix_(*pair)] = _block(kind, values[np.ix_(*pair)], rng)
            pairs.append(pair)
            row, col = row + round((1 - shared) * n_rows), col + round((1 - shared) * n_cols)
        order = rng.permutation(shape[0])
        place = np.argsort(order)
        return Problem(Matrix(values[order]), Biclustering([(np.sort(place[r]), c) for r, c in pairs], shape))

    return load


def _block(kind: str, noise: Floats, rng: np.random.Generator) -> Floats:
    n_rows, n_cols = noise.shape
    profile = rng.normal(size=n_cols)
    if kind == "raised":
        return noise + 2.0
    if kind == "additive":
        return 0.4 * noise + rng.normal(size=(n_rows, 1)) + 1.5 * profile
    if kind == "scaling":
        return 0.4 * noise + rng.uniform(0.5, 2.5, size=(n_rows, 1)) * profile
    if kind == "order":
        return np.sort(noise, axis=1)[:, np.argsort(np.argsort(profile))]
    return rng.poisson(6.0, size=noise.shape).astype(float)


def _counts(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.poisson(1.0, size=shape).astype(float)


def _noise(draw: Draw) -> Callable[[int], Problem]:
    def load(seed: int) -> Problem:
        return Problem(Matrix(draw(np.random.default_rng([seed, 7]), SHAPE)), Biclustering([], SHAPE))

    return load


def _scenario(name: str) -> Callable[[int], Problem]:
    def load(seed: int) -> Problem:
        values, truth, _ = make_scenario(name, random_state=seed)
        return Problem(Matrix(values), truth)

    return load


def _real(name: str, genes: bool = False) -> Callable[[int], Problem]:
    def load(seed: int) -> Problem:
        found = load_labelled(name)
        matrix = _without_gaps(found.matrix) if name in _IMPUTED else found.matrix
        return Problem(matrix, None, found.row_classes, found.col_classes, genes)

    return load


def _without_gaps(matrix: Matrix) -> Matrix:
    """Return the matrix with the mean of its row in place of every missing cell."""
    values = matrix.values
    filled = np.where(np.isnan(values), np.nanmean(values, axis=1, keepdims=True), values)
    return Matrix(filled, matrix.row_labels, matrix.col_labels, matrix.name)


_IMPUTED = ("brown", "movielens")
_QUICK_YEAST = ("yeast:01_alpha_factor",)
_CLASSES = ("brown", "mulan_yeast", "pbmc68k", "movielens", "newsgroups", "reuters_r8")

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("raised", "planted", _planted("raised"), quick=True),
        Case("additive", "planted", _planted("additive"), quick=True),
        Case("scaling", "planted", _planted("scaling"), quick=True),
        Case("order-preserving", "planted", _planted("order")),
        Case("overlapping", "planted", _planted("raised", shared=0.3), quick=True),
        Case("heavy-tailed", "planted", _planted("raised", draw=_heavy)),
        Case("correlated columns", "planted", _planted("additive", draw=_correlated)),
        Case("Poisson", "planted", _planted("Poisson", draw=_counts), quick=True),
        Case("raised, tall", "planted", _planted("raised", shape=(1000, 40), scale=3)),
        Case("additive, wide", "planted", _planted("additive", shape=(200, 120))),
        Case("noise", "noise", _noise(_gaussian), quick=True),
        Case("heavy-tailed noise", "noise", _noise(_heavy)),
        Case("correlated noise", "noise", _noise(_correlated)),
        Case("Poisson noise", "noise", _noise(_counts), quick=True),
        *(Case(f"scenario:{key}", "planted", _scenario(key), quick=key in ("S1", "S5")) for key in SCENARIOS),
        *(
            Case(name, "genes", _real(name, genes=True), quick=name in _QUICK_YEAST)
            for name, record in DATASETS.items()
            if record.group == "yeast"
        ),
        *(Case(name, "classes", _real(name), name == "brown", name in _IMPUTED) for name in _CLASSES),
    )
}
