"""What single judgements and sentences are, case by case."""

import math

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering, Matrix, evaluate
from bivaluate.judge.choice import (
    PILLARS,
    AtK,
    about_k,
    all_supported,
    as_good,
    called,
    candidates,
    few_surrogates,
    reached,
    seeing_nothing,
    smallest,
    supported_at,
    which_is_best,
)
from bivaluate.judge.limits import is_duplicate, is_indistinct, is_negligible, is_thin, predicts, strength
from bivaluate.judge.verdict import (
    asking_held_out_cells,
    capital,
    columns,
    counted,
    described,
    finding,
    first_members,
    headline,
    holding,
    judged,
    nothing_supported,
    prediction,
    pruning,
    reproducibility,
    signed,
    why,
    with_shares,
)


def test_which_is_best():
    scores = [{"total_evidence": 9.0, "n_supported": 2}, {"total_evidence": 0.0, "n_supported": 0}]
    assert which_is_best(["las", "cca"], scores) == (
        0,
        "las ranks first by total evidence (9; cca 0), with 2 supported biclusters (0).",
    )
    ties = [{"total_evidence": 9.0, "n_supported": 2, "n_biclusters": k} for k in (8, 2)]
    first = "las ranks first by total evidence (9; cca 9 from more biclusters), with 2 supported biclusters (2)."
    assert which_is_best(["cca", "las"], ties) == (1, first)


def test_as_good():
    assert as_good([AtK(2, 60), AtK(4, 96), AtK(6, 93), AtK(8, 100), AtK(10, 80)]) == [4, 8], (
        "6 lies between them, but is not"
    )
    assert as_good([AtK(2, 95), AtK(3, 60), AtK(4, 100)]) == [2, 4], "nor does a deep dip hide a K"


GRIDS = {  # evidence, found and supported by K: one data set, five grids
    (4, 6, 8, 10, 12): {4: (10094, 4), 6: (10608, 6), 8: (11032, 8), 10: (10922, 9), 12: (11040, 11)},
    (2, 8, 10, 16): {2: (6324, 2), 8: (11032, 8), 10: (10922, 9), 16: (11779, 11.5)},
    (3, 5, 7, 9, 11, 14, 20): {3: (7465, 3), 5: (10597, 5), 7: (11154, 7), 9: (10978, 8), 11: (11079, 11), 14: (11545, 11), 20: (12132, 12.5)},
    (4, 8, 16, 24, 32, 40): {4: (10094, 4), 8: (11032, 8), 16: (11511, 11), 24: (11659, 12), 32: (11138, 14), 40: (10919, 13)},
}  # fmt: skip


def curve(values):
    return [AtK(k, evidence, k, supported) for k, (evidence, supported) in values.items()]


def test_what_is_said_first_of_k_does_not_follow_the_grid():
    best = {grid: max(values, key=lambda k: values[k][0]) for grid, values in GRIDS.items()}
    assert set(best.values()) == {12, 16, 20, 24}, "the best K does"
    assert {all_supported(curve(values), best[grid]).k for grid, values in GRIDS.items()} == {7, 8}
    said = {supported_at(curve(values), best[grid]) for grid, values in GRIDS.items()}
    assert {text.partition(";")[0] for text in said} == {
        "About 11 biclusters are supported",
        "About 12 biclusters are supported",
    }
    assert {text.partition("; ")[2] for text in said} == {
        "take K = 12 and keep those.", "try K above 16.", "take K = 20 and keep those.", "refit with K = 9 to 12."
    }  # fmt: skip


def test_about_k():
    assert about_k(curve(GRIDS[4, 8, 16, 24, 32, 40]), 24) == [
        "Up to K = 8 every bicluster is supported, with 95 % of the evidence of K = 24; "
        "K = 16 to 32 are as good (evidence within 5 %), with 11 to 14 supported.",
        "Try K = 9 to 12 to see up to where every bicluster is supported.",
    ]
    assert about_k(curve(GRIDS[2, 8, 10, 16]), 16) == [
        "Up to K = 8 every bicluster is supported, with 94 % of the evidence of K = 16.",
        "Evidence still rises at K = 16, the largest tried: try larger ones.",
    ]
    flat = [AtK(k, 100 - abs(k - 9), k, 6) for k in (6, 9, 12)]
    assert (
        about_k(flat, 12)[0]
        == "Up to K = 6 every bicluster is supported; K = 6 to 12 are as good (evidence within 5 %), with 6 supported."
    )
    assert not any("largest" in text for text in about_k(flat, 12)), "what is as good does not rise"
    holes = [AtK(k, value, k, min(k, 7)) for k, value in {6: 97, 7: 100, 8: 96, 10: 93, 13: 96, 14: 90, 16: 99}.items()]
    assert about_k(holes, 7) == ["K = 6 to 8, 13 and 16 are as good (evidence within 5 %), with 6 to 7 supported."]
    no_more = [AtK(8, 80.0, 8, 7), AtK(12, 95.0, 12, 7)]
    assert not any("larger" in text for text in about_k(no_more, 12)), "larger ones promise little"
    assert supported_at(no_more, 12) == "7 of the 12 biclusters are supported."
    fewer = [AtK(2, 9.0, 2, 2), AtK(20, 10.0, 7, 7)]
    assert about_k(fewer, 20) == [], "another K would find as many"
    assert supported_at(fewer, 20) == "All 7 biclusters are supported."


