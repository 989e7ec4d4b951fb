"""What a sweep gave: one measure against K, coverage against distinctness, and which planted blocks were found."""

from collections.abc import Collection
from typing import Any

import numpy as np

from bivaluate._text import FINAL
from bivaluate._types import Axes, DataFrame, Figure
from bivaluate.algorithms.registry import algorithm_label
from bivaluate.judge import choice
from bivaluate.judge.limits import STANDARD_ERRORS
from bivaluate.plots import style
from bivaluate.plots.style import QUIET, RULE, measure_label, new_axes, styled
from bivaluate.registry import METRICS


@styled
def plot_ksweep(
    results: DataFrame,
    measure: str = "nve_cov",
    *,
    null: DataFrame | None = None,
    ax: Axes | None = None,
    title: str = "",
    legend: bool = True,
) -> Axes:
    """Draw the median of a measure over seeds against K, with a band holding the middle half of the seeds.

    The best candidate is ringed; algorithms without any defined score are named below the axes. With a null, a dotted
    line is its mean and a grey band the central 90 % of the surrogates.

    Parameters
    ----------
    results : DataFrame
        Rows of a sweep's results table for one data set: columns ``algorithm``, ``k``, ``seed`` and `measure`, and
        ``status`` if some solutions cannot be judged.
    measure : str
    null : DataFrame, optional
        Rows of the run's null table (``run.null``) for the same data set.
    ax : Axes, optional
    title : str
    legend : bool

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_k_curve

    Examples
    --------
    >>> results = pd.DataFrame({"algorithm": "cca", "k": [3, 5], "seed": 0, "nve_cov": [2.0, 1.5]})
    >>> len(plot_ksweep(results).lines)
    2
    """
    ax = new_axes(ax)
    keys, ks = list(dict.fromkeys(results["algorithm"])), sorted(results["k"].unique())
    places, absent = range(len(ks)), []
    medians: dict[str, Any] = {}
    for key in keys:
        grouped = results[results["algorithm"] == key].groupby("k")[measure]
        low, middle, high = (grouped.quantile(q).reindex(ks).to_numpy(dtype=float) for q in (0.25, 0.5, 0.75))
        if np.isnan(middle).all():
            absent.append(algorithm_label(key))
            continue
        look = style.line_style(key, keys)
        if null is not None:
            mine = null[(null["measure"] == measure) & (null["algorithm"] == key)].groupby("k")
            bottom, mean, top = _means(mine, ks, "null_low", "null_mean", "null_high")
            ax.fill_between(places, bottom, top, color=QUIET, alpha=0.16, linewidth=0)
            label = f"null of {algorithm_label(key)}"
            ax.plot(places, mean, color=look["color"], linestyle=":", linewidth=1.0, label=label)
            medians[f"null of {key}"] = mean
        ax.fill_between(places, low, high, color=look["color"], alpha=0.16, linewidth=0)
        ax.plot(places, middle, label=algorithm_label(key), clip_on=False, **look)
        medians[key] = middle
    best = _best(results, measure)
    if best is not None:
        place = ks.index(best[1])
        style.mark_best(ax, place, medians[best[0]][place])
    drawn = np.nan_to_num(np.concatenate([[0.0], *medians.values()]))
    ax.set_xticks(places, [str(k) for k in ks])
    ax.set(xlabel="K", ylabel=measure_label(measure), title=title, xlim=(-0.35, len(ks) - 0.65))
    ax.set_ylim(1.2 * float(drawn.min()), 1.4 * float(drawn.max()) or None)
    ax.yaxis.grid(True, color=RULE)
    if absent:
        text = f"undefined: {', '.join(absent)}"
        ax.text(0.98, 0.03, text, transform=ax.transAxes, ha="right", color=QUIET, fontsize=6.5)
    if legend and len(keys) > len(absent):
        ax.legend(handlelength=2.4)
    return ax


