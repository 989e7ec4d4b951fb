"""Held-out cells: gains of known solutions, nested fits, noise, clear errors."""

import numpy as np
import pandas as pd
import pytest

from bivaluate import Biclustering, MatrixError, ParameterError, Plan, Sweep
from bivaluate.algorithms import LargeAverageSubmatrices
from bivaluate.sweep import predictive_gain
from bivaluate.sweep.held_out import predicted
from bivaluate.sweep.load import unpredicted_sentences
from bivaluate.sweep.select import select

BLOCKS = [(range(20), range(8)), (range(20, 40), range(8, 16)), (range(45, 60), range(2, 10))]


def planted(seed=0):
    X = np.random.default_rng(seed).normal(size=(60, 20))
    for rows, cols in BLOCKS[:2]:
        X[np.ix_(rows, cols)] += 3
    return X


def first(X, k):
    return Biclustering(BLOCKS[:k], X.shape)


@pytest.mark.parametrize("seed", range(3))
def test_planted_k_predicts_best(seed):
    gain = predictive_gain(planted(seed), first, [1, 2, 3], nested=True)
    assert gain.best_k == 2
    assert not gain.nothing
    assert gain.mean[1] > gain.mean[0] > 0
    assert gain.gains.shape == (5, 3)
    assert (gain.standard_error > 0).all()


def test_nested_fits_once_per_fold_and_changes_nothing():
    calls = []

    def counted(X, k):
        calls.append(k)
        return first(X, k)

    together = predictive_gain(planted(), counted, [1, 2, 3], nested=True)
    assert calls == [3] * 5
    one_by_one = predictive_gain(planted(), counted, [3, 1, 2], nested=False)
    np.testing.assert_array_equal(together.gains, one_by_one.gains)


def test_nothing_in_noise():
    X = np.random.default_rng(1).normal(size=(60, 20))
    gain = predictive_gain(X, first, [1, 2, 3], nested=True)
    assert gain.nothing
    assert gain.best_k is None


@pytest.mark.parametrize("algorithm", ["nmf", "lda"])
def test_counts_stay_counts_where_cells_are_hidden(algorithm, tmp_path):
    X = np.random.default_rng(0).poisson(0.3, (60, 20))
    for rows, cols in BLOCKS[:2]:
        X[np.ix_(rows, cols)] += 3
    pd.DataFrame(X).to_csv(tmp_path / "counts.csv")
    run = Sweep(Plan([str(tmp_path / "counts.csv")], [algorithm], [2], held_out=2), tmp_path / "run").run()
    assert run.results["predictive"].iloc[0] > 0.2
    assert unpredicted_sentences(run) == []


def test_who_cannot_predict_held_out_cells_and_why(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 20)))
    X.iloc[1:, 8:] = np.nan  # columns of one cell: hiding it leaves none
    X.to_csv(tmp_path / "gaps.csv")
    plan = Plan([str(tmp_path / "gaps.csv")], ["coherent"], [2], held_out=5, score={"missing": "omit"})
    run = Sweep(plan, tmp_path / "run").run()
    (said,) = unpredicted_sentences(run)
    assert said.startswith("coherent: held-out values could not be predicted: fold ")
    assert said in select(run).warnings
    with pytest.raises(ParameterError, match=r"did not compute 'predictive'.*with --held-out 5"):
        select(run, by="predictive")


def test_the_hidden_cells_never_reach_the_fit():
    X = planted()
    seen = []

    def look(filled, k):
        assert np.isfinite(filled).all()
        seen.append(filled.copy())
        return first(filled, k)

    predictive_gain(X, look, [1], folds=3, share=0.2, random_state=4)
    changed = [filled != X for filled in seen]
    assert [int(c.sum()) for c in changed] == [240] * 3
    assert not (changed[0] & changed[1]).any()
    again = predictive_gain(X, first, [1], folds=3, share=0.2, random_state=4)
    np.testing.assert_array_equal(again.gains, predictive_gain(X, first, [1], folds=3, share=0.2, random_state=4).gains)


def test_missing_cells_are_never_hidden():
    X = planted()
    X[::5, ::4] = np.nan
    gain = predictive_gain(X, first, [1, 2], nested=True)
    assert gain.best_k == 2


def test_prediction_of_an_exact_additive_block():
    rng = np.random.default_rng(0)
    X = np.add.outer(rng.normal(size=40), rng.normal(size=15))
    X[:12, :6] += np.add.outer(rng.normal(size=12), rng.normal(size=6))
    visible = X.copy()
    visible[3, 2] = visible[30, 9] = np.nan
    guess = predicted(visible, Biclustering([(range(12), range(6))], X.shape))
    assert abs(guess[3, 2] - X[3, 2]) < 0.2
    assert abs(guess[30, 9] - X[30, 9]) < 0.2


def test_thin_and_absent_biclusters_predict_nothing():
    X = planted()
    for solution in (Biclustering([], X.shape), Biclustering([([0], range(20))], X.shape)):
        gain = predictive_gain(X, lambda X, k, solution=solution: solution, [1])
        assert (gain.mean == 0).all()
        assert gain.nothing


