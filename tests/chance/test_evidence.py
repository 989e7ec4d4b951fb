"""Evidence: worked values, the naive twin, every source of cells, patterns, verdicts, noise, bad input."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.decomposition import NMF

from bivaluate import Biclustering, Matrix, MatrixError, evaluate, propose_pruning
from bivaluate.chance import evidence as module
from bivaluate.chance.assumptions import SMOOTHNESS, broken_assumptions
from bivaluate.chance.evidence import (
    evidence_alone,
    evidence_table,
    raw_evidence,
    selection,
    supported_biclusters,
    total_evidence,
    weights,
)
from bivaluate.measures.workspace import Workspace
from bivaluate.registry import METRICS
from tests.reference import evidence as twin
from tests.sources import Own, in_file

WORKED = json.loads((Path(twin.__file__).parent / "evidence_worked.json").read_text())
RECORDS = [metric for metric in METRICS.values() if metric.function.__module__ == "bivaluate.chance.evidence"]


def of_worked(case):
    X = np.array([[math.nan if value is None else value for value in row] for row in case["X"]], dtype=float)
    return X, Biclustering(case["biclusters"], X.shape)


@pytest.mark.parametrize(
    "case", [case for case in WORKED if case["family"] == "weights"], ids=lambda case: case["name"]
)
def test_worked_values_of_weights(case, limits):
    limits(_MOST_EVEN=0)
    X, solution = of_worked(case)
    result = evidence_table(X, solution, missing="omit")
    assert result.family == "weights"
    assert result.alone == pytest.approx(case["alone"], abs=2e-6)
    assert result.gain == pytest.approx(case["evidence"], abs=2e-6)
    # the worked values keep the dispersion of the matrix when a block is accepted; here it falls, except in zeros and ones
    assert result.total_raw >= case["raw"] - 2e-6
    if set(X[~np.isnan(X)].tolist()) <= {0.0, 1.0}:
        assert result.total_raw == pytest.approx(case["raw"], abs=2e-6)
    assert list(result.order) == case["order"]


@pytest.mark.parametrize("case", [case for case in WORKED if case["family"] == "normal"], ids=lambda case: case["name"])
def test_worked_values_of_the_normal_family(case):
    """Scales are shrunk in another way than those of the worked values, which differ by some nats; nothing else does."""
    X, solution = of_worked(case)
    result = evidence_table(X, solution, missing="omit")
    assert result.family == "normal"
    assert list(result.order) == case["order"]
    assert result.alone == pytest.approx(case["alone"], abs=11)
    names = [selection.Names(X.shape).cost(bicluster) for bicluster in solution]
    assert names == pytest.approx(case["names"], abs=1e-6)


def board(seed, shape=(40, 20)):
    """A block of two by two levels, 6 above and 6 below by turns: one shape, which hides the two that are above."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    sides = [np.arange(10), np.arange(10, 20)], [np.arange(6), np.arange(6, 12)]
    X[:20, :12] += np.kron([[6, -6], [-6, 6]], np.ones((10, 6)))
    return X, [(np.arange(20), np.arange(12)), *zip(*sides, strict=True)]


