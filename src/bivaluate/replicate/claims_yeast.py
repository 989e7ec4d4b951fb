"""What the paper says about the yeast K-sweeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets.published import K_PICKS, K_PICKS_SOURCE, YEAST_COVERAGE, YEAST_PICKS, YEAST_SOURCE
from bivaluate.measures.registry import METRICS
from bivaluate.replicate.claim_rules import Claim, Measure, View
from bivaluate.replicate.claims_planted import CAVEATS
from bivaluate.replicate.profile import FOUR
from bivaluate.replicate.winners import best_k, best_pick, differing_share, favourites

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.claim_evidence import Evidence

COLLAPSED = "13_heat_shock_2"
ALL_SETS = 17
#: A median coverage below this share is “a very small part” of a matrix; the threshold is ours.
LITTLE = 0.1

Check = Callable[["pd.DataFrame"], "pd.Series[Any]"]


def yeast_claims() -> list[Claim]:
    """Return the claims about yeast: 7 to 10, and 11 for 13_heat_shock_2."""
    return [*_different_k(), *_k_picks(), *_picks(), *_coverage(), *_in_words()]


def _on(dataset: str, check: Check, profile: str = "") -> Measure:
    """Return a check of the scores on one data set (all of them where none is named), if they were run."""

    def measure(e: Evidence, view: View) -> pd.Series[Any]:
        import pandas as pd

        table = e.yeast[e.yeast["profile"] == (profile or view.profile)]
        rows = table[table["dataset"] == dataset] if dataset else table
        enough = len(rows) if dataset else rows["dataset"].nunique() == ALL_SETS
        return check(rows) if enough else pd.Series(dtype=float)

    return measure


def _different_k() -> Iterable[Claim]:
    for n, measure in enumerate(FOUR[:3]):
        name, share = METRICS[measure].symbol, partial(differing_share, measure=measure)

        def often(rows: pd.DataFrame, share: Check = share) -> pd.Series[Any]:
            return share(rows) > 0.5

        yield Claim(
            f"7.{2 * n + 1}",
            f"NVE_cov chooses another K than {name} in many pairs of data set and algorithm.",
            YEAST_SOURCE,
            "yeast",
            _on("", often),
            reading="in more than half of the pairs in which both choose; that threshold is ours",
            vague=True,
        )
        yield Claim(
            f"7.{2 * n + 2}",
            f"The share of pairs in which NVE_cov and {name} choose another K.",
            YEAST_SOURCE,
            "yeast",
            _on("", share),
            upper=1.0,
            reading="the paper prints neither the number nor the number of pairs",
            unprinted=True,
        )


def _k_picks() -> Iterable[Claim]:
    cells = [(*pair, measure, k) for pair, picks in K_PICKS.items() for measure, k in picks.items()]
    for n, (dataset, algorithm, measure, k) in enumerate(cells, start=1):

        def same(rows: pd.DataFrame, algorithm: str = algorithm, measure: str = measure, k: int = k) -> pd.Series[Any]:
            return best_k(rows[rows["algorithm"] == algorithm], measure).iloc[0].eq(k)

        sentence = f"On {dataset}, {algorithm_label(algorithm)} has its lowest {METRICS[measure].symbol} at K = {k}."
        yield Claim(f"8.{n}", sentence, K_PICKS_SOURCE, "yeast", _on(dataset, same))


def _picks() -> Iterable[Claim]:
    for n, ((dataset, measure), pick) in enumerate(YEAST_PICKS.items(), start=1):

        def same(rows: pd.DataFrame, dataset: str = dataset, measure: str = measure, pick: Any = pick) -> Any:
            best = best_pick(rows, dataset, measure)
            return (best["algorithm"] == pick.algorithm) & (best["k"] == pick.k)

        chosen = f"{algorithm_label(pick.algorithm)} with K = {pick.k}"
        sentence = f"On {dataset}, {METRICS[measure].symbol} chooses {chosen}."
        yield Claim(f"9.{n}", sentence, YEAST_SOURCE, "yeast", _on(dataset, same))


def _coverage() -> Iterable[Claim]:
    for n, ((dataset, algorithm, k), value) in enumerate(YEAST_COVERAGE.items(), start=7):

        def covered(rows: pd.DataFrame, algorithm: str = algorithm, k: int = k) -> pd.Series[Any]:
            return rows[(rows["algorithm"] == algorithm) & (rows["k"] == k)].set_index("seed")["coverage"]

        who = f"{algorithm_label(algorithm)} with K = {k}"
        sentence = f"On {dataset}, {who} covers about {100 * value:.3g} % of the matrix."
        digit = 1e-4 if value < 0.01 else 1e-3
        yield Claim(f"9.{n}", sentence, YEAST_SOURCE, "yeast", _on(dataset, covered), value, digit, upper=1.0)


def _in_words() -> Iterable[Claim]:
    def collapsed(rows: pd.DataFrame) -> pd.Series[Any]:
        three = rows[(rows["algorithm"] == "las") & (rows["k"] == 3)].set_index("seed")
        return three[list(FOUR)].eq(0).all(axis=1)

    def spectral_most(rows: pd.DataFrame) -> pd.Series[Any]:
        counts = favourites(rows, "nve_cov")
        return counts["spectral"] > counts[["cca", "las"]].max(axis=1)

    def las_least(rows: pd.DataFrame) -> pd.Series[Any]:
        counts = favourites(rows, "nve_cov")
        return counts["las"] < counts[["cca", "spectral"]].min(axis=1)

    def las_little(rows: pd.DataFrame) -> pd.Series[Any]:
        return rows[rows["algorithm"] == "las"].groupby("seed")["coverage"].median() < LITTLE

    def spectral_broader(rows: pd.DataFrame) -> pd.Series[Any]:
        wide = rows.set_index(["seed", "dataset", "k", "algorithm"])["coverage"].unstack("algorithm")
        both = wide[["las", "spectral"]].dropna()
        return (both["spectral"] > both["las"]).groupby(level="seed").mean() > 0.5

    def cca_sometimes(rows: pd.DataFrame) -> pd.Series[Any]:
        return favourites(rows, "nve_cov")["cca"] >= 2

    def las_wins(rows: pd.DataFrame) -> pd.Series[Any]:
        return best_pick(rows, COLLAPSED, "nve_cov")["algorithm"] == "las"

    spurious = f"On {COLLAPSED}, the score of LAS remains spuriously favourable despite negligible coverage."
    degenerate = f"On {COLLAPSED}, LAS returns a degenerate solution for which all four measures collapse to zero."
    filtered = (
        "without biclusters of fewer than 2 rows or 3 columns, LAS no longer wins; ours, the paper only proposes it"
    )
    words: list[tuple[str, str, str, str, Measure]] = [
        ("9.10", YEAST_SOURCE, degenerate, "", _on(COLLAPSED, collapsed)),
        ("10.1", YEAST_SOURCE, "On the yeast data, NVE_cov most often favours Spectral.",
         "Spectral is best, over all K, on strictly more data sets than CCA and than LAS", _on("", spectral_most)),
        ("10.2", YEAST_SOURCE, "On the yeast data, NVE_cov favours LAS much less often.",
         "LAS is best on strictly fewer data sets than CCA and than Spectral", _on("", las_least)),
        ("10.4", YEAST_SOURCE, "Spectral more often produces solutions with broader coverage.",
         "with the same data set and K, Spectral covers more than LAS in more than half of the pairs",
         _on("", spectral_broader)),
        ("10.5", YEAST_SOURCE, "CCA remains competitive on some datasets.",
         "CCA is best under NVE_cov, over all K, on at least two data sets", _on("", cca_sometimes)),
        ("11.4", CAVEATS, spurious, "LAS has the best NVE_cov of all algorithms and K", _on(COLLAPSED, las_wins)),
        ("11.5", CAVEATS, f"On {COLLAPSED}, a minimum-size filter removes the spurious winner.", filtered,
         _on(COLLAPSED, lambda rows: ~las_wins(rows), "filtered")),
    ]  # fmt: skip
    for id_, source, sentence, reading, holds in words:
        yield Claim(id_, sentence, source, "yeast", holds, reading=reading)
    little = "LAS solutions often cover only a very small part of the matrix."
    reading = "the median coverage of LAS over data sets and K is below 10 %; that threshold is ours"
    yield Claim("10.3", little, YEAST_SOURCE, "yeast", _on("", las_little), reading=reading, vague=True)
