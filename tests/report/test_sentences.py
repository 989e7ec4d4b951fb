"""The verdict: each rule with the sentence it must speak."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bivaluate import Biclustering, evaluate
from bivaluate.report.sentences import NEXT, NUMBER, QUESTIONS, REAL, REDUNDANT, WHICH, Case, speak, speak_all
from tests.report.stand_ins import case, group, redundant


def said(known: Case) -> list[str]:
    """Everything but what to do next."""
    return [sentence.text for sentence in speak(known) if sentence.question != NEXT]


def answers(known: Case, question: str) -> list[str]:
    return [sentence.text for sentence in speak(known) if sentence.question == question]


def good(**changed: float) -> dict[str, float]:
    return {"nve_cov": 0.81, "nve": 0.53, "avg_ve": 0.31, "coverage": 0.433, "n_biclusters": 3} | changed


def test_best_balance_with_a_cleaner_but_tiny_rival_and_repeats() -> None:
    """The example of a verdict understood in 30 seconds."""
    known = case(
        [
            group("Spectral", 5, **good(n_biclusters=5)),
            group("LAS", 5, nve_cov=7.6, nve=0.40, avg_ve=0.12, coverage=0.0027),
        ],
        repeats=[redundant(1, 4)],
        errors=[0.3, 0.31, 0.2, 0.2, 0.3],
        typical={"n_biclusters": 5},
    )
    assert said(known) == [
        "Spectral, K = 5: best balance (NVE_cov 0.81, covers 43 % of the matrix).",
        "5 found.",
        "Spectral, K = 5: lowest NVE_cov of 2 solutions (0.81).",
        "LAS looks cleaner but covers only 0.3 % of the matrix.",
        "The measures disagree: NVE and AvgVE prefer LAS, K = 5.",
        "B2 and B5 are the same pattern.",
    ]
    assert [step.split(":")[0] for step in answers(known, NEXT)] == ["Tidy up"]


def test_a_tiny_rival_of_the_same_algorithm_is_named_with_its_k() -> None:
    known = case([group("CCA", 15, **good()), group("CCA", 3, **good(nve_cov=9.0, nve=0.2, coverage=0.035))])
    assert "CCA, K = 3 looks cleaner but covers only 3.5 % of the matrix." in said(known)


def test_no_tiny_rival_where_the_rival_explains_enough() -> None:
    known = case([group("Spectral", 3, **good()), group("LAS", 3, nve_cov=0.9, nve=0.40, avg_ve=0.12, coverage=0.2)])
    assert not any("looks cleaner" in text for text in said(known))


def test_no_tiny_rival_beside_a_winner_that_covers_little_more() -> None:
    known = case(
        [group("Spectral", 3, **good(coverage=0.06)), group("LAS", 3, **good(nve_cov=9.0, nve=0.2, coverage=0.04))]
    )
    assert not any("looks cleaner" in text for text in said(known))


def test_a_choice_by_a_share_is_told_in_per_cent() -> None:
    groups = [group("Spectral", 3, **good(row_coverage=0.5)), group("LAS", 3, **good(row_coverage=0.25))]
    assert said(case(groups, "row_coverage"))[0].startswith("Spectral, K = 3: highest CR_rows 50 %")


@pytest.mark.parametrize(
    ("nve", "words"),
    [
        (0.38, "The biclusters are clearly distinct (NVE 0.38) and cover 43 % of the matrix."),
        (0.71, "The biclusters are partly distinct (NVE 0.71) and cover 43 % of the matrix."),
        (1.03, "The biclusters are hardly distinct (NVE 1.03) and cover 43 % of the matrix."),
    ],
)
def test_one_solution_is_judged_by_how_distinct_it_is(nve: float, words: str) -> None:
    assert said(case([group("found", 3, **good(nve=nve))])) == [f"found, K = 3: {words}", "3 found."]


def test_all_the_same_pattern() -> None:
    known = case(
        [group("S7", 4, **good())], repeats=[redundant(0, 1, 2, 3)], errors=[0.1] * 4, typical={"n_biclusters": 4}
    )
    assert answers(known, REDUNDANT) == ["All 4 biclusters are the same pattern."]


def test_vague_blocks_are_not_called_the_same_pattern() -> None:
    known = case([group("S7", 4, **good())], repeats=(), errors=[1.05, 0.3, 1.1, 0.3])
    assert answers(known, REAL) == ["B1 and B3 show no clear pattern (VE 0.8 or more)."]
    assert answers(known, REDUNDANT) == ["No two biclusters are redundant."]


def test_one_vague_block_among_clear_ones() -> None:
    known = case([group("S7", 4, **good())], errors=[0.2, 0.3, 0.9, math.nan])
    assert answers(known, REAL) == ["B3 shows no clear pattern (VE 0.8 or more)."]


def test_only_vague_blocks() -> None:
    known = case([group("noise", 9, **good())], repeats=(), errors=[1.0] * 9)
    assert answers(known, REAL) == ["None of its 9 biclusters shows a clear pattern (VE 0.8 or more)."]


def test_many_vague_blocks_are_counted() -> None:
    known = case([group("noise", 10, **good())], errors=[1.0] * 9 + [0.1])
    assert answers(known, REAL) == ["B1, B2, B3 and 6 more show no clear pattern (VE 0.8 or more)."]


def test_names_of_biclusters_come_from_the_records() -> None:
    known = case([group("a", 2, **good())], repeats=[redundant(0, 1)], errors=[0.1, 0.1, 0.1], names=["B2", "B5", "B9"])
    assert answers(known, REDUNDANT) == ["B2 and B5 are the same pattern."]


def test_a_winner_that_is_hardly_distinct_is_no_best_balance() -> None:
    known = case([group("Spectral", 3, **good(nve=1.01)), group("LAS", 3, **good(nve_cov=3.0, nve=0.95))])
    assert said(known)[0] == "Spectral, K = 3: lowest NVE_cov 0.81, but its biclusters are hardly distinct (NVE 1.01)."


def test_a_score_of_zero_from_thin_biclusters_is_no_triumph() -> None:
    """What the paper's conventions make of a 15 x 1 bicluster."""
    thin = group("LAS", 3, **good(nve_cov=0.0, nve=0.0, coverage=0.0021, rows_min=15, cols_min=1))
    clean = group("LAS", 3, **good(nve_cov=0.0, nve=0.0, rows_min=15, cols_min=9))
    other = group("CCA", 3, **good())
    assert said(case([thin, other]))[0] == (
        "LAS, K = 3: NVE_cov 0, but only because biclusters of one row or at most two columns cannot fail."
    )
    assert "best balance" in said(case([clean, other]))[0]


