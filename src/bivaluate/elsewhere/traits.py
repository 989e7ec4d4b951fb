"""What are the samples of a bicluster? Annotations of columns or rows tested against its members."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._anndata import is_anndata
from bivaluate._check import check_choice, check_int, check_real
from bivaluate._errors import FileError, FormatError, ParameterError, suggest
from bivaluate._text import first_few, listing, number, percent, plural
from bivaluate.elsewhere.fits import Indices, Masks, masks_of, no_shared_labels
from bivaluate.enrichment.hypergeometric import adjusted
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, check_solution

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

RARE = 10  # permutations that reach a value: with fewer the exact bound is finer
MOST_CELLS = 4_000_000  # random numbers held at once
TIED = 1e-9
NOTHING = {"class": "", **dict.fromkeys(("inside", "outside", "effect", "p_exact", "p"), math.nan)}
COLUMNS = ["bicluster", "trait", "kind", "class", "inside", "outside", "effect", "p_exact", "p", "q"]
COLUMNS += ["n_missing", "verdict", "word"]
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
    permutations: int = 9999,
    random_state: int = 0,
    level: float = 0.05,
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
    within, technical : str and sequence of str
        A column within whose classes samples are permuted; traits that make a bicluster doubtful, such as the batch.
    permutations, random_state : int
        How many permutations of the samples, and their seed.
    level : float, default=0.05
        False discovery rate up to which a trait counts as shared.

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
    Classes are tested by the hypergeometric tail, numbers by the rank sum, survival by the log-rank statistic. `p` is
    by permutation within the classes of `within`, over all classes of a trait (mid-p-value), except for numbers without
    `within` and where fewer than 10 permutations reach a class: there it is exact, the tail times the number of
    classes. `q` is Benjamini and Hochberg's over the whole table. Samples without a value are left out.

    Examples
    --------
    >>> S = Biclustering([([0, 1], range(7))], (5, 20))
    >>> traits(S, np.zeros((5, 20)), {"type": ["B"] * 8 + ["T"] * 12})["word"].tolist()
    ['100 % B']
    """
    import pandas as pd

    check_choice("of", of, ("columns", "rows"))
    check_int("permutations", permutations, 99)
    check_real("level", level, 0.0, 1.0)
    if annotations is None:
        if not is_anndata(X):
            raise ParameterError("annotations are missing: pass a table of samples, or an AnnData object.")
        annotations = X.obs if of == "columns" else X.var
    matrix = Matrix.of(X, missing="omit")
    solution = check_solution(solution, matrix=matrix)
    labels, n = (matrix.col_labels, matrix.shape[1]) if of == "columns" else (matrix.row_labels, matrix.shape[0])
    table, notes = _aligned(annotations, labels, n)
    for name in [*technical, *([within] if within else []), *(survival or ())]:
        if name not in table.columns:
            known = list(map(str, table.columns))
            what = f"the annotations have no column {name!r}; they have {first_few(known)}."
            raise ParameterError(what + suggest(name, known))
    strata = np.zeros(n) if within is None else pd.factorize(table[within].astype(object))[0]
    inside = masks_of([b.cols if of == "columns" else b.rows for b in solution], n)
    rng = np.random.default_rng(random_state)
    rows: list[dict[str, Any]] = []
    for name, kind, values in _traits_of(table, survival, within, notes):
        seen = ~pd.isna(values).any(axis=1)
        parts = [np.flatnonzero(strata[seen] == stratum) for stratum in np.unique(strata[seen])]
        samples = _Samples(inside[:, seen], parts, within is not None, permutations, rng)
        tested = (_classes if kind == "categorical" else _numbers)(values[seen], samples)
        place = {"trait": name, "kind": kind, "n_missing": int((~seen).sum()), **NOTHING}
        rows += [{"bicluster": b, **place, **found} for b, found in zip(solution.names, tested, strict=True)]
    rows.sort(key=lambda row: solution.names.index(row["bicluster"]))
    for row, q in zip(rows, adjusted(np.array([row["p"] for row in rows])), strict=True):
        row["q"] = float(q)
        row |= _said(row, row["trait"] in technical, level)
    if any(row["verdict"] == CANNOT for row in rows):
        notes.append("Nothing can be asked where fewer than 2 samples are inside or outside, or none has an event.")
    result = pd.DataFrame(rows, columns=COLUMNS)
    result.attrs["notes"] = notes
    return result


def _said(row: dict[str, Any], technical: bool, level: float) -> dict[str, str]:
    """Return the verdict on a bicluster and a trait, and the trait in a word where they are associated."""
    if math.isnan(row["p"]):
        return {"verdict": CANNOT, "word": ""}
    if row["q"] > level:
        return {"verdict": NOT_ASSOCIATED, "word": ""}
    if row["kind"] == "categorical":
        word = f"{percent(row['inside'])} {row['trait'] + ' ' if _is_bare(row['class']) else ''}{row['class']}"
        doubt = f"{percent(row['inside'])} of its samples are {row['trait']} {row['class']}"
    else:
        word = f"{row['class']} {row['trait']}"
        doubt = f"its samples have {row['class']} {row['trait']}"
    return {"verdict": f"may be technical: {doubt}" if technical else ASSOCIATED, "word": word}


