"""All claims of the paper in the order of their numbers, each with its check; claims.toml has what is said in words."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from bivaluate.algorithms.registry import algorithm_label
from bivaluate.datasets import published
from bivaluate.datasets.published import K_PICKS, MATCHED, PLANTED, WINNERS, YEAST_COVERAGE, YEAST_PICKS
from bivaluate.datasets.scenarios import VARIANTS
from bivaluate.registry import symbol
from bivaluate.replicate import claim_rules as rules
from bivaluate.replicate import winners as won
from bivaluate.replicate.claim_evidence import Evidence
from bivaluate.replicate.claim_rules import FITTED, IMPLIED, INDEPENDENT, Claim, JudgedClaim, Measure, View
from bivaluate.replicate.profile import FOUR
from bivaluate.replicate.winners import picked, win_counts

_FILES = (Path(__file__).with_name(name) for name in ("claims.toml", "text.toml"))
_CLAIMS, TEXT = (tomllib.loads(file.read_text(encoding="utf-8")) for file in _FILES)
SOURCES: dict[str, str] = _CLAIMS["sources"] | published.SOURCES | {"yeast": published.SOURCES["yeast_picks"]}
GROUPS = {int(number): title for number, title in _CLAIMS["groups"].items()}
#: Groups whose claims about yeast are also looked at with VE along columns.
BOTH_READINGS = (8, 9, 10)
#: Two scores within this share of each other count as alike.
ALIKE = 0.2
COLLAPSED = "13_heat_shock_2"
ALL_SETS = 17
#: A median coverage below this share is “a very small part” of a matrix; the threshold is ours.
LITTLE = 0.1

Check = Callable[["pd.DataFrame"], "pd.Series[Any]"]


def all_claims() -> list[Claim]:
    """Return every claim in the order of its number.

    Returns
    -------
    list of Claim
        The claims.

    See Also
    --------
    judge_all

    Examples
    --------
    >>> all_claims()[0].sentence
    'CCA is the most frequent winner under ASR.'
    """
    words = worded("matched", lambda id_, _: _FOUND_CHECKS.get(id_) or _matched(_MATCHED_CHECKS[id_]))
    claims = [*_winner_counts(), *words, *_cells(), *planted_claims(), *yeast_claims(), *printed_claims()]
    return sorted(claims, key=lambda claim: claim_order(claim.id))


def judge_all(evidence: Evidence) -> list[JudgedClaim]:
    """Judge every claim on the evidence.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    list of JudgedClaim
        One per claim.

    See Also
    --------
    all_claims

    Examples
    --------
    >>> judge_all(Evidence.read("docs/replication"))[0].verdict  # doctest: +SKIP
    'reproduced'
    """
    return [rules.judge_claim(claim, evidence) for claim in all_claims()]


def matched_cells(e: Evidence, view: View) -> pd.DataFrame:
    """Return the scores at matched K under a view."""
    table = e.matched
    return table[(table["profile"] == view.profile) & (table["algorithm_seed"] == view.algorithm_seed)]


def printed_claims() -> Iterator[Claim]:
    """Yield the claims about the printed tables themselves, which need no run."""
    off = [abs(row["nve"] / math.sqrt(row["coverage"]) / row["nve_cov"] - 1) for row in PLANTED.values()]
    # half a unit of the last of four digits in each of the three numbers
    slack = [5e-5 * (1 / r["nve"] + 0.5 / r["coverage"] + 1 / r["nve_cov"]) for r in PLANTED.values()]
    within = [gap <= most for gap, most in zip(off, slack, strict=True)]
    holds = {"17.1": within, "17.2": [len(set(row.values())) > 1 for row in K_PICKS.values()]}
    return worded("paper", lambda id_, _: lambda e, view: pd.Series(holds[id_]))


def _winner_counts() -> Iterator[Claim]:
    for n, (measure, winner) in enumerate(WINNERS.items()):
        key, who, what = winner.algorithm, algorithm_label(winner.algorithm), symbol(measure)
        ahead, wins = (_matched(partial(how, measure=measure, key=key)) for how in (is_ahead, _wins))
        most = f"{who} is the most frequent winner under {what}.", SOURCES["winners"], "matched", ahead
        reading = "it wins strictly more of the ten scenarios than either other algorithm"
        yield Claim(f"1.{2 * n + 1}", *most, reading=reading, basis=rules.DESIGNED)
        number = f"{who} wins {winner.wins} of the ten scenarios under {what}.", SOURCES["winners"], "matched", wins
        yield Claim(f"1.{2 * n + 2}", *number, float(winner.wins), upper=10.0, basis=rules.DESIGNED)


def _matched(check: Check) -> Measure:
    """Return a check of the scores at matched K."""
    return lambda e, view: check(matched_cells(e, view))


def _wins(table: pd.DataFrame, measure: str, key: str) -> pd.Series[Any]:
    return win_counts(table, measure)[key]


def is_ahead(table: pd.DataFrame, measure: str, key: str) -> pd.Series[Any]:
    """Return whether an algorithm wins more scenarios than any other, per seed."""
    counts = win_counts(table, measure)
    return counts[key] > counts.drop(columns=key).max(axis=1)


def _agree(table: pd.DataFrame) -> pd.Series[Any]:
    winners = [won.scenario_winners(table, measure).get("S1") for measure in FOUR]
    seeds = pd.DataFrame({n: chosen for n, chosen in enumerate(winners) if chosen is not None})
    return pd.Series({seed: max(Counter(row.dropna()).values()) >= 3 for seed, row in seeds.iterrows()}, dtype=bool)


def _small_and_clean(table: pd.DataFrame) -> pd.Series[Any]:
    means = table.groupby(["seed", "algorithm"])[["avg_ve", "coverage"]].mean()
    error, covered = means["avg_ve"].unstack(), means["coverage"].unstack()
    return error["las"].eq(error.min(axis=1)) & covered["las"].lt(covered["spectral"])


def _less_separate(table: pd.DataFrame, scenario: str, most: float) -> pd.Series[Any]:
    """Return whether the cleanest solution found on a scenario has a higher NVE than that on S1."""
    best = picked(table, "avg_ve", ["seed", "scenario"]).set_index("seed")
    s1, other = (best[best["scenario"] == name] for name in ("S1", scenario))
    both = s1.join(other, rsuffix="_other", how="inner").dropna(subset=["nve", "nve_other"])
    return (both["nve_other"] > both["nve"]) & (both["avg_ve_other"] <= most * both["avg_ve"])


def _thinner(e: Evidence, _: View) -> pd.Series[Any]:
    table = e.biclusters[(e.biclusters["scenario"] == "S6") & (e.biclusters["n_rows"] > 1)]
    thin, wide = (table[which].groupby("seed")["ve"].mean() for which in (table["n_cols"] == 2, table["n_cols"] > 2))
    return (thin < wide.reindex(thin.index)).astype(bool)


def _noisier(e: Evidence, _: View) -> pd.Series[Any]:
    table = e.biclusters[(e.biclusters["scenario"] == "S8") & (e.biclusters["planted"] > 0)].dropna(subset=["ve"])
    agree = {seed: rows[["planted", "ve", "msr"]].corr("spearman")["planted"] for seed, rows in table.groupby("seed")}
    return pd.Series({seed: bool((found.drop("planted") > 0).all()) for seed, found in agree.items()}, dtype=bool)


_FOUND_CHECKS: dict[str, Measure] = {"11.3": _thinner, "15.4": _noisier}
_MATCHED_CHECKS: dict[str, Check] = {
    "1.9": lambda table: _wins(table, "asr", "spectral") > 0,
    "1.10": _agree,
    "1.11": _small_and_clean,
    "1.12": lambda table: (_wins(table, "avg_ve", "las") > 5) & (_wins(table, "nve", "las") > 5),
    "5.9": partial(_less_separate, scenario="S5", most=1.2),
    "5.10": partial(_less_separate, scenario="S7", most=math.inf),
}


def _cells() -> Iterator[Claim]:
    """Yield what is printed of S2 and S9b: who is best, a measure, or with a resolution a number."""
    cov, coverage = (MATCHED["S2", "spectral", measure] for measure in ("nve_cov", "coverage"))
    values = MATCHED | {("S2", "spectral", "nve"): cov * math.sqrt(coverage)}
    for id_, scenario, algorithm, measure, resolution in _PRINTED:
        cell: dict[str, Any] = {"scenario": scenario, "algorithm": algorithm, "measure": measure}
        score, best = (_matched(partial(how, **cell)) for how in (_score, _is_best))
        on = f"On {scenario}, {algorithm_label(algorithm)}"
        where, basis = (SOURCES["matched"], "matched"), FITTED if scenario == "S2" else INDEPENDENT
        if not resolution:
            yield Claim(id_, f"{on} is best under {symbol(measure)}.", *where, best, basis=basis)
            continue
        value, covers = values[scenario, algorithm, measure], measure == "coverage"
        shown = f"covers {100 * value:.3g} %" if covers else f"has {symbol(measure)} {value:.3f}"
        is_printed, upper = (scenario, algorithm, measure) in MATCHED, 1.0 if covers else math.inf
        reading = "" if is_printed else "NVE_cov times the root of the coverage, both printed"
        yield Claim(id_, f"{on} {shown}.", *where, score, value, resolution, upper, reading, basis)


def _score(table: pd.DataFrame, scenario: str, algorithm: str, measure: str) -> pd.Series[Any]:
    return table[(table["scenario"] == scenario) & (table["algorithm"] == algorithm)].set_index("seed")[measure]


def _is_best(table: pd.DataFrame, scenario: str, algorithm: str, measure: str) -> pd.Series[Any]:
    return won.scenario_winners(table, measure)[scenario] == algorithm


# id, scenario, algorithm, measure, one unit of the last digit of a number (0: the algorithm is best)
_PRINTED = (
    ("2.1", "S2", "las", "avg_ve", 0), ("2.2", "S2", "las", "avg_ve", 1e-3), ("2.3", "S2", "las", "nve", 0),
    ("2.4", "S2", "las", "nve", 1e-3), ("2.5", "S2", "las", "coverage", 1e-3), ("2.6", "S2", "spectral", "coverage", 1e-3),
    ("2.7", "S2", "spectral", "nve_cov", 0), ("2.8", "S2", "spectral", "nve_cov", 1e-3), ("2.9", "S2", "spectral", "nve", 1e-3),
    ("3.1", "S9b", "las", "asr", 0), ("3.2", "S9b", "las", "avg_ve", 0), ("3.3", "S9b", "las", "nve", 0),
    ("3.4", "S9b", "las", "coverage", 1e-4), ("3.5", "S9b", "spectral", "nve_cov", 0),
)  # fmt: skip


def planted_claims() -> list[Claim]:
    """Return the claims about planted solutions: 4 to 6, and 11 to 16."""
    said, check = "The union coverage of S9b is only about 1 %.", _planted_cell("S9b", "coverage")
    covered = Claim("6.2", said, SOURCES["penalty"], "planted", check, 0.01, 0.01, basis=IMPLIED)
    words = worded("planted", lambda id_, _: lambda e, _: _PLANTED_CHECKS[id_](Planted(e)))
    return [*_table_cells(), *words, covered]


class Planted:
    """The scores of the planted solutions, asked for as ``p("S1", "nve")``: one value per seed."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, scenario: str, measure: str) -> pd.Series[Any]:
        table = self.evidence.planted
        return table[table["scenario"] == scenario].set_index("seed")[measure]

    def check(self, name: str) -> pd.Series[Any]:
        """Return a single quantity per seed."""
        table = self.evidence.checks
        return table[table["check"] == name].set_index("seed")["value"]

    def alike(self, one: str, other: str, measure: str) -> pd.Series[Any]:
        """Return whether two scenarios have a score alike."""
        return (self(one, measure) / self(other, measure) - 1).abs() <= ALIKE

    def rises(self, measure: str, *scenarios: str) -> pd.Series[Any]:
        """Return whether a score rises from each of these scenarios to the next."""
        scores = pd.concat([self(scenario, measure) for scenario in scenarios], axis=1)
        return scores.diff(axis=1).iloc[:, 1:].gt(0).all(axis=1)

    def climbs(self, key: str) -> pd.Series[Any]:
        """Return whether a measure rises at every rung of the noise ladder."""
        return self.check(f"s8_{key}_rungs") == 4

    def worst(self, measure: str) -> pd.Series[Any]:
        """Return which scenario of the paper's table has the highest score."""
        return pd.concat([self(s, measure) for s in PLANTED], axis=1, keys=list(PLANTED)).idxmax(axis=1)

    def same_order(self) -> pd.Series[Any]:
        """Return whether the numerators of NVE on S1, S5 and S7 are of the same order."""
        parts = pd.concat([self(s, "numerator") for s in ("S1", "S5", "S7")], axis=1)
        return parts.max(axis=1) <= 2 * parts.min(axis=1)


