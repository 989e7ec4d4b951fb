"""Advice on redundancy: duplicates, mergers that cost nothing, search noise; explained and never applied silently."""

import re

import numpy as np
import pytest

from bivaluate import Biclustering, evaluate
from bivaluate._errors import MatrixError, ParameterError
from bivaluate.chance.search import search_block
from bivaluate.judge.prune import _Known, propose_pruning
from bivaluate.judge.redundancy import Merging, is_coherent
from bivaluate.matrix import Matrix
from bivaluate.measures._mergers import errors_of_one
from bivaluate.measures.workspace import Workspace


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
    assert [p.kind for p in advice.proposals] == ["drop", "drop"]
    assert advice.names == ("B1", "B2")
    assert "is the same as B2" in advice.proposals[0].reason
    assert "shares 98 % of its cells with B2" in advice.proposals[1].reason
    assert advice.after["cc"] > 1.5 * advice.before["cc"]


def test_pieces_of_one_pattern_are_merged(planted):
    advice = advise(planted, (range(15), range(12)), OTHER, (range(15, 40), range(12)))
    (proposal,) = advice.proposals
    assert (proposal.kind, proposal.biclusters) == ("merge", ("B1", "B3"))
    assert proposal.reason.startswith("Merge B1 and B3 into 40 x 12: together they are as coherent as either alone")
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
    assert (proposal.kind, proposal.biclusters) == ("drop", ("B1",))
    assert "lies within B2, which is at least as coherent" in proposal.reason


def test_noise_goes_unless_kept(planted):
    rng = np.random.default_rng(0)
    rest = np.arange(110, 200)
    thin, _ = search_block(planted[rest], 8, 2, rng=rng)
    junk = (rest[thin.rows], thin.cols)
    advice = advise(planted, GOOD, OTHER, junk, ([150], range(30, 36)))
    assert [p.biclusters for p in advice.proposals] == [("B3",), ("B4",)]
    assert "searching noise of this size finds 8 x 2 blocks as coherent" in advice.proposals[0].reason
    assert "it has 1 row and 6 columns" in advice.proposals[1].reason
    assert advice.names == ("B1", "B2")
    assert advise(planted, GOOD, OTHER, junk, keep_weak=True).proposals == ()


def test_missing_cells_are_left_out_if_asked(planted):
    X = planted.copy()
    X[np.random.default_rng(5).random(X.shape) < 0.03] = np.nan
    pairs = [(range(15), range(12)), OTHER, (range(15, 40), range(12)), OTHER, (range(120, 140), range(25, 33))]
    advice, whole = advise(X, *pairs, missing="omit"), advise(planted, *pairs)
    assert [(p.kind, p.biclusters) for p in advice.proposals] == [(p.kind, p.biclusters) for p in whole.proposals]
    assert [p.kind for p in advice.proposals] == ["merge", "drop", "drop"]
    for side, solution in ((advice.before, Biclustering(pairs, X.shape)), (advice.after, advice.solution)):
        scores = evaluate(X, solution, missing="omit").scores
        assert {key: side[key] for key in ("nve", "cc", "total_evidence")} == {
            key: scores[key] for key in ("nve", "cc", "total_evidence")
        }
    with pytest.raises(MatrixError, match="or pass missing='omit' to average over the observed cells"):
        advise(X, *pairs)
    with pytest.raises(MatrixError, match="surrogates, which need every cell"):
        advise(X, *pairs, missing="omit", ordered_columns=True)


def test_mergers_of_one_are_over_observed_cells(planted):
    X = planted.copy()
    X[np.random.default_rng(6).random(X.shape) < 0.05] = np.nan
    many = Biclustering([GOOD, OTHER] * 33, X.shape)  # enough for the compiled loop, which knows no missing cells
    workspace = Workspace.of(X, many, missing="omit")
    found = errors_of_one(Matrix.of(X, "omit"), many.row_masks, many.col_masks, 0, np.arange(66))
    assert found == pytest.approx(workspace.merged_ve[0], rel=1e-12)


def test_nothing_may_be_left(planted):
    advice = advise(planted, (range(150, 155), range(30, 34)))
    assert advice.names == ()
    assert len(advice.solution) == 0
    assert np.isnan(advice.after["nve"])
    assert advise(planted).proposals == ()


def test_cut_is_refitted_for_ordered_columns():
    rng = np.random.default_rng(3)
    smooth = np.cumsum(rng.normal(size=(60, 30)), axis=1)
    found, _ = search_block(smooth - smooth.mean(axis=0), 8, 10, rng=rng)
    solution = Biclustering([(found.rows, found.cols)], smooth.shape)
    loose = propose_pruning(smooth, solution)
    strict = propose_pruning(smooth, solution, ordered_columns=True, null_runs=2)
    assert loose.proposals == ()
    assert strict.cut < loose.cut == 0.9
    again = propose_pruning(smooth, solution, ordered_columns=True, null_runs=2)
    assert again.cut == strict.cut


