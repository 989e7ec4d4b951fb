from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering

from bivaluate import FileError, FormatError, ParameterError, Plan, find
from bivaluate.algorithms import LargeAverageSubmatrices
from bivaluate.sweep.plan import differences, parse_assignments, stored_plan
from bivaluate.sweep.schedule import sources
from tests.sweep.standins import BLOCKS


def test_values_are_cleaned() -> None:
    plan = Plan(datasets="scenario:S1", algorithms=["cca"], k=[5, 3, 5], seeds=3)
    assert plan.datasets == ("scenario:S1",)
    assert plan.k == (3, 5)
    assert plan.seeds == (0, 1, 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"algorithms": ["cca", "laas"]}, r"there is no algorithm 'laas'.*Did you mean 'las'"),
        ({"algorithms": ["cca", "cca"]}, "names 'cca' more than once"),
        ({"score": {"min_rows": "three"}}, "min_rows is 'three'; a whole number is needed"),
        ({"score": {"small": "hide"}}, "small is 'hide'; allowed: 'flag', 'drop'"),
        ({"score": {"exponent": -1}}, "exponent is -1; it must be at least 0"),
        ({"algorithms": ["nowhere:Nothing"]}, "cannot be imported"),
        ({"algorithms": ["pathlib:Path"]}, r"is not an estimator with fit\(X\)"),
        ({"metrics": ["nev"]}, r"there is no metric 'nev'.*Did you mean 'nve'"),
        ({"k": [0]}, "k is 0; it must be at least 1"),
        ({"k": []}, "k is empty"),
        ({"k": "plantd"}, "Did you mean 'planted'"),
        ({"seeds": 0}, "seeds is 0; it must be at least 1"),
        ({"seeds": [-1]}, "seeds is -1; it must be at least 0"),
        ({"datasets": []}, "at least one name is needed"),
        ({"datasets": [np.zeros((9, 9))]}, r"found: ndarray of shape \(9, 9\)\. Write a matrix to a file with"),
        ({"datasets": pd.DataFrame({"a": [1.0]})}, r"found: DataFrame of shape \(1, 1\)\. Write"),
        ({"metrics": None}, "metrics needs names, found: None.$"),
        ({"time_limit": 0}, "time_limit is 0; it must be at least"),
        ({"null": "shuffle"}, "null is 'shuffle'; allowed: 'permute', 'phase'"),
        ({"null_runs": 5}, "no null is named"),
        ({"score": {"exponnent": 1}}, "Did you mean 'exponent'"),
        ({"parameters": {"cca": {}, "las": {}}}, "parameters names 'las'; known here: cca"),
        ({"parameters": {"cca": {"max_residu": 1}}}, r"has no parameter 'max_residu'.*Did you mean 'max_residue'"),
        ({"parameters": {"cca": {"inverted_rows": 1}}}, "cca.inverted_rows is 1; true or false is needed"),
        ({"parameters": {"cca": {"max_residue": "low"}}}, "max_residue is 'low'; a number or none is needed"),
        ({"parameters": {"cca": {"min_columns": True}}}, "min_columns is True; a whole number is needed"),
        (
            {"parameters": {"cca": {"random_state": 1}}},
            r"cannot be set as a parameter; use seeds \(or algorithm_seed\)",
        ),
        (
            {"algorithms": ["spectral"], "parameters": {"spectral": {"selection": "bst"}}},
            "selection is 'bst'; 'first' or 'best' or 'all' is needed. Did you mean 'best'?",
        ),
        (
            {"algorithms": [BLOCKS], "parameters": {BLOCKS: {"seconds": "long"}}},
            "seconds is 'long'; a number is needed",
        ),
        (
            {"algorithms": [BLOCKS], "parameters": {BLOCKS: {"second": 1}}},
            r"has no parameter 'second'; it has: .*Did you mean 'seconds'",
        ),
    ],
)
def test_bad_values_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Plan(**{"datasets": ["scenario:S1"], "algorithms": ["cca"], **change})


def test_toml_round_trip(tmp_path: Path, matrix_file: str) -> None:
    plan = Plan(
        datasets=[matrix_file, "scenario:S1"],
        algorithms=["cca", BLOCKS],
        k=[2],
        seeds=[4, 7],
        algorithm_seed=42,
        metrics=["nve", "nve_cov"],
        parameters={"cca": {"max_residue": None, "inverted_rows": False}, BLOCKS: {"log": 'a "quoted" name'}},
        score={"exponent": 0.25, "small": "drop"},
        read={"transpose": False},
        time_limit=1.5,
        null="permute",
    )
    assert plan.null_runs == 19
    path = tmp_path / "plan.toml"
    path.write_text(plan.to_toml())
    assert Plan.from_toml(path).to_dict() == plan.to_dict()


