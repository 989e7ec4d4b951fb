"""What the biclustering estimators share: input rules, fitted attributes, progress."""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from bivaluate._anndata import is_anndata
from bivaluate._check import check_choice, check_int, check_real, check_values, place_of_cell
from bivaluate._errors import DenseWarning, MatrixError, ParameterError, SearchWarning, TooLargeError, outside
from bivaluate._rows import LARGEST_DENSE_BYTES
from bivaluate._text import Advice, Option
from bivaluate.algorithms.algorithm import Algorithm
from bivaluate.matrix import Matrix, check_frame_dtypes
from bivaluate.solution import Biclustering

_OMIT = Option(python="missing='omit'", command="--param missing=omit")
Pair = tuple[NDArray[np.int64], NDArray[np.int64]]
Values = NDArray[np.float64]

# What a parameter may be, where its type does not say all: the least and the largest value.
Count = Annotated[int, 1, None]
Natural = Annotated[int, 0, None]
Amount = Annotated[float, 0.0, None]
Share = Annotated[float, 0.0, 1.0]


if TYPE_CHECKING:  # scikit-learn has no types, and checkers let any argument pass where a base could be anything

    class _Base:
        def __getattr__(self, name: str) -> Any: ...
else:

    class _Base(BiclusterMixin, BaseEstimator): ...


