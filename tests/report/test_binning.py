"""Binning keeps means, places and small blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from bivaluate._arrange import make_axis
from bivaluate.elsewhere.confirm import standardised_rows
from bivaluate.evaluation import evaluate
from bivaluate.matrix import Matrix
from bivaluate.report.pictures import Budget, _heatmap, draw_solution, make_picture
from bivaluate.report.source import Drawn
from bivaluate.solution import Biclustering


@given(st.integers(1, 90), st.integers(0, 6), st.integers(1, 60), st.integers(0, 2**31))
def test_bins_cover_every_member_once_and_are_few(n: int, k: int, most: int, seed: int) -> None:
    masks = np.random.default_rng(seed).random((k, n)) < 0.2
    axis = make_axis(masks, most)
    assert sorted(axis.order.tolist()) == list(range(n))
    assert axis.edges[0] == 0
    assert axis.edges[-1] == n
    assert (np.diff(axis.edges) > 0).all()
    assert axis.n_bins <= max(most, 2)
    for mask in masks:
        members = np.flatnonzero(mask)
        held = {b for start, stop in axis.bins_of(members) for b in range(start, stop)} if len(members) else set()
        expected = {
            b
            for b in range(axis.n_bins)
            if set(axis.order[axis.edges[b] : axis.edges[b + 1]].tolist()) & set(members.tolist())
        }
        assert held == expected


def test_small_matrices_are_drawn_cell_by_cell() -> None:
    values = np.arange(12.0).reshape(3, 4)
    picture = make_picture(Matrix(values), Biclustering([([2], [1, 3])], (3, 4)))
    assert picture.note == ""
    np.testing.assert_array_equal(picture.values, values[np.ix_([2, 0, 1], [1, 3, 0, 2])])


def test_binned_cells_are_means_of_observed_cells() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(70, 50))
    values[3, 7] = np.nan
    matrix = Matrix(values)
    solution = Biclustering([(np.arange(10), np.arange(5, 15))], (70, 50))
    picture = make_picture(matrix, solution, max_cells=400)
    assert picture.values.shape == (picture.rows.n_bins, picture.cols.n_bins)
    for r in range(picture.rows.n_bins):
        rows = picture.rows.order[picture.rows.edges[r] : picture.rows.edges[r + 1]]
        for c in range(picture.cols.n_bins):
            cols = picture.cols.order[picture.cols.edges[c] : picture.cols.edges[c + 1]]
            assert picture.values[r, c] == pytest.approx(np.nanmean(values[np.ix_(rows, cols)]))
    assert picture.note.startswith("Too large to draw value by value: each tile is a mean (70 rows in ")


def test_constant_rows_are_blank_where_rows_are_standardised() -> None:
    missing = np.nan
    rows = [[1.0, 3.0, missing, 5.0], [0.1, 0.1, 0.1, 0.1], [2.0, missing, 2.0, missing], [missing] * 4]
    expected = np.full((4, 4), missing)
    expected[0] = [-np.sqrt(1.5), 0.0, missing, np.sqrt(1.5)]
    np.testing.assert_allclose(standardised_rows(np.array(rows)), expected, atol=1e-15)


def test_the_colours_of_counts_begin_at_zero() -> None:
    counts = np.random.default_rng(0).poisson(0.5, (40, 20)).astype(float)
    solution = Biclustering([(range(5), range(5))], shape=(40, 20))
    drawn = evaluate(counts, solution, metrics=["total_evidence"])
    shown = draw_solution(Drawn(drawn.matrix, solution, drawn.records, drawn.mergers, drawn.verdict), Budget.shared(1))
    assert shown["heatmap"]["from_zero"]
    assert shown["heatmap"]["middle"] == shown["heatmap"]["reach"] == np.percentile(counts, 98) / 2


def test_skewed_values_are_coloured_by_their_logarithms() -> None:
    values = np.random.default_rng(0).lognormal(4, 2, (40, 20))
    solution = Biclustering([(range(5), range(5))], shape=(40, 20))
    skewed, even = (_heatmap(Matrix(x), solution, 60_000) for x in (values, np.log(values)))
    assert skewed["unit"] == pytest.approx(np.median(values))
    reach = skewed["middle"] + skewed["reach"]
    assert reach == pytest.approx(np.percentile(np.log2(1 + values / skewed["unit"]), 98))
    assert even["unit"] == 0
    assert even["middle"] == pytest.approx(np.median(np.log(values)))


def test_a_block_of_all_missing_cells_is_missing() -> None:
    matrix = Matrix(np.full((2, 2), np.nan))
    assert np.isnan(make_picture(matrix, Biclustering([], (2, 2))).values).all()


def test_a_small_block_in_a_large_matrix_keeps_its_rows_apart() -> None:
    masks = np.zeros((1, 20_000), dtype=bool)
    masks[0, 5_000:5_050] = True
    axis = make_axis(masks, 300)
    ((start, stop),) = axis.bins_of(np.arange(5_000, 5_050))
    assert (start, stop) == (0, 50)
    assert axis.n_bins <= 300
    assert axis.names(None)[0] == "5000"
    assert axis.names(None)[-1].endswith(")")


def test_the_picture_of_a_large_sparse_matrix_is_of_some_of_its_rows(limits):
    X = np.random.default_rng(11).poisson(0.4, size=(4000, 30)).astype(float)
    X[:30, :8] += 3
    solution = Biclustering([(range(30), range(8)), (range(20, 60), range(4, 12))], X.shape)
    limits(LARGEST_DENSE_BYTES=8 * X.size - 1)  # all cells cannot be asked for
    picture = make_picture(Matrix(scipy.sparse.csr_array(X)), solution, max_cells=9000)
    assert picture.note.endswith("of 16 rows of each bin at most.")
    assert np.nanmax(picture.values) > 3