def _is_bare(name: str) -> bool:
    """Whether a class says nothing without its trait: a number, true or false."""
    return name in ("True", "False") or name.replace(".", "").isdigit()


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
            rows = plural(len(table), "row")
            raise ParameterError(f"the annotations have {rows} and no labels, but there are {n:,} samples.")
        return table, []
    table = table.set_axis(table.index.map(str))
    if table.index.has_duplicates:
        twice = table.index[table.index.duplicated()][0]
        raise ParameterError(f"the annotations name {twice!r} more than once; one row per sample is needed.")
    absent = int((~pd.Index(labels).isin(table.index)).sum())
    if absent == n:
        named = no_shared_labels(["annotations", "matrix"], [list(table.index), labels], "label")
        raise ParameterError(f"{named} Are the samples the columns?")
    notes = [f"{plural(absent, 'sample')} of {n:,} have no annotation and were left out."] if absent else []
    return table.reindex(list(labels)), notes


def _traits_of(
    table: pd.DataFrame, survival: tuple[str, str] | None, within: str | None, notes: list[str]
) -> Iterator[tuple[str, str, Any]]:
    """Yield name, kind and values of the annotations that can be tested; say which cannot."""
    import pandas as pd

    for name, column in table.items():
        if name == within or name in (survival or ()):
            continue
        distinct = column.nunique()
        numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
        if distinct < 2:
            notes.append(f"{name} was left out: it is {'constant' if distinct else 'empty'}.")
        elif not numeric and distinct == column.count():
            notes.append(f"{name} was left out: every sample has a class of its own.")
        elif numeric and distinct > 2:
            yield str(name), "numeric", column.to_numpy(np.float64)[:, None]
        else:
            yield str(name), "categorical", column.astype(object).to_numpy()[:, None]
    if survival is not None:
        values = table[list(survival)].to_numpy(np.float64, na_value=np.nan)
        if not np.isin(values[~np.isnan(values[:, 1]), 1], (0, 1)).all() or (values < 0).any():
            what = "survival needs times from 0 in {!r}, and 1 (event) or 0 (censored) in {!r}."
            raise ParameterError(what.format(*survival))
        yield "survival", "survival", values


@dataclass(frozen=True)
class _Samples:
    """The samples with a value: which belong to each bicluster, and the strata in which they are permuted."""

    inside: Masks
    parts: Sequence[Indices]
    stratified: bool
    permutations: int
    rng: np.random.Generator

    def members(self) -> Iterator[Masks | None]:
        """Yield the members of each bicluster; None where they, or the others, are fewer than two."""
        for mask in self.inside:
            yield mask if 1 < mask.sum() < len(mask) - 1 else None


def _numbers(values: Floats, samples: _Samples) -> Iterator[dict[str, Any]]:
    """Rank sum of numbers, or log-rank test of times and events: members against the others."""
    from scipy.stats import CensoredData, logrank, mannwhitneyu, rankdata

    survival = values.shape[1] > 1
    times, events = values.T if survival else (values[:, 0], np.ones(len(values)))
    scores = np.zeros(len(values))
    for part in samples.parts:
        own = times[part]
        scores[part] = logrank_scores(own, events[part]) if survival else rankdata(own) / (len(part) + 1) - 0.5
    drawn = _permuted_p(scores, samples) if survival or samples.stratified else None
    for k, mask in enumerate(samples.members()):
        if mask is None or not events.any():
            yield {}
            continue
        more = float(scores[mask].sum())
        if survival:
            sides = [CensoredData(times[s & (events == 1)], right=times[s & (events == 0)]) for s in (mask, ~mask)]
            observed, exact = float(events[mask].sum()), float(logrank(*sides).pvalue)
            effect = observed / (observed - more) if observed > more else math.nan
        else:
            rank = mannwhitneyu(times[mask], times[~mask], alternative="two-sided")
            effect, exact = float(rank.statistic) / (mask.sum() * (~mask).sum()), float(rank.pvalue)
        way = ("shorter", "longer") if survival else ("higher", "lower")
        middle = {"inside": float(np.median(times[mask])), "outside": float(np.median(times[~mask]))}
        p = exact if drawn is None else float(drawn[k])
        yield {"class": way[more <= 0], **middle, "effect": effect, "p_exact": exact, "p": p}


