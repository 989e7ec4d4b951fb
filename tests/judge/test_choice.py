from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bivaluate.judge.choice import CANDIDATE, best, called, candidates, of_measure, verdict


def table(values: dict[tuple[str, int], list[float]], status: str = "ok") -> pd.DataFrame:
    rows = [
        {"dataset": "d", "algorithm": a, "k": k, "seed": s, "status": status, "nve": v, "coverage": 0.5}
        for (a, k), seeds in values.items()
        for s, v in enumerate(seeds)
    ]
    return pd.DataFrame(rows)


def test_mean_interval_and_wins() -> None:
    results = table({("a", 2): [1.0, 2.0, 3.0], ("a", 3): [1.5, 1.0, 1.0], ("b", 2): [9.0, 9.0, 0.5]})
    summary = candidates(results, "nve", high=False).set_index(["algorithm", "k"])
    assert summary.loc[("a", 2), "mean"] == 2.0
    low, high = stats.t.interval(0.95, 2, loc=2.0, scale=stats.sem([1.0, 2.0, 3.0]))
    assert summary.loc[("a", 2), "low"] == pytest.approx(low)
    assert summary.loc[("a", 2), "high"] == pytest.approx(high)
    assert summary["wins"].to_dict() == {("a", 2): 1, ("a", 3): 1, ("b", 2): 1}
    chosen = best(summary.reset_index(), high=False).iloc[0]
    assert (chosen["algorithm"], chosen["k"], chosen["runner_up"]) == ("a", 3, "a K=2")
    assert best(summary.reset_index(), high=True).iloc[0]["algorithm"] == "b"
    assert best(summary.reset_index(), high=False, of=CANDIDATE[:2])["k"].tolist() == [3, 2]


def test_one_seed_has_no_interval() -> None:
    summary = candidates(table({("a", 2): [1.0]}), "nve", high=False)
    assert math.isnan(summary["low"][0])
    assert summary["wins"][0] == 1


def test_degenerate_cells_take_no_part() -> None:
    results = table({("a", 2): [0.0, 0.0, 0.0, 1.0], ("b", 2): [2.0, 2.0, 2.0, 2.0]})
    results.loc[:2, "status"] = "degenerate"
    summary = candidates(results, "nve", high=False)
    assert summary["n"].tolist() == [1, 4]
    assert summary["degenerate"].tolist() == [3, 0]
    assert summary["wins"].tolist() == [1, 3]
    assert best(summary, high=False)["algorithm"].tolist() == ["b"]


def test_nobody_wins_where_all_tie() -> None:
    summary = candidates(table({("a", 2): [0.0, 0.0], ("b", 2): [0.0, 0.0]}), "nve", high=True)
    assert summary["wins"].tolist() == [0, 0]
    assert len(best(summary, high=True)) == 0
    partly = candidates(table({("a", 2): [1.0], ("a", 3): [1.0], ("b", 2): [2.0]}), "nve", high=False)
    assert best(partly, high=False)["k"].tolist() == [2]
    each = candidates(table({("a", 2): [1.0], ("a", 3): [1.0], ("b", 2): [2.0]}), "nve", high=False)
    of_each = best(each, high=False, of=["dataset", "algorithm"])  # every algorithm has a best value
    assert of_each[["algorithm", "k"]].to_numpy().tolist() == [["a", 2], ["b", 2]]


def test_undefined_values_never_win() -> None:
    summary = candidates(table({("a", 2): [np.nan, np.nan], ("b", 2): [3.0, 3.0]}), "nve", high=False)
    assert best(summary, high=False)["algorithm"].tolist() == ["b"]
    assert len(best(candidates(table({("a", 2): [np.nan]}), "nve", high=False), high=False)) == 0


def chosen(**choices):
    """The tables of candidates and of the best, two algorithms and two K each, for these choices by measure."""
    best = [{"measure": key, "dataset": "d", "algorithm": a, "k": k} for key, (a, k) in choices.items() if a]
    candidates = pd.DataFrame({"measure": list(choices), "dataset": "d"})
    return pd.DataFrame(best, columns=["measure", "dataset", "algorithm", "k"]), candidates, "d"