def _planted_cell(scenario: str, measure: str) -> Measure:
    """Return the check of a printed cell; along columns, of the scenario calibrated for it."""
    return lambda e, view: Planted(e)(f"{scenario}c" if view.profile == "columns" else scenario, measure)


def _table_cells() -> Iterator[Claim]:
    cells = [(scenario, measure, value) for scenario, row in PLANTED.items() for measure, value in row.items()]
    for n, (scenario, measure, value) in enumerate(cells, start=1):
        sentence = f"The planted solution of {scenario} has {symbol(measure)} {value:.4f}."
        said = f"4.{n}", sentence, SOURCES["planted"], "planted", _planted_cell(scenario, measure), value, 1e-4
        yield Claim(*said, basis=FITTED, columns=f"{scenario}c" in VARIANTS)


_PLANTED_CHECKS: dict[str, Callable[[Planted], pd.Series[Any]]] = {
    "5.1": Planted.same_order,
    "5.2": lambda p: p.rises("denominator", "S7", "S5", "S1"),
    "5.3": lambda p: p.rises("nve", "S1", "S5", "S7"),
    "5.4": lambda p: (p("S7", "nve") - 1).abs() <= 0.1,
    "5.5": lambda p: p.alike("S5", "S1", "asr"),
    "5.6": lambda p: p.alike("S5", "S1", "avg_ve"),
    "5.7": lambda p: p.rises("asr", "S7", "S9a") & p.rises("avg_ve", "S7", "S9a") & p.rises("nve", "S9a", "S7"),
    "5.8": lambda p: p("S1", "nve") < 0.5,
    "6.1": lambda p: p.rises("nve", "S9b", "S4") & p.rises("nve", "S9b", "S9a"),
    "6.3": lambda p: p.rises("nve_cov", "S4", "S9b") & p.rises("nve_cov", "S9a", "S9b"),
    "6.4": lambda p: p.check("s4_clean_nve") < p("S4", "nve"),
    "6.5": lambda p: p.check("s4_clean_nve_cov") > p("S4", "nve_cov"),
    "11.1": lambda p: (p.check("s6_stripe_ve") < 1e-12) & (p.check("s6_block_ve") > 0.05),
    "11.2": lambda p: (p.check("s6_filtered_avg_ve") > p("S6", "avg_ve")) & (p.check("s6_filtered_nve") > p("S6", "nve")),
    "11.6": lambda p: p.check("noise_ratio") < 1,
    "12.1": lambda p: (p.worst("nsr") == "S7") & (p.worst("nve") == "S7"),
    "12.2": lambda p: p("S2", "nsr") / p("S1", "nsr") > 2 * p("S2", "nve") / p("S1", "nve"),
    "12.3": lambda p: p.rises("nsr", "S9b", "S9a"),
    "12.4": lambda p: p.rises("nve_cov", "S9a", "S9b"),
    "13.1": lambda p: p.check("scaling_identity_gap") < 1e-10,
    "14.1": lambda p: p.rises("asr", "S1", "S3") & p.rises("avg_ve", "S1", "S3"),
    "14.2": lambda p: p("S3", "nve") < 1,
    "14.3": lambda p: (p("S2", "asr") > 5 * p("S1", "asr")) & (p("S2", "avg_ve") < 1.2 * p("S1", "avg_ve")),
    "14.4": lambda p: p.alike("S3", "S1", "nve"),
    "15.1": lambda p: p.climbs("msr"),
    "15.2": lambda p: p.climbs("ve"),
    "15.3": lambda p: p.climbs("nve_k"),
    "16.1": lambda p: p.rises("coverage", "S5", "S1") & p.rises("mean_area", "S1", "S5"),
}  # fmt: skip


