"""The top of the page: the record of what was chosen, and each note with the sentence it must say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from bivaluate.judge.verdict import Verdict, judged
from bivaluate.report.sentences import Findings, speak, speak_all
from tests.report.stand_ins import case, group


def record(*verdicts: str, **known: Any) -> Verdict:
    rows = [
        {"bicluster": f"B{k}", "n_rows": 9, "n_cols": 5, "verdict": verdict, "evidence": 20.0, "pattern": "additive"}
        for k, verdict in enumerate(verdicts, 1)
    ]
    return judged(rows, **known)


def good(**changed: float) -> dict[str, float]:
    return {"total_evidence": 100.0, "n_supported": 3, "nve": 0.53, "coverage": 0.433, "n_biclusters": 3} | changed


def notes(known: Findings) -> list[str]:
    return list(speak(known).notes)


def test_one_solution_has_the_headline_reason_rows_and_notes_of_its_record() -> None:
    own = record("supported", "not_supported", steps=["`do`"], notes=["Note."])
    assert speak(case([group("found", 2, **good())], "total_evidence", verdict=own)) == own


def test_a_choice_is_named_before_how_many_are_supported() -> None:
    own = record("supported", "redundant", "not_supported", "too_small")
    groups = [group("LAS", 4, **good()), group("CCA", 3, **good(total_evidence=2.0, n_supported=1))]
    said = speak(case(groups, "total_evidence", verdict=own, fitted=True))
    assert said.headline == "LAS, K = 4: 1 of the 4 biclusters is supported."
    assert (said.biclusters, said.reason) == (own.biclusters, own.reason)


@pytest.mark.parametrize(
    "verdicts", [("supported",) * 12, ("supported",) * 7 + ("redundant",) * 5, ("not_supported",) * 3]
)
def test_no_headline_of_a_choice_is_longer_than_fifteen_words(verdicts: tuple[str, ...]) -> None:
    groups = [group("Spectral co-clustering", 12, **good()), group("CCA", 3, **good(total_evidence=2.0))]
    said = speak(case(groups, "total_evidence", verdict=record(*verdicts), fitted=True))
    assert said.headline.startswith("Spectral co-clustering, K = 12: ")
    assert len(said.headline.replace(" = ", "=").split()) <= 15


def test_a_choice_says_where_all_are_supported_and_that_evidence_still_rises() -> None:
    counts = {4: (80.0, 4), 8: (94.0, 8), 10: (93.0, 9), 12: (100.0, 11)}
    groups = [
        group("Spectral co-clustering", k, **good(total_evidence=value, n_biclusters=k, n_supported=n))
        for k, (value, n) in counts.items()
    ]
    own = record(*("supported",) * 11, "redundant")
    said = speak(case(groups, "total_evidence", verdict=own, fitted=True))
    expected = "Spectral co-clustering, K = 12: about 11 biclusters are supported; try K above 12."
    assert said.headline == expected
    assert len(said.headline.replace(" = ", "=").split()) <= 15
    assert said.notes[0] == "Up to K = 8 every bicluster is supported, with 94 % of the evidence of K = 12."
    assert said.notes[1] == "Evidence still rises at K = 12, the largest tried: try larger ones."
    alone = speak(case(groups[:2], "total_evidence", fitted=True))
    assert alone.headline == "Spectral co-clustering, K = 8: all 8 biclusters are supported."
    assert alone.notes[0] == "Evidence still rises at K = 8, the largest tried: try larger ones."


def test_the_headline_compares_several_tools() -> None:
    counts = {"UnPaSt": (90.0, 3, 4), "QUBIC": (95.0, 2, 6), "ISA": (9.0, 1, 2), "CCA": (1.0, 1, 9)}
    groups = [
        group(name, found, **good(total_evidence=value, n_supported=n, n_biclusters=found))
        for name, (value, n, found) in counts.items()
    ]
    said = [speak(case(groups[:n], "total_evidence")).headline for n in (2, 3, 4)]
    assert said == [
        "QUBIC: most evidence, 2 of 6 supported; UnPaSt: 3 of 4.",
        "QUBIC: most evidence, 2 of 6 supported; UnPaSt: 3 of 4; ISA: 1 of 2.",
        "QUBIC: most evidence, 2 of 6 supported; UnPaSt: 3 of 4; 2 others have less.",
    ]
    assert max(len(text.split()) for text in said) <= 15


def test_a_measure_that_was_asked_for_chooses_and_evidence_counts() -> None:
    groups = [group("LAS", 3, **good(nve=0.9)), group("CCA", 3, **good(total_evidence=0.0, n_supported=0, nve=0.2))]
    said = speak(case(groups, "nve", verdict=record("not_supported", "not_supported", "not_supported")))
    assert said.headline == "CCA, K = 3: none of the 3 biclusters is supported."


def test_without_evidence_the_measure_is_named() -> None:
    groups = [group("LAS", 3, nve=0.9, n_biclusters=3), group("CCA", 3, nve=0.2, n_biclusters=3)]
    assert speak(case(groups, "nve")).headline == "CCA, K = 3 has the lowest NVE 0.2."


def test_where_nothing_is_supported_what_comes_nearest_is_named() -> None:
    none = [group(name, 3, **good(total_evidence=0.0, n_supported=0)) for name in ("LAS", "CCA")]
    known = case(none, "total_evidence", near="LAS, K = 3", fitted=True)
    assert speak(known).headline == "Nothing is supported; LAS, K = 3 comes nearest."
    assert "No bicluster is supported." not in notes(known), "the headline says it"


def test_candidates_that_tie() -> None:
    same = [group(name, 3, nve=0.5) for name in ("LAS", "CCA")]
    assert speak(case(same, "nve")).headline == "All 2 candidates tie (NVE 0.5): none is better than another."
    undefined = [group(name, 3, nve=math.nan) for name in ("LAS", "CCA")]
    assert speak(case(undefined, "nve")).headline == "No solution can be judged by NVE: see the table for the reasons."


def test_what_failed_is_no_finding_about_the_data() -> None:
    failed = group("Spectral", 9, statuses={"failed": 2}, members=(0, 1), reason="K exceeds a side", nve=math.nan)
    assert (
        speak(case([failed], "nve")).headline
        == "No solution could be scored: Spectral, K = 9 failed (K exceeds a side)."
    )
    slow = group("LAS", 9, statuses={"timed out": 1}, nve=math.nan)
    all_of_them = speak(case([failed, slow], "nve"))
    assert all_of_them.headline == "No solution could be scored: 2 of 3 fits failed; 1 of 3 fits timed out."
    assert not all_of_them.notes, "said once"
    some = [group("LAS", 3, **good()), failed]
    assert "2 of 3 fits failed." in notes(case(some, "total_evidence"))


def test_an_unfinished_run_says_so_first_and_how_to_go_on() -> None:
    said = speak(case([group("LAS", 3, **good())], "total_evidence", missing=2, planned=6))
    assert said.notes[0] == "2 of 6 planned fits are not finished: the verdict may change."
    assert said.headline.startswith("Preliminary: ")
    assert said.next_steps[0] == "Start the same command again to finish the run."
    assert speak(Findings((), missing=4, planned=4)).headline == "Nothing has been scored yet."


def test_the_k_that_are_as_good_are_a_range() -> None:
    values = {5: 90.0, 6: 96.0, 7: 100.0, 8: 97.0, 11: 96.5, 12: 60.0}
    groups = [group("NMF", k, **good(total_evidence=value, n_biclusters=k)) for k, value in values.items()]
    known = case(groups, "total_evidence", fitted=True)
    assert known.as_good == [6, 7, 8, 11]
    assert "K = 6 to 11 are as good (evidence within 5 %), with 3 supported." in notes(known)
    alone = case(
        [group("NMF", k, **good(total_evidence=value)) for k, value in ((3, 10.0), (4, 99.0))], "total_evidence"
    )
    assert alone.as_good == [4]
    assert not any("as good" in text for text in notes(alone))


def test_solutions_of_one_run_with_k_in_their_names_are_one_curve() -> None:
    groups = [group(f"run K {k}, dt 0.1", k, **good(total_evidence=value)) for k, value in ((5, 98.0), (7, 100.0))]
    known = case(groups, "total_evidence")
    assert known.as_good == [5, 7]
    assert speak(known).headline.startswith("run K 7, dt 0.1: ")


def test_the_other_algorithms_are_counted() -> None:
    groups = [
        group("LAS", 3, **good()),
        group("CCA", 3, **good(total_evidence=1.0, n_supported=1)),
        group("CCA", 5, **good(total_evidence=5.0, n_supported=2, n_biclusters=5)),
    ]
    said = "The other algorithms have fewer supported biclusters or less evidence: CCA, K = 5 (2 of 5)."
    assert said in notes(case(groups, "total_evidence", fitted=True))
    first = "LAS ranks first by total evidence (100; CCA 1, CCA 5), with 3 supported biclusters (1 and 2)."
    assert first in notes(case(groups, "total_evidence"))


def test_the_choice_depends_on_the_seed_or_does_not() -> None:
    seeds = tuple(range(10))

    def won(first: int, second: int) -> list[str]:
        groups = [group("LAS", 3, members=seeds, wins=first, **good())]
        groups.append(group("CCA", 5, members=seeds, wins=second, **good(total_evidence=2.0)))
        return notes(case(groups, "total_evidence"))

    assert "The choice depends on the seed: LAS, K = 3 is best in 4 of 10, CCA, K = 5 in 6." in won(4, 6)
    assert "LAS, K = 3 is best in 9 of 10 seeds." in won(9, 1)
    assert "LAS, K = 3 is best in all 10 seeds." in won(10, 0)


@pytest.mark.parametrize(
    ("p", "surrogates", "words"),
    [
        (0.5, 19, "Its NVE is not better than that of surrogates without structure (p = 0.5)."),
        (0.05, 19, "Its NVE is better than that of surrogates without structure (p = 0.05)."),
        (0.25, 3, "3 surrogates cannot show more than p = 0.25; none of them is as good by NVE; run at least 19."),
    ],
)
def test_the_winner_beside_its_surrogates(p: float, surrogates: int, words: str) -> None:
    groups = [group("LAS", 3, nve=0.2), group("LAS", 5, nve=0.4)]
    known = case(groups, "nve", p_value=p, surrogates=surrogates)
    assert words in notes(known)
    assert "K = 3 is the smallest tried: try smaller ones." in notes(known)
    two = case([group("LAS", 2, nve=0.2), group("LAS", 5, nve=0.4)], "nve")
    assert "smallest" not in " ".join(notes(two)), "one bicluster cannot be compared, one of a partition is the matrix"


def test_measures_that_prefer_another_solution_are_named_with_the_reason() -> None:
    groups = [group("LAS", 3, **good(nve=0.9)), group("CCA", 3, **good(total_evidence=2.0, nve=0.3))]
    said = "NVE prefers CCA, K = 3: it measures coherence and coverage, not whether chance would give the same."
    assert said in notes(case(groups, "total_evidence"))


def test_held_out_cells_and_subsampling_are_told_and_asked_for() -> None:
    fits = {"predictive": 0.3, "predictive_error": 0.01, "stability": 0.4}
    groups = [group("LAS", 2, **good(**fits)), group("CCA", 3, **good(total_evidence=9.0))]
    known = case(groups, "total_evidence", fitted=True, held_out="bivaluate sweep x --held-out 5")
    assert "Its biclusters are reproducible under subsampling (stability 0.4, chance gives 0)." in notes(known)
    plain = case(
        [group("LAS", 2, **good()), group("CCA", 3, **good(total_evidence=9.0))], "total_evidence", fitted=True
    )
    asked = replace(plain, held_out="bivaluate sweep x --held-out 5")
    assert speak(asked).next_steps == ("`bivaluate sweep x --held-out 5` shows which choice predicts held-out values.",)
    assert speak(plain).next_steps == ()


def test_several_data_sets() -> None:
    won = case([group("LAS", 3, **good()), group("CCA", 3, **good(total_evidence=2.0))], "total_evidence")
    lost = case([group("CCA", 3, **good(total_evidence=0.0, n_supported=0))] * 2, "total_evidence")
    said = speak_all({"one": won, "two": won, "three": lost, "four": Findings(())})
    assert said.headline == "LAS has the most evidence on 2 of 4 data sets."
    assert said.notes == (
        "Biclusters are supported on 2 of 3 data sets.",
        "Nothing can be chosen on three.",
        "Not fitted yet: four.",
    )
    assert speak_all({"a": lost, "b": lost}).headline == "None of 2 data sets has a solution that can be chosen."
