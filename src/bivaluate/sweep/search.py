"""K of one matrix, without a run folder.

`select_k` chooses it for an estimator in the manner of scikit-learn's GridSearchCV; `k_curve` sets solutions that are
there already beside biclusters of the same sizes and overlaps placed at random.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._anndata import is_anndata
from bivaluate._check import check_choice, check_instance, check_int
from bivaluate._errors import BivaluateWarning, ParameterError, SearchWarning
from bivaluate._factors import DEFAULT_RULE, check_rule, last_step
from bivaluate._text import alternatives
from bivaluate.algorithms.algorithm import COUNTS, count_among
from bivaluate.evaluation import Evaluation, evaluate
from bivaluate.judge import choice
from bivaluate.judge.choice import EVIDENCE, PREDICTIVE, RAW, AtK, judged_statuses, pick
from bivaluate.judge.limits import predicts
from bivaluate.judge.verdict import Verdict
from bivaluate.matrix import Matrix
from bivaluate.registry import choose_metrics, get_ranking_metric
from bivaluate.solution import Biclustering, fitted_solution
from bivaluate.sweep.held_out import predictive_gain
from bivaluate.sweep.work import fit, reason_of

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from matplotlib.axes import Axes

NOT_PREDICTED = "No K predicts held-out values better than row and column means do."
# Of a curve over K: random placements, the scores it shows, and those compared with the placements.
PLACEMENTS = 5
_SCORES = ("total_evidence", "n_supported", "supported_coverage", "nve")
_COMPARED = ("total_evidence", "nve")


@dataclass(frozen=True)
class KSelection:
    """The outcome of :func:`select_k`; names follow scikit-learn's searches.

    Parameters
    ----------
    best_estimator_, best_params_ : estimator, dict
        The fitted estimator with the best K, and its number of biclusters, by the name of the parameter.
    best_score_, best_index_ : float, int
        Its score, and its place in `cv_results_`.
    cv_results_ : dict
        Columns by name: ``params``, ``param_<name of K>``, ``score`` (also ``mean_test_score``), ``rank_score`` (also
        ``rank_test_score``), ``status``, ``reason``, ``fit_time`` and every measure.
    scoring : str
        The measure that chose.
    nothing_ : bool
        Whether nothing is supported at any K, or no K predicts held-out values; the best K is then no recommendation.
    solution_, matrix_, options_ : Biclustering, Matrix, dict
        The best solution, the matrix it was judged in, and how.

    See Also
    --------
    select_k

    Examples
    --------
    >>> from sklearn.cluster import SpectralBiclustering
    >>> X = np.random.default_rng(0).normal(size=(30, 20)) + 5
    >>> choice = select_k(SpectralBiclustering(random_state=0), X, k=[2, 3], scoring="asr")
    """

    best_estimator_: Any
    best_params_: dict[str, int]
    best_score_: float
    best_index_: int
    cv_results_: dict[str, Any]
    scoring: str
    nothing_: bool = False
    solution_: Biclustering | None = None
    matrix_: Matrix | None = field(default=None, repr=False)
    options_: dict[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def evaluation_(self) -> Evaluation:
        """The best solution as judged: its verdict, and its scores, bicluster by bicluster.

        Examples
        --------
        >>> len(choice.evaluation_.records)
        9
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BivaluateWarning)
            return evaluate(self.matrix_, self.solution_, **self.options_)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the page: which K to take, the curve over K, and the best solution.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> choice.report("page.html")  # doctest: +SKIP
        """
        from bivaluate.report import Figure, Section, build_report

        figure = Figure(self.plot(), "Every K that was tried; the best is ringed, and those as good are shaded.")
        sections = [Section("How many?", self.verdict.reason, figures=(figure,))]
        return build_report(self.evaluation_, path, sections=sections, headline=self.verdict.headline)

    @property
    def _tried(self) -> list[int]:
        """The K that were tried."""
        return list(self.cv_results_[f"param_{next(iter(self.best_params_))}"])

    @property
    def n_biclusters_(self) -> int:
        """How many biclusters the best solution has; fewer than its K where no more were found.

        Examples
        --------
        >>> choice.n_biclusters_
        9
        """
        return int(self.cv_results_["n_biclusters"][self.best_index_])

    @property
    def n_supported_(self) -> float:
        """How many biclusters of the best solution are supported; NaN where that was not among the measures.

        Examples
        --------
        >>> choice.n_supported_
        0
        """
        found = self.cv_results_.get("n_supported")
        return math.nan if found is None else found[self.best_index_]

    @property
    def k_range_(self) -> tuple[int, int]:
        """The smallest and the largest K, of those tried, that are as good as the best: within 5 % of its score.

        Examples
        --------
        >>> choice.k_range_
        (3, 3)
        """
        return self.k_as_good_[0], self.k_as_good_[-1]

    @property
    def k_as_good_(self) -> list[int]:
        """The K, of those tried, that are as good as the best: within 5 % of its score.

        Examples
        --------
        >>> choice.k_as_good_
        [3]
        """
        return [self._tried[self.best_index_]] if self.nothing_ else choice.as_good(self._curve, self.scoring)

    @property
    def k_all_supported_(self) -> int | None:
        """The best K if all its biclusters are supported, else the K below up to which all are; None if none is.

        It depends less on which K were tried than the best K, which may grow with every larger one that is offered.

        Examples
        --------
        >>> choice.k_all_supported_ is None
        True
        """
        found = choice.all_supported(self._curve, self._tried[self.best_index_])
        return None if found is None else found.k

    @property
    def verdict(self) -> Verdict:
        """How many are supported and which K to take or try; up to which K all are, which are as good, if it is stable.

        Examples
        --------
        >>> print(choice.verdict)
        Take n_clusters = 3.
        n_clusters = 3 is the largest tried: try larger ones.
        """
        ((name, best),) = self.best_params_.items()
        name = name.rpartition("__")[2]  # of the step of a pipeline
        if self.nothing_:
            return Verdict(_nothing(name, self.scoring, self.best_estimator_))
        first = f"Take {name} = {best}."
        if self.scoring == EVIDENCE and 2 * self.n_supported_ < self.n_biclusters_ and not self.k_all_supported_:
            are = "is" if self.n_supported_ == 1 else "are"
            some = f"Only {self.n_supported_} of the {self.n_biclusters_} biclusters of {name} = {best} {are} supported"
            first = f"{some}: expect about {self.n_supported_}."
        elif self.scoring == EVIDENCE and not math.isnan(self.n_supported_):
            lead = choice.supported_at(self._curve, best, name)
            counts = lead.startswith("About")  # of more than the best K, and says what to do
            first = lead if counts else f"{first[:-1]}: {lead[:1].lower()}{lead[1:]}"
        rest = " ".join(choice.about_k(self._curve, best, self.scoring, name))
        noun = "factor" if name == "n_components" else "bicluster"
        return Verdict(first.replace("bicluster", noun), rest.replace("bicluster", noun))

    @property
    def _curve(self) -> list[AtK]:
        """What each K gives: its score, and how many biclusters were found and are supported."""
        known = (self.cv_results_.get(key) or [math.nan] * len(self._tried) for key in ("n_biclusters", "n_supported"))
        return [AtK(*at) for at in zip(self._tried, self.cv_results_["score"], *known, strict=True)]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the score over K, how many are supported beside it, the best K marked and those as good shaded.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        Axes
            The axes drawn on.

        Examples
        --------
        >>> choice.plot().get_xlabel()
        'K requested'
        """
        import pandas as pd

        from bivaluate.plots import plot_candidates

        table = pd.DataFrame(self._curve, columns=["k", self.scoring, "n_biclusters", "n_supported"])
        table = table.assign(algorithm=type(self.best_estimator_).__name__, seed=0)
        return plot_candidates(table, self.scoring, chosen=self.best_index_, as_good=self.k_as_good_, ax=ax)

    def _repr_html_(self) -> str:
        return self.verdict._repr_html_()

    def __repr__(self) -> str:
        chosen, among = next(iter(self.best_params_)), f" of {self._tried}" if len(self._tried) > 1 else ""
        found = "nothing is supported: " if self.nothing_ else ""
        counts = "" if math.isnan(self.n_supported_) else f"{self.n_supported_} of {self.n_biclusters_} supported, "
        best = f"{chosen}={self.best_params_[chosen]}{among}, {counts}{self.scoring}={self.best_score_:.4g}"
        return f"KSelection({found}{best})"