def test_on_a_flat_curve_the_smallest_k_with_as_many_supported_is_the_answer():
    topics = [AtK(2, 1900, 2, 2), AtK(4, 3800, 4, 4), AtK(5, 4738, 5, 5), AtK(6, 4700, 6, 5), AtK(8, 4747, 8, 5)]
    assert smallest(topics, 4) == 2
    assert supported_at(topics, 5) == "All 5 biclusters are supported."
    assert about_k(topics, 5) == ["K = 5 to 8 are as good (evidence within 5 %), with 5 supported."]
    assert smallest([*topics[:-1], AtK(8, 4747, 8, 6)], 4) == 4, "where more are supported, the larger K stays"
    assert smallest([*topics[:-1], AtK(8, 4747, 8, 5.4)], 4) == 2, "means over seeds count as rounded"
    assert smallest([*topics[:-1], AtK(8, 5500, 8, 5)], 4) == 4, "evidence rises by more than 5 %"
    assert smallest([at._replace(supported=math.nan) for at in topics], 4) == 4
    dip = [AtK(3, 96, 3, 2), AtK(4, 91, 4, 3), AtK(5, 100, 5, 3)]
    assert smallest(dip, 2) == 2, "K = 4 lies between K that are as good, but is not"


def test_a_smaller_k_with_supported_biclusters_only_and_no_less_evidence_is_the_answer():
    blood = [AtK(6, 96, 6, 6), AtK(7, 100, 7, 7), AtK(8, 93, 8, 7), AtK(13, 97, 13, 10), AtK(16, 101, 16, 10)]
    assert smallest(blood, 4) == 1, "as many are supported at K = 13, which has less evidence than K = 7"
    assert supported_at(blood, 7) == "About 10 biclusters are supported; take K = 7, where every one is."
    less = [at._replace(value=96) if at.k == 7 else at for at in blood]
    assert smallest(less, 4) == 3
    assert supported_at(less, 13) == "About 10 biclusters are supported; take K = 13 and keep those."
    assert about_k(less, 13)[0].startswith("Up to K = 7 every bicluster is supported")


def test_the_k_that_would_settle_where_all_are_supported_are_named():
    coarse = [AtK(4, 60, 4, 4), AtK(8, 90, 8, 7), AtK(12, 100, 12, 10), AtK(16, 99, 16, 10)]
    assert about_k(coarse, 12)[-1] == "Try K = 5 to 7 to see up to where every bicluster is supported."
    assert about_k(coarse[1:], 12)[-1] == "Try K = 2 to 7 to see up to where every bicluster is supported."
    assert about_k([AtK(3, 60, 3, 3), AtK(5, 100, 5, 5), AtK(9, 90, 9, 5)], 5) == [], "five are all there is"


def test_one_number_and_one_decision_where_k_was_tried_in_steps():
    steps = [AtK(3, 60, 3, 3), AtK(6, 90, 6, 4), AtK(9, 100, 9, 4), AtK(12, 99, 12, 4)]
    assert supported_at(steps, 9) == "About 4 biclusters are supported; refit with K = 4."
    five = [at._replace(supported=5) if at.k == 9 else at for at in steps]
    assert supported_at(five, 9) == "About 5 biclusters are supported; refit with K = 4 or 5."


def test_a_choice_whose_neighbours_support_few_is_not_stable():
    digits = [AtK(k, 10 * n, k, n) for k, n in ((2, 1), (4, 3), (6, 6), (8, 1), (10, 0), (12, 0))]
    said = (
        "The choice is not stable: with K = 8 only 1 of 8 biclusters are supported; compare other seeds, or more rows."
    )
    assert about_k(digits, 6) == [said]
    planted = [AtK(k, 10 * min(k, 4), k, min(k, 4)) for k in range(2, 9)]
    assert not any("stable" in text for text in about_k(planted, 4))


def test_all_supported_skips_small_k_and_one_bicluster():
    assert all_supported([AtK(1, 5.0, 1, 1), AtK(3, 6.0, 3, 2), AtK(5, 7.0, 5, 5), AtK(8, 8.0, 8, 7)], 8).k == 5
    assert all_supported([AtK(3, 6.0, 3, 2)], 3) is None