def yeast_claims() -> list[Claim]:
    """Return the claims about yeast: 7 to 10, and 11 about small biclusters."""
    words = worded("yeast", lambda id_, said: _on(_YEAST_CHECKS[id_], said.get("dataset", ""), said.get("profile", "")))
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
        name, share = symbol(measure), partial(won.differing_share, measure=measure)
        often = partial(lambda rows, share: share(rows) > 0.5, share=share)
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
            return won.margins(rows, measure, rows["algorithm"] == algorithm)
        own = rows[rows["algorithm"] == algorithm]
        return won.margins(own, measure, own["k"] == k)

    return Claim(id_, sentence, SOURCES[source], "yeast", _on(margin, dataset), choice=True, columns=True)


def _k_picks() -> Iterator[Claim]:
    cells = [(*pair, measure, k) for pair, picks in K_PICKS.items() for measure, k in picks.items()]
    for n, (dataset, algorithm, measure, k) in enumerate(cells, start=1):
        sentence = f"On {dataset}, {algorithm_label(algorithm)} has its lowest {symbol(measure)} at K = {k}."
        yield _chosen(f"8.{n}", sentence, "k_picks", measure, dataset, algorithm, k)


def _picks() -> Iterator[Claim]:
    """Algorithm and K apart; a K that the table of chosen K has too is judged there."""
    later = 11
    for n, ((dataset, measure), pick) in enumerate(YEAST_PICKS.items(), start=1):
        who, what = algorithm_label(pick.algorithm), symbol(measure)
        sentence = f"On {dataset}, {what} chooses {who}."
        yield _chosen(f"9.{n}", sentence, "yeast", measure, dataset, pick.algorithm)
        if (dataset, pick.algorithm) not in K_PICKS:
            sentence = f"On {dataset}, {who} has its lowest {what} at K = {pick.k}."
            yield _chosen(f"9.{later}", sentence, "yeast", measure, dataset, pick.algorithm, pick.k)
            later += 1


