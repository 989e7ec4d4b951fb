"""Which rows and columns belong to a factor: from soft loadings to biclusters."""

import math
from typing import Any

import numpy as np

from bivaluate._anndata import is_anndata
from bivaluate._check import check_real
from bivaluate._errors import ParameterError, SolutionError
from bivaluate._text import plural
from bivaluate._types import Flags, Floats

DEFAULT_RULE = "mixture"
# Profiles that differ by no more than this are the same.
_ROUNDING = 1e-9
_ALLOWED = "'mixture', 'top:0.1' (the largest tenth), 'largest:50' or 'sd:1' (one standard deviation above the mean)"


def check_rule(rule: Any) -> tuple[str, float]:
    """Return the kind of a rule and its number (NaN for the mixture)."""
    kind, _, text = str(rule).partition(":")
    try:
        number = float(text) if text else math.nan
    except ValueError:
        number = math.nan
    whole = number >= 1 and number == int(number) if math.isfinite(number) else False
    fits = {"mixture": not text, "top": 0 < number <= 1, "largest": whole, "sd": math.isfinite(number)}
    if not fits.get(kind, False):
        raise ParameterError(f"rule is {rule!r}; allowed: {_ALLOWED}.")
    return kind, number


def check_factors(W: Any, H: Any) -> tuple[Floats, Floats]:
    """Return loadings of rows (n, K) and of columns (K, m) as arrays, if they fit together."""
    arrays = []
    for name, given in (("W", W), ("H", H)):
        given = given.toarray() if hasattr(given, "toarray") else given
        try:
            with np.errstate(over="ignore"):
                array = np.asarray(given).astype(np.float64, casting="same_kind")
        except (TypeError, ValueError):
            raise SolutionError(f"{name} does not hold numbers only; loadings are needed.") from None
        if array.ndim != 2:
            raise SolutionError(f"{name} has {plural(array.ndim, 'dimension')}; a table of loadings has two.")
        if np.isinf(array).any():
            raise SolutionError(f"{name} holds infinite loadings.")
        arrays.append(array)
    rows, cols = arrays
    if rows.shape[1] != cols.shape[0]:
        hint = " Was H given as columns x factors? Transpose it." if rows.shape[1] == cols.shape[1] else ""
        found = f"W has {plural(rows.shape[1], 'factor')} (columns) and H has {cols.shape[0]} (rows)"
        raise SolutionError(f"{found}; W is rows x factors, H is factors x columns.{hint}")
    return rows, cols


def members_of_factors(W: Floats, H: Floats, rule: str) -> tuple[Flags, Flags]:
    """Return the masks (K, n) and (K, m) of the members of each factor; the mixture cuts how distinctive they are."""
    kind, number = check_rule(rule)
    rows, cols = _turned(_scaled(W.T), _scaled(H))
    if kind == "mixture":
        rows, cols = _distinctive(rows, cols), _distinctive(cols, rows)
    row_masks, col_masks = (
        np.array([strong_members(loadings, kind, number) for loadings in side], dtype=np.bool_).reshape(side.shape)
        for side in (rows, cols)
    )
    return row_masks, col_masks


def _scaled(loadings: Floats) -> Floats:
    """Return the loadings by a power of two, to the bit, so that the largest is near 1 and no product overflows."""
    largest = np.fmax.reduce(np.abs(loadings), axis=None, initial=0.0)
    return np.asarray(np.ldexp(loadings, -np.frexp(largest)[1]))


def _turned(rows: Floats, cols: Floats) -> tuple[Floats, Floats]:
    """Return the loadings (K, n) and (K, m), both with signs turned where negative ones make the heavier block."""
    above, below = (_norms(sign * rows) * _norms(sign * cols) for sign in (1, -1))
    sign = np.where(below > above, -1.0, 1.0)[:, None]
    return sign * rows, sign * cols


def _norms(loadings: Floats) -> Floats:
    return np.asarray(np.linalg.norm(_positive(loadings), axis=1))


def _positive(loadings: Floats) -> Floats:
    """Return the loadings with 0 for those below it, and for missing ones."""
    return np.where(loadings > 0, loadings, 0.0)


def _distinctive(loadings: Floats, other: Floats) -> Floats:
    """Return how much each member tells a factor from the average of all: p·log(p/q) where p > q, otherwise 0.

    p is the profile of the factor over its side, q the mean profile of all factors, weighted by their sizes. What is
    strong in every factor belongs to none of them. A factor that has the average profile, as a single one does, keeps
    its loadings, and so does one whose loadings are all equal, which has no members.
    """
    known = _positive(loadings)
    totals = known.sum(axis=1, keepdims=True)
    p = np.divide(known, totals, out=np.zeros_like(known), where=totals > 0)
    sizes = totals[:, 0] * _positive(other).sum(axis=1)
    q = sizes @ p / (sizes.sum() or 1.0)
    above = p > q * (1 + _ROUNDING)
    ratio = np.divide(p, q, out=np.ones_like(p), where=above & (q > 0))
    plain = ~above.any(axis=1) | (known.min(axis=1, initial=math.inf) == known.max(axis=1, initial=0.0))
    return np.where(plain[:, None], known, p * np.log(ratio))


