"""What are the samples of a bicluster? Annotations of columns or rows tested against its members."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bivaluate._anndata import is_anndata, read_obs
from bivaluate._check import check_choice, check_int, check_real
from bivaluate._errors import FormatError, ParameterError, suggest, unreadable
from bivaluate._files import FilePath
from bivaluate._text import first_few, listing, number, percent, plural
from bivaluate._types import DataFrame, Flags, Floats, Ints
from bivaluate.elsewhere.fits import no_shared_labels
from bivaluate.enrichment.hypergeometric import adjusted
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, check_solution, member_masks

RARE = 10  # permutations that reach a value: with fewer the exact bound is finer
MOST_CELLS = 4_000_000  # random numbers held at once
TIED = 1e-9
MOST_IN_PROFILE, POWER_STEPS = 50_000_000, 50  # cells of a group whose profile is taken; beyond, every other row
FOUND = ("class", "inside", "outside", "effect", "p_exact", "p")
NOTHING = dict(zip(FOUND, ["", *[math.nan] * 5], strict=True))
EFFECTS = {"categorical": "odds ratio", "numeric": "AUC", "survival": "hazard ratio", "all": "correlation"}
COLUMNS = ["bicluster", "trait", "kind", "class", "inside", "outside", "effect", "effect_is", "p_exact", "p", "q"]
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
) -> DataFrame:
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
        The two columns with the time and with the event (1) or censoring (0); by default ``time`` and ``event``, where
        the annotations have them.
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
        which way a number goes), ``inside`` and ``outside`` (share of the class, median, or observed over expected
        events), ``effect`` and what it is, ``effect_is`` (odds ratio, finite by 0.5 more of each where a count is 0;
        AUC, the probability that a member is higher; hazard ratio, that of ``inside`` and ``outside``; correlation of a
        profile), ``p_exact``, ``p``, ``q``, ``n_missing``, ``verdict`` and ``word``. ``attrs`` holds ``notes``.

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
    A group of all samples is asked by the first principal component of its standardised rows: rank sum of the class
    that differs most, times the number of classes; rank correlation; Cox's score test.

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
    if survival is None and {"time", "event"} <= {*table} and table["event"].dropna().isin((0, 1)).all():
        survival = ("time", "event")
        notes.append("time and event were taken as survival: how long, and 1 for an event or 0 for censored.")
    strata = np.zeros(n) if within is None else pd.factorize(table[within].astype(object))[0]
    inside = member_masks([b.cols if of == "columns" else b.rows for b in solution], n)
    profiles = np.full(inside.shape, math.nan)
    for k in np.flatnonzero(inside.all(axis=1)).tolist():
        profiles[k] = profile_of(matrix, solution[k].rows if of == "columns" else solution[k].cols, of == "rows")
    rng = np.random.default_rng(random_state)
    rows: list[dict[str, Any]] = []
    for name, kind, values in _traits_of(table, survival, within, notes):
        seen = ~pd.isna(values).any(axis=1)
        parts = [np.flatnonzero(strata[seen] == stratum) for stratum in np.unique(strata[seen])]
        samples = _Samples(inside[:, seen], profiles[:, seen], parts, within is not None, permutations, rng)
        tested = (_classes if kind == "categorical" else _numbers)(values[seen], samples)
        place = {"trait": name, "kind": kind, "n_missing": int((~seen).sum()), **NOTHING}
        for b, mask, found in zip(solution.names, inside, tested, strict=True):
            rows.append({"bicluster": b, **place, "effect_is": EFFECTS["all" if mask.all() else kind], **found})
    rows.sort(key=lambda row: solution.names.index(row["bicluster"]))
    for row, q in zip(rows, adjusted(np.array([row["p"] for row in rows])), strict=True):
        row["q"] = float(q)
        row |= _said(row, row["trait"] in technical, level)
    if any(row["verdict"] == CANNOT for row in rows):
        notes.append("Nothing can be asked where fewer than 2 samples are inside or outside, or none has an event.")
    result = pd.DataFrame(rows, columns=COLUMNS)
    noun = matrix.nouns[of == "columns" and 1].replace("columns", "samples").replace("rows", "samples")
    result.attrs |= {"notes": notes, "samples": noun, "side": int(of == "columns")}
    return result


def profile_of(matrix: Matrix, members: Ints, flipped: bool) -> Floats:
    """Return the first principal component of standardised rows over all columns, of mean square 1; most rows rise."""
    from bivaluate.elsewhere.confirm import standardised_rows

    n = matrix.shape[1 - flipped]
    some, every = members[:: 1 + len(members) * n // MOST_IN_PROFILE], np.arange(n)
    cells = matrix.block(every, some).T if flipped else matrix.block(some, every)
    lines = np.nan_to_num(standardised_rows(cells))
    profile = lines.mean(axis=0)
    for _ in range(POWER_STEPS):
        profile = lines.T @ (lines @ profile)
        profile /= math.sqrt(float(np.mean(profile**2))) or 1.0
    return np.asarray(profile if (lines @ profile).sum() >= 0 else -profile)


def _said(row: dict[str, Any], technical: bool, level: float) -> dict[str, str]:
    """Return the verdict on a bicluster and a trait, and the trait in a word where they are associated."""
    if math.isnan(row["p"]):
        return {"verdict": CANNOT, "word": ""}
    if row["q"] > level:
        return {"verdict": NOT_ASSOCIATED, "word": ""}
    if row["effect_is"] == "odds ratio":
        share, name = percent(row["inside"]), f"{row['trait'] + ' ' if _is_bare(row['class']) else ''}{row['class']}"
        beside = f"enriched in {name} ({share}; {percent(row['outside'])} outside)"
        word = f"{share} {name}" if row["inside"] >= 0.5 > row["outside"] else beside  # known by a majority
        doubt = f"{share} of its samples are {row['trait']} {row['class']}"
        if (row["inside"], row["outside"]) == (1, 0) and row["bicluster"] in (
            row["class"],
            f"{row['trait']} {row['class']}",
        ):
            word = ""  # the class that the bicluster was made from says nothing of it
    else:
        way, _, name = row["class"].partition(" in ")
        word = " ".join(filter(None, [way, "in" * bool(name), row["trait"], name]))
        doubt = f"{'it is' if row['effect_is'] == 'correlation' else 'its samples have'} {word}"
    return {"verdict": f"may be technical: {doubt}" if technical else ASSOCIATED, "word": word}


def _is_bare(name: str) -> bool:
    """Whether a class says nothing without its trait: a number, true or false."""
    return name in ("True", "False") or name.replace(".", "").isdigit()


def read_samples(path: FilePath) -> DataFrame:
    """Read annotations: a CSV or TSV file with labels in its first column, or ``.obs`` of an .h5ad file.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "samples.csv")
    >>> _ = file.write_text("sample,type\\ns1,B\\ns2,T\\n")
    >>> read_samples(file)["type"].to_dict()
    {'s1': 'B', 's2': 'T'}
    """
    import pandas as pd

    if os.fspath(path).endswith(".h5ad"):
        return pd.DataFrame(read_obs(path))
    try:
        table = pd.read_csv(path, sep=None, engine="python", index_col=0, dtype={0: str})
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise FormatError(f"{os.fspath(path)} is not a table of annotations in CSV or TSV: {error}.") from None
    if not table.shape[1]:
        raise FormatError(f"{os.fspath(path)} has one column; labels in the first and at least one trait are needed.")
    return table


def _aligned(annotations: Any, labels: tuple[str, ...] | None, n: int) -> tuple[DataFrame, list[str]]:
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
    table: DataFrame, survival: tuple[str, str] | None, within: str | None, notes: list[str]
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

    inside: Flags
    profiles: Floats
    parts: Sequence[Ints]
    stratified: bool
    permutations: int
    rng: np.random.Generator

    def ranks(self, values: Floats) -> Floats:
        """Return ranks within strata, from -1/2 to 1/2."""
        from scipy.stats import rankdata

        ranks = np.zeros(len(values))
        for part in self.parts:
            ranks[part] = rankdata(values[part]) / (len(part) + 1) - 0.5
        return ranks

    def weights(self) -> Floats:
        """Return for each bicluster its members as 1, or the ranks of its profile where it has all samples.

        All are 0 where fewer than two samples are inside or outside, or a profile is constant.
        """
        n, size = self.inside.shape[1], self.inside.sum(axis=1)
        found = np.where(((size > 1) & (size < n - 1))[:, None], self.inside, 0.0)
        for k in np.flatnonzero((np.ptp(self.profiles, axis=1) > 0) & (n > 4)):
            found[k] = self.ranks(self.profiles[k])
        return found

    def permuted_p(self, statistic: Callable[[Ints], Floats]) -> Floats:
        """Return p-values of a statistic of each bicluster, given orders of the samples, permuted within strata."""
        n = self.inside.shape[1]
        observed, reached = statistic(np.arange(n)[None]) - TIED, 0.0
        some = max(1, MOST_CELLS // n)
        for done in range(0, self.permutations, some):
            orders = np.tile(np.arange(n), (min(some, self.permutations - done), 1))
            for part in self.parts:
                orders[:, part] = self.rng.permuted(orders[:, part], axis=1)
            reached += (statistic(orders) >= observed).sum(axis=-1)
        return np.asarray((1 + reached) / (self.permutations + 1))


def _numbers(values: Floats, samples: _Samples) -> Iterator[dict[str, Any]]:
    """Rank sum, or log-rank test of times and events: members against the others; of all samples by their profile."""
    from scipy.stats import mannwhitneyu

    survival = values.shape[1] > 1
    times, events = values.T if survival else (values[:, 0], np.ones(len(values)))
    weights, scores = samples.weights(), samples.ranks(times)

    def tested(own: Floats) -> tuple[Floats, Floats]:
        if survival:
            more, variance = logrank(own, times, events, samples.parts)
        else:
            more, variance = own @ scores, (own**2).sum(axis=1) * (scores @ scores) / (len(scores) - 1)
        return more, more / np.sqrt(np.maximum(variance, TIED))

    drawn = None
    if survival:
        drawn = samples.permuted_p(lambda orders: np.abs([tested(own[orders])[1] for own in weights]))
    elif samples.stratified:
        drawn = samples.permuted_p(lambda orders: np.abs(weights @ scores[orders].T))
    for k, (mask, own) in enumerate(zip(samples.inside, weights, strict=True)):
        if not own.any() or not (events if survival else scores).any():
            yield {}
            continue
        (more, z), middle = (float(each[0]) for each in tested(own[None])), np.full(2, math.nan)
        way = (("shorter", "longer") if survival else ("higher", "lower"))[more <= 0]
        exact = math.erfc(abs(z) / math.sqrt(2))
        if mask.all():
            way = f"higher with {way}" if survival else f"{way} with"
            effect = z / math.sqrt(events.sum() - (not survival))
        elif survival:
            seen = np.array([events[mask].sum(), events[~mask].sum()])
            due = seen - [more, -more]
            middle = seen / np.where(due > TIED, due, math.nan)
            effect = middle[0] / (middle[1] or math.nan)
        else:
            rank = mannwhitneyu(times[mask], times[~mask], alternative="two-sided")
            middle = np.array([np.median(times[mask]), np.median(times[~mask])])
            effect, exact = rank.statistic / (mask.sum() * (~mask).sum()), float(rank.pvalue)
        p = exact if drawn is None else float(drawn[k])
        yield dict(zip(FOUND, (way, *middle.tolist(), float(effect), exact, p), strict=True))


def _classes(values: Any, samples: _Samples) -> Iterator[dict[str, Any]]:
    """The class that is most over-represented among members, by permutation over all classes."""
    import pandas as pd
    from scipy.stats import hypergeom

    codes, classes = pd.factorize(values[:, 0])
    one_of = np.eye(len(classes), dtype=np.int64)[codes]
    sizes, n = one_of.sum(axis=0), len(codes)
    groups = np.array([one_of[part].sum(axis=0) for part in samples.parts])
    for i, (mask, own) in enumerate(zip(samples.inside, samples.weights(), strict=True)):
        if mask.all() or not own.any():
            yield _class_of_profile(i, one_of, classes, samples) if own.any() else {}
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
        cells = np.array([a, n - k - b, k - a, b]) + (0.5 if 0 in (a, n - k - b, k - a, b) else 0.0)
        odds = float(cells[0] * cells[1] / (cells[2] * cells[3]))
        yield dict(zip(FOUND, (str(classes[best]), a / k, b / (n - k), odds, exact, p), strict=True))


def _class_of_profile(k: int, one_of: Ints, classes: Any, samples: _Samples) -> dict[str, Any]:
    """The class in which the profile of a group of all samples differs most from the others, by rank sum."""
    alone = replace(samples, inside=samples.inside[[k]], profiles=samples.profiles[[k]])
    each = zip(classes, one_of.T.astype(np.float64), strict=True)
    tested = [found | {"of": name} for name, column in each for found in _numbers(column[:, None], alone) if found]
    if not tested:
        return {}
    best = min(tested, key=lambda found: (-round(abs(found["effect"]), 9), found["class"]))  # of two, the higher
    p = min(1.0, best["p"] * (len(classes) if len(classes) > 2 else 1))
    return best | {"class": best["class"].replace(" with", f" in {best['of']}"), "p": p}


def _minus_log(tails: Floats) -> Callable[[Ints], Floats]:
    """Return how over-represented counts of classes are: −log of their tails."""
    with np.errstate(divide="ignore"):
        logs = -np.log(tails.T)
    return lambda counts: np.take_along_axis(logs, counts, axis=0)


def _in_deviations(groups: Ints, taken: Ints) -> Callable[[Ints], Floats]:
    """Return how over-represented counts of classes are, with strata: in standard deviations."""
    n = groups.sum(axis=1, keepdims=True)
    share, size = groups / n, taken[:, None]
    mean = (size * share).sum(axis=0)
    variance = (size * share * (1 - share) * (n - size) / np.maximum(n - 1, 1)).sum(axis=0)
    sd = np.sqrt(np.where(variance > 0, variance, 1.0))
    return lambda counts: np.where(variance > 0, (counts - mean) / sd, -np.inf)


def logrank(weights: Floats, times: Floats, events: Floats, parts: Sequence[Ints]) -> tuple[Floats, Floats]:
    """Return observed less expected weight of those with an event, for each row of weights, and its variance.

    With members as 1 and others as 0 this is the log-rank test within strata, with any weights Cox's score test.
    """
    more, variance = weights @ events, np.zeros(len(weights))
    for part in parts:
        order = part[np.argsort(times[part])]
        first = np.unique(times[order], return_index=True)[1]
        deaths, risk = np.add.reduceat(events[order], first), len(order) - first
        own = weights[:, order[::-1]]
        mean, square = (np.cumsum(own**k, axis=1)[:, ::-1][:, first] / risk for k in (1, 2))
        more = more - mean @ deaths
        variance += (square - mean**2) @ (deaths * (risk - deaths) / np.maximum(risk - 1, 1))
    return more, variance


def _telling(table: DataFrame) -> list[dict[Any, Any]]:
    return table[table["word"] != ""].sort_values("q", kind="stable").to_dict("records")


def words(table: DataFrame) -> dict[str, str]:
    """Return each bicluster's most telling trait in a word: first a class, with a name, by the least q."""
    rows = sorted(_telling(table), key=lambda row: (row["effect_is"] != EFFECTS["categorical"], _is_bare(row["class"])))
    return {str(row["bicluster"]): str(row["word"]) for row in reversed(rows)}


def describe_traits(table: DataFrame) -> list[str]:
    """Return a sentence for each bicluster: its two associations of the smallest q, and how many more there are."""
    found: dict[str, list[str]] = {}
    for row in _telling(table):
        word = row["word" if row["verdict"] == ASSOCIATED else "verdict"]
        found.setdefault(row["bicluster"], []).append(f"{word} ({row['trait']}, q {number(row['q'])})")
    names = [name for name in dict.fromkeys(table["bicluster"]) if name in found]
    return [f"{name}: {listing(found[name], 2)}" for name in names]