def test_all_supported_is_never_beyond_the_best_k():
    planted = [AtK(k, 9.0 - abs(k - 4), k, k) for k in range(2, 7)]
    assert all_supported(planted, 4).k == 4
    assert all_supported([AtK(2, 5.0, 2, 2), AtK(3, 6.0, 3, 2), AtK(4, 9.0, 4, 4)], 4).k == 4, "the best counts itself"


def test_few_surrogates_show_nothing():
    said = "3 surrogates cannot show more than p = 0.25; none of them has as much evidence; run at least 19."
    assert few_surrogates(0.25, 3, "total_evidence") == said
    assert few_surrogates(0.5, 3, "total_evidence") == few_surrogates(0.05, 19, "total_evidence") == ""
    assert (reached(0.25, 3), reached(0.5, 3), reached(0.5, 0)) == (0.0, 0.5, 0.5)


def test_called():
    assert (called("las", 3), called("coherent", 5, {"coherent"})) == ("las with K = 3", "coherent")


def test_seeing_nothing():
    assert seeing_nothing(["total_evidence"], PILLARS, {"total_evidence": 0.5}) == ["total_evidence", "predictive"]


@pytest.mark.parametrize(("seeds", "quantile"), [(2, 12.706), (10, 2.262)])  # of Student's t, from tables
def test_the_interval_over_seeds_is_that_of_student(seeds, quantile):
    values = np.random.default_rng(0).normal(size=seeds)
    place = {"dataset": "a", "algorithm": "las", "k": 3, "seed": range(seeds), "status": "ok"}
    row = candidates(pd.DataFrame(place | {"nve": values}), "nve", high=False).iloc[0]
    half = quantile * values.std(ddof=1) / np.sqrt(seeds)
    assert (row["low"], row["high"]) == pytest.approx((values.mean() - half, values.mean() + half), rel=1e-3)


def test_is_thin():
    assert (is_thin(1, 9), is_thin(2, 3), is_thin(50, 2)) == (True, False, True)


def test_is_negligible():
    assert (is_negligible(0.04), is_negligible(0.06)) == (True, False)


def test_is_indistinct():
    assert (is_indistinct(0.9), is_indistinct(0.89), is_indistinct(math.nan)) == (True, False, False)


def test_is_duplicate():
    assert (is_duplicate(0.9), is_duplicate(0.89)) == (True, False)


def test_strength():
    assert [strength(value) for value in (1.0, 5.0, 20.0, 175.0, -3.0)] == [
        "weak",
        "clear",
        "strong",
        "very strong",
        "",
    ]


def test_predicts():
    assert (predicts(0.10, 0.02), predicts(0.10, 0.06)) == (True, False)


def test_what_members_share_is_said_in_the_reason_and_in_a_column():
    rows = [("supported", "A"), ("supported", "B"), ("not_supported", "C"), ("supported", "D")]
    plain = {"n_rows": 9, "n_cols": 4, "pattern": "shifted mean", "evidence": 20.0, "mean_inside": 3.0}
    records = [plain | {"bicluster": name, "verdict": verdict, "mean_elsewhere": 1.0} for verdict, name in rows]
    verdict = judged(records, nouns=("genes", "cells"))
    some = with_shares(verdict, ["100 % NK", "enriched in T cell (23 %; 2 % outside)", "", "higher age"], 1)
    assert some.reason.startswith("1 of the 3 marks known cells: A (100 % NK).")  # 23 % are no mark
    known = with_shares(verdict, ["100 % NK", "", "100 % B cell", "62 % T cell"], 1)
    assert known.reason.startswith("2 of the 3 mark known cells: A (100 % NK) and D (62 % T cell). A is the strongest:")
    assert with_shares(known, ["100 % NK", "", "100 % B cell", "62 % T cell"], 1).reason == known.reason
    assert list(columns(known))[:3] == ["", "verdict", "evidence"]
    assert columns(known)["cells share"] == ["100 % NK", "–", "100 % B cell", "62 % T cell"]
    both = with_shares(known, ["CELL_CYCLE", "", "", ""])
    assert "1 of the 3 holds genes known to belong together: A (CELL_CYCLE)." in both.reason
    assert {"genes share", "cells share"} < {*columns(both)}
    assert "cells share" in str(both)


def test_members_of_both_sides_are_named():
    X = Matrix(np.diag([1.0, 2, 3]), ("d1", "d2", "d3"), ("ball", "orbit", "moon"))
    assert first_members(X, Biclustering([([1, 2], [1, 2])], (3, 3))) == ["d3, d2 × moon, orbit"]


