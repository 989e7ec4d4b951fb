from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bivaluate import ParameterError, Plan, RunError, Sweep, load_run
from bivaluate.sweep import Run
from bivaluate.sweep.copies import make_variant, null_table
from bivaluate.sweep.select import select
from tests.sweep.standins import BLOCKS, SEPARATE


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    plan = Plan(["scenario:S9b", "scenario:S1"], [BLOCKS, "cca"], [2, 3, 4], seeds=3, null="permute", null_runs=3)
    return Sweep(plan, tmp_path_factory.mktemp("select") / "run").run()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    plan = Plan(["scenario:S9b"], [BLOCKS, SEPARATE], [1, 2, 3], seeds=3)
    return Sweep(plan, tmp_path_factory.mktemp("select") / "plain").run()


def test_best_is_the_smallest_mean(run: Run) -> None:
    selection = select(run, by="nve_cov")
    means = run.results.groupby(["dataset", "algorithm", "k"])["nve_cov"].mean()
    for dataset in run.datasets:
        assert selection.choice(dataset) == means[dataset].idxmin()
    assert selection.choice("nothing") is None
    assert selection.best["measure"].iloc[0] == "nve_cov"
    assert set(selection.best["measure"]) >= {"asr", "avg_ve", "nsr", "nve", "nve_cov"}


def test_null_band_gap_and_p_value(run: Run) -> None:
    table = run.null
    row = table[(table["measure"] == "nve") & (table["algorithm"] == "cca")].iloc[4]
    cell = {name: row[name] for name in ("dataset", "algorithm", "k", "seed")}
    surrogates = run.variants[run.variants["variant"] == "permute"]
    mine = surrogates[(surrogates[list(cell)] == pd.Series(cell)).all(axis=1)]["nve"].to_numpy(float)
    assert len(mine) == row["null_runs"] == 3
    assert row["null_mean"] == pytest.approx(mine.mean())
    assert row["gap"] == pytest.approx(mine.mean() - row["value"])
    assert row["p_value"] == (1 + (mine <= row["value"]).sum()) / 4
    assert "n_biclusters" not in set(table["measure"])
    assert (run.path / "null.csv").is_file()
    assert (run.path / "variants.csv").is_file()


def test_a_file_is_compared_with_all_its_surrogates() -> None:
    columns = ["dataset", "algorithm", "k", "seed", "nve"]
    results = pd.DataFrame([["d", "a", 2, 0, 0.5], ["d", "a", 2, 1, 0.7]], columns=columns)
    values = [("permute", 0, 0, 0.6), ("permute", 1, 1, 0.8), ("permute", 2, 0, np.nan), ("noise:1", 0, 0, 0.1)]
    variants = pd.DataFrame([[v, r, "d", "a", 2, s, x] for v, r, s, x in values], columns=["variant", "run", *columns])
    table = null_table(results, variants, "permute", per_seed=set())
    assert table["null_n"].tolist() == [2, 2]
    assert table["null_runs"].tolist() == [3, 3]
    assert table["gap"].tolist() == pytest.approx([0.2, 0.0])
    assert table["p_value"].tolist() == pytest.approx([1 / 3, 2 / 3])


def test_words(plain: Run) -> None:
    selection = select(plain, by="nve_cov")
    assert any("the winner" in text and "negligible" in text for text in selection.warnings)
    assert selection.verdict == ["scenario:S9b: no bicluster is supported."]
    told = select(plain, by="nve_cov").to_dict()
    assert told["by"] == "nve_cov"
    assert told["null"] == []


def test_measures_that_cannot_choose(run: Run) -> None:
    with pytest.raises(ParameterError, match="'n_biclusters' cannot choose"):
        select(run, by="n_biclusters")
    with pytest.raises(ParameterError, match=r"'ve' cannot choose.*Did you mean"):
        select(run, by="ve")
    with pytest.raises(
        ParameterError, match=r"did not compute 'anve'; run the sweep again into another folder, with 'anve' among"
    ):
        select(run, by="anve")
    with pytest.raises(ParameterError, match=r"no metric 'nve_cv'.*Did you mean 'nve_cov'"):
        select(run, by="nve_cv")