def example(kind, seed):
    """Two planted blocks and a third of noise, or a board; cells are missing in every third matrix."""
    rng = np.random.default_rng([seed, *kind.encode()])
    if kind == "board":
        X, blocks = board(seed)
        X[rng.random(X.shape) < (0.15 if seed % 3 == 2 else 0)] = math.nan
        return X, blocks
    if kind == "factor":  # each row its own multiple of one profile; a block of another, stronger one; two of some rows
        X = 2 * np.outer(rng.normal(size=48), rng.normal(size=14)) + rng.normal(size=(48, 14))
        sizes = [(12, 12), (14, 13), (10, 9)]
        blocks = [
            (np.sort(rng.choice(48, r, replace=False)), np.sort(rng.choice(14, c, replace=False))) for r, c in sizes
        ]
        X[np.ix_(*blocks[0])] += 3 * np.outer(rng.normal(size=12), rng.normal(size=12))
        X[rng.random(X.shape) < (0.15 if seed % 3 == 2 else 0)] = math.nan
        return X, blocks
    n, m = 26, 12 if kind in ("normal", "series", "quiet", "skewed") else 20
    X = rng.normal(size=(n, m))
    blocks = [(np.sort(rng.choice(n, 8, replace=False)), np.sort(rng.choice(m, 5, replace=False))) for _ in range(3)]
    if kind == "series":
        X = np.cumsum(X, axis=1)
    elif kind == "counts":
        X = rng.poisson(0.8 * np.exp(rng.normal(0, 0.6, (n, 1)) + rng.normal(0, 0.6, m))).astype(float)
    elif kind == "zeros and ones":
        X = (rng.random((n, m)) < 0.3).astype(float)
    elif kind == "weights":
        X = np.where(rng.random((n, m)) < 0.4, 0, rng.exponential(1, (n, m)))
    for k, block in enumerate(blocks[:2]):
        if kind in ("counts", "weights"):
            X[np.ix_(*block)] += rng.poisson(60, (8, 5))
        elif kind == "zeros and ones":
            X[np.ix_(*block)] = 1
        elif kind == "quiet":
            X[np.ix_(*block)] = (
                0.3 * rng.normal(size=(8, 1)) + 0.3 * rng.normal(size=5) + 0.05 * rng.normal(size=(8, 5))
            )
        else:
            X[np.ix_(*block)] += 4 * (k + 1) + (seed % 2) * 2 * rng.normal(size=5)
    if kind == "skewed":
        X = np.exp(X) if seed % 2 else np.ceil(50 * np.exp(X))
    if seed % 3 == 2:
        X[rng.random(X.shape) < 0.15] = math.nan
    return X, blocks