def strong_members(loadings: Floats, kind: str, number: float = math.nan) -> Flags:
    """Return which members belong to a factor, by its loadings on one side; only loadings above 0 count."""
    known = _positive(loadings)
    if kind == "mixture":
        chosen = split_in_two(np.sqrt(known)[None])[0]
    elif kind == "sd":
        observed = loadings[~np.isnan(loadings)]
        chosen = known > observed.mean() + number * observed.std() if len(observed) else known > 0
    else:
        count = math.ceil(number if kind == "largest" else check_real("fraction", number, 0, 1) * len(known))
        chosen = np.zeros(len(known), dtype=np.bool_)
        chosen[np.argsort(-known, kind="stable")[:count]] = True
    return np.asarray(chosen & (known > 0))


def spectra_scores(X: Any, usages: Floats) -> Floats:
    """Return how each standardised row of X depends on the normalised and centred usages (K, m) of factors: (K, n)."""
    totals = usages.sum(axis=0)
    shares = np.divide(usages, totals, out=np.zeros_like(usages), where=totals > 0)
    solved = np.linalg.pinv((shares - shares.mean(axis=1, keepdims=True)).T)  # (K, m); constants of X fall out
    squares = X.multiply(X) if hasattr(X, "multiply") else X * X
    mean, square = (np.asarray(part.mean(axis=1)).ravel() for part in (X, squares))
    variance = np.maximum(square - mean**2, 0.0)
    constant = variance <= (32 * np.finfo(np.float64).eps) * square
    return np.asarray((X @ solved.T).T / np.where(constant, np.inf, np.sqrt(variance)))


def split_in_two(X: Floats) -> Flags:
    """Return the upper group of each row's best split in two (Otsu's: the smallest squares within the groups).

    Equal cells stay together; among equally good splits the lower threshold is taken. A constant row has no ones.
    """
    n, m = X.shape
    if m < 2:
        return np.zeros((n, m), dtype=bool)
    centred = X - X.mean(axis=1, keepdims=True)
    values = np.sort(centred, axis=1)
    below = np.arange(1, m)
    # The squares between the groups, below · above · (mean above − mean below)² / m, by sums of the centred row.
    between = np.cumsum(values, axis=1)[:, :-1] ** 2 / (below * (m - below))
    between[values[:, 1:] == values[:, :-1]] = -1.0
    split, at = between.argmax(axis=1), np.arange(n)
    ones = centred > values[at, split][:, np.newaxis]
    ones[between[at, split] < 0.0] = False
    return np.asarray(ones)


def steps_of(model: Any) -> list[Any]:
    """Return the steps of a pipeline, those of a pipeline at its end, too; of anything else, itself."""
    steps: Any = getattr(model, "steps", None)
    piped = isinstance(steps, (list, tuple)) and steps
    return [*(step for _, step in steps[:-1]), *steps_of(steps[-1][1])] if piped else [model]


def last_step(model: Any) -> Any:
    """Return the last step of a pipeline; of anything else, itself."""
    return steps_of(model)[-1]


def loadings_of(model: Any, X: Any) -> tuple[Floats, Floats]:
    """Return the loadings of rows and columns that a fitted factor or topic model gives the data it is shown."""
    name = type(model).__name__
    if is_anndata(X):
        how = "evaluate(X, model) takes it; here pass what the model was fitted to, such as X.X, cells x genes"
        raise SolutionError(f"X is an AnnData object: {how}.")
    if hasattr(last_step(model), "components_") and hasattr(model, "transform"):
        kind = getattr(last_step(model).components_, "dtype", None)
        if model is last_step(model) and getattr(X, "dtype", kind) != kind:
            X = X.astype(kind)  # NMF takes no other than it was fitted on
        rows, cols = check_factors(model.transform(X), last_step(model).components_)
        if hasattr(X, "shape") and X.shape[1] != cols.shape[1]:
            found = f"{name} makes {plural(cols.shape[1], 'column')} of the {X.shape[1]} of X before it finds factors"
            how = "Take its last step, model[-1], with what the steps before make of X, model[:-1].transform(X)"
            raise SolutionError(f"{found}, so factors do not say which columns of X belong to them. {how}.")
        return rows, cols
    if hasattr(model, "get_topics") and hasattr(model, "get_document_topics"):
        topics = np.asarray(model.get_topics(), dtype=np.float64)
        documents = _bags_of_words(X)
        shares = np.zeros((len(documents), len(topics)))
        for i, document in enumerate(documents):
            for topic, share in model.get_document_topics(document, minimum_probability=0.0):
                shares[i, topic] = share
        return check_factors(shares, topics)
    fitted = "is not fitted (no components_): call fit first" if hasattr(model, "transform") else "has no factors"
    hint = "Pass scikit-learn's NMF or LatentDirichletAllocation, or gensim's LdaModel, or the factors to from_factors"
    raise SolutionError(f"{name} {fitted}. {hint}.")


def _bags_of_words(X: Any) -> list[Any]:
    """Return documents as gensim takes them, (word, count) pairs: a corpus as it is, or the rows of a matrix."""
    if not hasattr(X, "shape"):
        return list(X)
    from scipy.sparse import csr_array

    rows = csr_array(X if hasattr(X, "tocsr") else np.asarray(X))
    ends = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
    return [list(zip(rows.indices[a:b].tolist(), rows.data[a:b].tolist(), strict=True)) for a, b in ends]
