"""The parts of confirm, recur and traits, and names of gene sets, on worked values."""

import numpy as np
import pandas as pd

from bivaluate import Biclustering, Matrix, recur
from bivaluate.elsewhere.confirm import reference_p, standardised, strata_of
from bivaluate.elsewhere.fits import folded, places
from bivaluate.elsewhere.recur import describe_recurrence
from bivaluate.elsewhere.traits import logrank, words
from bivaluate.enrichment.gene_sets import set_name


def test_reference_p():
    z = np.array([2.0])
    assert [float(reference_p(z, np.zeros(n))[0].round(3)) for n in (99, 9, 4)] == [0.01, 0.047, 0.0]


def test_strata_of():
    values = np.arange(70), np.arange(70.0) % 7, np.arange(70.0)
    assert [len(part) for part in strata_of(*values, values[0] < 0)] == [17, 18, 17, 18]
    assert [len(part) for part in strata_of(*values, values[0] < 24)] == [35, 35]


def test_standardised():
    assert standardised(np.array([[1.0, 2.0], [4.0, 2.0], [3.0, 3.0]])).round(2).tolist() == [
        [-1.0, 1.0],
        [1.0, -1.0],
        [0.0, 0.0],
    ]


def test_folded():
    assert (folded("ensg0001.12"), folded("CD19")) == ("ENSG0001", "CD19")


def test_places():
    assert places(["a", "b", "a", "c"], ["c", "a", "a"]).tolist() == [1, -1, -1, 0]


def test_describe():
    X = Matrix(np.zeros((40, 3)), tuple(f"g{i}" for i in range(40)))
    same = Biclustering([(range(5), [0, 1])], X.shape)
    assert describe_recurrence(recur({"a": (same, X), "b": (same, X)}), 2) == [
        "G1 (2 of 2 samples, closeness 1): g0, g1 and 3 more"
    ]


def test_logrank_scores():
    more, variance = logrank(np.eye(3), np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0]), [np.arange(3)])
    assert more.round(3).tolist() == [0.667, -0.333, -0.333]
    assert variance.round(3).tolist() == [0.222, 0.222, 0.222]


def test_words():
    COLUMNS = ["bicluster", "trait", "class", "q", "effect_is", "word"]
    odds = "odds ratio"
    rows = [("B1", "type", "B", 1e-9, odds, "97 % B"), ("B1", "cluster", "4", 1e-12, odds, "98 % cluster 4")]
    assert words(pd.DataFrame(rows, columns=COLUMNS)) == {"B1": "97 % B"}
    rows += [
        ("B2", "type", "T", 1e-9, odds, "enriched in T (23 %; 2 % outside)"),
        ("B2", "phase", "S", 1e-7, odds, "65 % S"),
        ("B2", "age", "higher", 1e-20, "AUC", "higher age"),
    ]
    assert words(pd.DataFrame(rows, columns=COLUMNS))["B2"].startswith("enriched in T")  # not the largest share


def test_set_name():
    assert (set_name("up together", "made up"), set_name("GO:0006412", "translation"), set_name("WP254", "WP254")) == (
        "up together",
        "GO:0006412 translation",
        "WP254",
    )
