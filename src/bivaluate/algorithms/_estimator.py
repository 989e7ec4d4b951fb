"""What the biclustering estimators share: input rules, fitted attributes, progress."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from bivaluate._check import check_int, check_values, place_of_cell
from bivaluate._errors import MatrixError, ParameterError
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

Pair = tuple[NDArray[np.int64], NDArray[np.int64]]
Values = NDArray[np.float64]


class BiclusteringEstimator(BiclusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: subclasses yield biclusters one by one from :meth:`_find`."""

    key: ClassVar[str]
    n_biclusters: int
    random_state: Any
    _progress: Callable[[int, int], None] | None = None

    @abstractmethod
    def _find(self, X: Values) -> Iterator[Pair]:
        """Check the parameters and yield (rows, cols) of each bicluster; `X` is finite and C-contiguous."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find biclusters in `X`.

        Parameters
        ----------
        X : array-like, DataFrame or Matrix of shape (n_rows, n_cols)
            Finite numbers; never written to.
        y : ignored

        Returns
        -------
        self
        """
        n_wanted = check_int("n_biclusters", self.n_biclusters, minimum=1)
        _check_seed(self.random_state)
        values = self._check_input(X)
        pairs: list[Pair] = []
        for pair in self._find(values):
            pairs.append(pair)
            if self._progress is not None:
                self._progress(len(pairs), n_wanted)
        self.solution_ = Biclustering(pairs, values.shape, info=self._info())
        self.rows_ = self.solution_.row_masks
        self.columns_ = self.solution_.col_masks
        return self

    def _check_input(self, X: Any) -> Values:
        place = X.place if isinstance(X, Matrix) else place_of_cell
        if isinstance(X, Matrix):
            X = X.values
        try:
            checked = validate_data(self, X, dtype="numeric", ensure_all_finite=False)
        except ValueError as error:
            raise MatrixError(f"{type(self).__name__} cannot use X: {error}") from error
        values = np.ascontiguousarray(check_values(checked, missing="omit", place=place))
        missing = np.isnan(values)
        if missing.any() and getattr(self, "missing", "raise") != "omit":
            i, j = np.argwhere(missing)[0]
            raise MatrixError(
                f"{type(self).__name__} needs a matrix without missing cells: X has {int(missing.sum())} (NaN), "
                f"the first at {place(i, j)}. Impute them, or drop those rows or columns."
            )
        return values

    def _info(self) -> dict[str, Any]:
        parameters = {name: _plain(value) for name, value in self.get_params(deep=False).items()}
        return {"algorithm": self.key, "parameters": parameters}


def _check_seed(random_state: Any) -> None:
    try:
        check_random_state(random_state)
    except ValueError:
        raise ParameterError(
            f"random_state is {random_state!r}; a whole number from 0 to {2**32 - 1}, a RandomState or None is needed."
        ) from None


def _plain(value: Any) -> Any:
    """Return `value` as JSON can hold it; a random generator becomes its description."""
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
