"""What the paper says about the yeast K-sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bivaluate.datasets.published import K_PICKS, K_PICKS_SOURCE, YEAST_COVERAGE, YEAST_PICKS, YEAST_SOURCE
from bivaluate.plots.style import MEASURE_NAMES, algorithm_name
from bivaluate.replicate.claim import Claim, Measure, View
from bivaluate.replicate.claims_planted import CAVEATS
from bivaluate.replicate.winners import best_k, best_pick, favourites

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.evidence import Evidence

COLLAPSED = "13_heat_shock_2"


def yeast_claims() -> list[Claim]:
    """Return the claims about yeast: 7 to 10, and 11 for 13_heat_shock_2."""
    return [*_different_k(), *_k_picks(), *_picks(), *_coverage(), *_collapse(), *_favourites(), *_filter()]


def _cells(e: Evidence, view: View) -> pd.DataFrame:
    return e.yeast[e.yeast["profile"] == view.profile]


def _has(e: Evidence, *datasets: str) -> bool:
    return set(datasets) <= set(e.yeast["dataset"])


def _nothing() -> pd.Series[Any]:
    import pandas as pd

    return pd.Series(dtype=float)


def differing_share(yeast: pd.DataFrame, measure: str) -> pd.Series[Any]:
    """Return, per seed, the share of data set–algorithm pairs where NVE_cov and `measure` choose different K."""
    ours, theirs = best_k(yeast, "nve_cov"), best_k(yeast, measure)
    both = ours.notna() & theirs.notna()
    return ((ours != theirs) & both).sum() / both.sum()


def _different_k() -> list[Claim]:
    claims = []
    for n, measure in enumerate(("asr", "avg_ve", "nve")):
        name = MEASURE_NAMES[measure]

        def share(e: Evidence, view: View, measure: str = measure) -> pd.Series[Any]:
            if e.yeast["dataset"].nunique() < 17:
                return _nothing()
            return differing_share(_cells(e, view), measure)

        def often(e: Evidence, view: View, share: Measure = share) -> pd.Series[Any]:
            return share(e, view) > 0.5

        claims += [
            Claim(
                f"7.{2 * n + 1}",
                f"NVE_cov chooses another K than {name} in many pairs of data set and algorithm.",
                YEAST_SOURCE,
                "yeast",
                often,
                reading="in more than half of the pairs in which both choose; that threshold is ours",
            ),
            Claim(
                f"7.{2 * n + 2}",
                f"The share of pairs in which NVE_cov and {name} choose another K.",
                YEAST_SOURCE,
                "yeast",
                share,
                upper=1.0,
                reading="the paper prints neither the number nor the number of pairs",
                unprinted=True,
            ),
        ]
    return claims


def _k_picks() -> list[Claim]:
    claims = []
    for row, ((dataset, algorithm), picks) in enumerate(K_PICKS.items()):
        for column, (measure, k) in enumerate(picks.items()):

            def same(
                e: Evidence,
                view: View,
                dataset: str = dataset,
                algorithm: str = algorithm,
                measure: str = measure,
                k: int = k,
            ) -> pd.Series[Any]:
                if not _has(e, dataset):
                    return _nothing()
                cells = _cells(e, view)
                own = cells[(cells["dataset"] == dataset) & (cells["algorithm"] == algorithm)]
                return best_k(own, measure).T[(dataset, algorithm)].eq(k)

            claims.append(
                Claim(
                    f"8.{4 * row + column + 1}",
                    f"On {dataset}, {algorithm_name(algorithm)} has its lowest {MEASURE_NAMES[measure]} at K = {k}.",
                    K_PICKS_SOURCE,
                    "yeast",
                    same,
                )
            )
    return claims


def _picks() -> list[Claim]:
    claims = []
    for n, ((dataset, measure), pick) in enumerate(YEAST_PICKS.items()):

        def same(
            e: Evidence,
            view: View,
            dataset: str = dataset,
            measure: str = measure,
            algorithm: str = pick.algorithm,
            k: int = pick.k,
        ) -> pd.Series[Any]:
            if not _has(e, dataset):
                return _nothing()
            best = best_pick(_cells(e, view), dataset, measure)
            return (best["algorithm"] == algorithm) & (best["k"] == k)

        claims.append(
            Claim(
                f"9.{n + 1}",
                f"On {dataset}, {MEASURE_NAMES[measure]} chooses {algorithm_name(pick.algorithm)} with K = {pick.k}.",
                YEAST_SOURCE,
                "yeast",
                same,
            )
        )
    return claims


def _coverage() -> list[Claim]:
    claims = []
    for n, ((dataset, algorithm, k), value) in enumerate(YEAST_COVERAGE.items()):

        def covered(
            e: Evidence, view: View, dataset: str = dataset, algorithm: str = algorithm, k: int = k
        ) -> pd.Series[Any]:
            table = _cells(e, view)
            rows = table[(table["dataset"] == dataset) & (table["algorithm"] == algorithm) & (table["k"] == k)]
            return rows.set_index("seed")["coverage"]

        claims.append(
            Claim(
                f"9.{n + 7}",
                f"On {dataset}, {algorithm_name(algorithm)} with K = {k} covers about {100 * value:.3g} % of the matrix.",
                YEAST_SOURCE,
                "yeast",
                covered,
                value,
                1e-4 if value < 0.01 else 1e-3,
                upper=1.0,
            )
        )
    return claims


def _collapse() -> list[Claim]:
    def zero(e: Evidence, view: View) -> pd.Series[Any]:
        if not _has(e, COLLAPSED):
            return _nothing()
        table = _cells(e, view)
        rows = table[(table["dataset"] == COLLAPSED) & (table["algorithm"] == "las") & (table["k"] == 3)]
        return rows.set_index("seed")[["asr", "avg_ve", "nve", "nve_cov"]].eq(0).all(axis=1)

    return [
        Claim(
            "9.10",
            f"On {COLLAPSED}, LAS returns a degenerate solution for which all four measures collapse to zero.",
            YEAST_SOURCE,
            "yeast",
            zero,
        )
    ]


def _favourites() -> list[Claim]:
    def counts(e: Evidence, view: View) -> pd.DataFrame | None:
        return favourites(_cells(e, view), "nve_cov") if e.yeast["dataset"].nunique() == 17 else None

    def spectral_most(e: Evidence, view: View) -> pd.Series[Any]:
        table = counts(e, view)
        return _nothing() if table is None else table["spectral"] > table[["cca", "las"]].max(axis=1)

    def las_least(e: Evidence, view: View) -> pd.Series[Any]:
        table = counts(e, view)
        return _nothing() if table is None else table["las"] < table[["cca", "spectral"]].min(axis=1)

    return [
        Claim(
            "10.1",
            "On the yeast data, NVE_cov most often favours Spectral.",
            YEAST_SOURCE,
            "yeast",
            spectral_most,
            reading="Spectral is best, over all K, on strictly more data sets than CCA and than LAS",
        ),
        Claim(
            "10.2",
            "On the yeast data, NVE_cov favours LAS much less often.",
            YEAST_SOURCE,
            "yeast",
            las_least,
            reading="LAS is best on strictly fewer data sets than CCA and than Spectral",
        ),
    ]


def _filter() -> list[Claim]:
    def winner(profile: str) -> Measure:
        def holds(e: Evidence, view: View) -> pd.Series[Any]:
            if not _has(e, COLLAPSED):
                return _nothing()
            chosen = profile or view.profile
            return best_pick(_cells(e, View(chosen, "fixed")), COLLAPSED, "nve_cov")["algorithm"] == "las"

        return holds

    def mended(e: Evidence, view: View) -> pd.Series[Any]:
        found = winner("filtered")(e, view)
        return ~found if len(found) else found

    return [
        Claim(
            "11.4",
            f"On {COLLAPSED}, the score of LAS remains spuriously favourable despite negligible coverage.",
            CAVEATS,
            "yeast",
            winner(""),
            reading="LAS has the best NVE_cov of all algorithms and K",
        ),
        Claim(
            "11.5",
            f"On {COLLAPSED}, a minimum-size filter removes the spurious winner.",
            CAVEATS,
            "yeast",
            mended,
            reading="without biclusters of fewer than 2 rows or 3 columns, LAS no longer wins; ours, the paper only proposes it",
        ),
    ]
