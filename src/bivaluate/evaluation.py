"""Score one solution with many metrics at once."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import bivaluate
from bivaluate._anndata import add_results, check_key, is_anndata
from bivaluate._check import check_choice, check_int
from bivaluate._errors import BivaluateWarning, DegenerateWarning, ParameterError, SolutionError, TooLargeError, suggest
from bivaluate._text import Advice, Option, defined, listing, plural
from bivaluate.chance.evidence import evidence_scores
from bivaluate.judge.findings import describe_findings
from bivaluate.judge.limits import FEW_COLUMNS
from bivaluate.judge.redundancy import EVIDENCE_COLUMNS, evidence_rows
from bivaluate.judge.verdict import NO_BICLUSTERS, Verdict, first_members, judged, solution_steps
from bivaluate.matrix import Matrix
from bivaluate.measures._sample import MEANS_OVER_ROWS, Sampled, draw_rows
from bivaluate.measures.workspace import EPSILON, EXPONENT, NO_PARTNER, WHOLE_MATRIX, Options, Workspace
from bivaluate.registry import METRICS, choose_metrics, get_metric, get_ranking_metric, symbol
from bivaluate.solution import Biclustering, fitted_solution

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.measures.measure import Metric


OVERFLOW = "its values are so large that their squares are beyond what a number can hold (1.8e308)"
OF_SQUARES = {"msr", "asr", "nsr", "nsr_k"}
ZERO_BY_ZERO = "errors here are zero up to rounding, so the formula has no value (0/0)"


def evaluate(
    X: Any,
    solution: Any,
    *,
    metrics: str | Iterable[str | Callable[..., Any]] = "default",
    degenerate: str = "nan",
    missing: str = "raise",
    min_rows: int = 1,
    min_cols: int = 1,
    small: str = "flag",
    single: str = "nan",
    exponent: float = EXPONENT,
    epsilon: float = EPSILON,
    ve_axis: str = "rows",
    absent: str | None = None,
    layer: str | None = None,
    obs_rows: bool = False,
    key_added: str | None = None,
    sample: float | None = None,
    random_state: int | None = 0,
    memory: int | str | None = None,
    scheduler: Any = None,
    progress: Callable[[int, int], None] | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Score a biclustering solution.

    Parameters
    ----------
    X : array-like of shape (n, m), DataFrame, AnnData, scipy.sparse matrix, RowSource or Matrix
        The data; labels are kept. An AnnData object is genes x cells unless `obs_rows`. Sparse matrices are scored from
        their entries, memory maps and other sources some rows at a time.
    solution : Biclustering, estimator, search, result or list of pairs
        The biclusters; a fitted search counts with its best estimator, and results are those of `find`, `select_k` and
        `evaluate`. Pairs (rows, columns) hold positions, masks, or labels of `X` as text.
    metrics : str or iterable of str or callable
        ``"default"`` (the paper's measures and their context), ``"all"``, or registry keys; measures of your own as
        ``"module:function"`` or as functions, of (values of a bicluster) or of (X, solution).
    degenerate : {"nan", "formula"}
        A bicluster of one row or one column is undefined and left out of every score, or has the formula's 0.
    missing : {"raise", "omit"}
        Raise on NaN cells, or average over observed cells; rows with fewer than two of them and columns with none are
        left out of their block.
    min_rows, min_cols : int
        Smallest bicluster wanted.
    small : {"flag", "drop"}
        Flag smaller biclusters in the table (no score changes) or drop them before everything else.
    single : {"nan", "matrix"}
        A solution of one bicluster has no partner to merge with: undefined, or merge it with the whole matrix.
    exponent, epsilon : float
        Of NVE_cov = NVE / (CR + epsilon)^exponent.
    ve_axis : {"rows", "columns"}
        Which lines VE standardises: rows, as the formula is printed, or columns. VE, what is built on it and the
        mergers are then those of the transposed problem; MSR, NSR, evidence and findings stay the same.
    absent : {"zero", "missing"}, optional
        Cells that a sparse matrix does not store are zeros, as in counts (the default), or missing, as in ratings.
    layer : str, optional
        Of an AnnData object: a layer in place of X, or ``"raw"``.
    obs_rows : bool, default=False
        Of an AnnData object: whether observations (cells) are the rows rather than variables (genes).
    key_added : str, optional
        Put memberships into ``.varm`` and ``.obsm`` of the AnnData object, and all results into ``.uns``, by this name.
    sample : float, optional
        Share of the rows in biclusters to look at, chosen at random. Means over rows are estimated, with standard
        errors; scores of the memberships are exact; the others are undefined.
    random_state : int, optional
        Seed of the sample.
    memory : int or str, optional
        Bytes that may be held of what is read some rows at a time: 2_000_000_000 or ``"2G"``.
    scheduler : str or distributed.Client, optional
        Dask scheduler whose workers read the rows of files they can see; Dask arrays find the cluster of this process.
    progress : callable, optional
        Called with (done, total) as chunks of rows are read.
    n_jobs : int, optional
        Threads for large inputs; by default all cores. Results are the same to the bit for any number.

    Returns
    -------
    Evaluation
        Scores of the solution and of each bicluster, the merger matrices and findings in words.

    Raises
    ------
    MatrixError, SolutionError, ParameterError
        If the matrix is not one of finite numbers, the biclusters do not fit it, or an option has a value that is not
        allowed.

    See Also
    --------
    compare, propose_pruning

    References
    ----------
    Tiwari P, Navin Kumar I, Bezdek JC, Rathore P (2026). arXiv:2608.29045.

    Examples
    --------
    >>> result = evaluate(X, S)
    >>> round(result.scores["nve"], 6), round(result.scores["nve_cov"], 6)
    (0.934293, 1.09102)
    """
    chosen = choose_metrics(metrics)
    check_choice("small", small, ("flag", "drop"))
    check_int("min_rows", min_rows, 1)
    check_int("min_cols", min_cols, 1)
    adata = X if is_anndata(X) else None
    if adata is not None:
        X = Matrix.from_anndata(adata, layer=layer, obs_rows=obs_rows)
    elif layer is not None or obs_rows or key_added is not None:
        kind = type(X).__name__
        raise ParameterError(f"layer, obs_rows and key_added are about AnnData objects, but X is of type {kind}.")
    if key_added is not None:
        check_key(key_added)
    how_scored: dict[str, Any] = {"degenerate": degenerate, "missing": missing, "single": single, "absent": absent}
    how_scored |= {"exponent": exponent, "epsilon": epsilon, "ve_axis": ve_axis}
    how_read: dict[str, Any] = {"memory": memory, "scheduler": scheduler, "progress": progress, "n_jobs": n_jobs}
    workspace = Workspace.of(X, solution, **how_scored, **how_read)
    if sample is not None and ve_axis == "columns":
        found = f"a sample of rows estimates means over rows, and {symbol('ve')} along columns is none"
        raise ParameterError(Advice(f"{found}: read all rows, or take ", Option("ve_axis", "rows"), "."))
    below = (workspace.r < min_rows) | (workspace.c < min_cols)
    names, dropped = workspace.solution.names, list[str]()
    if small == "drop" and below.any():
        dropped = [names[k] for k in np.flatnonzero(below)]
        positions = np.flatnonzero(~below)
        workspace = Workspace(workspace.matrix, workspace.solution.select(positions), workspace.options)
        below, names = below[positions], [names[k] for k in positions]
    sampled = None if sample is None else draw_rows(workspace, sample, random_state)
    result = Evaluation(workspace, chosen, names, below, dropped, sampled)
    if not all(m.of_memberships for m in chosen):
        _warn(result)
    if adata is not None and key_added is not None:
        add_results(adata, result, key_added, obs_rows)
    return result