def select_k(
    estimator: Any, X: Any, k: int | Iterable[int], scoring: Any = "total_evidence", **options: Any
) -> KSelection:
    """Fit an estimator for every K, score the solutions and return the best.

    Parameters
    ----------
    estimator : estimator
        A biclustering estimator with a parameter ``n_biclusters`` or ``n_clusters``, a factor model with
        ``n_components`` (members by the rule of :meth:`bivaluate.Biclustering.from_factors`), or a pipeline that ends
        in one of them. It is cloned, never changed.
    X : array-like, DataFrame, AnnData or Matrix
        The matrix, in which the biclusters are judged, those too that a pipeline finds in what it makes of it. An
        AnnData object is genes x cells unless ``obs_rows=True`` is among the options.
    k : int or iterable of int
        Numbers of biclusters to try. An estimator that finds their number itself is fitted once, for the largest.
    scoring : str or callable
        Measure of the whole solution to choose by, a function of (X, solution) of your own, or ``"predictive"``: how
        much better the biclusters predict held-out values than row and column means do.
    **options : object
        Passed to :func:`bivaluate.evaluate`; `rule` to :meth:`bivaluate.Biclustering.from_factors`.

    Returns
    -------
    KSelection
        The best estimator and the scores of all. A `SearchWarning` says where nothing is there, or a K failed.

    Raises
    ------
    ParameterError
        If the measure cannot rank solutions, the estimator has no number of biclusters, or no K gives a defined score.

    See Also
    --------
    solution_scorer

    Examples
    --------
    >>> from sklearn.cluster import SpectralBiclustering
    >>> X = np.random.default_rng(0).normal(size=(30, 20)) + 5
    >>> select_k(SpectralBiclustering(random_state=0), X, k=[2, 3], scoring="asr")
    KSelection(n_clusters=3 of [2, 3], 0 of 9 supported, asr=0.6737)
    """
    from sklearn.base import clone
    from threadpoolctl import threadpool_limits

    predictive = scoring == PREDICTIVE
    metric = get_ranking_metric("total_evidence" if predictive else scoring)
    check_instance("estimator", estimator)
    known = estimator.get_params() if hasattr(estimator, "get_params") else ()
    name = count_among(known)
    if not name:
        raise ParameterError(f"{type(estimator).__name__} has no parameter {alternatives(COUNTS)} to choose.")
    tried = sorted({check_int("k", value, 1) for value in ([k] if isinstance(k, int) else k)})
    if not tried:
        raise ParameterError("k is empty; give at least one number of biclusters.")
    if getattr(getattr(estimator, "record", estimator), "finds_k", False):
        tried = tried[-1:]  # an upper bound: there is nothing to choose
    shared: dict[str, Any] = {}
    allowed = {*signature(evaluate).parameters, "rule"} - {"X", "solution", "key_added"}
    for option in options:
        check_choice("option", option, sorted(allowed))
    check_rule(rule := options.pop("rule", DEFAULT_RULE))
    raw = is_anndata(X) and X.raw is not None
    if is_anndata(X):
        X = Matrix.from_anndata(X, layer=options.pop("layer", None), obs_rows=options.pop("obs_rows", False))
    kind = getattr(X, "dtype", None)
    matrix = Matrix.of(X, missing=options.get("missing", "raise")).settled()
    measured = [record.key for record in choose_metrics(options.pop("metrics", "default"))]
    judged = ["n_supported", RAW, "evidence"] if EVIDENCE in (metric.key, *measured) else []  # come with it
    options["metrics"] = list(dict.fromkeys([*measured, metric.key, "n_biclusters", "n_undefined", *judged]))
    with threadpool_limits(limits=1):  # linear algebra in one thread gives the same bits everywhere
        models = [clone(estimator).set_params(**{name: value}) for value in tried]
        for model in (model for model in models if hasattr(model, "_shared")):
            model._shared = shared  # where our algorithms leave what serves the next K
        fitted = [_fit(model, matrix, metric.key, options, (kind, rule)) for model in models]
        if predictive:
            _predict(estimator, name, matrix, tried, fitted)
    rows = [row for _, row in fitted]
    solutions = [row.pop("solution", None) for row in rows]
    able = [row["score"] if row["status"] in judged_statuses(metric.nothing) else math.nan for row in rows]
    if np.isnan(able).all():
        reasons = _reasons(tried, [row["reason"] for row in rows])
        more = (
            " layer='raw' takes the values of .raw, from before they were scaled." if raw and "Neg" in reasons else ""
        )
        raise ParameterError(f"{scoring if predictive else metric.symbol} is undefined for every K. {reasons}.{more}")
    high = metric.direction == "high"
    index = pick(able, high, metric.nothing, [row.get("n_biclusters", math.nan) for row in rows])
    nothing = index is None and math.isfinite(metric.nothing)
    if nothing and metric.key == EVIDENCE and not predictive:
        index = pick([row.get(RAW, math.nan) for row in rows], high=True)
    elif index is not None and math.isfinite(metric.nothing):
        known = ([row.get(key, math.nan) for row in rows] for key in ("n_biclusters", "n_supported"))
        index = choice.smallest([AtK(*at) for at in zip(tried, able, *known, strict=True)], index)
    if index is None:  # all tie, or nothing is there: the smallest K says as much with less
        index = int(np.flatnonzero(~np.isnan(able))[0])
    best = float(rows[index]["score"])
    nothing = nothing or bool(predictive and not predicts(best, rows[index]["score_error"]))
    if nothing:
        said = _nothing(name, scoring, fitted[index][0])
        text = f"{said} best_params_ ({name} = {tried[index]}) recommends nothing."
        warnings.warn(text, SearchWarning, stacklevel=2)
    if failed := {k: row["reason"] for k, row in zip(tried, rows, strict=True) if row["status"] == "failed"}:
        text = f"Some K could not be tried. {_reasons([*failed], [*failed.values()])}."
        warnings.warn(text, SearchWarning, stacklevel=2)
    table: dict[str, Any] = {f"param_{name}": tried}
    columns = dict.fromkeys(column for row in rows for column in row)
    table |= {column: [row.get(column, math.nan) for row in rows] for column in columns}
    order = np.where(np.isnan(able), math.inf, np.negative(able) if high else able)
    table["rank_score"] = table["rank_test_score"] = [int(1 + (order < value).sum()) for value in order]
    table |= {"mean_test_score": table["score"], "params": [{name: value} for value in tried]}
    chosen_by, options["metrics"] = PREDICTIVE if predictive else metric.key, measured
    chosen = chosen_by, nothing, solutions[index], matrix, options
    return KSelection(fitted[index][0], {name: tried[index]}, best, index, table, *chosen)


