"""Which biclusters or programs come again in other samples: groups of sets of rows, by shared labels."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._anndata import is_anndata
from bivaluate._check import check_int, check_real, check_seed
from bivaluate._errors import ParameterError, suggest
from bivaluate._text import Advice, Option, first_few, listing, number, plural
from bivaluate._types import DataFrame, Flags, Floats, Ints
from bivaluate.elsewhere.fits import Progress, columns_of, fit_each, no_shared_labels
from bivaluate.judge.limits import FEW_PER_SAMPLE
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, check_solution, member_masks

CUT = 0.2
TOP = 50
FEWEST_ROWS = 5  # of a set that is grouped: smaller ones coincide by chance
FEWEST_COLUMNS = 10  # of a sample that is fitted
FACTORS = ("nmf", "lda")


@dataclass(frozen=True, eq=False)
class Recurrence:
    """What :func:`recur` found."""

    records: list[dict[str, Any]]
    rows: list[list[tuple[str, int]]]
    private: list[dict[str, Any]]
    solution: Biclustering
    row_labels: tuple[str, ...]
    samples: tuple[str, ...]
    solutions: dict[str, Biclustering]
    notes: list[str]

    @property
    def groups(self) -> DataFrame:
        """The table of groups."""
        import pandas as pd

        return pd.DataFrame(self.records)

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        n, alone = len(self.records), len(self.private)
        found = f"{plural(n, 'group')} recur{'s' if n == 1 else ''}" if n else "No group recurs"
        return f"{found} in at least 2 of {len(self.samples)} samples; {alone} occur{'s' * (alone == 1)} in one only."

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the solutions as a dictionary that JSON can hold."""
        groups = [record | {"rows": dict(rows)} for record, rows in zip(self.records, self.rows, strict=True)]
        said = {"summary": self.summary, "samples": list(self.samples), "groups": groups}
        return said | {"private": self.private, "notes": self.notes}

    def __repr__(self) -> str:
        return f"Recurrence({self.summary})"