def test_the_solution_given_is_not_changed(planted):
    solution = Biclustering([GOOD, GOOD], planted.shape, info={"algorithm": "x"})
    advice = propose_pruning(planted, solution)
    assert len(solution) == 2
    assert solution.info == {"algorithm": "x"}
    assert advice.solution.info["algorithm"] == "x"


def test_bad_input_is_explained(planted):
    with pytest.raises(ParameterError, match="cut is -1"):
        advise(planted, GOOD, cut=-1)
    with pytest.raises(MatrixError, match="missing"):
        advise(np.where(planted > 3, np.nan, planted), GOOD)


def test_raised_blocks_are_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    blocks = (range(30), range(12)), (range(40, 80), range(15, 30))
    for rows, cols in blocks:
        X[np.ix_(rows, cols)] += 4
    assert advise(X, *blocks).proposals == ()


def test_skewed_values_are_never_merged():
    rng = np.random.default_rng(0)
    X = rng.lognormal(sigma=2, size=(60, 50)) * (rng.random((60, 50)) < 0.1)
    blocks = [(range(start, start + 15), range(start, start + 12)) for start in (0, 12, 24, 36)]
    advice = advise(X, *blocks)
    assert all(proposal.kind == "drop" for proposal in advice.proposals)
    assert "With values this skewed, mergers look free when they are not: none is proposed." in advice.cautions


@pytest.mark.parametrize("options", [{}, {"centre": "none"}, {"normalise": "rank"}])
def test_of_zeros_pruning_says_what_findings_say(options):
    X = (np.random.default_rng(102).random((100, 60)) < 0.1) * 1.0
    solution = Biclustering([(range(20), range(10)), (range(30, 50), range(20, 30))], X.shape)
    said = [text for text in evaluate(X, solution).findings if "Most cells are 0 (90 %)" in text]
    told = [text for text in propose_pruning(X, solution, **options).cautions if "skewed (" in text]
    figures = re.compile(r" \(skewness .*?\)")  # of centred data, in prune
    assert [figures.sub("", text) for text in told] == [figures.sub("", text) for text in said] != []


def test_random_blocks_are_noise_to_findings_and_pruning_alike():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 40))
    blocks = [(rng.choice(200, 20, replace=False), rng.choice(40, 8, replace=False)) for _ in range(6)]
    solution = Biclustering(blocks, X.shape)
    assert any("None of the 6 biclusters stands out from noise" in text for text in evaluate(X, solution).findings)
    assert len(propose_pruning(X, solution).proposals) == 6


def test_no_merger_costs_evidence():
    """Halves of one block may become one; a block that pays never becomes part of a union that saves less."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, 24))
    X[:24, :10] = 3 * rng.normal(size=10) + 0.3 * rng.normal(size=(24, 10))
    halves = [(range(12), range(10)), (range(12, 24), range(10))]
    beside = [(range(24), range(10)), (range(40, 64), range(12, 22))]
    found = []
    for pairs in (halves, beside):
        solution = Biclustering(pairs, X.shape)
        found += Merging(Matrix.of(X), solution, list(solution)).costs([(0, 1)], np.zeros(1)).tolist()
    assert found == [False, True]


def test_blocks_whose_rows_hardly_follow_a_pattern_are_no_repeats():
    assert is_coherent(np.array([0.79, 0.81]), np.array([40, 40]), np.array([12, 12])).tolist() == [True, False]


def test_a_change_leaves_what_would_be_known_from_the_start():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(70, 24))
    X[:40, :14] = 0.1 * X[:40, :14] + 2 * rng.normal(size=14)
    pairs = [(range(20), range(8)), (range(15, 40), range(5, 14)), (range(45, 60), range(10, 20))]
    changed = [(range(5, 35), range(3, 14)), *pairs[1:]]
    known, fresh = (_Known.of(Workspace.of(X, Biclustering(of, X.shape)), Matrix.of(X)) for of in (pairs, changed))
    known.change(0, Biclustering(changed, X.shape)[0], np.ones(3, dtype=bool))
    assert fresh.related[0, 1]
    for name in ("row_masks", "col_masks", "shapes", "shared", "related", "duplicates"):
        assert np.array_equal(getattr(known, name), getattr(fresh, name)), name
    np.testing.assert_allclose(known.ve, fresh.ve, rtol=1e-12)
