"""Held-out cells: gains of known solutions, nested fits, noise, clear errors."""

import numpy as np
import pytest

from bivaluate import Biclustering
from bivaluate._errors import MatrixError, ParameterError
from bivaluate.sweep.held_out import predicted, predictive_gain

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
    assert gain.n_found.tolist() == [1, 2, 3]


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
    with pytest.raises(ParameterError, match=r"20 folds of 120 cells each \(10%\) need 2400 cells, but X has 1200"):
        predictive_gain(X, first, [1], folds=20)
    with pytest.raises(ParameterError, match="hides none"):
        predictive_gain(X, first, [1], share=0.0)
    with pytest.raises(ParameterError, match="k_values is empty"):
        predictive_gain(X, first, [])
    with pytest.raises(ParameterError, match="folds is 1"):
        predictive_gain(X, first, [1], folds=1)
    with pytest.raises(MatrixError, match="without a visible cell"):
        predictive_gain(np.arange(6.0).reshape(3, 2), first, [1], folds=2, share=0.5)


def test_a_sweep_predicts_held_out_cells_and_select_chooses_by_them(tmp_path):
    from bivaluate.sweep import Plan, Sweep, load_run
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