def test_close_scores_are_equal() -> None:
    known = case([group("CCA", 3, **good()), group("LAS", 3, **good(nve_cov=0.83))])
    assert "LAS, K = 3 is close behind (0.83 against 0.81): treat the two as equal." in said(known)


def test_what_was_not_found_for_a_larger_k_either_is_not_close_behind() -> None:
    one_found = good(n_biclusters=1)
    known = case([group("LAS", 2, **one_found), group("LAS", 3, **one_found), group("CCA", 3, **good(nve_cov=0.83))])
    assert not any("LAS, K = 3 is close behind" in sentence for sentence in said(known))
    assert any("CCA, K = 3 is close behind" in sentence for sentence in said(known))


def test_a_name_that_says_k_is_not_given_it_again() -> None:
    known = case([group("run K 3, dt 0.5", 3, **good()), group("run K 2, dt 0.5", 2, **good(nve_cov=3.0))])
    assert said(known)[0].startswith("run K 3, dt 0.5: ")


def test_scores_within_the_spread_over_seeds_are_equal() -> None:
    known = case([group("CCA", 3, spread={"nve_cov": 0.5}, **good()), group("LAS", 3, **good(nve_cov=1.2))])
    assert (
        "LAS, K = 3 is close behind (1.2 against 0.81, within the spread over seeds): treat the two as equal."
        in said(known)
    )