def test_variants_depend_on_kind_run_and_matrix_only(run: Run) -> None:
    matrix = run.matrix("scenario:S1", 0)
    one = make_variant(matrix, "permute", 0, 0).values
    np.testing.assert_array_equal(one, make_variant(matrix, "permute", 0, 0).values)
    assert not np.array_equal(one, make_variant(matrix, "permute", 1, 0).values)
    assert not np.array_equal(one, make_variant(matrix, "permute", 0, 1).values)
    np.testing.assert_allclose(np.sort(one, axis=1), np.sort(matrix.values, axis=1))


def test_a_run_of_other_measures_still_selects(tmp_path: Path, matrix_file: str) -> None:
    run = Sweep(Plan([matrix_file], [BLOCKS], [2, 3], metrics=["nsr"]), tmp_path / "run").run()
    selection = select(run, by="nsr")
    assert selection.choice("small") is not None
    assert select(run).by == "nsr"
    with pytest.raises(ParameterError, match="did not compute 'nve_cov'"):
        select(run, by="nve_cov")


def test_why_nothing_is_chosen(tmp_path: Path, matrix_file: str) -> None:
    plan = Plan([matrix_file], [BLOCKS], [2, 3], metrics=["coverage", "cc", "anve"])
    selection = select(Sweep(plan, tmp_path / "run").run(), by="cc")
    assert selection.choice("small") is None
    assert selection.warnings == ["small: all candidates tie in CC; nothing can be chosen."]
    single = Sweep(Plan([matrix_file], [BLOCKS], [1]), tmp_path / "single").run()
    told = "small: no candidate has a defined NVE for at least half of its seeds; nothing can be chosen."
    assert told in select(single, by="nve").warnings


def test_an_unfinished_null_is_said(tmp_path: Path, matrix_file: str) -> None:
    def stop(finished: int, *_: object) -> None:
        if finished >= 5:
            raise KeyboardInterrupt

    plan = Plan([matrix_file], [BLOCKS], [2], seeds=3, null="permute", null_runs=4)
    with pytest.raises(KeyboardInterrupt):
        Sweep(plan, tmp_path / "run", progress=stop).run()
    cut = load_run(tmp_path / "run")
    assert cut.missing == []
    assert 0 < cut.missing_copies < 4
    told = f"{cut.missing_copies} fits on surrogates are not finished"
    assert any(text.startswith(told) for text in select(cut).warnings)


def stopped(plan: Plan, folder: Path, after: int) -> Run:
    """A run that was interrupted from the keyboard after so many cells."""

    def stop(finished: int, *_: object) -> None:
        if finished >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Sweep(plan, folder, progress=stop).run()
    return load_run(folder)


def test_a_data_set_that_was_not_fitted_is_not_called_empty(tmp_path: Path) -> None:
    plan = Plan(["scenario:S9b", "scenario:S1"], [SEPARATE], [2], seeds=2)
    cut = stopped(plan, tmp_path / "a run", 2)
    selection = select(cut)
    again = f"`bivaluate sweep --out '{tmp_path / 'a run'}'` continues the sweep"
    assert selection.verdict == ["scenario:S9b: no bicluster is supported.", f"scenario:S1: not fitted yet; {again}."]
    assert selection.to_dict()["undecided"][1] == {"dataset": "scenario:S1", "reason": "not fitted yet"}
    assert "scenario:S1: not fitted yet; nothing can be chosen." in selection.warnings

    half = select(stopped(plan, tmp_path / "half", 1))
    assert half.verdict[0] == (
        "scenario:S9b: no bicluster is supported. 1 of its 2 fits is not finished: this may change."
    )