def _warn(result: Evaluation) -> None:
    if undefined := result.undefined:
        found = f"{listing(undefined, 10)} {'has' if len(undefined) == 1 else 'have'} one row or one column"
        said = f"{found}, where coherence is not defined: left out of the scores."
        advice = Advice(" Pass ", Option("degenerate", "formula"), " for the formula's 0.")
        warnings.warn(DegenerateWarning(Advice(said, advice)), stacklevel=3)


class _Scores(dict[str, float]):
    """Scores by registry key, which say the key where something else is asked for."""

    def __missing__(self, key: object) -> float:
        like = [known for known in self if symbol(known).lower() == str(key).lower() or known == str(key).lower()]
        hint = f" Its key is {like[0]!r}." if like else suggest(str(key), self)
        if key in METRICS and METRICS[str(key)].level == "bicluster":
            hint = f" It scores single biclusters: see .biclusters[{key!r}]."
        raise KeyError(f"no score is called {key!r}.{hint} Computed: {', '.join(self)}.")


class Evaluation:
    """The scores of one solution; made by :func:`evaluate`.

    Parameters
    ----------
    workspace : Workspace
        The matrix, the solution and what has been computed from them.
    metrics : sequence of Metric
        Records of the measures to compute.
    names, below, dropped : sequence
        What the biclusters are called, whether each is smaller than wanted, and the names of those dropped for that.
    sampled : Sampled, optional
        The rows looked at, where not all are.

    Attributes
    ----------
    scores, status : dict
        Scores of the solution, and why one is undefined, by registry key.
    names : list of str
        As the solution given has them: those of its file, or B1, B2, …

    See Also
    --------
    evaluate, compare

    Examples
    --------
    >>> evaluate(X, S).names
    ['B1', 'B2', 'B3']
    """

    def __init__(
        self,
        workspace: Workspace,
        metrics: Sequence[Metric],
        names: Sequence[str],
        below: NDArray[np.bool_],
        dropped: Sequence[str],
        sampled: Sampled | None = None,
    ) -> None:
        self._workspace, self._sampled, self._below = workspace, sampled, below
        self._dropped, self.names = list(dropped), list(names)
        #: How commands name the matrix and the solution.
        self.place = ("MATRIX", "SOLUTION")
        self.scores: dict[str, float] = _Scores()
        self._columns: dict[str, NDArray[np.float64]] = {}
        # what needs the mergers comes first: the errors of the biclusters are on their diagonal
        self._too_large: set[str] = set()
        values = {metric.key: self._value(metric) for metric in sorted(metrics, key=lambda m: not m.needs_mergers)}
        for metric in metrics:
            value = values[metric.key]
            if metric.level == "bicluster":
                self._columns[metric.key] = np.asarray(value)
            else:
                self.scores[metric.key] = int(value) if isinstance(value, int) else float(value)
        # Partners are known if a measure that was asked for needs them; coverage alone computes no merger.
        self._paired = any(metric.needs_mergers and metric.key not in self._too_large for metric in metrics)
        self.status = {key: self._reason(key) for key, value in self.scores.items() if math.isnan(value)}

    def _value(self, metric: Metric) -> NDArray[np.float64] | float:
        """Return a measure of the workspace; NaN where it needs more cells at once than fit in memory."""
        if self._sampled is None or metric.of_memberships or metric.key in MEANS_OVER_ROWS:
            try:
                return metric.compute(self._workspace if metric.of_memberships else self._looked_at(metric.of_ve))
            except TooLargeError:
                self._too_large.add(metric.key)
        return np.full(len(self.names), np.nan) if metric.level == "bicluster" else math.nan

    def _looked_at(self, of_ve: bool = True) -> Workspace:
        """Return the workspace of the rows that scores are made of; of virtual errors, along their axis."""
        workspace = self._workspace if self._sampled is None else self._sampled.workspace
        return workspace.along_axis if of_ve else workspace

    @cached_property
    def standard_errors(self) -> dict[str, Any]:
        """Standard errors of scores estimated from a sample of rows, by registry key; those of biclusters are arrays.

        s·√(1 − f)/√r for r rows drawn, a share f of all, with s the standard deviation of their shares of VE or MSR.

        Examples
        --------
        >>> evaluate(X, S).standard_errors
        {}
        """
        return {} if self._sampled is None else self._sampled.standard_errors(self.scores.keys() | self._columns.keys())

    @property
    def matrix(self) -> Matrix:
        """The matrix, with its labels.

        Examples
        --------
        >>> evaluate(X, S).matrix.shape
        (5, 6)
        """
        return self._workspace.matrix

    @property
    def solution(self) -> Biclustering:
        """The solution that was scored, without what ``small="drop"`` removed.

        Examples
        --------
        >>> len(evaluate(X, S).solution)
        3
        """
        return self._workspace.solution

    @property
    def options(self) -> Options:
        """How degenerate cases were treated.

        Examples
        --------
        >>> evaluate(X, S).options.degenerate
        'nan'
        """
        return self._workspace.options

    @property
    def undefined(self) -> list[str]:
        """Names of the biclusters that were left out of the scores.

        Examples
        --------
        >>> evaluate(X, S).undefined
        []
        """
        return [name for name, defined in zip(self.names, self._workspace.defined, strict=True) if not defined]

    @cached_property
    def mergers(self) -> dict[str, NDArray[np.float64]]:
        """K × K matrices ``"ve"`` and ``"msr"`` of the mergers; a bicluster itself on the diagonal.

        Examples
        --------
        >>> evaluate(X, S).mergers["ve"].shape
        (3, 3)
        """
        mergers = {}
        along = self._workspace.along_axis
        for key, of, merged in (("ve", along, along.mergers[0]), ("msr", self._workspace, self._workspace.mergers[1])):
            mergers[key] = merged.copy()
            np.fill_diagonal(mergers[key], of.masked(np.diagonal(merged)))
        return mergers

    @cached_property
    def findings(self) -> list[str]:
        """Warnings and remarks in words.

        Examples
        --------
        >>> evaluate(X, S).findings[0]
        'B3 has two columns, which VE cannot judge.'
        """
        if self._sampled is not None:
            return [self._sampled.described]
        small = [name for name, below in zip(self.names, self._below, strict=True) if below]
        evidence = evidence_scores(self._workspace) if self._judged else None
        nve = self.scores.get("nve", math.nan)
        found = describe_findings(self._workspace, self.names, self._dropped, small, evidence, nve)
        return [*self.solution.info.get("notes", ()), *found]

    @cached_property
    def verdict(self) -> Verdict:
        """What to think of the solution: the record that terminal, page, notebook and JSON print.

        Examples
        --------
        >>> verdict = evaluate(X, S).verdict
        """
        nouns, records = self.matrix.nouns, self.records if self._judged else [{"verdict": None} for _ in self.names]
        searched = "find" in (self.solution.info.get("command"), self.solution.info.get("algorithm"))
        omits = self.options.missing == "omit"
        steps = solution_steps(records, self.matrix, self.place, searched=searched, omits=omits)
        notes = [text for text in self.findings if text != NO_BICLUSTERS]
        members = first_members(self.matrix, self.solution)
        return judged(records, nouns=nouns, steps=steps, notes=notes, members=members)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """One mapping per bicluster: name, sizes, metrics, nearest partner (where mergers were needed), status.

        Examples
        --------
        >>> evaluate(X, S).records[0]["partner"]
        'B3'
        """
        work = self._workspace
        near = self._looked_at().nearest_ve if self._paired else None
        judgements = self._judgements
        records = []
        for k, name in enumerate(self.names):
            n_rows, n_cols = int(work.r[k]), int(work.c[k])
            record: dict[str, Any] = {"bicluster": name, "n_rows": n_rows, "n_cols": n_cols, "size": n_rows * n_cols}
            record |= {key: float(column[k]) for key, column in self._columns.items()}
            errors = {key: error for key, error in self.standard_errors.items() if key in self._columns}
            record |= {f"{key}_se": float(error[k]) for key, error in errors.items()}
            if judgements:
                record |= judgements[k]
            partner = int(near.partner[k]) if near else NO_PARTNER
            record["partner"] = self.names[partner] if partner >= 0 else "X" if partner == WHOLE_MATRIX else None
            record["ve_merged"] = float(near.merged[k]) if near else math.nan
            record["status"] = self._bicluster_status(k)
            records.append(record)
        return records

    @property
    def biclusters(self) -> pd.DataFrame:
        """The records as a pandas DataFrame.

        Examples
        --------
        >>> evaluate(X, S).biclusters["n_rows"].tolist()
        [3, 2, 3]
        """
        import pandas as pd

        errors = [f"{key}_se" for key in self.standard_errors if key in self._columns]
        first = ["bicluster", "n_rows", "n_cols", "size", *self._columns, *errors]
        judged = [] if not self._judged else [key for key in EVIDENCE_COLUMNS if key not in self._columns]
        return pd.DataFrame(self.records, columns=[*first, *judged, "partner", "ve_merged", "status"])

    @property
    def _judged(self) -> bool:
        """Whether the evidence of the biclusters is known."""
        return "evidence" in self._columns and self._sampled is None and "evidence" not in self._too_large

    @cached_property
    def _judgements(self) -> list[dict[str, Any]]:
        work = self._workspace
        return evidence_rows(evidence_scores(work), work.cover, self.names) if self._judged else []

    def to_frame(self) -> pd.DataFrame:
        """Return the scores of the solution as a table of one row.

        Returns
        -------
        DataFrame
            One column per measure; the index is the name of the solution.

        Examples
        --------
        >>> evaluate(X, S, metrics=["coverage"]).to_frame()["coverage"].item()
        0.7333333333333333
        """
        import pandas as pd

        return pd.DataFrame([self.scores], index=[self.solution.info.get("name", "solution")])

    def plot(self, ax: Any = None) -> Any:
        """Draw the matrix with its biclusters as blocks.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        Axes
            The axes drawn on.

        Examples
        --------
        >>> evaluate(X, S).plot().get_xlabel()
        '6 columns'
        """
        return bivaluate.plots.plot_solution_heatmap(self.matrix, self.solution, ax)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report, one HTML file.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> evaluate(X, S).report("page.html").name
        'page.html'
        """
        return bivaluate.build_report(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the matrix and the mergers as a JSON document, under the names of the attributes.

        Returns
        -------
        dict
            Undefined scores are None; ``status`` has the reasons of the solution, ``reasons`` those of a bicluster.

        Examples
        --------
        >>> evaluate(X, S).to_dict()["shape"]
        [5, 6]
        """
        name, solution = self.solution.info.get("name"), self.solution.to_dict()
        known = {"name": name, "shape": list(self.matrix.shape), "scores": defined(dict(self.scores))}
        known |= {"status": self.status, "solution": solution}
        if self._sampled is not None:
            errors = {key: error for key, error in self.standard_errors.items() if key in self.scores}
            known["standard_errors"] = defined(errors)
        records = [defined(record) | {"reasons": self._reasons(k)} for k, record in enumerate(self.records)]
        return known | {"biclusters": records, "verdict": self.verdict.to_dict(), "findings": self.findings}

    def _bicluster_status(self, k: int) -> str:
        if not self._workspace.defined[k]:
            return "undefined"
        if self._below[k]:
            return "small"
        rows, cols = self._workspace.observed
        standardised = cols if self.options.ve_axis == "rows" else rows  # cells at once
        return "low_power" if standardised[k] == FEW_COLUMNS else "ok"

    def _reasons(self, k: int) -> dict[str, str]:
        """Return why measures of a bicluster are undefined, by registry key."""
        work = self._workspace
        rest = ZERO_BY_ZERO
        if not work.defined[k]:
            rest = "it does not have two rows and two columns to compare"
        elif work.too_large(k):
            rest = _DOES_NOT_FIT
        elif work.has_gaps(k):
            rest = "it has missing values, or the formula has no value here"
        reasons = {}
        for key, column in self._columns.items():
            if math.isnan(column[k]):
                alone = key in ("nve_k", "nsr_k") and work.defined[k] and np.isnan(work.along_axis.nearest_ve.merged[k])
                reasons[key] = "there is no other bicluster to merge it with" if alone else rest
                if key in self._too_large:
                    reasons[key] = _DOES_NOT_FIT
                elif key in OF_SQUARES and work.defined[k]:
                    squares = [work.msr[k], *(work.nearest_msr.merged[k : k + 1] if key == "nsr_k" else ())]
                    reasons[key] = OVERFLOW if np.isinf(squares).any() else reasons[key]
        if self._sampled is not None:
            return {key: self._reason(key) for key in reasons}
        if "evidence" in reasons:
            reasons["evidence"] = evidence_scores(work).reasons[k] or rest
        return reasons

    def _reason(self, key: str) -> str:
        metric = get_metric(key)
        if self._sampled is not None and not metric.of_memberships and key not in MEANS_OVER_ROWS:
            return "it is not a mean over rows, which is all that a sample of rows can estimate"
        if key in self._too_large:
            return _DOES_NOT_FIT
        n_defined = int(self._workspace.defined.sum())
        if not len(self.names):
            return "the solution has no biclusters"
        if n_defined == 0:
            return "no bicluster has two rows and two columns"
        if n_defined == 1 and self.options.single == "nan":
            return "only one bicluster is defined; there is no other one to merge it with"
        looked_at = self._looked_at(metric.of_ve)
        squares = [*looked_at.msr, *(looked_at.nearest_msr.merged if key == "nsr" else ())] if key in OF_SQUARES else []
        return OVERFLOW if np.isinf(squares).any() else ZERO_BY_ZERO

    def _repr_html_(self) -> str:
        return self.verdict._repr_html_()

    def __repr__(self) -> str:
        said = f": {self.verdict.headline}" if self._judged else ""
        return f"Evaluation({plural(len(self.names), 'bicluster')}{said})"