def test_toml_paths_are_relative_to_the_plan(tmp_path: Path, matrix_file: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('datasets = ["small.tsv"]\nalgorithms = ["cca"]\nk = [2]\n')
    (source,) = sources(Plan.from_toml(path))
    assert (source.name, source.spec) == ("small", matrix_file)


def test_bad_plans(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    with pytest.raises(FileError, match="cannot read the plan"):
        Plan.from_toml(path)
    path.write_text("datasets = [")
    with pytest.raises(FormatError, match="not valid TOML"):
        Plan.from_toml(path)
    path.write_text('datasets = ["scenario:S1"]\nseed = 3\n')
    with pytest.raises(FormatError, match=r"'seed' is not part of a plan.*Did you mean 'seeds'"):
        Plan.from_toml(path)
    path.write_text("seeds = 3\n")
    with pytest.raises(FormatError, match='"datasets" is missing'):
        Plan.from_toml(path)


def test_differences_are_said_in_words() -> None:
    one = Plan(datasets=["scenario:S1"], algorithms=["cca"], k=[3], seeds=2)
    two = Plan(datasets=["scenario:S1"], algorithms=["cca"], k=[3, 5], seeds=2)
    assert differences(one, two) == ["k is [3] here and [3, 5] there"]
    assert differences(one, one) == []


def test_sources_expand_and_name(tmp_path: Path, matrix_file: str) -> None:
    found = sources(Plan(datasets=["scenario:S9*", matrix_file], algorithms=["cca"]))
    assert [source.name for source in found] == ["scenario:S9a", "scenario:S9b", "small"]
    assert [source.per_seed for source in found] == [True, True, False]
    other = tmp_path / "other" / "small.tsv"
    other.parent.mkdir()
    other.write_text(Path(matrix_file).read_text())
    twins = sources(Plan(datasets=[matrix_file, str(other)], algorithms=["cca"]))
    assert [source.name for source in twins] == [matrix_file, str(other)]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("scenario:S99", "there is no data set 'scenario:S99'.*scenario:S1"),
        ("scenario:X*", "does not match any data set"),
        ("yeast:nothing", "there is no data set 'yeast:nothing'"),
        ("missing.csv", "there is no file 'missing.csv'"),
    ],
)
def test_unknown_data_sets(spec: str, words: str) -> None:
    with pytest.raises((ParameterError, FileError), match=words):
        sources(Plan(datasets=[spec], algorithms=["cca"]))


def test_planted_needs_scenarios(matrix_file: str) -> None:
    with pytest.raises(ParameterError, match="small is not a scenario"):
        sources(Plan(datasets=[matrix_file], algorithms=["cca"], k="planted"))


def test_numpy_numbers_are_numbers() -> None:
    las = {"n_restarts": np.int64(50)}
    plan = Plan(
        ["scenario:S1"], ["las"], k=np.int64(3), seeds=np.int64(2), algorithm_seed=np.int64(7), parameters={"las": las}
    )  # type: ignore[arg-type]
    assert (plan.k, plan.seeds) == ((3,), (0, 1))
    assert json.loads(json.dumps(plan.to_dict())) == plan.to_dict()
    assert "n_restarts = 50" in plan.to_toml()


def test_assignments_are_true_false_none_numbers_lists_or_text() -> None:
    texts = ["a=True", "b=false", "c=None", "d=3", "e=0.5", "f=1e-3", "g=best", "h=[1, 2]", 'i="3"', "j=a=b", "k="]
    assert parse_assignments("--param", texts) == {
        **{"a": True, "b": False, "c": None, "d": 3, "e": 0.5, "f": 0.001},
        **{"g": "best", "h": [1, 2], "i": "3", "j": "a=b", "k": ""},
    }
    for text in ("alone", "=3"):
        with pytest.raises(ParameterError, match=f"--param {text}: NAME=VALUE is needed, for example"):
            parse_assignments("--param", [text])


def test_a_stored_plan_needs_no_algorithm_of_its_maker() -> None:
    content = Plan(["scenario:S1"], ["cca"], [3]).to_dict()
    content["algorithms"] = ["somewhere.else:Estimator"]
    content["parameters"] = {"somewhere.else:Estimator": {"inverted_rows": "True"}}
    assert stored_plan(content).to_dict() == content


def test_estimators_are_named_with_the_parameters_they_set():
    las = LargeAverageSubmatrices(7, n_restarts=50, random_state=3)
    plan = Plan("scenario:S1", [las, SpectralCoclustering, SpectralBiclustering(method="log")], k=[3])
    ours, other, its = plan.algorithms
    assert ours == "las"
    assert other.endswith(":SpectralCoclustering")
    assert plan.parameters == {"las": {"n_restarts": 50}, its: {"method": "log"}}
    assert Plan.from_dict(plan.to_dict()) == plan
    assert Plan("scenario:S1", las, k=3).algorithms == ("las",)
    with pytest.raises(ParameterError, match="names 'las' more than once"):
        Plan("scenario:S1", ["las", las], k=[3])

    class Mine(SpectralCoclustering): ...

    with pytest.raises(ParameterError, match=r"Mine' cannot be imported .* write module:name of a file here"):
        Plan("scenario:S1", [Mine()], k=[3])


def test_find_takes_estimators():
    X = np.random.default_rng(0).normal(size=(40, 20))
    X[:12, :6] += 3
    by_object = find(X, algorithms=[LargeAverageSubmatrices(n_restarts=20)])
    assert [b.shape for b in by_object.solution] == [(12, 6)]