def test_the_choice_depends_on_the_seed() -> None:
    seeds = tuple(range(10))
    groups = [
        group("Spectral", 3, members=seeds, wins=4, **good()),
        group("LAS", 5, members=seeds, wins=6, **good(nve_cov=2.0)),
    ]
    assert "The choice depends on the seed: it is best in 4 of 10, LAS, K = 5 in 6." in said(case(groups))


def test_a_steady_winner() -> None:
    seeds = tuple(range(10))
    groups = [
        group("Spectral", 3, members=seeds, wins=9, **good()),
        group("LAS", 5, members=seeds, wins=1, **good(nve_cov=2.0)),
    ]
    assert "It is best in 9 of 10 seeds." in said(case(groups))


def test_the_smallest_k_is_no_evidence_without_a_null() -> None:
    groups = [group("Spectral", k, **good(nve_cov=score)) for k, score in ((3, 0.8), (5, 1.2), (8, 1.9))]
    sentence = (
        "K = 3 is the smallest K tried: without null runs to compare with, this is not evidence for 3 biclusters."
    )
    assert sentence in said(case(groups))
    assert sentence not in said(case(groups, calibrated=True))


@pytest.mark.parametrize(
    ("p", "surrogates", "words"),
    [
        (0.5, 19, "Its NVE_cov does not stand out from surrogate matrices without structure (p = 0.5)."),
        (0.05, 19, "Its NVE_cov stands out from surrogate matrices without structure (p = 0.05)."),
        (
            0.25,
            3,
            "Its NVE_cov stands out from surrogate matrices without structure "
            "(p = 0.25; 3 surrogates allow no lower p).",
        ),
    ],
)
def test_the_winner_beside_its_null(p: float, surrogates: int, words: str) -> None:
    groups = [group("LAS", 3, **good()), group("LAS", 5, **good(nve_cov=2.0))]
    known = case(groups, calibrated=True, p_value=p, surrogates=surrogates)
    assert words in said(known)
    assert not any("stand" in text for text in said(case(groups)))
    weak = [s.text for s in speak_all({"one": known, "two": known})]
    told = "On both data sets the winner's NVE_cov does not stand out from surrogate matrices without structure."
    assert (told in weak) == (p == 0.5)


def test_a_score_of_few_seeds_wins_nothing() -> None:
    lucky = group("LAS", 5, members=tuple(range(10)), **good(nve_cov=0.1))
    rare = replace(lucky, counted=dict.fromkeys(lucky.mean, 4))
    winner = case([rare, group("CCA", 3, members=tuple(range(10)), **good())]).winner
    assert winner is not None
    assert winner.algorithm == "CCA"


def test_the_largest_k_is_no_evidence_for_avg_ve() -> None:
    groups = [group("LAS", k, avg_ve=score) for k, score in ((3, 0.8), (5, 0.5))]
    assert any(
        text.startswith("K = 5 is the largest K tried: without null runs") for text in said(case(groups, "avg_ve"))
    )
    assert said(case(groups, "avg_ve"))[0] == "LAS, K = 5: lowest AvgVE 0.5."


def test_even_the_winner_is_negligible() -> None:
    known = case([group("LAS", 3, **good(coverage=0.021)), group("CCA", 3, **good(nve_cov=2.0, coverage=0.02))])
    assert "Even the winner covers only 2.1 % of the matrix." in said(known)


def test_undefined_biclusters_of_the_winner() -> None:
    known = case([group("LAS", 5, **good())], typical={"n_undefined": 1, "n_biclusters": 5})
    assert answers(known, REAL)[-1] == "1 of its 5 biclusters has a single row or column and no defined score."


def test_two_columns_say_nothing() -> None:
    known = case([group("S6", 4, **good())], typical={"cols_min": 2.0})
    assert answers(known, REAL)[-1] == (
        "Its narrowest bicluster has two columns, and VE cannot judge two columns: ask for a minimum size."
    )