KINDS = ["normal", "skewed", "series", "quiet", "board", "factor", "counts", "zeros and ones", "weights"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_the_naive_twin_agrees(kind, seed, limits):
    X, blocks = example(kind, seed)
    alone, gain, forms, order = twin.evidence(X, [(list(rows), list(cols)) for rows, cols in blocks])
    limits("chance", DUPLICATE=2.0, ALIKE=2.0, _MOST_EVEN=0)  # none is called redundant
    result = evidence_table(X, Biclustering(blocks, X.shape), missing="omit")
    assert result.alone == pytest.approx(alone, abs=1e-9)
    assert result.gain == pytest.approx(gain, abs=1e-9)
    assert list(result.order) == order
    patterns = selection.Normal.patterns
    assert result.patterns == tuple(patterns.get(form, "none") for form in forms)
    assert (result.family == "logarithms") == (kind == "skewed")


def test_a_profile_of_the_whole_matrix_supports_no_group_of_rows():
    """Every row follows it, more or less strongly: so do any rows, and those of a module follow their own as well."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 60)) + 1.5 * np.outer(rng.normal(size=400), rng.normal(size=60))
        groups = [(np.sort(rows), np.arange(60)) for rows in np.array_split(rng.permutation(400), 8)]
        parts = [(rows, np.sort(rng.choice(60, 30, replace=False))) for rows, _ in groups]
        for blocks in (groups, parts):
            assert evidence_table(X, Biclustering(blocks, X.shape)).n_supported == 0
        X[groups[0][0]] += 1.5 * np.outer(rng.uniform(0.5, 1.5, len(groups[0][0])), rng.normal(size=60))
        assert evidence_table(X, Biclustering(groups, X.shape)).verdicts == ("supported",) + ("not_supported",) * 7


def test_a_shape_does_not_hide_the_blocks_within_it():
    """The whole board has most evidence of any single bicluster; the two levels above have more of it together."""
    for seed in (0, 1, 6):
        X, blocks = board(seed)
        result = evidence_table(X, Biclustering(blocks, X.shape))
        assert result.alone.argmax() == 0
        assert evidence_table(X, Biclustering(blocks[:1], X.shape)).patterns == ("scaled profile",)
        assert result.verdicts == ("redundant", "supported", "supported")
        assert result.total > result.alone[0]


def test_the_examples_of_the_twin_accept_blocks_under_either_family():
    for kinds in (("normal", "series"), ("quiet",), ("skewed",), ("counts", "zeros and ones", "weights")):
        found = [twin.evidence(*example(kind, seed))[3] for kind in kinds for seed in range(6)]
        assert max(map(len, found)) >= 1


@pytest.mark.parametrize("kind", ["normal", "skewed", "counts", "weights", "zeros and ones"])
@pytest.mark.parametrize("gaps", [False, True])
def test_wherever_the_cells_are_the_evidence_is_the_same(kind, gaps, tmp_path):
    X, blocks = example(kind, 0)
    X = np.tile(X, (4, 1)) + (np.random.default_rng(0).normal(0, 0.1, (104, 12)) if kind == "normal" else 0)
    if gaps:
        X[np.random.default_rng(1).random(X.shape) < 0.1] = math.nan
    solution = Biclustering(blocks, X.shape)
    expected = evidence_table(X, solution, missing="omit")
    on_disk = in_file(X, tmp_path / "cells.npy").source
    others = [Matrix(on_disk), Matrix(on_disk, memory=10_000), Matrix(np.asfortranarray(X))]
    others.append(Matrix(scipy.sparse.csr_array(X)))
    if gaps:
        known = np.argwhere(~np.isnan(X))
        stored = scipy.sparse.coo_array((X[tuple(known.T)], tuple(known.T)), shape=X.shape)
        others.append(Matrix(stored, absent="missing"))
    for other in others:
        result = evidence_table(other, solution, missing="omit")
        assert result.gain == pytest.approx(expected.gain, abs=1e-9)
        assert result.verdicts == expected.verdicts
        assert result.total_raw == pytest.approx(expected.total_raw, abs=1e-9)
    single = X.astype(np.float32)
    found, expected = (evidence_table(cells, solution, missing="omit") for cells in (single, single.astype(float)))
    assert found.gain == pytest.approx(expected.gain, abs=1e-9)


def test_expected_weights_of_many_rows_are_those_of_every_cell():
    rng = np.random.default_rng(0)
    law = weights.Law(False)
    rows, cols = rng.exponential(20, 400), rng.exponential(40, 200)
    cols *= rows.sum() / cols.sum()
    found = weights.Full(law, rows, cols)
    assert found.left.shape[1] < 200
    E = law.mean(found.x[:, None] + found.y)
    assert E.sum(axis=1) == pytest.approx(rows, rel=1e-6)
    assert E.sum(axis=0) == pytest.approx(cols, rel=1e-6)
    some, others = np.arange(0, 400, 7), np.arange(0, 200, 3)
    assert found.inside(some, rows[some], others, cols[others]) == pytest.approx(
        rows[some] @ E[np.ix_(some, others)] @ cols[others], rel=1e-9
    )


def planted(kind, seed=0, shape=(80, 24), rows=24, cols=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    places = np.sort(rng.choice(shape[0], rows, replace=False)), np.sort(rng.choice(shape[1], cols, replace=False))
    row, col = 3 * rng.normal(size=(rows, 1)), 3 * rng.normal(size=cols)
    X[np.ix_(*places)] += {
        "shifted mean": 3.0,
        "row levels": row,
        "column profile": col,
        "additive": row + col,
        "scaled profile": 1.5 * row * col,
    }[kind]
    return X, Biclustering([places], shape)


@pytest.mark.parametrize("kind", ["shifted mean", "row levels", "column profile", "additive", "scaled profile"])
@pytest.mark.parametrize("seed", range(3))
def test_each_pattern_is_recognised_and_supported(kind, seed):
    X, solution = planted(kind, seed)
    result = evidence_table(X, solution)
    assert (result.patterns, result.verdicts) == ((kind,), ("supported",))
    assert result.supported.tolist() == [True]
    assert result.total == result.gain[0] == result.alone[0] > 0
    assert result.coverage == pytest.approx(24 * 10 / X.size)


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_not_supported(seed):
    rng = np.random.default_rng(seed)
    for X in (
        rng.normal(size=(120, 30)),
        rng.standard_t(2, size=(120, 30)),
        rng.normal(size=(120, 30)).cumsum(axis=1),
        rng.poisson(np.exp(rng.normal(size=(120, 1)) + rng.normal(size=30))).astype(float),
        (rng.random((120, 30)) < rng.random((120, 1)) * rng.random(30)).astype(float),
    ):
        blocks = []
        for _ in range(6):  # the largest cells of the columns in which a few rows are highest
            cols = np.sort(rng.choice(30, 6, replace=False))
            blocks.append((np.sort(np.argsort(-X[:, cols].sum(axis=1))[:15]), cols))
        assert supported_biclusters(X, Biclustering(blocks, X.shape)) == 0


def test_quiet_blocks_are_supported_where_cells_are_continuous():
    rng = np.random.default_rng(0)
    X = 3 * rng.normal(size=(120, 30))
    X[:40, :12] = rng.normal(size=(40, 1)) + rng.normal(size=12) + 0.2 * rng.normal(size=(40, 12))
    solution = Biclustering(
        [(range(40), range(12)), (range(5, 35), range(10)), (range(50, 80), range(15, 25))], X.shape
    )
    result = evidence_table(X, solution)
    assert result.verdicts == ("supported", "redundant", "not_supported")
    X[:40, :12] = 0.0  # imputed, or below a limit of detection
    assert evidence_table(X, solution).n_supported == 0


def test_adding_noise_never_changes_the_total():
    X, solution = planted("shifted mean")
    more = Biclustering([*solution, (range(20), range(4)), (range(30, 50), range(12, 20))], X.shape)
    assert total_evidence(X, more) == pytest.approx(total_evidence(X, solution), abs=1e-12)
    assert raw_evidence(X, more) >= raw_evidence(X, solution)
    assert total_evidence(X, Biclustering([], X.shape)) == 0


def test_copies_are_redundant():
    X, solution = planted("column profile")
    rows, cols = solution[0]
    nearly = (rows[1:], cols)
    result = evidence_table(X, Biclustering([(rows, cols), nearly], X.shape))
    assert result.verdicts == ("supported", "redundant")
    assert result.redundant_with == ((), (0,))
    assert result.order == (0,)
    assert result.raw[1] < result.raw[0]


def test_halves_of_one_block_are_redundant_and_apart_blocks_are_not():
    X = np.random.default_rng(0).normal(size=(90, 30))
    X[:30, :12] += 2.5
    X[50:70, 15:25] += 2.5
    halves = Biclustering([(range(30), range(8)), (range(30), range(4, 12)), (range(50, 70), range(15, 25))], X.shape)
    result = evidence_table(X, halves)
    assert sorted(result.verdicts) == ["redundant", "supported", "supported"]
    assert result.verdicts[2] == "supported"


def test_overlapping_blocks_are_both_supported():
    X = np.random.default_rng(1).normal(size=(120, 40))
    X[:30, :12] += 2
    X[20:50, 8:20] -= 2
    result = evidence_table(X, Biclustering([(range(30), range(12)), (range(20, 50), range(8, 20))], X.shape))
    assert result.verdicts == ("supported", "supported")


def lowered(seed):
    """A raised and a lowered block, and the rows beside the lowered one, which it seems to raise."""
    X = np.random.default_rng(seed).normal(size=(80, 40))
    X[:25, :12] += 2.5
    X[30:55, 15:30] -= 2.5
    blocks = [(range(25), range(12)), (range(30, 55), range(15, 30))]
    return X, blocks, ([*range(25, 30), *range(55, 80)], range(15, 30))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_shadow_of_a_block_does_not_come_before_it(seed):
    X, blocks, shadow = lowered(seed)
    right = evidence_table(X, Biclustering(blocks, X.shape))
    result = evidence_table(X, Biclustering([*blocks, shadow], X.shape))
    assert result.total == pytest.approx(right.total, rel=1e-9)
    assert result.verdicts == ("supported", "supported", "not_supported")
    assert result.alone[2] > 0
    assert result.reasons[2].startswith("supported alone, but")
    assert result.gain == pytest.approx(twin.evidence(X, [*blocks, shadow])[1], rel=1e-9)


@pytest.mark.parametrize("kind", ["counts", "normal"])
def test_a_single_column_is_no_bicluster(kind):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (400, 50)).astype(float) if kind == "counts" else rng.normal(size=(400, 50))
    on = rng.random(400) < 0.1
    X[on, 0] += 20
    result = evidence_table(X, Biclustering([(np.flatnonzero(on), [0])], X.shape))
    assert (result.verdicts, result.gain[0] < 0) == (("too_small",), True)


@pytest.mark.parametrize("kind", ["counts", "zeros and ones", "weights"])
@pytest.mark.parametrize("turned", [False, True])
def test_groups_of_counts_over_a_whole_side_are_judged_by_their_profile(kind, turned, limits):
    limits(_MOST_EVEN=0)
    rng = np.random.default_rng(3)
    X = rng.poisson(1.2 * np.exp(rng.normal(0, 0.5, (40, 1)) + rng.normal(0, 0.5, 25))).astype(float)
    X[np.ix_(range(10), range(0, 25, 3))] += rng.poisson(9, (10, 9))
    X = (X > 4).astype(float) if kind == "zeros and ones" else X + 0.5 * (X > 0) if kind == "weights" else X
    groups = [range(10), range(20, 30)]
    blocks = [(range(25), rows) if turned else (rows, range(25)) for rows in groups]
    X = X.T if turned else X
    result = evidence_table(X, Biclustering(blocks, X.shape))
    alone, gain, _, _ = twin.evidence(X, [tuple(map(list, block)) for block in blocks])
    assert result.family == "weights"
    assert result.alone == pytest.approx(alone, rel=1e-6)
    assert result.gain == pytest.approx(gain, rel=1e-6)
    assert result.verdicts[1] == "not_supported"
    assert result.raw[0] > 1 or kind == "zeros and ones"
    for source in (scipy.sparse.csr_array(X), Matrix(X)):
        assert evidence_table(source, Biclustering(blocks, X.shape)).gain == pytest.approx(gain, rel=1e-6)


def test_gene_modules_of_counts_are_supported_over_all_samples():
    rng = np.random.default_rng(2)
    rates = np.outer(rng.gamma(0.6, 0.5, 300) + 0.02, rng.lognormal(0, 0.3, 200))
    kinds = rng.integers(0, 4, 200)
    groups = [range(30 * k, 30 * k + 30) for k in range(4)]
    for kind, rows in enumerate(groups):
        rates[np.ix_(rows, np.flatnonzero(kinds == kind))] *= 6
    X = rng.poisson(rates).astype(float)
    groups.append(np.sort(rng.choice(range(120, 300), 30, replace=False)))
    result = evidence_table(X, Biclustering([(rows, range(200)) for rows in groups], X.shape))
    assert (result.verdicts, result.patterns[0]) == (("supported",) * 4 + ("not_supported",), "column profile")


def test_what_is_too_small_is_said_to_be():
    X = np.random.default_rng(0).normal(size=(3000, 12)).cumsum(axis=1)
    result = evidence_table(X, Biclustering([(range(5), range(3)), (range(900), range(6))], X.shape))
    assert result.verdicts[0] == "too_small"
    assert result.reasons[0] == (
        "its 3 columns are a time series, worth 1.2 independent ones; no block of 5 × 3 could be supported in this matrix"
    )
    assert not math.isnan(result.gain[0])
    assert (result.verdicts[1], result.reasons[1]) == (
        "not_supported",
        "its 6 columns are a time series, worth 1.48 independent ones; chance is not ruled out",
    )
    result = evidence_table(np.random.default_rng(0).normal(size=(3000, 12)), Biclustering([([0, 1], [2])], (3000, 12)))
    assert result.verdicts == ("too_small",)
    assert result.reasons == ("a single column: nothing shows whether its rows behave alike",)


@pytest.mark.parametrize("X", [np.ones((6, 5)), np.add.outer(np.arange(6.0), np.arange(5.0) ** 2), np.zeros((6, 5))])
def test_where_nothing_is_left_evidence_is_undefined_with_a_reason(X):
    result = evidence_table(X, Biclustering([([0, 1, 2], [0, 1])], X.shape))
    assert np.isnan(result.gain).all()
    assert "explain every value" in result.reasons[0]
    assert result.total == 0


def test_a_block_without_observed_cells_is_undefined_with_a_reason():
    for X in (np.random.default_rng(0).normal(size=(20, 8)), np.random.default_rng(0).poisson(1.0, (20, 8)) * 1.0):
        X[:3, :2] = math.nan
        result = evidence_table(X, Biclustering([(range(3), range(2)), (range(9), range(5))], X.shape), missing="omit")
        assert np.isnan(result.gain).tolist() == [True, False]
        assert "no value is observed" in result.reasons[0]


def test_lines_without_observed_cells_change_nothing_but_names():
    X, solution = planted("additive")
    wide = np.column_stack([X, np.full(len(X), math.nan)])
    found = evidence_table(wide, Biclustering(list(solution), wide.shape), missing="omit").raw
    assert found == pytest.approx(evidence_table(X, solution).raw, rel=0.05)


def test_missing_cells_are_refused_unless_asked_for():
    X, solution = planted("additive")
    X[0, 0] = math.nan
    with pytest.raises(MatrixError, match="missing"):
        evidence_table(X, solution)
    assert evidence_table(X, solution, missing="omit").verdicts == ("supported",)


@pytest.mark.parametrize("kind", ["shifted mean", "additive", "scaled profile"])
def test_invariances(kind):
    X, solution = planted(kind)
    expected = evidence_table(X, solution).gain
    rng = np.random.default_rng(1)
    for other in (X + 7, -3 * X, X + rng.normal(size=(len(X), 1)), X + rng.normal(size=X.shape[1]), X + 1e8):
        assert evidence_table(other, solution).gain == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-250, 1e-79, 1e100, 1e290])
def test_evidence_does_not_depend_on_the_unit(scale):
    X, solution = planted("additive")
    assert evidence_table(scale * X, solution).gain == pytest.approx(evidence_table(X, solution).gain, rel=1e-9)


def test_blocks_without_noise_have_finite_evidence():
    X = np.zeros((40, 20))
    X[:10, :5] = 3
    X[20, 7] = 1e-9
    assert math.isfinite(evidence_table(X, Biclustering([(range(10), range(5))], X.shape)).gain[0])
    assert math.isfinite(evidence_table(X - 1, Biclustering([(range(10), range(5))], X.shape)).gain[0])


def test_blocks_on_neighbouring_columns_are_no_series():
    X = np.random.default_rng(0).normal(size=(120, 40))
    for k in range(4):
        X[20 * k : 20 * k + 20, 10 * k : 10 * k + 10] += 2
    blocks = [(range(20 * k, 20 * k + 20), range(10 * k, 10 * k + 10)) for k in range(4)]
    result = evidence_table(X, Biclustering(blocks, X.shape))
    assert result.series == 0
    assert result.supported.all()


def test_threads_change_nothing(limits):
    limits(_MANY_CELLS=0)
    X, solution = planted("additive")
    more = Biclustering([*solution, (range(20), range(4))], X.shape)
    one, two = (evidence_table(X, more, n_jobs=n) for n in (1, 2))
    assert one.gain.tolist() == two.gain.tolist()


def test_a_settled_matrix_is_looked_at_once():
    X, solution = planted("additive")
    source = Own(X)
    for matrix, rows in ((Matrix(source), range(len(X))), (Matrix(source).settled(), solution[0].rows)):
        table = evidence_table(matrix, solution)
        source.read.clear()
        assert evidence_alone(matrix, solution, list(solution))[0] == pytest.approx(table.gain[0], rel=1e-12)
        assert set(source.read) == set(rows)


def test_measures_and_records_agree():
    X, solution = planted("additive")
    table, work = evidence_table(X, solution), Workspace.of(X, solution)
    expected = {
        "evidence": table.gain,
        "total_evidence": table.total,
        "raw_evidence": table.total_raw,
        "n_supported": 1,
        "supported_coverage": table.coverage,
    }
    assert {record.key for record in RECORDS} == set(expected)
    for record in RECORDS:
        assert record.function(X, solution) == pytest.approx(expected[record.key])
        assert record.compute(work) == pytest.approx(expected[record.key])
    assert module.evidence_scores(work).n_supported == 1


def test_counts_of_even_depth_are_judged_by_their_logarithms():
    """A block in counts of one level is seen by its level; margins would explain it."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.25, size=(60, 20)).astype(float)
    X[:15, :8] = rng.poisson(5.0, size=(15, 8))
    solution = Biclustering([(range(15), range(8)), (range(30, 45), range(10, 18))], X.shape)
    found, logs = evidence_table(X, solution), evidence_table(np.log2(1 + X) - 1, solution)
    assert found.family == "normal"
    assert found.verdicts == ("supported", "not_supported")
    assert found.gain == pytest.approx(logs.gain, abs=1e-9)
    uneven = rng.poisson(np.exp(rng.normal(size=(60, 1)) + rng.normal(size=20))).astype(float)
    found = evidence_table(uneven, solution)
    assert (found.family, found.n_supported) == ("weights", 0)


def test_skewed_values_are_judged_by_their_logarithms():
    """A block raised sixfold in log-normal noise of uneven rows and columns."""
    rng = np.random.default_rng(0)
    logs = rng.normal(size=(120, 30)) + np.add.outer(rng.normal(size=120), rng.normal(size=30))
    logs[:30, :10] += math.log(6)
    X, solution = np.exp(logs), Biclustering([(range(30), range(10)), (range(60, 90), range(15, 25))], (120, 30))
    found = evidence_table(X, solution)
    assert found.family == "logarithms"
    assert found.verdicts == ("supported", "not_supported")
    assert found.gain == pytest.approx(evidence_table(np.log2(1 + X / np.median(X)) - 9, solution).gain, abs=1e-9)
    hidden = np.repeat(X, 10, axis=0)  # rows that are looked at have no values
    hidden[::3] = math.nan
    lines = Biclustering([(range(300), range(10))], hidden.shape)
    assert evidence_table(hidden, lines, missing="omit").family == "normal"
    negative = evidence_table(X - 1e-3 - X.min(), solution)  # which has no logarithms
    assert (negative.family, negative.alone[0] < found.alone[0] / 2) == ("normal", True)
    assert "The values are positive and skewed: evidence is of their logarithms." in evaluate(X, solution).verdict.notes


def boards(seed, parts=(4, 3), noise=1.0):
    """Blocks that tile a matrix, each at a level of its own, and those of half of their rows."""
    rng = np.random.default_rng(seed)
    rows, cols = (np.array_split(rng.permutation(size), n) for size, n in zip((80, 36), parts, strict=True))
    X = noise * rng.normal(size=(80, 36))
    blocks = [(np.sort(i), np.sort(j)) for i in rows for j in cols]
    for block in blocks:
        X[np.ix_(*block)] += rng.normal(0, 3)
    return X, blocks


def test_blocks_of_a_partition_that_follow_from_the_supported_ones_say_so():
    for seed in range(4):
        X, blocks = boards(seed)
        solution = Biclustering(blocks, X.shape)
        result = evidence_table(X, solution)
        rest = [k for k in range(12) if k not in result.order]
        following = [k for k in rest if result.gain[k] <= 0]
        assert following
        for k in following:  # its rows are in the same supported blocks, and no other row is; columns likewise
            assert result.verdicts[k] == "redundant"
            for side, lines in enumerate(X.shape):
                of = [tuple(line in blocks[other][side] for other in result.order) for line in range(lines)]
                assert [line for line in range(lines) if of[line] == of[blocks[k][side][0]]] == list(blocks[k][side])
            assert {*result.redundant_with[k]} <= {*result.order}
        assert math.fsum(result.gain[list(result.order)]) == result.total
        if following == rest:
            verdict = evaluate(X, solution).verdict
            some = f"{result.n_supported} of its 12 blocks explain the others."
            assert verdict.headline == f"The partition is supported as a whole: {some}"
            assert verdict.biclusters[rest[0]]["why"].startswith("follows from B")
            assert len(propose_pruning(X, solution).proposals) == 0


def test_what_is_no_partition_or_cut_too_finely_is_not_supported_as_a_whole():
    X, blocks = boards(1)
    halves = [(rows[at::2], cols) for rows, cols in blocks for at in (0, 1)]
    noise = np.random.default_rng(0).normal(size=X.shape)
    for cells, some in ((X, blocks[:-1]), (X, halves), (noise, blocks)):
        verdict = evaluate(cells, Biclustering(some, X.shape)).verdict
        assert "partition" not in verdict.headline
        assert not any("partition" in row["why"] for row in verdict.biclusters) or some is halves


def test_a_block_of_every_column_is_told_that_its_rows_do_not_move_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 20))
    X[:15] += 3 * rng.normal(size=20)
    result = evidence_table(X, Biclustering([(range(15), range(20)), (range(40, 60), range(20))], X.shape))
    assert result.verdicts == ("supported", "not_supported")
    assert result.reasons == ("", "its rows do not move together more than chance would give")
    X[40:60] += 0.4 * rng.normal(size=20)
    alone = evidence_table(X, Biclustering([(range(40, 60), range(20))], X.shape))
    assert (alone.verdicts[0], alone.raw[0] > 0) == ("not_supported", True)
    assert alone.reasons[0].startswith("so many groups of 80 rows are possible that 20 columns cannot rule out chance;")


