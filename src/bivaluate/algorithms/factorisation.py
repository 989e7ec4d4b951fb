"""Factors made into biclusters: non-negative matrix factorisation and topics (LDA), by scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bivaluate._factors import DEFAULT_RULE, check_rule, members_of_factors, spectra_scores, strong_members
from bivaluate._parallel import one_thread
from bivaluate.algorithms._estimator import BiclusteringEstimator, Count, Pair
from bivaluate.algorithms.algorithm import KW_ONLY, algorithm


@dataclass(eq=False, repr=False)
class _Factors(BiclusteringEstimator):
    """What NMF and LDA share: X ≈ W H, and factor k is a bicluster of the rows and columns with high weights in it."""

    n_biclusters: int = 5
    _: KW_ONLY
    max_iter: Count = 400
    rule: str = DEFAULT_RULE

    _model: ClassVar[str]  # of scikit-learn

    def _find(self, X: Any) -> Iterator[Pair]:
        from sklearn import decomposition

        model = getattr(decomposition, self._model)(
            int(self.n_biclusters), max_iter=self.max_iter, random_state=self.random_state
        )
        if not X.sum() > 0:
            return
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # `max_iter` is the user's; `n_iter_` tells
            self.row_factors_ = model.fit_transform(X)
        self.column_factors_ = model.components_
        self.n_iter_ = int(model.n_iter_)
        empty = ~np.asarray(X.sum(axis=1) > 0).ravel()  # a row without counts is a mixture of nothing
        loadings = np.where(empty[:, None], 0.0, self.row_factors_)
        spectra = str(self.rule).startswith("spectra:")
        kind, number = check_rule(str(self.rule).replace("spectra:", "largest:"))
        masks = members_of_factors(loadings, self.column_factors_, DEFAULT_RULE if spectra else self.rule)
        if spectra:
            scores = spectra_scores(X, self.column_factors_)
            masks = (np.array([strong_members(one, kind, number) for one in scores]), masks[1])
        for in_rows, in_cols in zip(*masks, strict=True):
            yield np.flatnonzero(in_rows), np.flatnonzero(in_cols)


@algorithm(
    "nmf",
    "Non-negative factors",
    "NMF",
    "Writes the matrix as a sum of K non-negative products; each keeps the rows and columns to which it gives high weights.",
    seeks=("multiplicative", "dense"),
    sparse=True,
    nonnegative=True,
    reference="Lee & Seung 1999, Learning the parts of objects by non-negative matrix factorization, Nature 401:788-791, "
    "doi:10.1038/44565",
)
class NMFBiclusters(_Factors):
    """Biclusters of the factors of a non-negative matrix factorisation X ≈ W H.

    Factor k gives every row (column k of W) and every column (row k of H) a weight; those with high weights form a
    bicluster. A row may be in several biclusters or in none.

    Parameters
    ----------
    n_biclusters : int, default=5
        K: the number of factors. A factor without weights is left out.
    max_iter : int, default=400
        Most iterations of the factorisation.
    rule : str, default="mixture"
        Which rows and columns belong to a factor, as in :meth:`bivaluate.Biclustering.from_factors`; or
        ``"spectra:50"``, the 50 rows that depend most on the factor's share of each column (spectra scores), for
        programs that are compared over samples.

    Attributes
    ----------
    row_factors_, column_factors_ : ndarray of float, of shape (n_rows, K) and (K, n_cols)
        W and H.
    n_iter_ : int
        Iterations done; `max_iter` if it did not converge.

    See Also
    --------
    LDABiclusters, bivaluate.Biclustering.from_factors

    Notes
    -----
    High are weights that tell a factor from the average of all, as in :meth:`bivaluate.Biclustering.from_factors`:
    what is high in every factor belongs to none of them.

    Examples
    --------
    >>> X = np.kron([[9.0, 0.0], [0.0, 4.0], [0.0, 0.0]], np.ones((4, 3)))
    >>> [b.shape for b in NMFBiclusters(2, random_state=0).fit(X).solution_]
    [(4, 3), (4, 3)]
    """

    _model = "NMF"


@algorithm(
    "lda",
    "Topics",
    "LDA",
    "Explains the counts of every row by K topics of columns (latent Dirichlet allocation); each topic is a bicluster.",
    seeks=("dense",),
    sparse=True,
    nonnegative=True,
    reference="Blei, Ng & Jordan 2003, Latent Dirichlet allocation, J. Mach. Learn. Res. 3:993-1022",
)
class LDABiclusters(_Factors):
    """Biclusters of the topics of latent Dirichlet allocation: rows are documents, columns are words, cells are counts.

    Every row is a mixture of K topics, and every topic is a distribution over the columns. The rows in which a topic
    has a high share, with the columns that have a high share of the topic, are a bicluster.

    Parameters
    ----------
    n_biclusters : int, default=5
        K: the number of topics.
    max_iter : int, default=20
        Passes over the matrix.
    rule : str, default="mixture"
        Which rows and columns belong to a factor, as in :meth:`bivaluate.Biclustering.from_factors`; or
        ``"spectra:50"``, the 50 rows that depend most on the factor's share of each column (spectra scores), for
        programs that are compared over samples.

    Attributes
    ----------
    row_factors_, column_factors_ : ndarray of float, of shape (n_rows, K) and (K, n_cols)
        Shares of the topics in each row, and weights of the columns in each topic.
    n_iter_ : int
        Passes done.

    See Also
    --------
    NMFBiclusters, bivaluate.Biclustering.from_factors

    Notes
    -----
    High are weights that tell a factor from the average of all, as in :meth:`bivaluate.Biclustering.from_factors`:
    what is high in every factor belongs to none of them. Topics depend on where they start: compare several
    seeds.

    Examples
    --------
    >>> X = np.kron([[9, 0], [0, 6]], np.ones((4, 3), dtype=int))
    >>> sorted(b.shape for b in LDABiclusters(2, random_state=0).fit(X).solution_)
    [(4, 3), (4, 3)]
    """

    _: KW_ONLY
    max_iter: Count = 20

    _model = "LatentDirichletAllocation"