def test_first_members():
    assert first_members(
        Matrix([[1, 2], [3, 1]], row_labels=("MFA1", "AGA2")), Biclustering([([0, 1], [0])], (2, 2))
    ) == ["AGA2, MFA1"]


def test_described():
    assert described(
        {
            "n_rows": 17,
            "n_cols": 7,
            "mean_inside": 0.85,
            "mean_elsewhere": -0.54,
            "pattern": "shifted mean",
            "evidence": 175.0,
            "strength": "very strong",
            "verdict": "supported",
            "redundant_with": "",
        }
    ) == ["supported", "+175, very strong", "17 × 7", "0.85", "−0.54", "shifted mean"]


def test_why():
    assert why({"verdict": "redundant", "redundant_with": "B2", "shared": 0.94}) == "shares 94 % of its values with B2"
    assert why({"verdict": "redundant", "redundant_with": "B2, B3", "shared": 0.2}) == "B2 and B3 explain it"
    assert (
        why({"verdict": "not_supported", "evidence": -12.3})
        == "evidence −12.3: in pure noise, the best of all blocks of this size could be as good"
    )


def test_signed():
    assert (signed(175.2), signed(-3.0)) == ("+175", "−3")


def test_headline():
    def rows(*verdicts):
        return [{"bicluster": f"B{k}", "verdict": verdict} for k, verdict in enumerate(verdicts, 1)]

    assert headline(rows("supported", "supported")) == "Both biclusters are supported."
    assert (
        headline(rows("supported", "redundant", "redundant", "not_supported"))
        == "1 of the 4 biclusters is supported; 2 are redundant, 1 is not supported."
    )
    assert (
        headline(rows("not_supported", "not_supported", "too_small"))
        == "None of the 3 biclusters is supported; B3 is too small to judge."
    )
    assert (
        headline(rows("supported", "not_supported", "not_supported", "too_small"))
        == "1 of 4 biclusters is supported, 2 are not; B4 is too small to judge."
    )
    assert headline(rows("too_small")) == "The bicluster is too small to judge."


def test_counted():
    assert counted({"n_biclusters": 5, "n_supported": 4}) == "4 of the 5 biclusters are supported."
    assert (counted({"n_biclusters": 3, "n_supported": 0}), counted({"n_biclusters": 0})) == (
        "None of the 3 biclusters is supported.",
        "The solution has no biclusters.",
    )


def test_nothing_supported():
    assert nothing_supported("LAS, K = 3") == "Nothing is supported; LAS, K = 3 comes nearest."


def test_holding():
    assert [holding(found, supported) for found, supported in ((6, 4), (6, 6), (1, 0), (6, math.nan))] == [
        "6 biclusters, 4 supported",
        "6 biclusters, all supported",
        "1 bicluster, not supported",
        "6 biclusters",
    ]


def test_prediction():
    assert (
        prediction(True, 0.31, 0.02)
        == "It predicts held-out values better than row and column means do (gain 0.31 ± 0.02)."
    )


def test_reproducibility():
    assert reproducibility(0.62) == (
        True,
        "Its biclusters are reproducible under subsampling (stability 0.62, chance gives 0).",
    )
    assert not reproducibility(-0.03)[0]


def test_pruning():
    assert (
        pruning("data.csv", "las.json", omits=True)[:68]
        == "`bivaluate prune data.csv las.json --missing omit -o pruned.json` le"
    )


def test_finding():
    assert (
        finding("data.csv")
        == "`bivaluate find data.csv` runs the algorithms that fit the data and keeps what is supported."
    )


def test_asking_held_out_cells():
    assert asking_held_out_cells() == "`bivaluate sweep … --held-out 5` shows which choice predicts held-out values."


def test_capital():
    assert capital("both are supported") == "Both are supported"


def test_what_has_no_evidence_is_not_called_unsupported():
    shown = str(evaluate(np.ones((50, 20)), [(range(5), range(5)), (range(5, 10), range(5, 10))]).verdict)
    assert shown.count("cannot be judged") == 3
    assert "not supported" not in shown


def test_the_reason_fits_the_pattern():
    record = {"bicluster": "B1", "verdict": "supported", "pattern": "row levels", "evidence": 90.0}
    record |= {"n_rows": 30, "n_cols": 12, "mean_inside": 0.00282, "mean_elsewhere": -0.00119}
    assert (
        judged([record]).reason
        == "Its 30 rows are at levels on its 12 columns not seen elsewhere, more than chance gives."
    )
    shifted = record | {"pattern": "shifted mean", "mean_inside": 60.0, "mean_elsewhere": -7.4e-15}
    assert judged([shifted]).reason == "Its 30 rows have a mean of 60 on its 12 columns and 0 on the others."