def test_all_measures_agree() -> None:
    best = {"asr": 0.1, "nsr": 0.2, **good()}
    worse = {key: 10 * value for key, value in best.items()}
    assert "All error measures agree with this choice." in said(
        case([group("CCA", 3, **best), group("LAS", 3, **worse)])
    )


def test_nothing_was_scored() -> None:
    assert said(Case([])) == ["Nothing has been scored yet."]


def test_everything_failed() -> None:
    known = case([group("Spectral", 15, statuses={"failed": 1}, reason="K = 15 exceeds 14 columns")])
    assert said(known) == ["No solution could be scored: Spectral, K = 15 failed (K = 15 exceeds 14 columns)."]


def test_no_bicluster_and_one_bicluster() -> None:
    none = case([group("LAS", 0, statuses={"degenerate": 1}, n_biclusters=0, nve_cov=math.nan)])
    one = case(
        [group("LAS", 1, statuses={"degenerate": 1}, n_biclusters=1, nve=math.nan, avg_ve=0.2)], criterion="avg_ve"
    )
    assert said(none) == ["The solution has no biclusters: nothing to score."]
    assert said(one) == ["LAS, K = 1: 1 bicluster found; NVE compares at least two."]


def test_an_undefined_score_names_its_reason() -> None:
    thin = group("LAS", 2, n_biclusters=2, nve_cov=math.nan, reasons={"nve_cov": "no bicluster has two rows"})
    assert said(case([thin])) == ["LAS, K = 2: NVE_cov is undefined (no bicluster has two rows)."]
    several = case([thin, group("CCA", 2, nve_cov=math.nan)])
    assert said(several)[0] == "No solution has a defined NVE_cov: see the table for the reasons."


def test_troubled_and_unfinished_solutions_are_counted() -> None:
    groups = [
        group("CCA", 3, members=tuple(range(10)), statuses={"ok": 6, "degenerate": 4}, **good()),
        group("Spectral", 15, members=tuple(range(10)), statuses={"failed": 9, "timed out": 1}),
    ]
    texts = said(case(groups, missing=12, planned=60))
    assert (
        "4 of 20 solutions have fewer than two biclusters that can be scored; 9 of 20 solutions failed; "
        "1 of 20 solutions timed out." in texts
    )
    assert (
        answers(case(groups, missing=12, planned=60), WHICH)[-1]
        == "12 of 60 planned solutions are not finished: the verdict may change."
    )


def test_several_data_sets() -> None:
    cases = {}
    for i in range(5):
        winner = group("Spectral" if i else "LAS", 3, **good())
        other = group("CCA", 3, nve_cov=3.0, nve=0.4, avg_ve=0.1, coverage=0.01)
        cases[f"d{i}"] = case(
            [winner, other, group("Spectral" if i else "LAS", 5, **good(nve_cov=2.0))], planned=4, missing=1
        )
    assert [sentence.text for sentence in speak_all(cases)] == [
        "Spectral has the best balance on 4 of 5 data sets, LAS on 1.",
        "The winners have 3 biclusters each.",
        "On all 5 data sets the winner's K is at an end of the sweep: this is not evidence for that K.",
        "The measures disagree about the winner on all 5 data sets.",
        "On all 5 data sets another solution looks cleaner but covers less than 5 % of the matrix.",
        "5 of 20 planned solutions are not finished: the verdict may change.",
        "Start the same command again to finish the run, then look again.",
        "Sweep again over a wider range of K.",
    ]


def test_several_data_sets_without_distinct_winners() -> None:
    cases = {name: case([group("Spectral", 3, **good(nve=1.0)), group("LAS", 3, **good(nve_cov=5.0))]) for name in "ab"}
    texts = [sentence.text for sentence in speak_all(cases)]
    assert texts[0] == "Spectral has the lowest NVE_cov on both data sets."
    assert any("even the winner's biclusters are hardly distinct" in text for text in texts)