def _nothing(name: str, scoring: str, model: Any) -> str:
    """Say that nothing is there, by the name of the number of biclusters."""
    what = "factor" if name == "n_components" else "bicluster"
    signed = bool(np.min(getattr(last_step(model), "components_", 0)) < 0)
    why = f" Components of both signs, as {type(last_step(model)).__name__}'s, are not parts of the data; NMF's are."
    return NOT_PREDICTED if scoring == PREDICTIVE else f"No K gives a supported {what}.{why * signed}"


def _reasons(tried: list[int], reasons: list[str]) -> str:
    """Say why each K failed; those that failed alike once.

    >>> _reasons([2, 3, 4], ["no rows.", "no columns", "no rows."])
    'K = 2, 4: no rows; K = 3: no columns'
    """
    alike: dict[str, list[str]] = {}
    for k, reason in zip(tried, reasons, strict=True):
        alike.setdefault(reason, []).append(str(k))
    return "; ".join(f"K = {', '.join(ks)}: {reason.removesuffix('.')}" for reason, ks in alike.items())


def _predict(model: Any, name: str, matrix: Matrix, tried: list[int], fitted: list[tuple[Any, dict[str, Any]]]) -> None:
    """Put the gain on held-out cells, and its standard error, in place of the score."""
    from sklearn.base import clone

    def fit(values: Any, k: int) -> Biclustering:
        return fitted_solution(clone(model).set_params(**{name: k}).fit(values), values)

    nested = bool(getattr(getattr(model, "record", model), "nested", False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gain = predictive_gain(matrix, fit, tried, nested=nested)
    for (_, row), mean, error in zip(fitted, gain.mean, gain.standard_error, strict=True):
        row |= {"score": float(mean), "score_error": float(error), "status": "ok"}


def _fit(model: Any, matrix: Matrix, scoring: str, options: dict[str, Any], how: Any) -> tuple[Any, dict[str, Any]]:
    start = time.perf_counter()
    row: dict[str, Any] = {"score": math.nan, "status": "ok", "reason": ""}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = row["solution"] = fit(model, matrix, *how)
            row["fit_time"] = time.perf_counter() - start
            scores = evaluate(matrix, solution, **options).scores
    except Exception as error:
        return model, {**row, "status": "failed", "reason": reason_of(error)}
    if reason := choice.degenerate_reason(scores):
        row |= {"status": "degenerate", "reason": reason}
    return model, {**row, **scores, "score": scores[scoring]}


def k_curve(
    evaluations: Sequence[Evaluation], *, placements: int = PLACEMENTS, random_state: int = 0
) -> list[dict[str, Any]]:
    """Return the curve over K of solutions of one matrix, with what chance alone gives.

    The null keeps the sizes and overlaps of the biclusters and puts them anywhere: rows and columns change places at
    random. It serves results of any tool, and does not allow for the search that found them.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of solutions of one matrix.
    placements, random_state : int
        How many random placements of each solution (0 for none), and their seed.

    Returns
    -------
    list of dict
        One record per solution, by K: ``solution``, ``k``, the scores ``total_evidence``, ``n_supported``,
        ``supported_coverage`` and ``nve``, and ``null_total_evidence`` and ``null_nve``, means over the placements.

    Raises
    ------
    ParameterError
        If `placements` is not a whole number from 0.

    See Also
    --------
    bivaluate.io.read_solutions

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 15))
    >>> X[:12, ::2] += 4
    >>> S = Biclustering([(range(12), range(0, 15, 2)), (range(20, 30), range(1, 9))], X.shape, info={"k": 2})
    >>> curve = k_curve([evaluate(X, S)], placements=2)
    >>> curve[0]["k"], curve[0]["total_evidence"] > curve[0]["null_total_evidence"]
    (2, True)
    """
    check_int("placements", placements, 0)
    records = []
    for evaluation in evaluations:
        info = evaluation.solution.info
        record = {"solution": info.get("name"), "k": int(info.get("k", len(evaluation.solution)))}
        score = partial(_scores, evaluation.matrix.settled(), asdict(evaluation.options))
        missing = [key for key in _SCORES if key not in evaluation.scores]
        found = {**evaluation.scores, **score(evaluation.solution, missing)}
        record |= {key: found[key] for key in _SCORES}
        rng = np.random.default_rng(random_state)
        drawn = [score(_placed(evaluation.solution, rng), _COMPARED) for _ in range(placements)]
        record |= {f"null_{key}": float(np.mean([d[key] for d in drawn])) if drawn else np.nan for key in _COMPARED}
        records.append(record)
    return sorted(records, key=lambda record: record["k"])


def _scores(matrix: Matrix, options: dict[str, Any], solution: Biclustering, keys: Sequence[str]) -> dict[str, float]:
    if not keys:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BivaluateWarning)
        return evaluate(matrix, solution, metrics=keys, **options).scores


def _placed(solution: Biclustering, rng: np.random.Generator) -> Biclustering:
    """Return the solution with rows and columns renumbered at random."""
    rows, cols = (rng.permutation(n) for n in solution.shape)
    return Biclustering([(rows[b.rows], cols[b.cols]) for b in solution], solution.shape)