def _coverage() -> Iterator[Claim]:
    for n, ((dataset, algorithm, k), value) in enumerate(YEAST_COVERAGE.items(), start=7):
        covered = partial(_covered, algorithm=algorithm, k=k)
        who = f"{algorithm_label(algorithm)} with K = {k}"
        sentence = f"On {dataset}, {who} covers about {100 * value:.3g} % of the matrix."
        digit = 1e-4 if value < 0.01 else 1e-3
        yield Claim(f"9.{n}", sentence, SOURCES["yeast"], "yeast", _on(covered, dataset), value, digit, upper=1.0)


def _covered(rows: pd.DataFrame, algorithm: str, k: int) -> pd.Series[Any]:
    return rows[(rows["algorithm"] == algorithm) & (rows["k"] == k)].set_index("seed")["coverage"]


def _choices_differ(rows: pd.DataFrame) -> pd.Series[Any]:
    """Return the share of data sets on which the measures choose at least two pairs of algorithm and K, per seed."""
    best = pd.concat([picked(rows, measure, ["dataset", "seed"]) for measure in FOUR])
    pairs = best["algorithm"] + " " + best["k"].astype(str)
    return (pairs.groupby([best["seed"], best["dataset"]]).nunique() > 1).groupby(level="seed").mean()


def _rows_differ(rows: pd.DataFrame) -> pd.Series[Any]:
    chosen = [won.best_k_by_seed(rows, measure).reindex(list(K_PICKS)) for measure in FOUR]
    return pd.concat(chosen).groupby(level=[0, 1]).nunique().gt(1).all()