def test_data_sets_without_a_score_are_named() -> None:
    bad = case([group("LAS", 3, nve_cov=math.nan)])
    assert speak_all({"a": bad, "b": bad})[0].text == "None of 2 data sets has a solution that can be chosen."
    mixed = speak_all({"a": bad, "b": case([group("LAS", 3, **good())])})
    assert "Nothing can be chosen on a." in [sentence.text for sentence in mixed]


def test_data_sets_that_were_not_fitted_are_told_from_empty_ones() -> None:
    waiting, bad = Case([], missing=2, planned=2), case([group("LAS", 3, nve_cov=math.nan)])
    known = {"a": bad, "b": case([group("LAS", 3, **good())]), "c": waiting}
    texts = [sentence.text for sentence in speak_all(known)]
    assert "Nothing can be chosen on a." in texts
    assert "Not fitted yet: c." in texts
    assert "Not fitted yet: c." in [sentence.text for sentence in speak_all({"a": bad, "c": waiting})]


def evident(nats: float, pays: float, found: float = 3, **more: float) -> dict[str, float]:
    return {"total_evidence": nats, "n_paying": pays, "n_biclusters": found, **more}


def test_the_questions_are_answered_in_their_order() -> None:
    groups = [group("LAS", 3, **evident(90.0, 2)), group("CCA", 5, **evident(40.0, 1))]
    known = case(groups, "total_evidence", fitted=True, errors=[0.1, 0.2, 0.3])
    assert said(known) == [
        "LAS, K = 3: 2 of 3 biclusters stand out, the other adds nothing to them; most evidence (90 nats).",
        "Partly: 2 of 3 biclusters stand out, the other adds nothing to them; 90 nats of evidence.",
        "3 found; 2 of them stand out from noise.",
        "Evidence chooses LAS with K = 3; held-out cells would give a second opinion.",
        "No two biclusters are redundant.",
    ]
    asked = [sentence.question for sentence in speak(known)[1:]]
    assert asked == sorted(asked, key=QUESTIONS.index)
    assert [step.split(":")[0] for step in answers(known, NEXT)] == ["Tidy up", "Ask for a second opinion"]


def test_held_out_cells_and_stability_are_part_of_the_answer() -> None:
    more = {"predictive": 0.31, "predictive_error": 0.02, "stability": 0.62}
    groups = [replace(group("LAS", 3, **evident(90.0, 3), **more), predicts=True), group("CCA", 3, **evident(40.0, 1))]
    known = case(groups, "total_evidence", fitted=True)
    assert answers(known, REAL) == [
        "Yes: all 3 biclusters stand out from noise, with 90 nats of evidence.",
        "It predicts held-out cells better than row and column means do (gain 0.31 ± 0.02).",
        "Its biclusters come back when rows and columns are left out (stability 0.62, 0 is chance).",
    ]
    assert answers(known, WHICH)[0] == "Evidence chooses LAS with K = 3; held-out cells agree."
    assert answers(known, NEXT) == ["Nothing needs mending: look at the members of the biclusters below."]


def test_where_held_out_cells_see_nothing_it_is_doubtful() -> None:
    more = {"predictive": -0.1, "predictive_error": 0.02, "stability": -0.05}
    known = case([group("LAS", k, **evident(90.0 / k, 3), **more) for k in (2, 3)], "total_evidence", fitted=True)
    assert answers(known, REAL)[1:] == [
        "It does not predict held-out cells better than row and column means do (gain -0.1 ± 0.02).",
        "Its biclusters do not come back when rows and columns are left out (stability -0.05, 0 is chance).",
        "Doubtful; held-out cells see nothing, evidence something.",
    ]


def test_another_measure_may_choose_where_nothing_is_real() -> None:
    groups = [group(name, 3, **(good(nve_cov=score) | evident(0.0, 0))) for name, score in (("LAS", 0.8), ("CCA", 0.9))]
    known = case(groups, "nve_cov", asked=True, fitted=True)
    assert said(known)[0].startswith("LAS, K = 3: best balance")
    assert answers(known, REAL)[0] == (
        "Nothing here stands out from noise: none of the 3 biclusters saves anything under any kind of pattern."
    )
    assert answers(known, NEXT)[0].startswith("Do not interpret these biclusters.")


