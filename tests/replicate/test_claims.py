"""The claims as data, and each kind of check on evidence made to agree or to disagree."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from bivaluate import mean_squared_residue
from bivaluate.datasets.published import K_PICKS, MATCHED, PLANTED, WINNERS, YEAST_COVERAGE, YEAST_PICKS
from bivaluate.judge.choice import winners
from bivaluate.replicate import Evidence, all_claims, judge_all
from bivaluate.replicate.claim_rules import VERDICTS, JudgedClaim, judge_claim
from bivaluate.replicate.claims import GROUPS, claim_order
from bivaluate.replicate.profile import FOUR
from bivaluate.replicate.reasons import explanations, inconsistencies, truth_finding, truth_rows
from bivaluate.replicate.winners import best_k_by_seed, best_pick, favourites, margins, win_counts
from tests.replicate.evidence_examples import evidence


@pytest.fixture(scope="module")
def agreeing() -> Evidence:
    return evidence()


@pytest.fixture(scope="module")
def outcomes(agreeing: Evidence) -> dict[str, JudgedClaim]:
    return {outcome.claim.id: outcome for outcome in judge_all(agreeing)}


def judged(changed: Evidence, *ids: str) -> dict[str, JudgedClaim]:
    return {claim.id: judge_claim(claim, changed) for claim in all_claims() if claim.id in ids}


def test_every_group_of_claims_is_there_once_and_in_order() -> None:
    ids = [claim.id for claim in all_claims()]
    assert len(set(ids)) == len(ids)
    assert ids == sorted(ids, key=claim_order)
    assert {claim_order(id_)[0] for id_ in ids} == set(GROUPS) == set(range(1, 18))


def test_every_claim_says_what_and_where() -> None:
    for claim in all_claims():
        assert claim.sentence.rstrip("…").strip()
        assert claim.source.startswith(("table", "section", "figure"))
        assert claim.on in {"planted", "matched", "yeast", "paper"}


def test_every_published_number_is_claimed_exactly_once() -> None:
    numbers = sorted(claim.paper for claim in all_claims() if claim.paper is not None)
    published = [value for row in PLANTED.values() for value in row.values()]
    published += [float(winner.wins) for winner in WINNERS.values()]
    published += [*MATCHED.values(), *YEAST_COVERAGE.values(), 0.01, 1.141 * math.sqrt(0.693)]
    assert numbers == pytest.approx(sorted(published))
    choices = [claim_order(claim.id)[0] for claim in all_claims() if claim.choice]
    assert choices.count(8) == 4 * len(K_PICKS)
    apart = sum((dataset, pick.algorithm) not in K_PICKS for (dataset, _), pick in YEAST_PICKS.items())
    assert choices.count(9) == len(YEAST_PICKS) + apart == 10


def test_agreeing_evidence_reproduces_everything_that_was_not_fitted(outcomes: dict[str, JudgedClaim]) -> None:
    for id_, outcome in outcomes.items():
        if claim_order(id_)[0] in (1, 2, 3, 7, 8, 9, 10, 11, 17):
            expected = "not testable" if outcome.claim.unprinted or outcome.claim.vague else "reproduced"
            assert outcome.verdict == expected, id_
        assert outcome.verdict in VERDICTS


def test_only_the_collapse_depends_on_the_convention_there(outcomes: dict[str, JudgedClaim]) -> None:
    assert {id_ for id_, outcome in outcomes.items() if outcome.on_convention} == {"9.10", "11.4"}
    assert outcomes["9.10"].default_verdict == "not reproduced"
    assert outcomes["9.10"].printed.at_paper_seed == "yes"


def test_a_direction_that_fails_in_two_of_ten_seeds_is_partly_and_depends_on_the_seed(agreeing: Evidence) -> None:
    table = agreeing.matched.copy()
    bent = (table["scenario"] == "S2") & (table["algorithm"] == "las") & table["seed"].isin([3, 4])
    table.loc[bent, "avg_ve"] = 9.0
    outcome = judged(dataclasses.replace(agreeing, matched=table), "2.1")["2.1"]
    assert outcome.verdict == "partly"
    assert outcome.measured.share == 0.8
    assert outcome.on_seed
    assert not outcome.on_convention


def test_a_verdict_that_only_our_defaults_change_depends_on_the_convention(agreeing: Evidence) -> None:
    table = agreeing.matched.copy()
    bent = (table["scenario"] == "S9b") & (table["algorithm"] == "las") & (table["profile"] == "default")
    table.loc[bent, ["nve", "nve_cov"]] = math.nan
    outcome = judged(dataclasses.replace(agreeing, matched=table), "3.3")["3.3"]
    assert (outcome.verdict, outcome.default_verdict) == ("reproduced", "not reproduced")
    assert outcome.on_convention


def test_a_verdict_that_other_algorithm_seeds_change_depends_on_the_seed(agreeing: Evidence) -> None:
    table = agreeing.matched.copy()
    bent = (table["scenario"] == "S9b") & (table["algorithm"] == "las") & (table["algorithm_seed"] == "own")
    table.loc[bent, "asr"] = 9.0
    outcome = judged(dataclasses.replace(agreeing, matched=table), "3.1")["3.1"]
    assert (outcome.verdict, outcome.own_seed_verdict) == ("reproduced", "not reproduced")
    assert outcome.on_seed


def test_the_paper_seed_is_shown_but_not_counted(agreeing: Evidence) -> None:
    table = agreeing.yeast.copy()
    bent = (table["dataset"] == "04_elutriation") & (table["seed"] == 42) & (table["k"] == 10)
    table.loc[bent, "asr"] = 9.0
    outcome = judged(dataclasses.replace(agreeing, yeast=table), "8.17")["8.17"]
    assert (outcome.verdict, outcome.printed.at_paper_seed, outcome.measured.n_seeds) == (
        "reproduced",
        "no (+78.9 %)",
        10,
    )
    assert outcome.on_seed


def test_a_number_outside_the_interval_is_not_reproduced(agreeing: Evidence) -> None:
    table = agreeing.matched.copy()
    table.loc[(table["scenario"] == "S2") & (table["algorithm"] == "spectral"), "coverage"] = 0.8
    outcome = judged(dataclasses.replace(agreeing, matched=table), "2.6")["2.6"]
    assert outcome.verdict == "not reproduced"
    assert outcome.measured.mean == pytest.approx(0.8)


def test_without_yeast_its_claims_are_not_testable(agreeing: Evidence) -> None:
    nothing = dataclasses.replace(agreeing, yeast=agreeing.yeast.iloc[:0])
    for claim in all_claims():
        if claim.on == "yeast":
            outcome = judge_claim(claim, nothing)
            assert outcome.verdict == "not testable", claim.id
            assert outcome.measured.n_seeds == 0


def test_few_yeast_sets_leave_claims_about_all_of_them_untested(agreeing: Evidence) -> None:
    few = agreeing.yeast[agreeing.yeast["dataset"].isin(["04_elutriation", "13_heat_shock_2"])]
    unknown, known = ("7.1", "10.1", "8.1", "9.1"), ("8.17", "9.4", "9.9")
    outcomes = judged(dataclasses.replace(agreeing, yeast=few), *unknown, *known)
    assert {outcomes[id_].verdict for id_ in unknown} == {"not testable"}
    assert {outcomes[id_].verdict for id_ in known} == {"reproduced"}


def test_planted_claims_hold_on_the_scenarios(outcomes: dict[str, JudgedClaim]) -> None:
    for id_, outcome in outcomes.items():
        if outcome.claim.on == "planted" and outcome.claim.kind == "direction":
            assert outcome.measured.share == {"5.6": 0.9, "14.4": 0.0}.get(id_, 1.0), id_


def test_evidence_survives_its_files(agreeing: Evidence, outcomes: dict[str, JudgedClaim], tmp_path) -> None:
    agreeing.write(tmp_path)
    again = Evidence.read(tmp_path)
    assert [o.verdict for o in judge_all(again)] == [o.verdict for o in outcomes.values()]
    again.write(tmp_path)
    pd.testing.assert_frame_equal(Evidence.read(tmp_path).yeast, again.yeast)


def test_undefined_scores_never_win() -> None:
    table = pd.DataFrame(
        [
            {"scenario": "S1", "algorithm": a, "seed": s, "nve": v}
            for s, values in enumerate([(0.5, math.nan, 0.7), (math.nan, math.nan, math.nan)])
            for a, v in zip(("cca", "las", "spectral"), values, strict=True)
        ]
    )
    assert win_counts(table, "nve").to_numpy().tolist() == [[1, 0, 0], [0, 0, 0]]


def test_the_smallest_k_wins_among_equals_and_nobody_where_all_tie_or_none_is_defined() -> None:
    table = pd.DataFrame(
        [
            {"dataset": "d", "algorithm": a, "k": k, "seed": 0, "nve": v}
            for a, values in {"las": (0.0, 0.0, 0.0), "cca": (1.0, 0.5, 0.5), "spectral": (math.nan,) * 3}.items()
            for k, v in zip((3, 5, 8), values, strict=True)
        ]
    )
    chosen = best_k_by_seed(table, "nve")[0]
    assert math.isnan(chosen["d", "las"])
    assert chosen["d", "cca"] == 5
    assert math.isnan(chosen["d", "spectral"])
    assert best_pick(table, "d", "nve").loc[0].tolist() == ["las", 3]
    assert favourites(table, "nve").loc[0].tolist() == [0, 1, 0]


def test_a_number_the_paper_does_not_print_is_measured_but_not_testable(outcomes: dict[str, JudgedClaim]) -> None:
    outcome = outcomes["7.2"]
    assert outcome.verdict == "not testable"
    assert 0 < outcome.measured.mean <= 1


def test_explanations_take_their_numbers_from_the_evidence(agreeing: Evidence) -> None:
    text = " ".join(explanations(agreeing))
    for words in (
        "LAS with K = 8 covers 5.2 %",
        "Spectral with K = 3 43.3 %",
        "best on",
        "LAS on 13_heat_shock_2",
        "4 of the 4 cells of Spectral come out, 20 of the 20 of CCA",
        "best of 96 forms",
    ):
        assert words in text
    assert len(explanations(dataclasses.replace(agreeing, yeast=agreeing.yeast.iloc[:0]))) == 6


def test_inconsistencies_of_the_paper_are_stated() -> None:
    text = " ".join(inconsistencies())
    for words in ("two yeast data sets", "shows 8", "neither the number", "13_heat_shock_2", "so MSR = 0"):
        assert words in text


def test_shifting_patterns_have_no_residue_whatever_the_paper_says() -> None:
    rows, cols = np.arange(6.0)[:, None] ** 2, np.array([0.5, 3.0, -1.0, 4.0])
    assert mean_squared_residue(rows + cols) == pytest.approx(0, abs=1e-24)


def test_fitted_and_implied_claims_are_marked() -> None:
    basis = {claim.id: claim.basis for claim in all_claims()}
    assert {claim_order(id_)[0] for id_, word in basis.items() if word == "fitted"} == {2, 4}
    implied = {id_ for id_, word in basis.items() if word == "implied"}
    assert implied == {"5.4", "5.7", "5.8", "6.2", "12.1", "12.2", "12.3", "12.4", "14.3"}


def test_claims_about_scenarios_of_our_own_design_are_a_class_apart() -> None:
    basis = {claim.id: claim.basis for claim in all_claims()}
    designed = {id_ for id_, word in basis.items() if word == "depends on our scenarios"}
    assert {id_ for id_ in basis if claim_order(id_)[0] == 1} <= designed
    for claim in all_claims():
        if claim.basis == "independent" and claim.on in ("planted", "matched"):
            assert not {"S3", "S4", "S5", "S6", "S8"} & set(claim.sentence.replace(",", "").replace(":", "").split()), (
                claim
            )


def test_words_that_need_a_threshold_of_ours_are_not_testable(outcomes: dict[str, JudgedClaim]) -> None:
    for id_ in ("7.1", "7.3", "7.5", "10.3"):
        assert outcomes[id_].verdict == "not testable"
        assert outcomes[id_].measured.share == 1.0
        assert "threshold is ours" in outcomes[id_].claim.reading
    assert {outcomes[id_].verdict for id_ in ("1.10", "14.4")} == {"not testable"}


def test_a_choice_by_less_than_two_per_cent_is_undecided_whoever_is_ahead(agreeing: Evidence) -> None:
    for better, verdict in ((1.015, "undecided"), (0.985, "undecided"), (1.05, "not reproduced"), (0.95, "reproduced")):
        table = agreeing.yeast.copy()
        cell = (table["dataset"] == "04_elutriation") & (table["algorithm"] == "cca")
        table.loc[cell, "asr"] = 2.0
        table.loc[cell & (table["k"] == 10), "asr"] = 2.0 * better
        outcome = judged(dataclasses.replace(agreeing, yeast=table), "8.17")["8.17"]
        assert outcome.verdict == verdict
        worse = better - 1 if better > 1 else -(1 / better - 1)
        assert outcome.measured.margin == pytest.approx(worse)


def test_margins_against_nothing_and_zero() -> None:
    scores = [(0, math.nan, 1.0), (1, 1.0, math.nan), (2, 0.0, 0.0), (3, 0.5, 0.0), (4, math.nan, math.nan)]
    rows = pd.DataFrame(
        [{"seed": s, "k": k, "nve": v} for s, *values in scores for k, v in zip((3, 5), values, strict=True)]
    )
    found = margins(rows, "nve", rows["k"] == 3).tolist()
    assert found[:4] == [math.inf, -math.inf, 0.0, math.inf]
    assert math.isnan(found[4])


def test_algorithm_and_k_are_judged_apart(agreeing: Evidence) -> None:
    table = agreeing.yeast.copy()
    cell = (table["dataset"] == "04_elutriation") & (table["algorithm"] == "las")
    table.loc[cell & (table["k"] == 5), "nve"] = 0.1
    outcomes = judged(dataclasses.replace(agreeing, yeast=table), "9.5", "9.13")
    assert (outcomes["9.5"].verdict, outcomes["9.13"].verdict) == ("reproduced", "not reproduced")
    assert outcomes["9.13"].claim.sentence == "On 04_elutriation, LAS has its lowest NVE at K = 8."


def test_the_second_reading_stands_beside_the_verdict_and_changes_nothing(agreeing: Evidence) -> None:
    table = agreeing.yeast.copy()
    table.loc[(table["profile"] == "columns") & (table["dataset"] == "02_cdc_15"), "nve_cov"] = 7.0
    changed = dataclasses.replace(agreeing, yeast=table)
    for id_, verdict in {"8.12": "undecided", "9.1": "undecided", "8.5": "reproduced"}.items():
        outcome = judged(changed, id_)[id_]
        assert outcome.columns is not None
        assert (outcome.verdict, outcome.columns.verdict) == ("reproduced", verdict)
    looked = {claim_order(claim.id)[0] for claim in all_claims() if claim.columns}
    assert looked == {4, 8, 9, 10}
    assert [claim.id for claim in all_claims() if claim.columns and claim.on == "planted"] == [
        f"4.{n}" for n in range(13, 19)
    ]


def test_nearness_to_the_truth_stands_beside_the_constant_answer(agreeing: Evidence) -> None:
    rows = {row["answer"]: row for row in truth_rows(agreeing)}
    assert rows["always LAS"]["nearest to the truth"] == 1
    assert rows["always LAS"]["cases"] == 100
    assert rows["winner under AvgVE"]["nearest to the truth"] == pytest.approx(0.8)
    assert rows["winner under NVE_cov"]["mean CE"] == pytest.approx(0.4 * 0.1 + 0.1 * 0.8)
    text = truth_finding(truth_rows(agreeing))
    assert "best NVE_cov is the one nearest to the planted biclusters in 10 % of 100 cases" in text
    assert "“always LAS” is right in 100 %" in text


def test_our_own_search_stands_beside_the_paper_s_three(agreeing: Evidence) -> None:
    import pandas as pd

    truth = agreeing.truth
    cases = truth[["scenario", "seed"]].drop_duplicates().assign(algorithm="find", ce=0.95)
    beside = dataclasses.replace(agreeing, truth=pd.concat([truth, cases], ignore_index=True))
    rows = {row["answer"]: row for row in truth_rows(beside)}
    own = rows.pop("find, not told K (not of the paper)")
    assert own["mean CE"] == pytest.approx(0.95)
    assert own["nearest to the truth"] == 1
    assert list(rows.values()) == truth_rows(agreeing)


def test_winners_are_those_of_the_one_rule(agreeing: Evidence) -> None:
    table = agreeing.yeast[(agreeing.yeast["profile"] == "printed") & (agreeing.yeast["seed"] == 0)].assign(status="ok")
    chosen = winners(table, FOUR).set_index(["measure", "dataset"])
    for measure in FOUR:
        for dataset in table["dataset"].unique():
            best = best_pick(table, dataset, measure).loc[0]
            assert tuple(chosen.loc[(measure, dataset), ["algorithm", "k"]]) == tuple(best)