@dataclass(eq=False, repr=False)
class BiclusteringEstimator(_Base):
    """Base of the estimators: subclasses declare their parameters and yield biclusters from :meth:`_find`."""

    record: ClassVar[Algorithm]  # set by the decorator `algorithm`
    # Called with what is done, the total if known, and the name of the stage where there is more than one.
    _progress: ClassVar[Callable[..., None] | None] = None
    # Where fits for other K of the same matrix and seed leave what they share.
    _shared: ClassVar[dict[str, Any] | None] = None
    _: KW_ONLY
    random_state: Any = None

    @abstractmethod
    def _find(self, X: Any) -> Iterator[Pair]:
        """Yield (rows, cols) of each bicluster; parameters are as their annotations demand.

        `X` is finite: a C-contiguous array or, if the record says ``sparse``, perhaps a sparse matrix by rows. An
        algorithm that finds their number itself yields the best first; only the first `most` are kept.
        """

    @property
    def most(self) -> int:
        """The number of biclusters asked for; for ``"auto"`` one that is never reached."""
        if self.record.finds_k and isinstance(self.n_biclusters, str):
            check_choice("n_biclusters", self.n_biclusters, ("auto",))
            return sys.maxsize
        return check_int("n_biclusters", self.n_biclusters, minimum=1)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find biclusters in `X`."""
        most = self.most
        given = self.random_state
        refuse_seed(given)
        if isinstance(given, np.random.Generator):
            self.random_state = int(given.integers(2**32))
            try:
                return self.fit(X, y)
            finally:
                self.random_state = given
        values, self._told, self.notes_ = self.check_input(X), 0, list[str]()
        pairs: list[Pair] = []
        for pair in self._find(values):
            if self.record.finds_k and len(pairs) == most:
                break
            if not all(map(len, pair)):  # a cluster that no row, or no column, is left in
                continue
            pairs.append(pair)
            self._tell(len(pairs))
        self.solution_ = Biclustering(pairs, values.shape, info=self._info())
        self.rows_ = self.solution_.row_masks
        self.columns_ = self.solution_.col_masks
        if not pairs or (len(pairs) < most and not self.record.finds_k):
            found = f"{len(pairs)} of the {most} biclusters asked for" if pairs else "no bicluster"
            said = [f"{type(self).__name__} found {found}.", *self.notes_]
            warnings.warn(" ".join(said), SearchWarning, stacklevel=outside())
        return self

    def _warn(self, message: str) -> None:
        self.notes_.append(message)
        warnings.warn(message, SearchWarning, stacklevel=outside())

    def _random(self) -> np.random.RandomState:
        return check_random_state(self.random_state)  # type: ignore[no-any-return]

    def _generator(self) -> np.random.Generator:
        """Return a generator; from a whole number it is made in a tenth of the time of a RandomState."""
        if isinstance(self.random_state, (int, np.integer)):
            return np.random.default_rng(int(self.random_state))
        return np.random.default_rng(self._random().randint(2**32, dtype=np.uint32))

    def _tell(self, done: int) -> None:
        """Tell how many biclusters were found, if they are more than told before and no more than asked for."""
        if self._progress is not None and self._told < done <= self.most:
            self._told = done
            self._progress(done, None if isinstance(self.n_biclusters, str) else self.most)

    def check_input(self, X: Any) -> Any:
        """Return the cells of `X` as the algorithm takes them, or say why it cannot."""
        name = type(self).__name__
        self._check_parameters()
        self.record.check_installed()
        if is_anndata(X):
            how = "pass X.X, cells x genes, or Matrix.from_anndata(X), which is genes x cells"
            raise MatrixError(f"{name} takes a matrix, and X is an AnnData object: {how}.")
        place = X.place if isinstance(X, Matrix) else place_of_cell
        if isinstance(X, Matrix):
            # a file that is sparse is made dense for the algorithms that need it, as long as it fits
            keeps = X.sparse and X.absent == "zero" and self.record.sparse
            if X.sparse and not self.record.sparse:
                _say_dense(self.record, X)
            X = X.checked(X.source.rows(0, X.shape[0])) if keeps else X.values
        if hasattr(X, "columns") and hasattr(X, "iloc"):
            check_frame_dtypes(X, "X")  # which names the cell
        is_sparse = issparse(X)
        if is_sparse and not self.record.sparse:
            raise MatrixError(f"{name} needs a dense matrix and X is sparse. Pass X.toarray() if it fits in memory.")
        if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size:
            # all that there is to do for such an array, of which the rest costs more than a small fit
            checked: Any = X
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:
            try:
                checked = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
            except ValueError as error:
                said = str(error).partition(":\narray=")[0]  # without the cells
                raise MatrixError(f"{name} cannot use X: {said}") from error
        if is_sparse:
            values = checked.astype(np.float64, copy=False)
            if not values.has_canonical_format:
                values = values.copy()
                values.sum_duplicates()
            check_values(values.data[np.newaxis] if values.nnz else np.zeros((1, 1)), missing="raise")
            lowest = values.min() if values.nnz else 0.0
        else:
            values = np.ascontiguousarray(check_values(checked, missing="omit", place=place))
            lowest = float(values.min())
        if np.isnan(lowest) and getattr(self, "missing", "raise") != "omit":
            from bivaluate.algorithms.registry import ALGORITHMS

            missing = np.isnan(values)
            i, j = np.argwhere(missing)[0]
            able = [key for key, record in ALGORITHMS.items() if record.missing]
            instead: list[str | Option] = [f", or take an algorithm that can leave them out: {', '.join(able)}."]
            if hasattr(self, "missing"):
                instead = [", or pass ", _OMIT, " to leave them out."]
            found = f"{name} needs a matrix without missing values: X has {int(missing.sum())} (NaN), the first at"
            raise MatrixError(Advice(f"{found} {place(i, j)}. Impute them or drop those rows or columns", *instead))
        if self.record.nonnegative and lowest < 0:
            found = f"Negative values in data passed to {name}, which needs counts or weights: the lowest value of X is"
            raise MatrixError(f"{found} {lowest:g}. Transform the data, or choose another algorithm.")
        return values

    @classmethod
    @cache  # reading annotations takes as long as a small fit
    def _parameters(cls) -> dict[str, Callable[[str, Any], object]]:
        """Return the parameters of the class with the check that their annotations demand."""
        kinds = get_type_hints(cls, include_extras=True)
        return {name: _check_of(kinds[name]) for name in cls._get_param_names()}  # type: ignore[attr-defined]

    def _check_parameters(self) -> None:
        """Refuse parameters that are not what their annotations demand."""
        for name, check in self._parameters().items():
            check(name, getattr(self, name))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.record.sparse
        tags.input_tags.positive_only = self.record.nonnegative
        tags.input_tags.allow_nan = getattr(self, "missing", "raise") == "omit"
        return tags

    def _info(self) -> dict[str, Any]:
        # The number of threads never changes the answer, so it must not change the file either.
        parameters = {name: _plain(getattr(self, name)) for name in self._parameters() if name != "n_jobs"}
        return {"algorithm": self.record.key, "parameters": parameters}


def _check_of(kind: Any) -> Callable[[str, Any], object]:
    """Return the check of a kind of parameter: numbers within bounds, flags, choices, perhaps None; others are free."""
    first, *others = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if NoneType in others:
        check = _check_of(first)
        return lambda name, value: value is None or check(name, value)
    bare, *bounds = get_args(first) if get_origin(first) is Annotated else (first,)
    if get_origin(bare) is Literal:
        return lambda name, value: check_choice(name, value, get_args(bare))
    known: dict[Any, Callable[..., object]] = {int: check_int, float: check_real, bool: _check_flag}
    if bare in known and not others:
        return lambda name, value: known[bare](name, value, *bounds)
    return lambda name, value: None


def _check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} is {value!r}; True or False is needed.")


def _say_dense(record: Algorithm, X: Matrix) -> None:
    """Say, before it happens, that a sparse matrix is made dense, and who does without; refuse what does not fit."""
    from bivaluate.algorithms.registry import ALGORITHMS

    (n, m), needs = X.shape, f"{record.key} needs every value"
    size, most = 8 * n * m, f"{LARGEST_DENSE_BYTES / 1e9:.1f} GB"
    others = f"These take sparse matrices as they are: {', '.join(key for key, r in ALGORITHMS.items() if r.sparse)}."
    if size > LARGEST_DENSE_BYTES:
        found = f"{n:,} × {m:,} cells are {size / 1e9:,.1f} GB as a dense array"
        raise TooLargeError(f"{needs}, and {X.name} is sparse: {found}, more than {most}. {others}")
    said = f"{needs}: {X.name} is sparse and becomes a dense array of {size / 1e6:,.1f} MB. {others}"
    warnings.warn(DenseWarning(said), stacklevel=4)


def refuse_seed(random_state: Any) -> None:
    """Refuse what `check_random_state` would; a generator, which takes long to make, is not made for it."""
    known = isinstance(random_state, (np.random.RandomState, np.random.Generator)) or random_state in (None, np.random)
    if not known and not (isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**32):
        allowed = f"a whole number from 0 to {2**32 - 1}, a Generator, a RandomState or None"
        raise ParameterError(f"random_state is {random_state!r}; {allowed} is needed.")


def _plain(value: Any) -> Any:
    """Return `value` as JSON can hold it; a random generator becomes its description."""
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