@styled
def plot_candidates(
    candidates: DataFrame,
    measure: str = "total_evidence",
    *,
    chosen: int | None = None,
    as_good: Collection[int] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a measure of every solution over the K requested, a line per algorithm, the chosen solution marked.

    Parameters
    ----------
    candidates : DataFrame
        One row per solution: ``algorithm``, ``k``, ``seed`` and `measure`; of a single algorithm also
        ``n_supported``, which is written beside the marks.
    measure : str
    chosen : int, optional
        Position of the chosen row; the one of the highest value by default.
    as_good : collection of int
        The K that are as good, to be shaded.
    ax : Axes, optional

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_ksweep

    Examples
    --------
    >>> table = pd.DataFrame({"algorithm": "las", "k": [2, 3], "seed": 0, "total_evidence": [90.0, 120.0]})
    >>> len(plot_candidates(table).lines)
    2
    """
    ax = new_axes(ax)
    keys = [key for key in dict.fromkeys(candidates["algorithm"]) if not key.endswith(FINAL)]
    for k in as_good if len(as_good) > 1 else ():
        ax.axvspan(k - 0.5, k + 0.5, color=QUIET, alpha=0.12, linewidth=0)
    for key in keys:
        mine = candidates[candidates["algorithm"] == key]
        curve = mine.groupby("k")[measure].max().sort_index()
        look = style.line_style(key, keys)
        ax.plot(curve.index, curve, label=algorithm_label(key), clip_on=False, **look)
        if len(mine) > len(curve):
            ax.plot(mine["k"], mine[measure], **look | {"linestyle": "none"}, alpha=0.35, markersize=3)
    if len(candidates):
        best = candidates.iloc[int(np.nanargmax(candidates[measure])) if chosen is None else chosen]
        if str(best["algorithm"]).endswith(FINAL):  # refined: no line has it
            ax.plot(best["k"], best[measure], **style.line_style(best["algorithm"].removesuffix(FINAL), keys))
        style.mark_best(ax, best["k"], best[measure])
    ax.set(xlabel="K requested", ylabel=measure_label(measure))
    ax.yaxis.grid(True, color=RULE)
    if len(keys) == 1 and "n_supported" in candidates and candidates["n_supported"].notna().any():
        for _, row in candidates.iterrows():
            text, place = f"{row['n_supported']:g}", (row["k"], row[measure])
            ax.annotate(text, place, (0, 5), textcoords="offset points", ha="center", color=QUIET)
        ax.set_title("numbers: how many are supported", color=QUIET, fontweight="normal")
        ax.margins(y=0.12)
    if len(keys) > 1:
        ax.legend(handlelength=2.4)
    return ax


@styled
def plot_k_curve(
    results: DataFrame, measure: str = "total_evidence", *, null: DataFrame | None = None, title: str = ""
) -> Figure:
    """Draw a measure against K beside its null and, where the sweep has it, the gain on held-out cells below.

    Parameters
    ----------
    results : DataFrame
        Rows of a sweep's results table for one data set; with ``predictive`` and ``predictive_error`` after
        ``held_out=5`` (``--held-out 5``).
    measure : str
    null : DataFrame, optional
        Rows of the run's null table (``run.null``) for the same data set.
    title : str

    Returns
    -------
    Figure
        One Axes, or two where there are held-out cells.

    See Also
    --------
    plot_ksweep

    Examples
    --------
    >>> results = pd.DataFrame({"algorithm": "las", "k": [2, 3], "seed": 0, "total_evidence": [90.0, 40.0],
    ...                         "predictive": [0.2, 0.1], "predictive_error": [0.02, 0.06]})
    >>> len(plot_k_curve(results).axes)
    2
    """
    predicted = "predictive" in results
    figure, axes = style.new_grid(1 + predicted, 1, 3.8, 2.4 + 1.7 * predicted, sharex=True)
    plot_ksweep(results, measure, null=null, ax=axes[0], title=title)
    if predicted:
        _draw_gain(results, axes[1])
        axes[0].set_xlabel("")
    return figure


def _means(by_k: Any, ks: list[Any], *names: str) -> list[Any]:
    """Return the means of columns at every K."""
    return [by_k[name].mean().reindex(ks).to_numpy(dtype=float) for name in names]


def _draw_gain(results: DataFrame, ax: Axes) -> None:
    """Draw the mean gain on held-out cells of every algorithm and K, with two standard errors either way."""
    keys, ks = list(dict.fromkeys(results["algorithm"])), sorted(results["k"].unique())
    for turn, key in enumerate(keys):
        mine = results[results["algorithm"] == key].groupby("k")
        gain, error = _means(mine, ks, "predictive", "predictive_error")
        places = np.arange(len(ks)) + 0.06 * (turn - (len(keys) - 1) / 2)
        look = style.line_style(key, keys)
        ax.errorbar(places, gain, yerr=STANDARD_ERRORS * error, capsize=2, linewidth=1.0, **look)
    ax.axhline(0.0, color=QUIET, linewidth=0.8, linestyle=":")
    ax.set(xlabel="K", ylabel="gain on held-out values")
    ax.set_xticks(range(len(ks)), [str(k) for k in ks])
    ax.yaxis.grid(True, color=RULE)


def _best(results: DataFrame, measure: str) -> tuple[str, Any] | None:
    """Return the algorithm and K that judge chooses, or None where nobody wins."""
    if measure not in METRICS or METRICS[measure].direction == "none":
        return None
    chosen = choice.winners(results.assign(dataset="", status=results.get("status", "ok")), [measure])
    return None if not len(chosen) else (chosen["algorithm"].iloc[0], chosen["k"].iloc[0])


@styled
def plot_tradeoff(results: DataFrame, ax: Axes | None = None) -> Axes:
    """Draw coverage against NVE, one marker per solution, sized by K; right and low is better.

    Parameters
    ----------
    results : DataFrame
        A table with the columns ``algorithm``, ``k``, ``coverage`` and ``nve``.
    ax : Axes, optional

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    plot_ksweep

    Examples
    --------
    >>> table = pd.DataFrame({"algorithm": ["cca", "las"], "k": [3, 3], "coverage": [0.4, 0.1], "nve": [0.8, 0.6]})
    >>> plot_tradeoff(table).get_xlabel()
    'coverage (share of values)'
    """
    ax = style.new_axes(ax, 4.6, 3.4)
    for i, (name, part) in enumerate(results.groupby("algorithm", sort=True)):
        size = 20.0 + 8.0 * np.asarray(part["k"], dtype=np.float64)
        look: dict[str, Any] = {"marker": style.series_marker(i), "color": style.series_colour(i), "alpha": 0.75}
        look |= {"linewidths": 0.5, "edgecolors": "white", "label": algorithm_label(str(name))}
        ax.scatter(part["coverage"], part["nve"], s=size, **look)
    ax.axhline(1.0, color=style.QUIET, lw=0.8, ls=":")
    ax.set(xlabel="coverage (share of values)", ylabel=measure_label("nve"), xlim=(0.0, None))
    if len(results):
        ax.legend(frameon=False, fontsize=8)
    return ax


@styled
def plot_detection_limit(
    found: DataFrame, ax: Axes | None = None, *, xlabel: str = "noise inside the block (sd)"
) -> Axes:
    """Draw how often planted blocks are found, by their size and the noise in them; darker is more often.

    Parameters
    ----------
    found : DataFrame
        Shares from 0 to 1: one row per size of a block (the index names it), one column per level of noise.
    ax : Axes, optional
    xlabel : str

    Returns
    -------
    Axes
        The axes drawn on.

    See Also
    --------
    bivaluate.datasets.make_biclusters

    Examples
    --------
    >>> table = pd.DataFrame({"0.3": [0.2, 1.0], "0.9": [0.0, 0.6]}, index=["10 x 6", "40 x 12"])
    >>> [text.get_text() for text in plot_detection_limit(table).texts]
    ['0.2', '0', '1', '0.6']
    """
    shares = found.to_numpy(dtype=np.float64)
    ax = new_axes(ax, 0.55 * shares.shape[1] + 1.6, 0.32 * shares.shape[0] + 0.9)
    ax.imshow(shares, cmap=style.SEQUENTIAL, vmin=0.0, vmax=1.0, aspect="auto")
    style.write_cells(ax, shares, 0.5, "{:.2g}")
    ax.set_xticks(range(shares.shape[1]), [str(level) for level in found.columns])
    ax.set_yticks(range(shares.shape[0]), [str(size) for size in found.index])
    ax.set(xlabel=xlabel, ylabel="block (rows x columns)", title="share found")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