def test_a_data_set_where_all_failed_is_not_called_empty(tmp_path: Path, matrix_file: str) -> None:
    Sweep(Plan([matrix_file, "scenario:S9b"], ["cca", "spectral"], [12]), tmp_path / "run").run()
    run = load_run(tmp_path / "run")
    bad = run.results["dataset"] == "small"
    run.results = run.results.assign(
        status=run.results["status"].mask(bad, "failed"), reason=run.results["reason"].mask(bad, "too small.")
    )
    selection = select(run, by="nve_cov")
    assert selection.verdict[0] == "small: all that was fitted failed, for example: too small."
    assert selection.undecided["small"] == "all that was fitted failed, for example: too small"


def test_nothing_is_fitted_yet(tmp_path: Path, matrix_file: str) -> None:
    cut = stopped(Plan([matrix_file], [SEPARATE], [2]), tmp_path / "run", 1)
    cut.results = cut.results.head(0)
    cut.missing = cut.cells
    with pytest.raises(
        RunError, match=r"of 1 fits none is finished\. `bivaluate sweep --out \S+` continues the sweep\."
    ):
        select(cut)


def test_nothing_to_choose_from(tmp_path: Path, matrix_file: str) -> None:
    plan = Plan([matrix_file], [BLOCKS], [2, 3], parameters={BLOCKS: {"fail_from": 1}})
    with pytest.raises(RunError, match=r"of 2 fits all failed, for example: ValueError: no 2 blocks here"):
        select(Sweep(plan, tmp_path / "run").run())


def test_surrogates_of_a_file_take_the_seeds_in_turn(tmp_path: Path, matrix_file: str) -> None:
    plan = Plan([matrix_file], [BLOCKS], [2, 3], seeds=[4, 9], null="phase", null_runs=3)
    run = Sweep(plan, tmp_path / "run").run()
    assert run.variants[run.variants["k"] == 2]["seed"].tolist() == [4, 9, 4]
    assert set(run.null["null_runs"]) == {3}
    assert select(run, by="nve_cov").choice("small") is not None


def test_the_usual_choice_rests_on_evidence(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(60, 20))
    raised = noise.copy()
    raised[:12, :6] += 3
    raised[20:34, 8:15] += 3
    for name, values in (("noise", noise), ("raised", raised)):
        np.save(tmp_path / f"{name}.npy", values)
    plan = Plan(
        [str(tmp_path / "noise.npy"), str(tmp_path / "raised.npy")],
        ["las"],
        [1, 2, 3],
        metrics=["total_evidence", "nve_cov"],
    )
    selection = select(Sweep(plan, tmp_path / "run").run())
    assert selection.by == "total_evidence"
    assert selection.choice("raised") is not None
    assert selection.choice("noise") is None
    assert "noise: nothing is supported; nothing can be chosen." in selection.warnings
    assert selection.undecided == {"noise": "nothing is supported"}
    told = selection.to_dict()
    assert told["undecided"] == [{"dataset": "noise", "reason": "nothing is supported"}]
    assert "noise" not in {row["dataset"] for row in told["best"] if row["measure"] == "total_evidence"}


def test_a_small_share_that_pays_is_not_called_negligible(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(120, 40))
    X[:12, :8] += 4
    np.save(tmp_path / "small.npy", X)
    run = Sweep(Plan([str(tmp_path / "small.npy")], ["las"], [1]), tmp_path / "run").run()
    assert run.results["coverage"].max() < 0.05
    assert run.results["n_supported"].tolist() == [1]
    assert not any("negligible" in text for text in select(run).warnings)


def test_the_p_value_of_a_choice_lets_every_surrogate_choose(run: Run) -> None:
    chosen = select(run, by="nve_cov").best
    surrogates = run.variants[run.variants["variant"] == "permute"]
    for row in chosen[chosen["measure"] == "nve_cov"].to_dict("records"):
        mine = surrogates[surrogates["dataset"] == row["dataset"]]
        best = mine.groupby(["run", "algorithm", "k"])["nve_cov"].mean().groupby("run").min()
        assert row["p_value"] == (1 + int((best <= row["mean"]).sum())) / (len(best) + 1)
