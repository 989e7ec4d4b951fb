"""What findings, verdict and pruning say of one solution fits together; ordered columns are judged against surrogates."""

import numpy as np
import pytest

from bivaluate import Biclustering, evaluate, evidence_table, propose_pruning
from bivaluate._errors import MatrixError
from bivaluate.datasets import make_scenario
from bivaluate.judge.findings import ordered_column_findings
from bivaluate.judge.limits import is_noise


def test_a_bicluster_that_pays_beside_the_others_is_not_called_noise():
    """Where a strong bicluster hides a weak one, the weak one saves something only once the strong one is taken out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 24))
    X[:40, :12] += 10
    X[32:62, 5:15] += 2
    solution = Biclustering([(range(40), range(12)), (range(32, 62), range(5, 15))], X.shape)
    found = evidence_table(X, solution)
    hidden = np.flatnonzero(found.pays & ~(found.alone > 0))
    assert hidden.tolist() == [1]
    assert not is_noise(found, [2.0, 2.0]).any()
    result = evaluate(X, solution)
    assert result.verdict.startswith("Good. Both biclusters stand out")
    assert not [sentence for sentence in result.findings if "does not stand out" in sentence]
    assert not propose_pruning(X, solution).proposals


def test_a_bicluster_that_adds_nothing_is_named_everywhere():
    X, truth = make_scenario("S5", random_state=0)[:2]
    result, advice = evaluate(X, truth), propose_pruning(X, truth)
    told = "B3 stands out on its own, but adds nothing to B2 and B4, which share cells with it."
    assert "3 of 4 biclusters stand out, the other adds nothing to them" in result.verdict
    assert told in result.findings
    assert f"{told} It is kept." in advice.cautions
    assert not advice.proposals


def test_a_pattern_in_four_pieces_is_not_called_good():
    X, truth = make_scenario("S7", random_state=0)[:2]
    result = evaluate(X, truth)
    assert result.verdict.startswith("All 4 biclusters stand out from noise; they are hardly distinct (NVE 1.03)")
    assert "nearly the same pattern" in result.findings[0]


def test_real_pattern_passes_and_smooth_noise_does_not():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(120, 30)), axis=1)
    X[:30] = 6 * np.sin(np.arange(30)) + 0.3 * rng.normal(size=(30, 30))
    solution = Biclustering([(range(30), range(30)), (range(60, 90), range(30)), ([5], [1, 2])], X.shape)
    beside, (sentence,) = ordered_column_findings(X, solution, ["B1", "B2", "B3"], null_runs=1)
    assert beside.startswith("B1 is more coherent than anything a search finds in surrogates as smooth as the data")
    passed, failed = sentence.split("; not below: ")
    assert "B1" in passed
    assert "B2" in failed
    assert "B3 (1.00)" in failed


def test_ordered_columns_leave_what_pruning_keeps():
    """Blocks raised on neighbouring columns of smooth rows: no profile, and evidence all the same."""
    rng = np.random.default_rng(3)
    white = rng.normal(size=(120, 21))
    X = white[:, 1:] + white[:, :-1]
    X[:30, :8] += 4
    solution = Biclustering([(range(30), range(8)), (range(60, 90), range(4, 12))], X.shape)
    scored = evaluate(X, solution)
    advised = [text for text in scored.findings if "shuffle them" in text]
    assert len(advised) == 1
    beside, left = ordered_column_findings(X, solution, scored.names, scored.findings)
    assert beside.endswith("B1 stands out by evidence alone.")
    assert beside.startswith("No bicluster is more coherent than")
    assert not any("shuffle" in text or "prune --ordered" in text for text in left)
    assert sum("evidence counts a cell as" in text for text in left) == 1
    advice = propose_pruning(X, solution, ordered_columns=True)
    assert advice.names == ("B1",)
    assert f"a search reaches aVE {advice.cut:.2f}. Below that (columns centred): none; not below: B1" in left[-1]


def test_missing_cells_are_refused():
    with pytest.raises(MatrixError, match="missing"):
        ordered_column_findings([[1.0, np.nan], [2.0, 3.0]], Biclustering([([0], [0])], (2, 2)), ["B1"])


def test_one_bicluster_of_noise_changes_nothing_about_the_others():
    X, blocks = np.random.default_rng(0).normal(size=(250, 60)), []
    for i in range(4):
        X[40 * i : 40 * i + 30, 15 * i : 15 * i + 12] += 3
        blocks.append((range(40 * i, 40 * i + 30), range(15 * i, 15 * i + 12)))
    blind = "only sees profiles across columns, and cannot tell blocks of another kind apart"
    assert blind in evaluate(X, blocks).verdict
    beside = evaluate(X, [*blocks, (range(200, 220), range(5, 15))]).verdict
    assert blind in beside
    assert "hardly distinct" not in beside
    assert beside.startswith(
        "4 of 5 biclusters stand out, the other adds nothing to them; all 5 together cover 11 % of the matrix. "
    )