@pytest.mark.parametrize(
    ("choices", "by", "sentence"),
    [
        ({"total_evidence": ("a", 2), "predictive": ("a", 2)}, "total_evidence", "d: evidence chooses a with K = 2; held-out values agree."),
        ({"total_evidence": ("a", 2), "predictive": ("a", 3)}, "total_evidence", "d: evidence chooses a with K = 2; held-out values agree on a, with K = 3."),
        ({"total_evidence": ("a", 2), "predictive": ("b", 3)}, "predictive", "d: held-out values choose b with K = 3; evidence chooses a with K = 2."),
        ({"nve_cov": ("b", 3), "total_evidence": ("a", 2)}, "nve_cov", "d: NVE_cov chooses b with K = 3; evidence chooses a with K = 2."),
        ({"total_evidence": ("", 0), "predictive": ("", 0)}, "total_evidence", "d: no bicluster is supported and no candidate predicts held-out values."),
        ({"nve_cov": ("b", 3), "total_evidence": ("", 0)}, "nve_cov", "d: no bicluster is supported."),
        ({"total_evidence": ("", 0), "predictive": ("a", 2)}, "total_evidence", "d: doubtful: no bicluster is supported, but held-out values are predicted."),
        ({"total_evidence": ("a", 2)}, "total_evidence", "d: evidence chooses a with K = 2."),
    ],
)  # fmt: skip
def test_the_verdict_in_words(choices, by, sentence):
    assert verdict(*chosen(**choices), by) == sentence


@pytest.mark.parametrize(
    ("found", "supported", "finds_k", "sentence"),
    [
        (3, 3, ["a"], "d: a, which finds K itself: all 3 biclusters are supported."),
        (3, 2, [], "d: a, K = 5 (3 found): 2 of the 3 biclusters are supported."),
        (5, 5, [], "d: a, K = 5: all 5 biclusters are supported."),
    ],
)  # fmt: skip
def test_the_verdict_says_how_many_were_found(found, supported, finds_k, sentence):
    best, *rest = chosen(total_evidence=("a", 5))
    assert (
        verdict(best.assign(found=found, n_supported=supported), *rest, "total_evidence", finds_k=finds_k) == sentence
    )


def test_another_bound_is_no_other_k():
    tables = chosen(total_evidence=("find", 5), predictive=("find", 3))
    said = "d: evidence chooses find; held-out values agree on find, asked for at most 3."
    assert verdict(*tables, "total_evidence", finds_k=["find"]) == said


@pytest.mark.parametrize(
    ("p_values", "by", "sentence"),
    [
        ({"total_evidence": 0.4}, "total_evidence", "d: surrogates have as much evidence (p = 0.4)."),
        ({"total_evidence": 0.4, "predictive": np.nan}, "total_evidence", "d: doubtful: surrogates have as much evidence (p = 0.4), but held-out values are predicted."),
        ({"nve_cov": 0.6, "total_evidence": 0.1}, "nve_cov", "d: NVE_cov chooses a with K = 2, no better than what it chooses in surrogates (p = 0.6); evidence agrees."),
    ],
)  # fmt: skip
def test_a_choice_that_surrogates_match_is_nothing(p_values, by, sentence):
    found, candidates, dataset = chosen(**dict.fromkeys(p_values, ("a", 2)))
    assert verdict(found.assign(p_value=list(p_values.values())), candidates, dataset, by) == sentence


def test_equals_are_decided_by_fewer_biclusters_and_nothing_supported_by_raw_evidence() -> None:
    rows = {("a", 2): [5.0], ("a", 3): [5.0], ("b", 2): [1.0]}
    equal = table(rows).rename(columns={"nve": "total_evidence"}).assign(n_biclusters=[3, 2, 1])
    summary = candidates(equal, "total_evidence", high=True, above=0.0)
    assert best(summary, high=True, above=0.0)["k"].tolist() == [3]
    none = equal.assign(total_evidence=0.0, raw_evidence=[4.0, 9.0, 7.0])
    assert len(best(candidates(none, "total_evidence", high=True, above=0.0), high=True, above=0.0)) == 0


def test_a_refined_solution_counts_for_its_algorithm():
    rows = [("d", "las", 2, seed, "ok", 90.0 + seed) for seed in range(3)]
    rows += [("d", "las-final", 2, 0, "ok", 120.0), ("d", "cca", 3, 0, "ok", 50.0)]
    results = pd.DataFrame(rows, columns=["dataset", "algorithm", "k", "seed", "status", "total_evidence"])
    (row,) = best(candidates(results, "total_evidence", True, 0.0), True, 0.0).to_dict("records")
    assert (row["algorithm"], row["wins"], row["contests"], row["runner_up"]) == ("las-final", 3, 3, "cca K=3")
    assert called("las-final", 2) == "las (refined) with K = 2"


def test_the_smallest_k_that_is_as_good_wins_unless_solutions_were_refined() -> None:
    """`find` refines, and takes the most evidence of all: `select` on its plan must not choose otherwise."""
    rows = [("lda", 5, 98.0), ("lda", 8, 100.0), ("lda-final", 8, 100.0)]
    results = pd.DataFrame(rows, columns=["algorithm", "k", "total_evidence"])
    results = results.assign(dataset="d", seed=0, status="ok", n_biclusters=5, n_supported=5)
    for end, k in ((2, 5), (3, 8)):
        assert best(of_measure(results[:end], "total_evidence"), high=True, above=0.0)["k"].tolist() == [k]
