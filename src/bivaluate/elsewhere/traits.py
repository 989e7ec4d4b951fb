"""What are the samples of a bicluster? Annotations of columns or rows tested against its members."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._anndata import is_anndata
from bivaluate._check import check_choice, check_int, check_real
from bivaluate._errors import FileError, FormatError, ParameterError, suggest
from bivaluate._text import first_few, number, percent, plural
from bivaluate.enrichment.hypergeometric import adjusted
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, check_solution

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Masks = NDArray[np.bool_]

PERMUTATIONS = 9999
RARE = 10  # permutations that reach a value: with fewer the exact bound is finer
MOST_CELLS = 4_000_000  # random numbers held at once
TIED = 1e-9
LEVEL = 0.05
ASSOCIATED, NOT_ASSOCIATED, CANNOT = "associated", "not associated", "cannot be asked"


def traits(
    solution: Biclustering,
    X: Any,
    annotations: Any = None,
    *,
    of: str = "columns",
    survival: tuple[str, str] | None = None,
    within: str | None = None,
    technical: Sequence[str] = (),
    permutations: int = PERMUTATIONS,
    level: float = LEVEL,
    random_state: int = 0,
) -> pd.DataFrame:
    """Test which annotations the samples of each bicluster share.

    Parameters
    ----------
    solution : Biclustering
        The biclusters.
    X : Matrix, DataFrame, AnnData or array-like
        Their matrix; its labels name the samples.
    annotations : DataFrame, path or mapping, optional
        One row per sample, by label, and one column per trait; by position where neither side has labels. A CSV or TSV
        file has the labels in its first column. By default ``.obs`` of an AnnData object.
    of : {"columns", "rows"}, default="columns"
        Which side of the matrix the annotations describe.
    survival : (str, str), optional
        The two columns with the time and with the event (1) or censoring (0).
    within : str, optional
        A column within whose classes samples are permuted, such as the batch.
    technical : sequence of str
        Traits that make a bicluster doubtful, such as batch and plate.
    permutations : int, default=9999
        How many permutations of the samples.
    level : float, default=0.05
        False discovery rate up to which a trait counts as shared.
    random_state : int, default=0
        Same seed, same answer.

    Returns
    -------
    DataFrame
        One row per bicluster and trait: ``bicluster``, ``trait``, ``kind``, ``class`` (the class that fits best, or
        which way a number goes), ``inside`` and ``outside`` (share of the class, or median), ``effect`` (odds ratio,
        probability that a member is higher, or observed over expected events), ``p_exact``, ``p``, ``q``,
        ``n_missing``, ``verdict`` and ``word``. ``attrs["notes"]`` says what was left out.

    Raises
    ------
    ParameterError
        If annotations and matrix share no label, a named column does not exist, or survival lacks its event.

    See Also
    --------
    bivaluate.enrich

    Notes
    -----
    A class is tested by the hypergeometric tail, the best class of a trait by permutation of the samples over all of
    its classes; a number by the rank sum; survival by the log-rank statistic. `p` is by permutation, within the classes
    of `within` (of classes the mid-p-value), except for numbers without `within` and where fewer than 10 permutations
    reach a class: there it is exact, the tail times the number of classes. `q` is Benjamini and Hochberg's over the
    whole table. Samples without a value are left out.

    Examples
    --------
    >>> X = Matrix(np.zeros((5, 20)), col_labels=tuple(f"s{i}" for i in range(20)))
    >>> samples = pd.DataFrame({"type": ["B"] * 8 + ["T"] * 12}, index=X.col_labels)
    >>> table = traits(Biclustering([([0, 1], range(7))], X.shape), X, samples)
    >>> table[["bicluster", "trait", "class", "word"]].values.tolist()
    [['B1', 'type', 'B', '100 % B']]
    """
    import pandas as pd

    check_choice("of", of, ("columns", "rows"))
    check_int("permutations", permutations, 99)
    check_real("level", level, 0.0, 1.0)
    if annotations is None:
        if not is_anndata(X):
            raise ParameterError(
                "annotations are missing: pass a table of the samples, or an AnnData object, which has one."
            )
        annotations = X.obs if of == "columns" else X.var
    matrix = Matrix.of(X, missing="omit")
    solution = check_solution(solution, matrix=matrix)
    labels, n = (matrix.col_labels, matrix.shape[1]) if of == "columns" else (matrix.row_labels, matrix.shape[0])
    table, notes = _aligned(annotations, labels, n)
    for name in [*technical, *([within] if within else []), *(survival or ())]:
        if name not in table.columns:
            known = list(map(str, table.columns))
            raise ParameterError(
                f"the annotations have no column {name!r}; they have {first_few(known)}.{suggest(name, known)}"
            )
    strata = np.zeros(n, dtype=np.int64) if within is None else pd.factorize(table[within].astype(object))[0] + 1
    members = [b.cols if of == "columns" else b.rows for b in solution]
    inside = np.zeros((len(members), n), dtype=np.bool_)
    for mask, own in zip(inside, members, strict=True):
        mask[own] = True
    rng = np.random.default_rng(random_state)
    rows: list[dict[str, Any]] = []
    for trait in _traits_of(table, survival, within, notes):
        known = ~pd.isna(trait.values).any(axis=1)
        draw = _Draws(inside & known, known, np.where(known, strata, -1), within is not None, permutations, rng)
        found = trait.test(trait.values[:, 0] if trait.kind != "survival" else trait.values, draw)
        place = {"trait": trait.name, "kind": trait.kind, "n_missing": int((~known).sum())}
        rows += [{"bicluster": f"B{k + 1}", **place, **each, "order": k} for k, each in enumerate(found)]
    columns = ["bicluster", "trait", "kind", "class", "inside", "outside", "effect", "p_exact", "p", "q", "n_missing"]
    p = np.array([row["p"] for row in rows])
    q = np.full(len(p), np.nan)
    q[~np.isnan(p)] = adjusted(p[~np.isnan(p)]) if (~np.isnan(p)).any() else ()
    for row, value in zip(rows, q, strict=True):
        row["q"] = float(value)
        row |= _said(row, row["trait"] in technical, level)
    rows.sort(key=lambda row: int(row["order"]))
    result = pd.DataFrame(rows, columns=[*columns, "verdict", "word"])
    result.attrs["notes"] = notes
    return result


def _said(row: dict[str, Any], technical: bool, level: float) -> dict[str, str]:
    """Return the verdict on a bicluster and a trait, and the trait in a word where they are associated."""
    if math.isnan(row["p"]):
        return {"verdict": CANNOT, "word": ""}
    if row["q"] > level:
        return {"verdict": NOT_ASSOCIATED, "word": ""}
    if row["kind"] == "categorical":
        word = f"{percent(row['inside'])} {row['class']}"
        doubt = f"{percent(row['inside'])} of its samples are {row['trait']} {row['class']}"
    else:
        word = f"{row['class']} {row['trait']}"
        doubt = f"its samples have {row['class']} {row['trait']}"
    return {"verdict": f"may be technical: {doubt}" if technical else ASSOCIATED, "word": word}


def read_samples(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read annotations: a CSV or TSV file with labels in its first column, or ``.obs`` of an .h5ad file.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "samples.csv")
    >>> _ = file.write_text("sample,type\\ns1,B\\ns2,T\\n")
    >>> read_samples(file)["type"].to_dict()
    {'s1': 'B', 's2': 'T'}
    """
    import pandas as pd

    if os.fspath(path).endswith(".h5ad"):
        from bivaluate._anndata import read_obs

        return pd.DataFrame(read_obs(path))
    try:
        table = pd.read_csv(path, sep=None, engine="python", index_col=0, dtype={0: str})
    except OSError as error:
        raise FileError(f"cannot read {os.fspath(path)}: {error.strerror or error}.") from error
    except (ValueError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise FormatError(f"{os.fspath(path)} is not a table of annotations in CSV or TSV: {error}.") from None
    if not table.shape[1]:
        raise FormatError(f"{os.fspath(path)} has one column; labels in the first and at least one trait are needed.")
    return table


def _aligned(annotations: Any, labels: tuple[str, ...] | None, n: int) -> tuple[pd.DataFrame, list[str]]:
    """Return one row of annotations per sample of the matrix, in its order, and what was left out."""
    import pandas as pd

    if isinstance(annotations, (str, os.PathLike)):
        annotations = read_samples(annotations)
    table = annotations if isinstance(annotations, pd.DataFrame) else pd.DataFrame(annotations)
    if isinstance(table.index, pd.RangeIndex) or labels is None:
        if len(table) != n:
            raise ParameterError(
                f"the annotations have {plural(len(table), 'row')} and no labels, but there are {n:,} samples."
            )
        return table, []
    index = pd.Index([str(label) for label in table.index])
    if index.has_duplicates:
        raise ParameterError(
            f"the annotations name {index[index.duplicated()][0]!r} more than once; one row per sample is needed."
        )
    at = index.get_indexer(pd.Index(labels))
    if (at < 0).all():
        raise ParameterError(
            f"annotations and matrix share no label: {first_few(list(index), 3)} there, {first_few(list(labels), 3)} here. Are "
            "these names of the same samples, and are the samples the columns?"
        )
    absent = int((at < 0).sum())
    notes = [f"{plural(absent, 'sample')} of {n:,} have no annotation and were left out."] if absent else []
    return table.set_axis(index).reindex(list(labels)), notes


@dataclass(frozen=True)
class _Trait:
    """One annotation: a column of values, or two of survival, and its test."""

    name: str
    kind: str
    values: Any
    test: Callable[[Any, _Draws], Iterator[dict[str, Any]]]


@dataclass(frozen=True)
class _Draws:
    """Members of biclusters among the samples with a value, and how to permute samples."""

    inside: Masks
    known: Masks
    strata: Indices  # -1: left out
    stratified: bool
    permutations: int
    rng: np.random.Generator

    def parts(self) -> list[Indices]:
        """Return the samples of each stratum."""
        return [np.flatnonzero(self.strata == stratum) for stratum in np.unique(self.strata[self.known])]

    def pairs(self) -> Iterator[tuple[int, Masks, Masks]]:
        """Return of every bicluster its position, members and the others; no members where it cannot be asked."""
        for k, mask in enumerate(self.inside):
            rest = self.known & ~mask
            yield k, mask if min(mask.sum(), rest.sum()) > 1 else np.zeros_like(mask), rest


def _traits_of(
    table: pd.DataFrame, survival: tuple[str, str] | None, within: str | None, notes: list[str]
) -> list[_Trait]:
    """Return the annotations that can be tested; say which cannot."""
    import pandas as pd

    found = []
    for name in table.columns:
        column = table[name]
        if name == within or name in (survival or ()):
            continue
        distinct = column.nunique()
        numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
        if distinct < 2:
            notes.append(f"{name} was left out: it is {'constant' if distinct else 'empty'}.")
        elif not numeric and distinct == column.count():
            notes.append(f"{name} was left out: every sample has a class of its own.")
        elif numeric and distinct > 2:
            found.append(_Trait(str(name), "numeric", column.to_numpy(np.float64)[:, None], _numeric))
        else:
            found.append(_Trait(str(name), "categorical", column.astype(object).to_numpy()[:, None], _categorical))
    if survival is not None:
        values = table[list(survival)].to_numpy(np.float64, na_value=np.nan)
        if not np.isin(values[~np.isnan(values[:, 1]), 1], (0, 1)).all() or (values < 0).any():
            time, event = survival
            raise ParameterError(
                f"survival needs times from 0 in {time!r}, and 1 (event) or 0 (censored) in {event!r}."
            )
        found.append(_Trait("survival", "survival", values, _survival))
    return found


def _empty() -> dict[str, Any]:
    return {"class": "", **dict.fromkeys(("inside", "outside", "effect", "p_exact", "p"), math.nan)}


def _numeric(values: Floats, draw: _Draws) -> Iterator[dict[str, Any]]:
    from scipy.stats import mannwhitneyu, rankdata

    scores = np.zeros(len(values))
    for part in draw.parts():
        scores[part] = rankdata(values[part]) / (len(part) + 1) - 0.5
    drawn = _permuted_p(scores, draw) if draw.stratified else None
    for k, mask, rest in draw.pairs():
        if not mask.any():
            yield _empty()
            continue
        rank = mannwhitneyu(values[mask], values[rest], alternative="two-sided")
        effect, p = float(rank.statistic) / (mask.sum() * rest.sum()), float(rank.pvalue)
        way = scores[mask].mean() if draw.stratified else effect - 0.5
        middle = {"inside": float(np.median(values[mask])), "outside": float(np.median(values[rest]))}
        said = {"class": "higher" if way > 0 else "lower", **middle, "effect": effect, "p_exact": p}
        yield said | {"p": p if drawn is None else float(drawn[k])}


def _categorical(values: Any, draw: _Draws) -> Iterator[dict[str, Any]]:
    import pandas as pd

    codes, classes = pd.factorize(values)
    one_of = np.eye(len(classes), dtype=np.int64)[codes] * (codes >= 0)[:, None]
    groups = [one_of[part].sum(axis=0) for part in draw.parts()]
    sizes, n = one_of.sum(axis=0), int(draw.known.sum())
    for _, mask, _ in draw.pairs():
        if not mask.any():
            yield _empty()
            continue
        k, counts = int(mask.sum()), one_of[mask].sum(axis=0)
        taken = [int(mask[part].sum()) for part in draw.parts()]
        drawn = np.zeros((draw.permutations, len(classes)), dtype=np.int64)
        for group, size in zip(groups, taken, strict=True):
            drawn += draw.rng.multivariate_hypergeometric(group, size, draw.permutations, method="marginals")
        tails = hypergeometric_tails(sizes, n, k)
        value = _strength(counts[None], tails, groups, taken, draw.stratified)[0]
        best = int(value.argmax())
        others = _strength(drawn, tails, groups, taken, draw.stratified).max(axis=1) - value[best]
        above, equal = int((others > TIED).sum()), int((np.abs(others) <= TIED).sum())
        exact = float(tails[best, counts[best]])
        p = (above + (equal + 1) / 2) / (draw.permutations + 1)  # mid-p: counts tie often
        if not draw.stratified and above + equal < RARE:
            p = min(1.0, exact * len(classes))
        a, b = int(counts[best]), int(sizes[best] - counts[best])
        against = (k - a) * b
        odds = a * (n - k - b) / against if against else math.inf if a * (n - k - b) else math.nan
        shares = {"inside": a / k, "outside": b / (n - k)}
        yield {"class": str(classes[best]), **shares, "effect": odds, "p_exact": exact, "p": p}


def hypergeometric_tails(sizes: Indices, n: int, k: int) -> Floats:
    """Return P(at least x of the k drawn from n are of the class), for every class and x from 0 to k.

    >>> hypergeometric_tails(np.array([2]), 4, 2).round(3).tolist()
    [[1.0, 0.833, 0.167]]
    """
    from scipy.stats import hypergeom

    x = np.arange(k + 1)
    return np.asarray(np.clip(hypergeom.sf(x - 1, n, np.asarray(sizes)[:, None], k), 0.0, 1.0))


def _strength(
    counts: Indices, tails: Floats, groups: Sequence[Indices], taken: Sequence[int], stratified: bool
) -> Floats:
    """Return how over-represented each class is: −log of the tail, or with strata the count in standard deviations."""
    if not stratified:
        with np.errstate(divide="ignore"):
            return -np.log(np.take_along_axis(tails.T, counts, axis=0))
    mean, variance = np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    for group, size in zip(groups, taken, strict=True):
        n = group.sum()
        share = group / n
        mean += size * share
        variance += size * share * (1 - share) * (n - size) / max(n - 1, 1)
    return np.where(variance > 0, (counts - mean) / np.sqrt(np.where(variance > 0, variance, 1.0)), -np.inf)


def _survival(values: Floats, draw: _Draws) -> Iterator[dict[str, Any]]:
    """Log-rank test of members against the others."""
    from scipy.stats import CensoredData, logrank

    times, events = values.T
    scores = np.zeros(len(times))
    for part in draw.parts():
        scores[part] = logrank_scores(times[part], events[part])
    drawn = _permuted_p(scores, draw)
    for k, mask, rest in draw.pairs():
        if not mask.any() or not events[draw.known].any():
            yield _empty()
            continue
        sides = [CensoredData(times[s][events[s] == 1], right=times[s][events[s] == 0]) for s in (mask, rest)]
        observed, more = float(events[mask].sum()), float(scores[mask].sum())
        middle = {"inside": float(np.median(times[mask])), "outside": float(np.median(times[rest]))}
        effect = observed / (observed - more) if observed > more else math.nan
        said = {"class": "shorter" if more > 0 else "longer", **middle, "effect": effect}
        yield said | {"p_exact": float(logrank(*sides).pvalue), "p": float(drawn[k])}


def logrank_scores(times: Floats, events: Floats) -> Floats:
    """Return events less the hazard each sample was exposed to; their sum over members is the log-rank numerator.

    >>> logrank_scores(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0])).round(3).tolist()
    [0.667, -0.333, -0.333]
    """
    order = np.argsort(times, kind="stable")
    distinct, first = np.unique(times[order], return_index=True)
    deaths = np.add.reduceat(events[order], first)
    at_risk = len(times) - first
    hazard = np.cumsum(deaths / at_risk)
    return np.asarray(events - hazard[np.searchsorted(distinct, times)])


def _permuted_p(scores: Floats, draw: _Draws) -> Floats:
    """Return two-sided p-values of sums of scores over members, samples permuted within strata."""
    inside, parts = draw.inside.astype(np.float64), draw.parts()
    centre = np.sum([inside[:, part].sum(axis=1) * scores[part].mean() for part in parts], axis=0)
    observed = np.abs(inside @ scores - centre)
    reached = np.zeros(len(inside))
    some = max(1, MOST_CELLS // len(scores))
    for done in range(0, draw.permutations, some):
        sums = np.zeros((len(inside), min(some, draw.permutations - done)))
        for part in parts:
            shuffled = draw.rng.permuted(np.broadcast_to(scores[part], (sums.shape[1], len(part))), axis=1)
            sums += inside[:, part] @ shuffled.T
        reached += (np.abs(sums - centre[:, None]) >= observed[:, None] - TIED).sum(axis=1)
    return np.asarray((1 + reached) / (draw.permutations + 1))


def words(table: pd.DataFrame) -> dict[str, str]:
    """Return for each bicluster its most telling trait in a word, or why it may be technical.

    >>> rows = [("B1", "type", 1e-9, "associated", "97 % B"), ("B2", "type", 0.4, "not associated", "")]
    >>> words(pd.DataFrame(rows, columns=["bicluster", "trait", "q", "verdict", "word"]))
    {'B1': '97 % B'}
    """
    found: dict[str, str] = {}
    telling = table[table["word"] != ""].sort_values("q", kind="stable")
    for row in telling.to_dict("records"):
        found.setdefault(str(row["bicluster"]), str(row["word"]))
    return found


def describe(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each association, the smallest q first.

    >>> rows = [("B1", "type", 1e-9, "associated", "97 % B")]
    >>> describe(pd.DataFrame(rows, columns=["bicluster", "trait", "q", "verdict", "word"]))
    ['B1: 97 % B (type, q 1e-09)']
    """
    telling = table[table["word"] != ""].sort_values("q", kind="stable")
    return [
        f"{row['bicluster']}: "
        + (row["word"] if row["verdict"] == ASSOCIATED else str(row["verdict"]))
        + f" ({row['trait']}, q {number(row['q'])})"
        for row in telling.to_dict("records")
    ]
