"""Misspelt names: what was meant is named, by one function, wherever a name is typed."""

import numpy as np
import pytest
from sklearn.cluster import KMeans, SpectralCoclustering

from bivaluate import Biclustering, MatrixError, SolutionError, datasets, evaluate, find, read_matrix, read_solution


def asked(call, *args, **kwargs):
    with pytest.raises((OSError, ValueError, KeyError)) as found:
        call(*args, **kwargs)
    return str(found.value)


def test_what_is_misspelt_is_named(tmp_path):
    (tmp_path / "expression.csv").write_text("gene,a,b\nx,1,2\ny,3,4\n")
    (tmp_path / "solution.json").write_text("[]")
    X = np.random.default_rng(0).normal(size=(8, 6))
    result = evaluate(X, [([0, 1, 2], [0, 1, 2])])
    for meant, said in {
        "expression.csv": asked(read_matrix, tmp_path / "expresion.csv"),
        "solution.json": asked(read_solution, tmp_path / "soluton.json"),
        "yeast:04_elutriation": asked(datasets.load, "yeast:04_elutriaton"),
        "yeast": asked(datasets.fetch, "yeats"),
        "las": asked(find, X, algorithms="laas"),
        "nve": asked(evaluate, X, result.solution, metrics=["nvee"]),
        "coverage": asked(lambda: result.scores["covrage"]),
    }.items():
        assert f"Did you mean {meant!r}?" in said
    assert "Did you mean" not in asked(read_matrix, tmp_path / "nowhere" / "expression.csv")


def test_what_was_swapped_or_clusters_rows_alone_says_how_to_go_on():
    X = np.random.default_rng(0).random((30, 12))
    model = SpectralCoclustering(2, random_state=0).fit(X)
    for wrong in (model, Biclustering.from_estimator(model)):
        with pytest.raises(
            MatrixError, match=r"X is a \w+, not a matrix\. Were the two swapped\? The matrix comes first"
        ):
            evaluate(wrong, X)
    model = KMeans(3, n_init=1, random_state=0).fit(X)
    with pytest.raises(SolutionError, match="it clusters rows alone") as refused:
        evaluate(X, model)
    expression = str(refused.value).partition("alone. ")[2].partition(" takes")[0]
    solution = eval(expression, {"Biclustering": Biclustering, "model": model, "X": X})  # as it is printed
    assert sorted(b.shape for b in solution) == sorted((int(n), 12) for n in np.bincount(model.labels_))