def test_k_is_shown_as_found() -> None:
    lone = group("Find", 20, **evident(90.0, 7, 7))
    assert lone.called == "Find, K = 20 (7 found)"
    known = case([lone, group("CCA", 20, **evident(40.0, 1, 20))], "total_evidence", finds_k={"Find"})
    assert answers(known, NUMBER) == [
        "7 found by the algorithm itself (at most 20 were asked for); all of them stand out from noise."
    ]


def test_what_is_real_over_several_data_sets() -> None:
    real = case([group("LAS", 3, **evident(90.0, 3)), group("CCA", 3, **evident(40.0, 1))], "total_evidence")
    noise = case([group("LAS", 3, **evident(0.0, 0)), group("CCA", 3, **evident(0.0, 0))], "total_evidence")
    texts = [sentence.text for sentence in speak_all({"a": real, "b": noise, "c": real})]
    assert texts[:4] == [
        "LAS has the most evidence on 2 of 3 data sets.",
        "Something stands out from noise on 2 of 3 data sets.",
        "No evidence: b.",
        "The winners have 3 biclusters each; all of them stand out.",
    ]
    assert "On b: Do not interpret these biclusters." in texts[-1]


def test_a_step_for_several_data_sets_is_said_once_with_a_command_that_works() -> None:
    groups = [group("LAS", 3, **evident(90.0, 2)), group("CCA", 3, **evident(40.0, 1))]
    known = {x: case(groups, "total_evidence", matrix=f"{x}.csv", solution=f"{x}.json") for x in "abc"}
    tidy = "Tidy up: `bivaluate prune a.csv a.json -o pruned.json` merges what repeats, drops what is noise, and says why it keeps the rest."
    steps = [sentence.text for sentence in speak_all(known) if sentence.question == NEXT]
    assert steps == [f"{tidy} This is for a."]
    assert [sentence.text for sentence in speak(known["a"]) if sentence.question == NEXT] == [tidy]


def test_evidence_that_surrogates_have_too_is_none() -> None:
    groups = [group("LAS", 3, **evident(90.0, 3)), group("CCA", 3, **evident(40.0, 1))]
    known = case(groups, "total_evidence", fitted=True, p_values={"total_evidence": 0.6})
    assert answers(known, REAL) == ["Nothing here; surrogates have as much evidence (p = 0.6)."]
    assert answers(known, NEXT)[0].startswith("Do not interpret these biclusters.")
    assert "Something stands out from noise on none of the data sets." in [
        sentence.text for sentence in speak_all({"a": known, "b": known})
    ]


def test_biclusters_that_pay_are_not_denied_where_the_others_cost_more() -> None:
    lone = case([group("found", 9, **evident(-12.0, 2, 9))], "total_evidence")
    assert said(lone) == [
        "found, K = 9: 2 of 9 biclusters stand out from noise, but the others cost more than these save."
    ]
    assert answers(lone, NEXT)[0].startswith("Tidy up: ")
    both = case([group(a, 9, **evident(-12.0, pays, 9)) for a, pays in (("a", 0), ("b", 2))], "total_evidence")
    assert said(both)[0] == (
        "No solution as a whole stands out from noise. "
        "b, K = 9: 2 of 9 biclusters stand out from noise, but the others cost more than these save."
    )


def test_the_page_names_commands_not_functions(tmp_path):
    walk = np.cumsum(np.random.default_rng(0).normal(size=(60, 20)), axis=1)
    found = evaluate(walk, Biclustering([(range(15), range(8)), (range(20, 40), range(9, 18))], walk.shape))
    assert any("ordered_columns=True" in text for text in found.findings)
    found.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "bivaluate prune --ordered-columns" in text
    assert "ordered_columns=True" not in text
