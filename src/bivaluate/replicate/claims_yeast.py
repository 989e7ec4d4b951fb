"""What the paper says about the yeast K-sweeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import K_PICKS, YEAST_COVERAGE, YEAST_PICKS
from bivaluate.registry import METRICS
from bivaluate.replicate.claim_rules import Claim, Measure, View
from bivaluate.replicate.profile import FOUR
from bivaluate.replicate.texts import SOURCES, worded
from bivaluate.replicate.winners import best_k, best_pick, differing_share, favourites, margins, picked

if TYPE_CHECKING:
    from bivaluate.replicate.claim_evidence import Evidence

COLLAPSED = "13_heat_shock_2"
ALL_SETS = 17
#: A median coverage below this share is “a very small part” of a matrix; the threshold is ours.
LITTLE = 0.1

Check = Callable[["pd.DataFrame"], "pd.Series[Any]"]


def yeast_claims() -> list[Claim]:
    """Return the claims about yeast: 7 to 10, and 11 about small biclusters."""
    words = worded("yeast", lambda id_, said: _on(_CHECKS[id_], said.get("dataset", ""), said.get("profile", "")))
    return [*_different_k(), *_k_picks(), *_picks(), *_coverage(), *words]


def _on(check: Check, dataset: str = "", profile: str = "") -> Measure:
    """Return a check of the scores on one data set (all of them where none is named), if they were run."""

    def measure(e: Evidence, view: View) -> pd.Series[Any]:
        table = e.yeast[e.yeast["profile"] == (profile or view.profile)]
        rows = table[table["dataset"] == dataset] if dataset else table
        enough = len(rows) if dataset else rows["dataset"].nunique() == ALL_SETS
        return check(rows) if enough else pd.Series(dtype=float)

    return measure


def _different_k() -> Iterator[Claim]:
    source = SOURCES["yeast"], "yeast"
    for n, measure in enumerate(FOUR[:3]):
        name, share = METRICS[measure].symbol, partial(differing_share, measure=measure)

        def often(rows: pd.DataFrame, share: Check = share) -> pd.Series[Any]:
            return share(rows) > 0.5

        many = f"NVE_cov chooses another K than {name} in many pairs of data set and algorithm."
        reading = "in more than half of the pairs in which both choose; that threshold is ours"
        yield Claim(f"7.{2 * n + 1}", many, *source, _on(often), reading=reading, vague=True)
        counted = f"The share of pairs in which NVE_cov and {name} choose another K."
        reading = "the paper prints neither the number nor the number of pairs"
        yield Claim(f"7.{2 * n + 2}", counted, *source, _on(share), upper=1.0, reading=reading, unprinted=True)
    share_of_sets = "The share of data sets on which the four measures do not all choose the same algorithm and K."
    yield Claim("7.8", share_of_sets, *source, _on(_choices_differ), upper=1.0, reading="not printed", unprinted=True)


def _chosen(id_: str, sentence: str, source: str, measure: str, dataset: str, algorithm: str, k: int = 0) -> Claim:
    """Return the claim that a measure chooses an algorithm on a data set or, with K, this K for the algorithm."""

    def margin(rows: pd.DataFrame) -> pd.Series[Any]:
        if not k:
            return margins(rows, measure, rows["algorithm"] == algorithm)
        own = rows[rows["algorithm"] == algorithm]
        return margins(own, measure, own["k"] == k)

    return Claim(id_, sentence, SOURCES[source], "yeast", _on(margin, dataset), choice=True, columns=True)


def _k_picks() -> Iterator[Claim]:
    cells = [(*pair, measure, k) for pair, picks in K_PICKS.items() for measure, k in picks.items()]
    for n, (dataset, algorithm, measure, k) in enumerate(cells, start=1):
        sentence = f"On {dataset}, {algorithm_label(algorithm)} has its lowest {METRICS[measure].symbol} at K = {k}."
        yield _chosen(f"8.{n}", sentence, "k_picks", measure, dataset, algorithm, k)


def _picks() -> Iterator[Claim]:
    """Algorithm and K apart; a K that the table of chosen K has too is judged there."""
    later = 11
    for n, ((dataset, measure), pick) in enumerate(YEAST_PICKS.items(), start=1):
        who, what = algorithm_label(pick.algorithm), METRICS[measure].symbol
        sentence = f"On {dataset}, {what} chooses {who}."
        yield _chosen(f"9.{n}", sentence, "yeast", measure, dataset, pick.algorithm)
        if (dataset, pick.algorithm) not in K_PICKS:
            sentence = f"On {dataset}, {who} has its lowest {what} at K = {pick.k}."
            yield _chosen(f"9.{later}", sentence, "yeast", measure, dataset, pick.algorithm, pick.k)
            later += 1


def _coverage() -> Iterator[Claim]:
    for n, ((dataset, algorithm, k), value) in enumerate(YEAST_COVERAGE.items(), start=7):

        def covered(rows: pd.DataFrame, algorithm: str = algorithm, k: int = k) -> pd.Series[Any]:
            return rows[(rows["algorithm"] == algorithm) & (rows["k"] == k)].set_index("seed")["coverage"]

        who = f"{algorithm_label(algorithm)} with K = {k}"
        sentence = f"On {dataset}, {who} covers about {100 * value:.3g} % of the matrix."
        digit = 1e-4 if value < 0.01 else 1e-3
        yield Claim(f"9.{n}", sentence, SOURCES["yeast"], "yeast", _on(covered, dataset), value, digit, upper=1.0)


def _choices_differ(rows: pd.DataFrame) -> pd.Series[Any]:
    """Return the share of data sets on which the measures choose at least two pairs of algorithm and K, per seed."""
    best = pd.concat([picked(rows, measure, ["dataset", "seed"]) for measure in FOUR])
    pairs = best["algorithm"] + " " + best["k"].astype(str)
    return (pairs.groupby([best["seed"], best["dataset"]]).nunique() > 1).groupby(level="seed").mean()


def _rows_differ(rows: pd.DataFrame) -> pd.Series[Any]:
    chosen = [best_k(rows, measure).reindex(list(K_PICKS)) for measure in FOUR]
    return pd.concat(chosen).groupby(level=[0, 1]).nunique().gt(1).all()


def _collapsed(rows: pd.DataFrame) -> pd.Series[Any]:
    three = rows[(rows["algorithm"] == "las") & (rows["k"] == 3)].set_index("seed")
    return three[list(FOUR)].eq(0).all(axis=1)


def _broader(rows: pd.DataFrame) -> pd.Series[Any]:
    wide = rows.set_index(["seed", "dataset", "k", "algorithm"])["coverage"].unstack("algorithm")
    both = wide[["las", "spectral"]].dropna()
    return (both["spectral"] > both["las"]).groupby(level="seed").mean() > 0.5


def _favoured(key: str, measure: str = "nve_cov") -> Callable[[pd.DataFrame], pd.Series[Any]]:
    return lambda rows: favourites(rows, measure)[key]


def _las_wins(rows: pd.DataFrame) -> pd.Series[Any]:
    return best_pick(rows, COLLAPSED, "nve_cov")["algorithm"] == "las"


_SPECTRAL, _LAS, _CCA = map(_favoured, ("spectral", "las", "cca"))
_CHECKS: dict[str, Check] = {
    "7.7": lambda rows: _choices_differ(rows) > 0,
    "8.25": _rows_differ,
    "9.10": _collapsed,
    "10.1": lambda rows: (_SPECTRAL(rows) > _CCA(rows)) & (_SPECTRAL(rows) > _LAS(rows)),
    "10.2": lambda rows: _LAS(rows) <= _SPECTRAL(rows) / 2,
    "10.3": lambda rows: rows[rows["algorithm"] == "las"].groupby("seed")["coverage"].median() < LITTLE,
    "10.4": _broader,
    "10.5": lambda rows: _CCA(rows) >= 2,
    "10.6": lambda rows: _favoured("las", "avg_ve")(rows) >= 2,
    "11.4": _las_wins,
    "11.5": lambda rows: ~_las_wins(rows),
    "11.7": lambda rows: picked(rows, "nve_cov", ["dataset", "seed"]).groupby("seed")["nve_cov"].min() > 0,
}
