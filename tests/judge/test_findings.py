"""What findings, verdict and pruning say of one solution fits together."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bivaluate import Biclustering, Matrix, evaluate, evidence_table, propose_pruning
from bivaluate.datasets import make_scenario
from bivaluate.judge.verdict import first_members


def test_a_bicluster_supported_beside_the_others_is_supported_everywhere():
    """Of two that overlap, the weaker one is judged once the pattern of the stronger one is subtracted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 24))
    X[:40, :12] += 4
    X[32:62, 5:15] += 3
    solution = Biclustering([(range(40), range(12)), (range(32, 62), range(5, 15))], X.shape)
    found = evidence_table(X, solution)
    assert found.verdicts == ("supported", "supported")
    assert evaluate(X, solution).verdict.headline == "Both biclusters are supported."
    assert not propose_pruning(X, solution).proposals


def test_what_is_redundant_is_named_everywhere():
    X, truth = make_scenario("S1", random_state=0)[:2]
    copies = Biclustering([*((b.rows, b.cols) for b in truth), (truth[0].rows[:-1], truth[0].cols)], X.shape)
    result, advice = evaluate(X, copies), propose_pruning(X, copies)
    last = result.verdict.biclusters[-1]
    assert (last["verdict"], last["redundant_with"], last["why"]) == ("redundant", "B1", "all its values are in B1")
    assert f"B{len(truth) + 1} is redundant" in result.verdict.headline
    assert [(p.action, p.biclusters) for p in advice.proposals] == [("drop", (f"B{len(truth) + 1}",))]
    assert advice.groups == (("B1", f"B{len(truth) + 1}"),)


def test_a_block_too_small_to_judge_is_never_called_noise_and_never_dropped():
    X = np.random.default_rng(0).normal(size=(200, 18))
    X[:2, :1] += 8
    result = evaluate(X, [(range(2), range(1)), (range(50, 90), range(9))], degenerate="formula")
    small, noise = result.verdict.biclusters
    assert (small["verdict"], noise["verdict"]) == ("too_small", "not_supported")
    assert small["why"] == "a single column: nothing shows whether its rows behave alike"
    assert result.verdict.headline == "None of the 2 biclusters is supported; B1 is too small to judge."
    assert propose_pruning(X, result.solution).names == ("B1",)


def test_noise_beside_supported_biclusters_changes_nothing_about_them():
    X, blocks = np.random.default_rng(0).normal(size=(250, 60)), []
    for i in range(4):
        X[40 * i : 40 * i + 30, 15 * i : 15 * i + 12] += 3
        blocks.append((range(40 * i, 40 * i + 30), range(15 * i, 15 * i + 12)))
    alone, beside = evaluate(X, blocks), evaluate(X, [*blocks, (range(200, 220), range(5, 15))])
    assert alone.verdict.headline == "All 4 biclusters are supported."
    assert beside.verdict.headline == "4 of the 5 biclusters are supported; B5 is not supported."
    assert beside.scores["total_evidence"] == alone.scores["total_evidence"]
    nve = f"{alone.scores['nve']:.3g}"
    said = f"NVE ({nve}) looks poor because all 4 supported biclusters differ in level, which NVE ignores."
    assert said in alone.findings
    assert alone.scores["nve"] > 0.9
    assert any("because both supported biclusters differ" in text for text in evaluate(X, blocks[:2]).findings)


def test_a_series_is_said_to_be_one():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(120, 30)), axis=1)
    notes = evaluate(X, [(range(30), range(30)), (range(60, 90), range(10, 25))]).findings
    assert sum("Neighbouring columns are correlated" in note for note in notes) == 1


def test_a_transposed_matrix_swaps_real_nouns_alone():
    X = Matrix.of(np.arange(6.0).reshape(2, 3))
    assert X.T.nouns == ("rows", "columns")
    assert X.called("genes", "cells").T.nouns == ("cells", "genes")
    assert X.called("genes").T.nouns == ("rows", "genes")


def test_a_verdict_prints_its_table_and_a_missing_score_says_where_it_is():
    X = np.random.default_rng(0).normal(size=(60, 20))
    X[:15, :6] += 3
    result = evaluate(X, [(range(15), range(6)), (range(30, 45), range(10, 16))])
    lines = str(result.verdict).splitlines()
    assert lines[0] == result.verdict.headline == "1 of the 2 biclusters is supported; B2 is not supported."
    assert lines[1] == result.verdict.reason
    assert [line.split()[:2] for line in lines[3:]] == [["B1", "supported"], ["B2", "not"]]
    assert repr(result.verdict).splitlines() == [*lines, *result.verdict.notes, *result.verdict._next]
    assert result.verdict._repr_html_() == result._repr_html_()
    with pytest.raises(KeyError, match=r"see \.biclusters\['msr'\]"):
        result.scores["msr"]


def test_members_are_named_by_strength():
    X = np.zeros((4, 6))
    X[:2, :3] = [[1, 5, 3], [1, 5, 3]]
    words = Matrix.of(X).called("documents", "words")
    words = Matrix(X, ("d1", "d2", "d3", "d4"), tuple("abcdef"), nouns=words.nouns)
    assert first_members(words, Biclustering([([0, 1], [0, 1, 2])], X.shape)) == ["d1, d2 × b, c, a"]
    sparse = Matrix.of(csr_array(X))
    labelled = Matrix(sparse.source, words.row_labels, words.col_labels, nouns=words.nouns)
    assert first_members(labelled, Biclustering([([0, 1], [0, 1, 2])], X.shape)) == ["d1, d2 × b, c, a"]


@pytest.mark.filterwarnings("ignore::bivaluate.DegenerateWarning")
def test_factors_of_single_rows_are_said_to_be_so():
    X = np.random.default_rng(0).poisson(1.0, size=(30, 20)).astype(float)
    X[[0, 1, 2], [0, 5, 9]] = 400
    blocks = [([0], range(5)), ([1], range(5, 9)), (range(3, 9), range(9, 14))]
    said = Biclustering(blocks, X.shape, info={"rule": "mixture"})
    found = evaluate(Matrix.of(X).called("documents", "words"), said).findings
    assert any(text.startswith("2 of the 3 factors have one document alone") and "top:0.1" in text for text in found)
    assert not any("alone" in text for text in evaluate(X, Biclustering(blocks, X.shape)).findings)