def test_factors_that_overlap_leave_the_dispersion_of_what_they_do_not_explain():
    """More factors than programs support no more than the programs, and have no more evidence than them."""
    rng = np.random.default_rng(0)
    usage = np.zeros((150, 4))
    for program in range(4):
        usage[rng.choice(150, 45, replace=False), program] = rng.gamma(2, 1, 45)
    X = rng.poisson(usage @ rng.gamma(0.3, 1, (4, 200))).astype(float)
    found = {}
    for k in (4, 6, 8):
        factors = NMF(k, init="nndsvda", tol=0.01, random_state=0)
        found[k] = evidence_table(X, Biclustering.from_factors(factors.fit_transform(X), factors.components_))
    assert [each.n_supported for each in found.values()] == [4, 4, 4]
    assert found[4].total > found[6].total > found[8].total


def test_why_a_group_over_very_many_columns_is_not_supported_costs_little():
    """No matrix of columns by columns is made where the columns are no series: here it would have 40 GB."""
    X = scipy.sparse.random_array((40, 70_000), density=0.002, rng=0, format="csr")
    result = evidence_table(X, Biclustering([(range(20), range(70_000))], X.shape))
    assert result.verdicts == ("not_supported",)


def test_columns_whose_order_means_nothing_are_no_series():
    X = np.random.default_rng(0).normal(size=(80, 20)).cumsum(axis=1)
    S = Biclustering([(range(20), range(6))], X.shape)
    for columns, ordered in (("columns", True), ("time points", True), ("samples", False), ("cells", False)):
        matrix = Matrix.of(X).called(columns=columns)
        assert (evidence_table(matrix, S).series > 0) == ordered
        assert (SMOOTHNESS in broken_assumptions(matrix, S)) == ordered