def recur(
    samples: Any,
    *,
    sample: str | None = None,
    algorithm: str = "nmf",
    n_biclusters: int = 10,
    layer: str | None = None,
    cut: float = CUT,
    random_state: int = 0,
    folder: str | Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Recurrence:
    r"""Group the biclusters or programs of many samples by the row labels they share.

    Parameters
    ----------
    samples : mapping of str to (Biclustering, matrix), or AnnData
        By the name of each sample its solution and its matrix, of which only the row labels are used (a sequence of
        labels will do); or one object whose cells come from several samples, which are fitted one by one.
    sample : str, optional
        Of an AnnData object: the column of ``.obs`` that names the sample of each cell.
    algorithm, n_biclusters : str and int
        What samples are fitted with, and how many biclusters or factors are asked for in each; fewer than 7 may lose
        programs. Rows of a factor are the 50 with the largest spectra scores.
    layer : str, optional
        Layer of the object to fit.
    cut : float, default=0.2
        Closeness below which groups are not joined.
    random_state, folder, jobs, progress : int, path, int and callable
        Of the fits: the seed; the run folder, in which a stopped call is continued; processes; whom to tell (fits done,
        all).

    Returns
    -------
    Recurrence
        Groups that recur, their samples and rows, and groups of one sample.

    Raises
    ------
    ParameterError
        If there is one sample only, samples share no row label, or an object has no such column.

    See Also
    --------
    bivaluate.confirm

    Notes
    -----
    Two sets of a and b rows that share x of the n rows that both samples have are as close as
    :math:`c = \max(0, (x - ab/n)/(a + b - x - ab/n))`, their Jaccard index beyond chance. Groups are made by average
    linkage on 1 − c, cut at c = 0.2; sets of fewer than 5 rows are left out. A group occurs in at least two samples;
    its rows are in at least two of its samples, and at least a quarter of them.

    Examples
    --------
    >>> labels = tuple(f"g{i}" for i in range(40))
    >>> A, B = (Biclustering([(range(i, i + 10), [0, 1])], (40, 3)) for i in range(2))
    >>> recur({"patient 1": (A, labels), "patient 2": (B, labels)}).records[0]["n_rows"]
    9
    """
    check_real("cut", cut, 0.0, 1.0)
    notes: list[str] = []
    if is_anndata(samples):
        how = (check_seed(random_state), folder, jobs, progress)
        samples = _fit_samples(samples, sample, algorithm, n_biclusters, layer, notes, *how)
    elif sample is not None:
        raise ParameterError("sample names a column of .obs, but there is no AnnData object; leave it out.")
    if len(samples) < 2:
        raise ParameterError(f"there is {plural(len(samples), 'sample')}; at least 2 are needed to see what recurs.")
    solutions = {str(name): check_solution(pair[0]) for name, pair in samples.items()}
    labels = {str(name): _labels(str(name), pair[1], solutions[str(name)]) for name, pair in samples.items()}
    if not set.intersection(*map(set, labels.values())):
        pairs = [(a, b) for a in labels for b in labels if not set(labels[a]) & set(labels[b])]
        worst = pairs[0] if pairs else list(labels)[:2]
        raise ParameterError(no_shared_labels(worst, [labels[name] for name in worst]))
    infos = [solution.info for solution in solutions.values()]
    if any(info.get("algorithm") in FACTORS and "spectra" not in str(info.get("parameters")) for info in infos):
        notes.append("Factors that are not cut by spectra scores seldom recur: fit them with the rule spectra:50.")
    if few := [name for name, solution in solutions.items() if len(solution) < FEW_PER_SAMPLE]:
        missed = f"fewer than {FEW_PER_SAMPLE} biclusters: programs that recur may be missed. Ask for more per sample."
        have = "has" if len(few) == 1 else "have"
        notes.append(f"{plural(len(few), 'sample')} ({first_few(few, 3)}) {have} {missed}")
    return _grouped(solutions, labels, cut, notes)


def _labels(name: str, matrix: Any, solution: Biclustering) -> tuple[str, ...]:
    """Return the row labels of a sample, from its matrix or as they are."""
    given = isinstance(matrix, (list, tuple)) and all(isinstance(label, str) for label in matrix)
    labels: tuple[str, ...] | None = tuple(matrix) if given else Matrix.of(matrix, missing="omit").row_labels
    if labels is None:
        raise ParameterError(f"the matrix of sample {name} has no row labels; samples are compared by them.")
    most = max((int(b.rows[-1]) for b in solution), default=-1)
    if most >= len(labels):
        raise ParameterError(f"sample {name} has {len(labels)} row labels, but its biclusters have a row {most}.")
    return labels


def _fit_samples(
    adata: Any, sample: str | None, algorithm: str, k: int, layer: str | None, notes: list[str], *rest: Any
) -> dict[str, tuple[Biclustering, Matrix]]:
    """Fit every sample of an object, as a sweep whose data sets are the samples."""
    check_int("n_biclusters", k, 1)
    known = list(map(str, adata.obs.columns))
    if sample is None or sample not in known:
        how = suggest(sample, known) if sample else ""
        raise ParameterError(Advice(Option("sample"), f" is {sample!r}; columns of .obs: {first_few(known)}.{how}"))
    names = adata.obs[sample].astype(str).to_numpy()
    whole = Matrix.from_anndata(adata, layer=layer)
    matrices: dict[str, Matrix] = {}
    for name in dict.fromkeys(names.tolist()):
        own = np.flatnonzero(names == name)
        if len(own) < FEWEST_COLUMNS:
            notes.append(f"{name} was left out: it has {plural(len(own), 'cell')}, fewer than {FEWEST_COLUMNS}.")
            continue
        matrices[name] = columns_of(whole, own, name)
    if len(matrices) < 2:
        raise ParameterError(f"{sample} has {plural(len(matrices), 'sample')} of enough cells; at least 2 are needed.")
    parameters = {"rule": f"spectra:{TOP}"} if algorithm in FACTORS else {}
    found, failed = fit_each(matrices.values(), (algorithm, k, parameters), *rest)
    if failed:
        raise ParameterError(f"{algorithm} failed on {plural(len(failed), 'sample')}: {failed[0]}")
    return {name: (own or Biclustering([]), matrices[name]) for name, own in zip(matrices, found, strict=True)}


def _grouped(
    solutions: dict[str, Biclustering], labels: Mapping[str, tuple[str, ...]], cut: float, notes: list[str]
) -> Recurrence:
    """Group the sets of all samples and describe the groups."""
    everywhere, names = tuple(dict.fromkeys(label for own in labels.values() for label in own)), tuple(solutions)
    place = {label: i for i, label in enumerate(everywhere)}
    at = {name: np.array([place[label] for label in own]) for name, own in labels.items()}
    every = [(name, b, own.rows) for name, each in solutions.items() for b, own in zip(each.names, each, strict=True)]
    members = [each for each in every if len(each[2]) >= FEWEST_ROWS]
    if len(members) < len(every):
        small = plural(len(every) - len(members), "bicluster")
        notes.append(f"{small} with fewer than {FEWEST_ROWS} rows cannot be told from chance and were left out.")
    sets = member_masks([at[name][rows] for name, _, rows in members], len(everywhere))
    close = closeness(sets, member_masks([at[name] for name, _, _ in members], len(everywhere)))
    called = np.array([f"{name}:{b}" for name, b, _ in members], dtype=object)
    of_sample = np.array([names.index(name) for name, _, _ in members], dtype=np.int64)
    numbers = linked(close, cut)
    found, private = [], []
    for group in (np.flatnonzero(numbers == value) for value in dict.fromkeys(numbers.tolist())):
        own = np.unique(of_sample[group])
        if len(own) < 2:
            private.append({"sample": names[own[0]], "members": called[group].tolist()})
            continue
        times = np.sum([sets[group[of_sample[group] == s]].any(axis=0) for s in own], axis=0)
        chosen = np.flatnonzero(times >= max(2, math.ceil(len(own) / 4)))
        order = chosen[np.argsort(-times[chosen], kind="stable")]
        within, n = close[np.ix_(group, group)], len(group)
        mean = float((within.sum() - n) / (n * (n - 1)))
        record: dict[str, Any] = {"samples": [names[s] for s in own], "n_samples": len(own), "n_members": n}
        record |= {"members": called[group].tolist(), "best_member": called[group[within.sum(axis=1).argmax()]]}
        record |= {"n_rows": len(order), "closeness": mean}
        found.append((record, [(everywhere[i], int(times[i])) for i in order], (chosen, own)))
    found.sort(key=lambda each: (-each[0]["n_samples"], -each[0]["closeness"]))
    records = [{"group": f"G{i}", **record} for i, (record, _, _) in enumerate(found, start=1)]
    sides = [each[2] for each in found]
    own_rows = member_masks([rows for rows, _ in sides], len(everywhere))
    likeness = closeness(own_rows, np.ones_like(own_rows)) - 2 * np.eye(len(records))
    for record, others in zip(records, likeness, strict=True):
        alone, nearest = len(records) < 2, int(others.argmax())
        record["nearest"] = "" if alone else f"G{nearest + 1}"
        record["nearest_closeness"] = math.nan if alone else float(others[nearest])
    pairs = [pair for pair in sides if len(pair[0])]
    groups = Biclustering(pairs, (len(everywhere), len(names)), info={"algorithm": "recur", "cut": cut})
    return Recurrence(records, [each[1] for each in found], private, groups, everywhere, names, solutions, notes)


def closeness(sets: Flags, known: Flags) -> Floats:
    """Return the Jaccard index beyond chance of every two sets, among the rows that both samples have.

    >>> both = np.ones((2, 20), dtype=bool)
    >>> closeness(np.arange(20) < np.array([[5], [10]]), both).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    """
    inside, room = sets.astype(np.float64), known.astype(np.float64)
    shared, n = inside @ inside.T, room @ room.T
    a = inside @ room.T
    by_chance = np.divide(a * a.T, n, out=np.zeros_like(n), where=n > 0)
    beyond = a + a.T - shared - by_chance
    return np.clip(np.divide(shared - by_chance, beyond, out=np.zeros_like(n), where=beyond > 0), 0.0, 1.0)


def linked(close: Floats, cut: float) -> Ints:
    """Return the group of every set: average linkage on 1 − closeness, cut where closeness falls below `cut`."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(close) < 2:
        return np.arange(len(close))
    tree = linkage(1.0 - close[np.triu_indices(len(close), 1)], "average")
    return np.asarray(fcluster(tree, 1.0 - cut, "distance"), dtype=np.int64)


def describe_recurrence(found: Recurrence, most: int = 8) -> list[str]:
    """Return a sentence for each group: where it occurs, and its most frequent rows."""
    return [
        f"{record['group']} ({record['n_samples']} of {len(found.samples)} samples, closeness "
        f"{number(record['closeness'])}): {listing([label for label, _ in rows], most)}"
        for record, rows in zip(found.records, found.rows, strict=True)
    ]