_DOES_NOT_FIT = "it needs more values at once than fit in memory"


def solution_scorer(metric: str = "total_evidence", **options: Any) -> Callable[..., float]:
    """Return ``score(estimator, X)`` for model selection, greater is better.

    Biclusters name rows of the matrix they were found in: a search needs one split of all rows. Any other `cv`, the
    default among them, is refused (scikit-learn then warns, and gives NaN) or, where rows are as many, warned of.

    Parameters
    ----------
    metric : str
        Registry key of a measure by which solutions can be ranked.
    **options : object
        Passed to :func:`evaluate`.

    Returns
    -------
    callable
        A scorer as scikit-learn's searches take it.

    Raises
    ------
    ParameterError
        If the measure cannot rank solutions.

    See Also
    --------
    select_k

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> rows = np.arange(len(X))
    >>> search = GridSearchCV(model, grid, scoring=solution_scorer(), cv=[(rows, rows)])  # doctest: +SKIP
    """
    return _SolutionScorer(metric, options)


class _SolutionScorer:
    """What :func:`solution_scorer` returns."""

    def __init__(self, metric: str, options: Mapping[str, Any]) -> None:
        if "metrics" in options:
            raise ParameterError("a scorer computes one metric: give it as the first argument, and omit metrics=.")
        record = get_ranking_metric(metric)
        self.sign = -1.0 if record.direction == "low" else 1.0
        self.metric, self.options, self.seen = record.key, options, dict[tuple[int, ...], float]()

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        solution = fitted_solution(estimator, X)
        shape = tuple(X.shape if hasattr(X, "shape") else np.shape(X))
        if shape != solution.shape:
            found = f"the estimator was fitted on a matrix of shape {solution.shape}, but X has shape {shape}"
            raise SolutionError(f"{found}. {_ONE_SPLIT}.")
        total = float(np.nansum(X.sum(axis=0) if hasattr(X, "sum") else X))
        if self.seen.setdefault(shape, total) != total:  # halves of a search have one shape, and other values
            found = f"this scorer has scored another matrix of shape {shape}"
            warnings.warn(f"{found}. {_ONE_SPLIT}, and another scorer for other data.", BivaluateWarning, stacklevel=2)
        return self.sign * evaluate(X, solution, metrics=[self.metric], **self.options).scores[self.metric]

    def __repr__(self) -> str:
        return f"solution_scorer({', '.join([repr(self.metric), *(f'{k}={v!r}' for k, v in self.options.items())])})"


_ONE_SPLIT = (
    "Biclusters can only be scored on the rows they were found in: pass the search one split of all rows, "
    "cv=[(all_rows, all_rows)] with all_rows = np.arange(len(X)), or call select_k(estimator, X, k=[...])"
)
