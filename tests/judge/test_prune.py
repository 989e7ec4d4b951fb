"""Advice on what to leave out: duplicates, pieces of one block, what is not supported; explained, never silent."""

import numpy as np
import pytest

from benchmarks.noise_search import search_block
from bivaluate import Biclustering, MatrixError, evaluate
from bivaluate.judge.prune import propose_pruning


@pytest.fixture(scope="module")
def planted():
    """Two patterns in noise: rows 0-39 x columns 0-11 and rows 60-99 x columns 8-19."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 40))
    for rows, cols in ((slice(0, 40), slice(0, 12)), (slice(60, 100), slice(8, 20))):
        X[rows, cols] = 2 * rng.normal(size=12) + rng.normal(size=(40, 1)) + 0.3 * rng.normal(size=(40, 12))
    return X


GOOD = (range(40), range(12))
OTHER = (range(60, 100), range(8, 20))


def advise(X, *pairs, **options):
    return propose_pruning(X, Biclustering(pairs, X.shape), **options)


def test_good_solutions_are_left_alone(planted):
    advice = advise(planted, GOOD, OTHER)
    assert advice.proposals == ()
    assert advice.names == ("B1", "B2")
    assert advice.before == advice.after


def test_duplicates_go(planted):
    advice = advise(planted, OTHER, GOOD, GOOD, (range(39), range(12)))
    assert [p.action for p in advice.proposals] == ["drop", "drop"]
    assert advice.names == ("B1", "B2")
    assert advice.proposals[0].reason == "Drop B3: it is redundant (all its values are in B2)."
    assert advice.after["redundancy"] == 0 < advice.before["redundancy"]
    assert advice.after["total_evidence"] == pytest.approx(advice.before["total_evidence"], rel=1e-12)


def test_pieces_of_one_pattern_are_merged(planted):
    advice = advise(planted, (range(15), range(12)), OTHER, (range(15, 40), range(12)))
    (proposal,) = advice.proposals
    assert (proposal.action, proposal.biclusters) == ("merge", ("B1", "B3"))
    assert proposal.reason == "Merge B1 and B3 into 40 × 12: one bicluster explains both as well as two."
    assert advice.names == ("B1+B3", "B2")
    assert advice.solution[0].rows.tolist() == list(range(40))
    assert advice.solution.info["made_of"] == ["B1+B3", "B2"]
    assert advice.solution.info["pruning"] == [proposal.reason]


def test_mergers_of_mergers(planted):
    pieces = [(range(start, start + 10), range(12)) for start in (0, 10, 20, 30)]
    advice = advise(planted, *pieces, OTHER)
    assert len(advice.proposals) == 3
    assert sorted(advice.names[0].split("+")) == ["B1", "B2", "B3", "B4"]
    assert advice.solution[0].shape == (40, 12)


def test_blocks_within_better_ones_go(planted):
    (proposal,) = advise(planted, (range(5, 15), range(6)), GOOD, OTHER).proposals
    assert (proposal.action, proposal.biclusters) == ("drop", ("B1",))
    assert "all its values are in B2" in proposal.reason


def test_noise_goes_unless_kept(planted):
    rng = np.random.default_rng(0)
    rest = np.arange(110, 200)
    thin, _ = search_block(planted[rest], 8, 2, rng=rng)
    junk = (rest[thin.rows], thin.cols)
    advice = advise(planted, GOOD, OTHER, junk, ([150], range(30, 36)))
    assert [p.biclusters for p in advice.proposals] == [("B3",)]
    assert "not supported" in advice.proposals[0].reason
    assert advice.names == ("B1", "B2", "B4")  # one row is too small to judge
    assert advise(planted, GOOD, OTHER, junk, keep_weak=True).proposals == ()


def test_missing_cells_are_left_out_if_asked(planted):
    X = planted.copy()
    X[np.random.default_rng(5).random(X.shape) < 0.03] = np.nan
    pairs = [(range(15), range(12)), OTHER, (range(15, 40), range(12)), OTHER, (range(120, 140), range(25, 33))]
    advice, whole = advise(X, *pairs, missing="omit"), advise(planted, *pairs)
    assert [(p.action, p.biclusters) for p in advice.proposals] == [(p.action, p.biclusters) for p in whole.proposals]
    assert [p.action for p in advice.proposals] == ["merge", "drop", "drop"]
    for side, solution in ((advice.before, Biclustering(pairs, X.shape)), (advice.after, advice.solution)):
        scores = evaluate(X, solution, missing="omit").scores
        assert {key: side[key] for key in ("nve", "coverage", "total_evidence")} == {
            key: scores[key] for key in ("nve", "coverage", "total_evidence")
        }
    with pytest.raises(MatrixError, match="or pass missing='omit' to average over the observed values"):
        advise(X, *pairs)


def test_nothing_may_be_left(planted):
    advice = advise(planted, (range(150, 155), range(30, 34)))
    assert advice.names == ()
    assert len(advice.solution) == 0
    assert np.isnan(advice.after["nve"])
    assert advise(planted).proposals == ()


def test_what_is_too_small_is_kept_and_said(planted):
    advice = advise(planted, GOOD, ([150, 151], [30, 31]), (range(150, 155), range(30, 34)))
    assert (advice.names, advice.too_small) == (("B1", "B2"), ("B2",))


def test_the_solution_given_is_not_changed(planted):
    solution = Biclustering([GOOD, GOOD], planted.shape, info={"algorithm": "x"})
    advice = propose_pruning(planted, solution)
    assert len(solution) == 2
    assert solution.info == {"algorithm": "x"}
    assert advice.solution.info["algorithm"] == "x"


def test_bad_input_is_explained(planted):
    with pytest.raises(MatrixError, match="missing"):
        advise(np.where(planted > 3, np.nan, planted), GOOD)


def test_raised_blocks_are_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    blocks = (range(30), range(12)), (range(40, 80), range(15, 30))
    for rows, cols in blocks:
        X[np.ix_(rows, cols)] += 4
    assert advise(X, *blocks).proposals == ()


def test_random_blocks_are_rejected_by_verdict_and_pruning_alike():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 40))
    blocks = [(rng.choice(200, 20, replace=False), rng.choice(40, 8, replace=False)) for _ in range(6)]
    solution = Biclustering(blocks, X.shape)
    assert evaluate(X, solution).verdict.headline == "None of the 6 biclusters is supported."
    assert len(propose_pruning(X, solution).proposals) == 6


def test_no_change_costs_evidence():
    """Halves of one block become one; a supported block never becomes part of a union of less evidence."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, 24))
    X[:24, :10] += 2 * rng.normal(size=10)
    halves = [(range(12), range(10)), (range(12, 24), range(10))]
    beside = [(range(24), range(10)), (range(40, 64), range(12, 22))]
    one, other = advise(X, *halves), advise(X, *beside)
    assert one.names == ("B1+B2",)
    assert other.names == ("B1",)
    assert all(advice.after["total_evidence"] >= advice.before["total_evidence"] for advice in (one, other))


def test_nothing_that_is_left_is_redundant_or_not_supported(planted):
    rng = np.random.default_rng(2)
    some = [(rng.choice(60, 15, replace=False), rng.choice(20, 8, replace=False)) for _ in range(12)]
    advice = advise(planted, GOOD, OTHER, *some)
    left = evaluate(planted, advice.solution).verdict.biclusters
    assert {row["verdict"] for row in left} <= {"supported", "too_small"}