def test_clear_errors():
    X = planted()
    with pytest.raises(ParameterError, match=r"20 folds of 120 cells each \(10 %\) need 2400 cells, but X has 1200"):
        predictive_gain(X, first, [1], folds=20)
    with pytest.raises(ParameterError, match="hides none"):
        predictive_gain(X, first, [1], share=0.0)
    with pytest.raises(ParameterError, match="k_values is empty"):
        predictive_gain(X, first, [])
    with pytest.raises(ParameterError, match="folds is 1"):
        predictive_gain(X, first, [1], folds=1)
    with pytest.raises(MatrixError, match="without a visible value"):
        predictive_gain(np.arange(6.0).reshape(3, 2), first, [1], folds=2, share=0.5)


def test_a_sweep_predicts_held_out_cells_and_select_chooses_by_them(tmp_path):
    from bivaluate import Plan, Sweep, load_run
    from bivaluate.sweep.select import select

    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 24))
    X[:15, :8] += 3
    X[25:45, 10:18] += 3
    np.save(tmp_path / "raised.npy", X)
    plan = Plan([str(tmp_path / "raised.npy")], ["las"], [1, 2, 3], held_out=3, parameters={"las": {"n_restarts": 30}})
    run = Sweep(plan, tmp_path / "run").run()
    assert {"predictive", "predictive_error"} <= set(run.results)
    selection = select(load_run(tmp_path / "run"), by="predictive")
    assert selection.choice("raised") == ("las", 2)
    assert set(select(run).best["measure"]) >= {"total_evidence", "predictive"}
    again = Sweep(plan, tmp_path / "again").run()
    assert (run.path / "results.csv").read_bytes() == (again.path / "results.csv").read_bytes()
    with pytest.raises(ParameterError, match="held_out is 1; it must be at least 2"):
        Plan([str(tmp_path / "raised.npy")], ["las"], [2], held_out=1)


@pytest.fixture(scope="module")
def judged_run(tmp_path_factory):
    """A sweep of two raised blocks and of noise, with held-out cells and stability."""
    from bivaluate import Plan, Sweep

    folder = tmp_path_factory.mktemp("judged")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 24))
    np.save(folder / "noise.npy", rng.normal(size=(50, 20)))
    X[:15, :8] += 3
    X[25:45, 10:18] += 3
    np.save(folder / "raised.npy", X)
    files = [str(folder / name) for name in ("raised.npy", "noise.npy")]
    settings = {"held_out": 2, "stability": 2, "seeds": 2, "parameters": {"las": {"n_restarts": 20}}}
    return Sweep(Plan(files, ["las"], [1, 2, 3], **settings), folder / "run").run()


def test_stability_of_solutions_and_of_biclusters(judged_run):
    from bivaluate import stability

    raised = judged_run.results[judged_run.results["dataset"] == "raised"]
    assert raised["stability"].min() > 0.2
    X = judged_run.matrix("raised").values
    alone = stability(
        X, lambda X: LargeAverageSubmatrices(2, n_restarts=20, random_state=0).fit(X).solution_, repeats=2, null_runs=1
    )
    cell = raised[(raised["k"] == 2) & (raised["seed"] == 0)]
    assert cell["stability"].item() == pytest.approx(alone.mean, rel=1e-12)
    blocks = judged_run.biclusters
    mine = blocks[(blocks["dataset"] == "raised") & (blocks["k"] == 2) & (blocks["seed"] == 0)]
    assert mine["stability"].tolist() == pytest.approx(alone.per_bicluster.tolist(), rel=1e-12)


def test_the_verdict_says_where_criteria_agree_and_where_nothing_is(judged_run):
    from bivaluate.sweep.select import select

    for by in (None, "predictive", "stability"):
        selection = select(judged_run, by=by)
        assert selection.choice("raised")[1] >= 2
        assert selection.verdict[0].startswith("raised: ")
        assert "agree" in selection.verdict[0]
    selection = select(judged_run)
    assert selection.choice("raised") == ("las", 2)
    assert selection.verdict[0].startswith(
        "raised: las, K = 2: both biclusters are supported. K = 2 and 3 are as good (evidence within 5 %). "
    )
    assert "Evidence chooses las with K = 2; held-out values agree" in selection.verdict[0]
    assert selection.verdict[1:] == ["noise: no bicluster is supported and no candidate predicts held-out values."]
    assert selection.choice("noise") is None
    assert selection.to_dict()["verdict"] == selection.verdict


def test_consensus_over_the_seeds_of_the_choice(judged_run, tmp_path):
    from bivaluate import Plan, RunError, Sweep
    from bivaluate.sweep.select import consensus_of, select

    found = consensus_of(judged_run, select(judged_run), "raised")
    assert found.support.tolist() == [1.0, 1.0]
    assert sorted(b.shape for b in found.solution) == [(15, 8), (20, 8)]
    assert consensus_of(judged_run, select(judged_run), "noise") is None
    scenario = Sweep(Plan(["scenario:S9b"], ["cca"], [2, 3], seeds=2), tmp_path / "run").run()
    with pytest.raises(RunError, match="every seed of scenario:S9b has its own matrix"):
        consensus_of(scenario, select(scenario, by="asr"), "scenario:S9b")


def test_plans_without_stability_are_written_as_before():
    from bivaluate import Plan

    assert "stability" not in Plan(["scenario:S1"], ["cca"], [2]).to_dict()
    assert Plan(["scenario:S1"], ["cca"], [2], stability=3).to_dict()["stability"] == 3
    with pytest.raises(ParameterError, match="stability is -1"):
        Plan(["scenario:S1"], ["cca"], [2], stability=-1)
