"""The data of the benchmark, each with a truth beside it. They are fixed here: a run chooses among them, no more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from bivaluate._types import Flags, Floats, Ints
from bivaluate.datasets import load_labelled, make_scenario
from bivaluate.datasets.catalogue import DATASETS
from bivaluate.datasets.labelled import Labelled
from bivaluate.datasets.scenarios import SCENARIOS
from bivaluate.elsewhere.confirm import FEWEST_HALVED
from bivaluate.elsewhere.fits import columns_of
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
_gaussian: Draw = np.random.Generator.standard_normal


@dataclass(frozen=True)
class Problem:
    """A matrix with what is known about it.

    Parameters
    ----------
    matrix, truth : Matrix, Biclustering or None
        The data, and the planted biclusters; none were planted in noise.
    row_classes, col_classes, genes, other : mapping of str to ndarray of bool, bool, Matrix or None
        Other truths: known classes; the Gene Ontology of yeast; a repeat, or the other half of the data.

    See Also
    --------
    Case

    Examples
    --------
    >>> CASES["noise"].load(0).truth
    Biclustering(0 biclusters of a matrix of 200 x 40)
    """

    matrix: Matrix
    truth: Biclustering | None = None
    row_classes: Mapping[str, Flags] = field(default_factory=dict)
    col_classes: Mapping[str, Flags] = field(default_factory=dict)
    genes: bool = False
    other: Matrix | None = None


@dataclass(frozen=True)
class Case:
    """One kind of data: how it is made from a seed, and in which forms of the benchmark it takes part.

    Parameters
    ----------
    name, domain, load : str, str, callable
        What tables call it, what kind of data it is, and from a seed to a :class:`Problem`.
    quick : bool
        Whether the quick form has it too.

    See Also
    --------
    Problem

    Examples
    --------
    >>> CASES["raised"].domain, CASES["raised"].load(1).matrix.shape
    ('planted', (200, 40))
    """

    name: str
    domain: str
    load: Callable[[int], Problem]
    quick: bool = False


SHAPE = (200, 40)
BLOCKS = ((30, 10), (40, 8), (25, 12))


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
    kind: str, seed: int, *, shape: tuple[int, int] = SHAPE, draw: Draw = _gaussian, shared: float = 0.0, scale: int = 1
) -> Problem:
    """Plant three blocks of a kind; neighbours share a part of their rows and columns."""
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


def _noise(draw: Draw, seed: int) -> Problem:
    return Problem(Matrix(draw(np.random.default_rng([seed, 7]), SHAPE)), Biclustering([], SHAPE))


def _scenario(name: str, seed: int) -> Problem:
    values, truth, _ = make_scenario(name, random_state=seed)
    return Problem(Matrix(values), truth)


def _expression(name: str, seed: int) -> Problem:
    return Problem(load_labelled(name).matrix, genes=True)


def _repeat(name: str, again: str, seed: int) -> Problem:
    return Problem(load_labelled(f"yeast:{name}").matrix, other=load_labelled(f"yeast:{again}").matrix)


def _halves(load: Callable[[int], Problem], turned: bool, seed: int) -> Problem:
    """At most the 500 rows that vary most, in every other column; turned, rows are halved and columns judged."""
    whole = load(seed).matrix.T if turned else load(seed).matrix
    if not whole.sparse:
        most = np.sort(np.argsort(-np.nanvar(whole.values, axis=1), kind="stable")[:MOST_HALVED])
        whole = Matrix(whole.values[most], absent=whole.absent)
    first, second = (columns_of(whole, slice(start, None, 2), "half") for start in (0, 1))
    return Problem(first, other=second)


def _brown(seed: int) -> Problem:
    """Brown's genes in three functional classes; missing cells are replaced by the means of their rows."""
    found = load_labelled("brown")
    return Problem(_without_gaps(found.matrix), None, found.row_classes)


def _mulan(seed: int) -> Problem:
    """The first 600 genes, in 14 functional classes that overlap."""
    return _part(load_labelled("mulan_yeast"), np.arange(MOST_ROWS), None)


def _cells(seed: int) -> Problem:
    """The 300 genes that vary most, in the first 40 cells of each type."""
    found = load_labelled("pbmc68k")
    genes = np.sort(np.argsort(-found.matrix.values.var(axis=1), kind="stable")[:MOST_GENES])
    return _part(found, genes, _first_of_each(found.col_classes, MOST_CELLS))


def _ratings(seed: int) -> Problem:
    """The 300 users and the 300 films with the most ratings; what was not rated is the mean of the user."""
    found = load_labelled("movielens")
    rated = ~np.isnan(found.matrix.values)
    users, films = (np.sort(np.argsort(-rated.sum(axis=axis), kind="stable")[:MOST_RATED]) for axis in (1, 0))
    part = _part(found, users, films)
    return Problem(_without_gaps(part.matrix), None, part.row_classes, part.col_classes)


