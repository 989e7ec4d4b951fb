"""One answer for a matrix: what is run on which data, which solution is chosen, and what is said of it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from bivaluate import (
    Biclustering,
    Matrix,
    MatrixError,
    ParameterError,
    Plan,
    RunError,
    compare,
    evaluate,
    evidence_table,
    find,
)
from bivaluate.algorithms import CoherentSubmatrices, get_algorithm
from bivaluate.judge.choice import winners
from bivaluate.sweep import refine
from bivaluate.sweep.plan import stored_plan
from bivaluate.sweep.portfolio import PORTFOLIO, make_view, traits_of, unsuited, view_for
from bivaluate.sweep.refine import split
from bivaluate.sweep.schedule import choose_for
from bivaluate.sweep.stages import EXTRA_SEED, FIRST_K, Fit, Searched, best_fit, next_fits
from tests.sweep.standins import BLOCKS

QUICK = ("las", "bregman")


@pytest.fixture(scope="module")
def raised() -> tuple[np.ndarray, Biclustering]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    blocks = [(np.arange(20), np.arange(8)), (np.arange(30, 55), np.arange(12, 20))]
    for rows, cols in blocks:
        X[np.ix_(rows, cols)] += 2.0
    return X, Biclustering(blocks, X.shape)


@pytest.fixture(scope="module")
def found(raised):
    return find(raised[0], algorithms=QUICK)


def test_the_answer_is_the_supported_part_of_the_best_candidate(found, raised) -> None:
    X, truth = raised
    assert compare(found.solution, truth)["ce"] > 0.95
    judged = evidence_table(X, found.solution)
    assert judged.n_supported == len(found.solution) == 2
    assert judged.gain.tolist() == sorted(judged.gain, reverse=True)
    best = found.candidates.iloc[0]
    assert best["total_evidence"] == pytest.approx(judged.total, rel=1e-9)
    assert found.candidates["total_evidence"].is_monotonic_decreasing
    assert repr(found).startswith(
        "Found(2 biclusters are supported, each with a shifted mean. LAS (K = 2) found them; Bregman (K = "
    )
    assert found.verdict.headline == "2 biclusters are supported, each with a shifted mean."
    assert evaluate(found.matrix, found).verdict.headline == "Both biclusters are supported."
    assert [row["evidence"] for row in found.rows] == judged.gain.tolist()


def test_the_strongest_bicluster_stands_first(found) -> None:
    other = found.evaluation.verdict.biclusters[::-1]
    weakest_first = replace(found, solution=found.solution)
    weakest_first.evaluation.verdict = replace(found.evaluation.verdict, biclusters=other)
    shown = [row["evidence"] for row in weakest_first.verdict.biclusters]
    assert shown == sorted(shown, reverse=True) != [row["evidence"] for row in other]


def test_the_headline_counts_patterns_where_there_are_two(found) -> None:
    profile = found.verdict.biclusters[0] | {"pattern": "additive"}
    own = replace(found.evaluation.verdict, biclusters=(profile, *found.verdict.biclusters[:1] * 2))
    shown = replace(found, solution=Biclustering([*found.solution, found.solution[0]], found.solution.shape))
    shown.__dict__["evaluation"] = type("Judged", (), {"verdict": own, "place": ("MATRIX", "SOLUTION")})
    assert shown.verdict.headline == "3 biclusters are supported: 2 with a shifted mean, 1 with an additive pattern."


def test_same_seed_same_answer_for_any_number_of_cores(raised) -> None:
    one, two = (find(raised[0], n_jobs=jobs, random_state=3) for jobs in (1, 2))
    assert one.solution == two.solution
    assert one.candidates.equals(two.candidates)


def test_the_plan_widens_where_more_is_supported_then_looks_closer() -> None:
    algorithms = {"las": Searched(False, True), "nmf": Searched(False, False), "coherent": Searched(True, True)}
    growing = {2: 10.0, 3: 20.0, 5: 30.0, 8: 40.0, 12: 50.0, 16: 45.0}
    done: dict[Fit, dict[str, float] | None] = {}

    def perform(new: list[Fit], score) -> None:
        assert not set(new) & set(done)
        known = {"raw_evidence": 99.0}
        done.update(
            {
                fit: {"total_evidence": score(fit), "n_biclusters": fit.k, "n_supported": min(fit.k, 12), **known}
                for fit in new
            }
        )

    first = next_fits(algorithms, done, 0)
    assert [fit.k for fit in first if fit.algorithm == "nmf"] == list(FIRST_K)
    assert [fit.k for fit in first if fit.algorithm == "coherent"] == [24]
    perform(first, lambda fit: growing[fit.k] if fit.algorithm == "nmf" else 1.0)
    for k in (12, 16):  # one at a time where every K is a fit of its own, and not for those far behind
        new = next_fits(algorithms, done, 0)
        assert new == [Fit("nmf", k, 0)]
        perform(new, lambda fit: growing[fit.k])
    finer = next_fits(algorithms, done, 0)
    assert {fit.k for fit in finer} <= set(range(9, 12)) | set(range(13, 16))
    perform(finer, lambda fit: 48.0)
    while (new := next_fits(algorithms, done, 0))[0].seed == 0:
        perform(new, lambda fit: 48.0)
    assert new == [Fit("nmf", 12, EXTRA_SEED * more) for more in (1, 2, 3, 4)]
    perform(new, lambda fit: 60.0 if fit.seed == 2 * EXTRA_SEED else 5.0)
    new = next_fits(algorithms, done, 0)
    assert new == [Fit("nmf-final", 12, 2 * EXTRA_SEED)]
    perform(new, lambda fit: 61.0)
    assert next_fits(algorithms, done, 0) == []
    assert best_fit(done) == Fit("nmf-final", 12, 2 * EXTRA_SEED)


def test_what_is_nested_gets_two_more_seeds_in_small_matrices_and_no_other_k() -> None:
    for closer in (True, False):
        done: dict[Fit, dict[str, float] | None] = {}
        while new := next_fits({"coherent": Searched(True, True, closer)}, done, 0):
            done |= {f: {"total_evidence": 5.0, "raw_evidence": 1.0, "n_biclusters": 3} for f in new}
        assert [fit.seed for fit in done if fit.algorithm == "coherent"] == [0, EXTRA_SEED, 2 * EXTRA_SEED][
            : 1 + 2 * closer
        ]


def test_larger_k_follow_where_more_are_supported_than_three_k_before() -> None:
    """Where one fit serves all K, a single unsupported bicluster does not end the search."""
    for supported, widened in ((6, True), (5, False)):
        done: dict[Fit, dict[str, float] | None] = {
            Fit("las", k, 0): {"total_evidence": 10.0 * k, "raw_evidence": 1.0, "n_supported": min(k, supported)}
            for k in range(1, FIRST_K[-1] + 1)
        }
        new = next_fits({"las": Searched(False, True, closer=False)}, done, 0)
        assert (Fit("las", 24, 0) in new) == widened


def test_a_solution_counts_with_the_evidence_of_its_supported_part() -> None:
    algorithms = {"isa": Searched(True, True, closer=False), "coherent": Searched(True, True, closer=False)}
    evidence = {"isa": 200.0, "isa-final": 30.0, "coherent": 80.0, "coherent-final": 80.0}
    done: dict[Fit, dict[str, float] | None] = {}
    chosen = []
    while new := next_fits(algorithms, done, 0):
        done |= {f: {"total_evidence": evidence[f.algorithm], "raw_evidence": 1.0, "n_biclusters": 3} for f in new}
        chosen.append(best_fit(done))
    assert [fit.algorithm for fit in chosen] == ["isa", "coherent", "coherent"]
    rows = [{"dataset": "X", **fit._asdict(), "status": "ok", **score} for fit, score in done.items()]
    assert winners(pd.DataFrame(rows), ["total_evidence"])["algorithm"].tolist() == ["coherent"]
    assert best_fit({**done, Fit("isa-final", 24, 0): None}).algorithm == "isa"  # it could not be refined


def test_a_member_that_the_pattern_explains_does_not_leave() -> None:
    rng = np.random.default_rng(6)
    rate = 0.2 * rng.gamma(3, 0.4, (160, 1)) * rng.gamma(3, 0.4, 60)
    rate[:40, :18] += 1.6
    X = rng.poisson(rate).astype(float)
    truth = Biclustering([(range(40), range(18))], X.shape)
    without = Biclustering([(np.delete(range(40), 9), range(18))], X.shape)  # a row of few counts need not be named
    assert evidence_table(X, without).total > evidence_table(X, truth).total
    assert refine(X, truth).changes == []


def test_nothing_supported_ends_the_plan_early() -> None:
    algorithms = {"las": Searched(False, True)}
    ks = range(1, FIRST_K[-1] + 1)  # one fit serves all of them
    nothing = {"total_evidence": 0.0, "n_supported": 0}
    done = {Fit("las", k, 0): {"raw_evidence": float(k), "n_biclusters": k, **nothing} for k in ks}
    assert next_fits(algorithms, done, 0) == []
    assert best_fit(done) == Fit("las", 8, 0)
    assert next_fits(algorithms, dict.fromkeys(done), 0) == []
    alike = {fit: {**score, "raw_evidence": 0.0} for fit, score in done.items()}
    assert best_fit(alike) == Fit("las", 1, 0)


def test_what_is_run_depends_on_the_kind_of_data() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, size=(30, 20)).astype(float)
    gaps = np.where(rng.random((30, 20)) < 0.3, np.nan, rng.normal(size=(30, 20)))
    kinds = {
        "normal": Matrix(rng.normal(size=(30, 20))),
        "counts": Matrix(counts),
        "sparse": Matrix(csr_array(counts)),
        "binary": Matrix((counts > 0).astype(float)),
        "skewed": Matrix(np.exp(2 * rng.normal(size=(30, 20)))),
        "scaled": Matrix(np.exp(2 * rng.normal(size=(30, 20))) - 3),
        "gaps": Matrix(gaps),
    }
    plan = Plan(["scenario:S1"])
    runs = {name: choose_for(plan, matrix) for name, matrix in kinds.items()}
    assert {"las", "coherent", "isa"} <= set(runs["normal"].searched)
    assert set(runs["normal"].left_out) == {"nmf", "itcc", "leiden"}
    for name in ("counts", "sparse", "binary", "skewed"):
        assert {"nmf", "itcc", "leiden"} <= set(runs[name].searched), name
    views = {name: {key: one.view for key, one in run.searched.items()} for name, run in runs.items()}
    assert views["counts"]["las"] == views["sparse"]["las"] == views["skewed"]["nmf"] == "log"
    assert views["scaled"]["las"] == "log"
    X = kinds["scaled"].values
    logs = np.sign(X) * np.log2(1 + np.abs(X) / np.median(X[X > 0]))
    np.testing.assert_allclose(make_view(kinds["scaled"], "log").values, logs)
    assert "±log2(1 + |x|/" in traits_of(kinds["scaled"]).said
    assert set(views["binary"].values()) == set(views["normal"].values()) == {""}
    assert views["gaps"]["las"] == "centred"
    assert runs["gaps"].score["missing"] == "omit"
    assert traits_of(kinds["counts"]) == traits_of(kinds["sparse"]).__class__(
        **{**traits_of(kinds["sparse"]).__dict__, "sparse": False}
    )


def test_views_of_sparse_matrices_stay_sparse() -> None:
    counts = csr_array(np.random.default_rng(0).poisson(0.4, size=(20, 12)).astype(float))
    view = make_view(Matrix(counts), "log")
    assert view.sparse
    np.testing.assert_allclose(view.values, np.log2(1 + counts.toarray()))
    ratings = Matrix(counts, absent="missing")
    centred = make_view(ratings, "centred")
    assert centred.sparse
    seen = counts.toarray() > 0
    assert not centred.values[~seen].any()
    means = np.where(seen, centred.values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    np.testing.assert_allclose(means, 0.0, atol=1e-9)


def test_algorithms_that_look_for_levels_get_what_large_effects_leave() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 24)) + rng.gamma(4, 2, (60, 1))
    X[:14, :8] += 2.5
    traits = traits_of(Matrix(X))
    share = (X.mean(axis=1).var() + X.mean(axis=0).var()) / X.var()
    assert traits.effects == pytest.approx(share)
    assert {view_for(key, traits) for key in ("las", "bregman", "isa")} == {"centred"}
    assert view_for("ssvd", traits) == view_for("coherent", traits) == ""
    centred = X - X.mean(axis=1, keepdims=True) - X.mean(axis=0) + X.mean()
    np.testing.assert_allclose(make_view(Matrix(X), "centred").values, centred, atol=1e-12)
    found = find(X, algorithms=["las"])
    assert [b.shape for b in found.solution] == [(14, 8)]
    assert "given what they leave" in " ".join(found.verdict.notes)
    skewed = Matrix(np.exp(X))
    assert view_for("las", traits_of(skewed)) == "log centred"
    logs = np.log2(1 + skewed.values / traits_of(skewed).unit)
    logs = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0) + logs.mean()
    np.testing.assert_allclose(make_view(skewed, "log centred").values, logs, atol=1e-12)


def test_two_blocks_corner_to_corner_are_taken_apart() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 40))
    X[:20, :10] += 3.0
    X[20:36, 10:22] -= 3.0
    one = Biclustering([(range(36), range(22))], X.shape)
    two = split(Matrix(X), one, "raise")
    parts = sorted((b.rows.tolist(), b.cols.tolist()) for b in two)
    assert parts == [(list(range(20)), list(range(10))), (list(range(20, 36)), list(range(10, 22)))]
    assert split(Matrix(X), two, "raise") is two
    thin = Biclustering([(range(36), [3]), ([5], range(22))], X.shape)
    assert split(Matrix(X), thin, "raise") is thin


def test_large_matrices_leave_slow_algorithms_out() -> None:
    large = Matrix(csr_array((5000, 2000)))
    traits = traits_of(large)
    assert "it is too slow beyond" in unsuited("coherent", traits)
    assert not unsuited("nmf", traits)
    assert all(view_for(key, traits) in ("", "log") for key in PORTFOLIO)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.random.default_rng(0).normal(size=(3, 20)), "X is 3 x 20; biclusters can be told"),
        (np.random.default_rng(0).normal(size=(20, 3)), "X is 20 x 3"),
        (np.full((20, 8), 7.0), "all values of X are equal"),
        (np.full((20, 8), np.nan), "all values of X are equal|no observed|missing"),
    ],
)
def test_data_that_cannot_be_searched_are_an_error(X, words) -> None:
    with pytest.raises(MatrixError, match=words):
        find(X)


def test_every_algorithm_failing_is_an_error_with_reasons(raised) -> None:
    wrong = "tests.sweep.standins:NoSuchClass"
    with pytest.raises(ParameterError, match="cannot be imported"):
        find(raised[0], algorithms=wrong)
    with pytest.raises(RunError, match=r"every algorithm failed on X\. Failed: .*no 2 blocks here"):
        find(raised[0], algorithms="tests.sweep.standins:FailingBlocks")


def test_a_failed_algorithm_is_named_and_the_others_answer(raised) -> None:
    found = find(raised[0], algorithms=["bregman", "tests.sweep.standins:FailingBlocks"])
    assert len(found.solution)
    assert any(re.search("Failed: .*FailingBlocks.*no 2 blocks here", note) for note in found.notes)


def test_a_budget_too_small_for_any_fit_is_an_error(raised) -> None:
    seconds = iter([5.0])  # there is time when the first stage begins, and none when its first fit does
    with pytest.raises(RunError, match="the time allowed was too short for any algorithm on X"):
        find(raised[0], algorithms="las", time=lambda: next(seconds, 0.0), n_jobs=1)
    with pytest.raises(ParameterError, match="time is 0"):
        find(raised[0], time=0)


@pytest.mark.parametrize("begun", [3, 5])
def test_what_a_budget_cuts_off_is_said_and_the_rest_answers(found, raised, begun) -> None:
    tasks: list[str] = []

    def left() -> float:
        return 60.0 if len(tasks) <= begun else 0.0  # it is over when one more fit begins

    cut = find(raised[0], algorithms=QUICK, time=left, n_jobs=1, progress=lambda done, total, name: tasks.append(name))
    assert 0 < len(cut.candidates) < len(found.candidates)
    assert re.fullmatch(r"After the time allowed not all was done: \d+ fits? of .* did not finish\.", cut.notes[-1])
    shared = found.candidates.merge(cut.candidates, on=["algorithm", "k", "seed"], suffixes=("", "_cut"))
    assert len(shared) == len(cut.candidates)
    assert shared["total_evidence"].tolist() == shared["total_evidence_cut"].tolist()
    assert len(cut.solution) > 0


def test_ctrl_c_keeps_the_best_so_far(raised) -> None:
    def stop(done: int, total: int, name: str) -> None:
        if name.startswith("LAS"):
            raise KeyboardInterrupt

    found = find(raised[0], algorithms=["bregman", "las"], progress=stop)
    assert set(found.candidates["algorithm"]) == {"bregman"}
    assert len(found.solution)
    assert found.notes[-1].startswith("Interrupted: 4 fits")


def test_noise_gives_no_bicluster_and_names_what_comes_nearest() -> None:
    found = find(np.random.default_rng(1).normal(size=(60, 20)))
    assert len(found.solution) == 0
    assert re.fullmatch(
        r"No bicluster is supported\. What .* found comes nearest\.\)", repr(found).removeprefix("Found(")
    )
    assert found.second is None


def test_refining_restores_members_one_at_a_time(raised) -> None:
    X, truth = raised
    rough = Biclustering([(b.rows[3:], np.append(b.cols[1:], 29)) for b in truth], X.shape)
    refined = refine(X, rough)
    assert compare(refined.solution, truth)["ce"] > 0.97
    judged = evidence_table(X, refined.solution)
    assert judged.total == refined.evidence.total
    assert all(change.gain > 0 for change in refined.changes)
    start = evidence_table(X, rough)
    assert judged.total - start.total == pytest.approx(sum(change.gain for change in refined.changes), rel=0.2)
    assert refine(X, refined.solution).changes == []


@pytest.mark.parametrize(("shape", "rows", "cols"), [((40, 20), 12, 6), ((80, 20), 20, 8), ((100, 30), 25, 10)])
@pytest.mark.parametrize("seed", [201, 202])
def test_refining_leaves_nearly_perfect_blocks_as_they_are(shape, rows, cols, seed) -> None:
    X = np.random.default_rng(seed).normal(size=shape)
    X[:rows, :cols] += 3
    truth = Biclustering([(range(rows), range(cols))], shape)
    near = Biclustering([(range(1, rows), range(cols))], shape)
    assert compare(refine(X, truth).solution, truth)["ce"] >= 0.95
    assert compare(refine(X, near).solution, truth)["ce"] >= 0.95


def test_the_evidence_of_the_coherent_search_is_evidence(raised) -> None:
    X, _ = raised
    model = CoherentSubmatrices(random_state=0, n_starts=100).fit(X)
    judged = evidence_table(X, model.solution_)
    assert model.evidence_.tolist() == judged.gain.tolist()
    assert model.patterns_ == list(judged.patterns)
    quick = CoherentSubmatrices(random_state=0, n_starts=100, calibrate=False).fit(X)
    assert quick.solution_ == model.solution_


def test_the_key_of_version_0_1_0_is_read(raised) -> None:
    assert get_algorithm("find") is get_algorithm("coherent")
    plan = Plan(["scenario:S1"], ["find"], parameters={"find": {"n_starts": 60}})
    assert plan.algorithms == ("coherent",)
    assert list(plan.parameters) == ["coherent"]
    old = {**plan.to_dict(), "algorithms": ["find"], "perturb": [], "perturb_runs": 0}
    assert stored_plan(old).to_dict() == plan.to_dict()


def test_a_result_draws_itself_and_writes_its_page(found, tmp_path) -> None:
    axes = found.plot()
    assert len(axes.lines) >= 3
    assert found.report(tmp_path / "page.html").is_file()


def test_other_estimators_can_be_named(raised) -> None:
    found = find(raised[0], algorithms=BLOCKS)
    assert found.chosen is not None


def test_generators_are_seeds():
    X = np.random.default_rng(0).normal(size=(60, 20))
    X[:15, :6] += 3
    for make in (np.random.default_rng, np.random.RandomState):
        one, other = (find(X, algorithms="las", random_state=make(5)) for _ in range(2))
        assert one.solution == other.solution
        assert len(one.solution) == 1


def test_the_ring_is_around_a_point_that_is_drawn():
    X = np.random.default_rng(3).normal(size=(80, 24))
    X[:20, :8] = 3 * np.random.default_rng(4).normal(size=8) + 0.3 * X[:20, :8]
    axes = find(X, algorithms="coherent").plot()
    points = {tuple(point) for line in axes.lines[:-1] for point in line.get_xydata()}
    assert tuple(axes.lines[-1].get_xydata()[0]) in points


def test_lowered_blocks_are_found_unless_low_values_are_the_background():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 24))
    X[:15, :8] -= 3
    assert [block.shape for block in find(X).solution] == [(15, 8)]
    lowered = [traits_of(Matrix.of(data)).lowered for data in (X, np.exp(X), X**4 - 1, rng.poisson(1.0, (60, 24)))]
    assert lowered == [True, True, False, False]
