"""Measures of a user's own: scored and shown like ours, and refused in words."""

import numpy as np
import pytest

from bivaluate import ParameterError, Plan, Sweep, evaluate
from bivaluate.registry import METRICS, choose_metrics, get_metric

X = np.arange(30.0).reshape(5, 6) ** 1.5
pytestmark = pytest.mark.usefixtures("no_own_measures")
SOLUTION = [([0, 1], [0, 1, 2]), ([2, 3, 4], [2, 3])]


def share(X, solution):
    """Share of the rows in a bicluster."""
    return len(set(np.concatenate([rows for rows, _ in solution]))) / X.shape[0]


def largest(values):
    return values.max()


largest.direction = "low"


def test_functions_are_measures():
    result = evaluate(X, SOLUTION, metrics=["nve", share, largest])
    assert list(result.scores) == ["nve", "share"]
    assert result.scores["share"] == 1.0
    assert [record["largest"] for record in result.records] == [X[1, 2], X[4, 3]]
    assert get_metric(share).summary == "Share of the rows in a bicluster."
    assert (METRICS["share"].direction, METRICS["largest"].direction) == ("high", "low")
    assert METRICS.get("share") is METRICS["share"]
    assert "share" not in list(METRICS)
    assert "share" not in [metric.key for metric in choose_metrics("all")]


def test_measures_of_a_module_go_into_plans(tmp_path, monkeypatch):
    (tmp_path / "my_measures.py").write_text("def rows(X, solution):\n    return float(len(solution))\n")
    monkeypatch.chdir(tmp_path)
    plan = Plan(["scenario:S9b"], ["cca"], k=[2], metrics=["nve", "my_measures:rows"])
    assert Sweep(plan).run().results["my_measures:rows"].tolist() == [2.0]
    assert Plan.from_dict(plan.to_dict()) == plan


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda X, solution: np.zeros(3), r"returned ndarray of shape \(3,\); one number is needed"),
        (lambda X, solution: 1 / 0, r"the measure <lambda> failed: ZeroDivisionError"),
        (lambda a, b, c: 0, r"is not a function of \(values\), or of \(X, solution\)"),
        ("no_such_module:f", r"cannot be imported \(ModuleNotFoundError"),
        ("math:nothing", r"cannot be imported \(AttributeError"),
    ],
)
def test_what_is_no_measure_is_refused(measure, message):
    with pytest.raises(ParameterError, match=message):
        evaluate(X, SOLUTION, metrics=[measure])


def test_a_name_that_is_taken():
    def nve(X, solution):
        return 0.0

    with pytest.raises(ParameterError, match="'nve' is a measure of bivaluate already"):
        evaluate(X, SOLUTION, metrics=[nve])