def _documents(name: str, seed: int) -> Problem:
    """The first 25 documents of each class, the words in at least 20 of them; sparse."""
    found = load_labelled(name)
    documents = _first_of_each(found.row_classes, MOST_DOCUMENTS)
    counts = found.matrix.source.take(documents)
    words = np.flatnonzero((counts > 0).sum(axis=0) >= FEWEST_DOCUMENTS)
    return Problem(Matrix(counts[:, words], absent="zero"), None, _cut(found.row_classes, documents))


def _first_of_each(classes: Mapping[str, Flags], most: int) -> Ints:
    """Return the first members of every class, in the order of the matrix."""
    return np.unique(np.concatenate([np.flatnonzero(mask)[:most] for mask in classes.values()]))


def _part(found: Labelled, rows: Ints, cols: Ints | None) -> Problem:
    cols = np.arange(found.matrix.shape[1]) if cols is None else cols
    matrix = Matrix(found.matrix.values[np.ix_(rows, cols)], name=found.matrix.name)
    return Problem(matrix, None, _cut(found.row_classes, rows), _cut(found.col_classes, cols))


def _cut(classes: Mapping[str, Flags], members: Ints) -> dict[str, Flags]:
    """Return the classes of some members, without those that are left empty."""
    return {name: mask[members] for name, mask in classes.items() if mask[members].any()}


def _without_gaps(matrix: Matrix) -> Matrix:
    """Return the matrix with the mean of its row in place of every missing cell."""
    values = matrix.values
    filled = np.where(np.isnan(values), np.nanmean(values, axis=1, keepdims=True), values)
    return Matrix(filled, matrix.row_labels, matrix.col_labels, matrix.name)


MOST_ROWS, MOST_GENES, MOST_CELLS, MOST_RATED, MOST_DOCUMENTS, FEWEST_DOCUMENTS = 600, 300, 40, 300, 25, 20
MOST_HALVED = 500
_TWICE = ("12_heat_shock_1", "13_heat_shock_2"), ("15_YPD_1", "16_YPD_2"), ("08_25mM_DTT", "11_complete_DTT")
_REPEATS = [both_ways for pair in _TWICE for both_ways in (pair, pair[::-1])]
_YEAST = [name for name, record in DATASETS.items() if record.group == "yeast"]
_REPEATED = [f"yeast:{name}" for name, _ in _REPEATS]
UNHALVED = [name for name in _YEAST if name not in _REPEATED and DATASETS[name].shape[1] < FEWEST_HALVED]
_CANCER = tuple(f"cancer:{name}" for name in ("golub-1999-v1", "armstrong-2002-v1", "gordon-2002", "singh-2002"))

_CASES = (
    Case("raised", "planted", partial(_planted, "raised"), quick=True),
    Case("additive", "planted", partial(_planted, "additive"), quick=True),
    Case("scaling", "planted", partial(_planted, "scaling"), quick=True),
    Case("order-preserving", "planted", partial(_planted, "order")),
    Case("overlapping", "planted", partial(_planted, "raised", shared=0.3), quick=True),
    Case("heavy-tailed", "planted", partial(_planted, "raised", draw=_heavy)),
    Case("correlated columns", "planted", partial(_planted, "additive", draw=_correlated)),
    Case("Poisson", "planted", partial(_planted, "Poisson", draw=_counts), quick=True),
    Case("tall raised", "planted", partial(_planted, "raised", shape=(1000, 40), scale=3)),
    Case("wide additive", "planted", partial(_planted, "additive", shape=(200, 120))),
    Case("noise", "noise", partial(_noise, _gaussian), quick=True),
    Case("heavy-tailed noise", "noise", partial(_noise, _heavy)),
    Case("correlated noise", "noise", partial(_noise, _correlated)),
    Case("Poisson noise", "noise", partial(_noise, _counts), quick=True),
    *(Case(f"scenario:{key}", "planted", partial(_scenario, key), quick=key in ("S1", "S5")) for key in SCENARIOS),
    *(Case(name, "genes", partial(_expression, name), quick=name == _YEAST[0]) for name in _YEAST),
    Case("brown", "functions", _brown, quick=True),
    Case("mulan_yeast", "functions", _mulan),
    Case("pbmc68k", "cells", _cells),
    Case("movielens", "ratings", _ratings),
    *(Case(name, "text", partial(_documents, name)) for name in ("newsgroups", "reuters_r8")),
    *(Case(f"yeast:{a} again", "repeats", partial(_repeat, a, b), quick="heat_shock_1" in a) for a, b in _REPEATS),
)
_UNLIKE = ("noise", "cells", "repeats")  # noise has nothing to hold; cells are halved before they are cut
_HALVED = (
    *(case for case in _CASES if case.domain not in _UNLIKE and case.name not in (*_REPEATED, *UNHALVED)),
    *(Case(name, "columns", partial(_expression, name)) for name in ("pbmc68k", *_CANCER)),
)


def _halved(case: Case) -> Case:
    domain, turned = "planted halves" if case.domain == "planted" else "repeats", case.domain in ("ratings", "text")
    return Case(f"{case.name} halves", domain, partial(_halves, case.load, turned))


CASES: dict[str, Case] = {case.name: case for case in (*_CASES, *map(_halved, _HALVED))}
