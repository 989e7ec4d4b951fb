"""Cases in which users saw a wrong verdict: marker genes, raised blocks, documents, random blocks, worse after pruning."""

import numpy as np
import pytest

from bivaluate import Biclustering, evaluate, propose_pruning
from bivaluate.datasets import load_labelled
from bivaluate.judge.prune import made_worse

MARKERS = {
    "plasma cells": (("IGJ", "MZB1", "FKBP11", "TNFRSF17"), None),
    "B cells": (("MS4A1", "CD79A", "CD79B"), "CD19+ B"),
    "monocytes": (("CTSS", "LST1", "FCGR3A"), "CD14+ Monocyte"),
    "NK cells": (("GNLY", "NKG7", "GZMB"), "CD56+ NK"),
}


@pytest.mark.network
@pytest.mark.extra("anndata")
@pytest.mark.parametrize("cells", ["high", "sorted"])
def test_marker_genes_of_blood_cells_are_kept(cells):
    """Cells are those in which the markers are high, or those a laboratory sorted; plasma cells were not sorted."""
    data = load_labelled("pbmc68k")
    X, genes = data.matrix.values, list(data.matrix.row_labels)
    pairs = []
    for names, label in MARKERS.values():
        rows = [genes.index(name) for name in names]
        high = cells == "high" or label is None
        pairs.append((rows, np.flatnonzero(X[rows].mean(axis=0) > 1 if high else data.col_classes[label])))
    solution = Biclustering(pairs, X.shape)
    result = evaluate(data.matrix, solution)
    assert result.scores["n_paying"] == 4
    assert set(result.biclusters["kind"]) <= {"raised", "additive"}
    assert not any("noise" in finding for finding in result.findings)
    advice = propose_pruning(data.matrix, solution)
    assert advice.proposals == ()
    assert advice.names == ("B1", "B2", "B3", "B4")


def test_documents_are_never_merged_into_the_whole_matrix():
    """Weighted words of documents on eight topics: sparse and skewed, where every merger looks free."""
    from sklearn.cluster import SpectralCoclustering

    rng = np.random.default_rng(0)
    common = rng.pareto(1.2, size=300) + 0.05
    topics = np.array([np.where(np.arange(300) % 8 == topic, 8.0, 1.0) for topic in range(8)])
    rate = topics[rng.integers(8, size=150)] * common
    counts = rng.poisson(60 * rate / rate.sum(axis=1, keepdims=True)).astype(float)
    counts = counts[:, (counts > 0).any(axis=0)]
    X = counts / counts.sum(axis=1, keepdims=True) * np.log(len(counts) / (counts > 0).sum(axis=0)) + 1e-9
    advice = propose_pruning(X, Biclustering.from_estimator(SpectralCoclustering(8, random_state=0).fit(X)))
    assert all(proposal.kind == "drop" for proposal in advice.proposals)
    assert max((b.size for b in advice.solution), default=0) < X.size / 2
    assert any("none is proposed" in caution for caution in advice.cautions)


def test_two_raised_blocks_are_praised():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 40))
    blocks = [(range(30), range(12)), (range(40, 80), range(15, 30))]
    for rows, cols in blocks:
        X[np.ix_(rows, cols)] += 4
    result = evaluate(X, Biclustering(blocks, X.shape))
    assert result.scores["n_paying"] == 2
    assert result.scores["total_evidence"] > 500
    assert result.biclusters["kind"].tolist() == ["raised", "raised"]
    assert not any("noise" in finding or "pattern" in finding for finding in result.findings)


@pytest.mark.parametrize("seed", range(5))
def test_findings_and_pruning_call_the_same_blocks_noise(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 30))
    X[:25, :8] = rng.normal(size=8) * 2 + 0.4 * rng.normal(size=(25, 8))
    blocks = [(range(25), range(8))]
    blocks += [(rng.choice(150, 12, replace=False), rng.choice(30, 6, replace=False)) for _ in range(4)]
    solution = Biclustering(blocks, X.shape)
    said = {text.split()[0] for text in evaluate(X, solution).findings if "does not stand out from noise" in text}
    assert said == {"B2", "B3", "B4", "B5"}
    assert {name for p in propose_pruning(X, solution).proposals for name in p.biclusters} == said


def test_pruning_that_makes_every_score_worse_says_so():
    before = {"n_biclusters": 6.0, "total_evidence": 90.0, "nve": 1.08, "nve_cov": 11.41, "cc": 2.2e-4}
    worse = {"n_biclusters": 5.0, "total_evidence": 80.0, "nve": 1.11, "nve_cov": 11.71, "cc": 8.8e-5}
    says = ["These changes make every score worse: keep the solution as it is."]
    assert made_worse(before, worse) == says
    assert made_worse(before, {**worse, "nve": 1.08}) == says
    assert made_worse(before, {**worse, "nve": 1.01}) == []
    assert made_worse(before, before) == []