def _collapsed(rows: pd.DataFrame) -> pd.Series[Any]:
    three = rows[(rows["algorithm"] == "las") & (rows["k"] == 3)].set_index("seed")
    return three[list(FOUR)].eq(0).all(axis=1)


def _broader(rows: pd.DataFrame) -> pd.Series[Any]:
    wide = rows.set_index(["seed", "dataset", "k", "algorithm"])["coverage"].unstack("algorithm")
    both = wide[["las", "spectral"]].dropna()
    return (both["spectral"] > both["las"]).groupby(level="seed").mean() > 0.5


def _favoured(key: str, measure: str = "nve_cov") -> Callable[[pd.DataFrame], pd.Series[Any]]:
    return lambda rows: won.favourites(rows, measure)[key]


def _las_wins(rows: pd.DataFrame) -> pd.Series[Any]:
    return won.best_pick(rows, COLLAPSED, "nve_cov")["algorithm"] == "las"


_SPECTRAL, _LAS, _CCA = map(_favoured, ("spectral", "las", "cca"))
_YEAST_CHECKS: dict[str, Check] = {
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


def worded(on: str, measure: Callable[[str, dict[str, Any]], Measure]) -> Iterator[Claim]:
    """Yield the claims in words about one experiment, each with its check."""
    for id_, said in _CLAIMS[on].items():
        known = {name: said[name] for name in ("reading", "basis", "vague") if name in said}
        columns = claim_order(id_)[0] in BOTH_READINGS
        source = SOURCES[said.get("source", on)]
        yield Claim(id_, said["says"], source, on, measure(id_, said), columns=columns, **known)


def claim_order(id_: str) -> tuple[int, int]:
    """Return group and part of a claim's number."""
    group, part = id_.split(".")
    return int(group), int(part)