def _classes(values: Any, samples: _Samples) -> Iterator[dict[str, Any]]:
    """The class that is most over-represented among members, by permutation over all classes."""
    import pandas as pd
    from scipy.stats import hypergeom

    codes, classes = pd.factorize(values[:, 0])
    one_of = np.eye(len(classes), dtype=np.int64)[codes]
    sizes, n = one_of.sum(axis=0), len(codes)
    groups = np.array([one_of[part].sum(axis=0) for part in samples.parts])
    for mask in samples.members():
        if mask is None:
            yield {}
            continue
        k, counts = int(mask.sum()), one_of[mask].sum(axis=0)
        taken = np.array([mask[part].sum() for part in samples.parts])
        draw = partial(samples.rng.multivariate_hypergeometric, size=samples.permutations, method="marginals")
        draws = [draw(group, size_) for group, size_ in zip(groups, taken, strict=True)]
        tails = np.clip(hypergeom.sf(np.arange(-1, k), n, sizes[:, None], k), 0.0, 1.0)
        strength = _in_deviations(groups, taken) if samples.stratified else _minus_log(tails)
        value = strength(counts[None])[0]
        best = int(value.argmax())
        others = strength(np.sum(draws, axis=0)).max(axis=1) - value[best]
        above, equal = int((others > TIED).sum()), int((np.abs(others) <= TIED).sum())
        a, b, exact = int(counts[best]), int(sizes[best] - counts[best]), float(tails[best, counts[best]])
        p = (above + (equal + 1) / 2) / (samples.permutations + 1)  # mid-p: counts tie often
        if not samples.stratified and above + equal < RARE:
            p = min(1.0, exact * len(classes))
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = float(np.float64(a * (n - k - b)) / ((k - a) * b))
        shares = {"inside": a / k, "outside": b / (n - k)}
        yield {"class": str(classes[best]), **shares, "effect": odds, "p_exact": exact, "p": p}


def _minus_log(tails: Floats) -> Callable[[Indices], Floats]:
    """Return how over-represented counts of classes are: −log of their tails."""
    with np.errstate(divide="ignore"):
        logs = -np.log(tails.T)
    return lambda counts: np.take_along_axis(logs, counts, axis=0)


def _in_deviations(groups: Indices, taken: Indices) -> Callable[[Indices], Floats]:
    """Return how over-represented counts of classes are, with strata: in standard deviations."""
    n = groups.sum(axis=1, keepdims=True)
    share, size = groups / n, taken[:, None]
    mean = (size * share).sum(axis=0)
    variance = (size * share * (1 - share) * (n - size) / np.maximum(n - 1, 1)).sum(axis=0)
    sd = np.sqrt(np.where(variance > 0, variance, 1.0))
    return lambda counts: np.where(variance > 0, (counts - mean) / sd, -np.inf)


def logrank_scores(times: Floats, events: Floats) -> Floats:
    """Return events less the hazard each sample was exposed to; their sum over members is the log-rank numerator."""
    order = np.argsort(times, kind="stable")
    distinct, first = np.unique(times[order], return_index=True)
    deaths = np.add.reduceat(events[order], first)
    at_risk = len(times) - first
    hazard = np.cumsum(deaths / at_risk)
    return np.asarray(events - hazard[np.searchsorted(distinct, times)])


def _permuted_p(scores: Floats, samples: _Samples) -> Floats:
    """Return two-sided p-values of sums of scores over members, samples permuted within strata."""
    inside = samples.inside.astype(np.float64)
    centre = np.sum([inside[:, part].sum(axis=1) * scores[part].mean() for part in samples.parts], axis=0)
    observed = np.abs(inside @ scores - centre)
    reached = np.zeros(len(inside))
    some = max(1, MOST_CELLS // len(scores))
    for done in range(0, samples.permutations, some):
        sums = np.zeros((len(inside), min(some, samples.permutations - done)))
        for part in samples.parts:
            shuffled = samples.rng.permuted(np.broadcast_to(scores[part], (sums.shape[1], len(part))), axis=1)
            sums += inside[:, part] @ shuffled.T
        reached += (np.abs(sums - centre[:, None]) >= observed[:, None] - TIED).sum(axis=1)
    return np.asarray((1 + reached) / (samples.permutations + 1))


def _telling(table: pd.DataFrame) -> list[dict[Any, Any]]:
    return table[table["word"] != ""].sort_values("q", kind="stable").to_dict("records")


def words(table: pd.DataFrame) -> dict[str, str]:
    """Return for each bicluster its most telling trait in a word; a class with a name comes before one by number."""
    rows = sorted(_telling(table), key=lambda row: _is_bare(row["class"]))
    return {str(row["bicluster"]): str(row["word"]) for row in reversed(rows)}


def describe_traits(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each bicluster: its two associations of the smallest q, and how many more there are."""
    found: dict[str, list[str]] = {}
    for row in _telling(table):
        word = row["word" if row["verdict"] == ASSOCIATED else "verdict"]
        found.setdefault(row["bicluster"], []).append(f"{word} ({row['trait']}, q {number(row['q'])})")
    names = [name for name in dict.fromkeys(table["bicluster"]) if name in found]
    return [f"{name}: {listing(found[name], 2)}" for name in names]
