"""Groups over samples: against a plain twin, planted programs, and bad input."""

import numpy as np
import pytest

from bivaluate import Biclustering, Matrix, ParameterError, recur
from bivaluate._factors import spectra_scores
from bivaluate.algorithms import NMFBiclusters
from bivaluate.datasets import make_programs
from bivaluate.elsewhere.recur import closeness, linked
from tests.reference import elsewhere as twin

GENES = tuple(f"g{i}" for i in range(80))


def sample(*sets):
    return Biclustering([(rows, [0, 1]) for rows in sets], (80, 4)), GENES


def test_closeness_and_groups_are_those_of_the_twin():
    rng = np.random.default_rng(0)
    bases = [set(rng.choice(60, 15, replace=False).tolist()) for _ in range(4)]
    sets = [{i for i in base if rng.random() < 0.7} | set(rng.choice(60, 3).tolist()) for base in bases * 4]
    masks = np.array([[i in one for i in range(60)] for one in sets])
    close = closeness(masks, np.ones_like(masks))
    slow = [[twin.closeness(a, b, 60) for b in sets] for a in sets]
    np.testing.assert_allclose(close, slow, atol=1e-12)
    numbers = linked(close, 0.2)
    groups = {frozenset(np.flatnonzero(numbers == g).tolist()) for g in set(numbers.tolist())}
    assert groups == set(map(frozenset, twin.average_linkage(slow, 0.2)))
    assert len(groups) > 1


def test_only_rows_that_both_samples_have_count():
    sets = np.zeros((2, 20), dtype=bool)
    known = np.ones((2, 20), dtype=bool)
    sets[0, :10] = True
    sets[1, :5] = True
    known[1, 5:10] = False  # the second sample does not know half of the first set
    assert closeness(sets, known)[0, 1] == pytest.approx(1.0)


def test_groups_rows_and_samples():
    found = recur(
        {
            "p1": sample(range(10), range(20, 30), range(70, 73)),
            "p2": sample(range(2, 12), range(40, 50)),
            "p3": sample(range(1, 11)),
        }
    )
    (group,) = found.records
    assert group["samples"] == ["p1", "p2", "p3"]
    assert group["members"] == ["p1:B1", "p2:B1", "p3:B1"]
    assert dict(found.rows[0]) == {"g1": 2, "g10": 2, **{f"g{i}": 3 for i in range(2, 10)}}
    assert [n for _, n in found.rows[0]] == sorted((n for _, n in found.rows[0]), reverse=True)
    assert [one["sample"] for one in found.private] == ["p1", "p2"]
    assert found.solution.shape == (80, 3)
    assert found.solution[0].cols.tolist() == [0, 1, 2]
    assert any("fewer than 7 biclusters" in note for note in found.notes)
    assert any("1 bicluster with fewer than 5 rows" in note for note in found.notes)
    assert "1 group recurs in at least 2 of 3 samples" in found.summary
    loose = Biclustering([(range(10), [0, 1])], (80, 4), info={"algorithm": "nmf", "parameters": {"rule": "mixture"}})
    assert any("spectra:50" in note for note in recur({"a": (loose, GENES), "b": (loose, GENES)}).notes)


@pytest.mark.parametrize("seed", [0, 1])
def test_planted_programs_are_found_and_noise_has_none(seed):
    samples, programs = make_programs(4, 3, n_genes=400, n_cells=60, share=(0.6, 1.0), random_state=seed)
    fits = {
        name: (NMFBiclusters(6, rule="spectra:50", random_state=0).fit(X).solution_, X) for name, X in samples.items()
    }
    found = recur(fits)
    assert len(found.records) == 3
    for genes, own in programs:
        matches = [
            record["samples"] == own and len({label for label, _ in rows} & {f"gene{g}" for g in genes}) >= 45
            for record, rows in zip(found.records, found.rows, strict=True)
        ]
        assert sum(matches) == 1
    noise, none = make_programs(4, 0, n_private=0, n_genes=400, n_cells=60, random_state=seed)
    assert none == []
    fits = {
        name: (NMFBiclusters(6, rule="spectra:50", random_state=0).fit(X).solution_, X) for name, X in noise.items()
    }
    assert recur(fits).records == []


def test_spectra_scores_are_those_of_the_twin():
    rng = np.random.default_rng(1)
    X, usages = rng.poisson(3.0, size=(12, 40)).astype(float), rng.gamma(1.0, size=(3, 40))
    np.testing.assert_allclose(spectra_scores(X, usages), twin.spectra_scores(X, usages), atol=1e-9)


def test_an_object_with_a_sample_column(tmp_path):
    anndata = pytest.importorskip("anndata")
    samples, _ = make_programs(3, 2, n_genes=300, n_cells=40, share=(1.0, 1.0), random_state=3)
    cells = np.concatenate([X.values for X in samples.values()], axis=1).T
    adata = anndata.AnnData(cells)
    adata.var_names = list(samples["sample 1"].row_labels)
    adata.obs["patient"] = np.repeat(list(samples), 40)
    found = recur(adata, sample="patient", n_biclusters=7, folder=tmp_path)
    assert [record["n_samples"] for record in found.records] == [3, 3]
    assert set(found.solutions) == set(samples)
    with pytest.raises(
        ParameterError, match=r"sample is 'patinet'; columns of \.obs: patient\. Did you mean 'patient'"
    ):
        recur(adata, sample="patinet")


def test_bad_input():
    one = sample(range(10))
    with pytest.raises(ParameterError, match="there is 1 sample; at least 2"):
        recur({"a": one})
    with pytest.raises(ParameterError, match=r"no row label is shared \(a: g0, g1, g2.*; b: h0, h1, h2"):
        recur({"a": one, "b": (one[0], tuple(f"h{i}" for i in range(80)))})
    with pytest.raises(ParameterError, match="the matrix of sample b has no row labels"):
        recur({"a": one, "b": (one[0], Matrix(np.zeros((80, 4))))})
    with pytest.raises(ParameterError, match="has 5 row labels, but its biclusters have a row 9"):
        recur({"a": one, "b": (one[0], GENES[:5])})
    with pytest.raises(ParameterError, match="sample names a column"):
        recur({"a": one, "b": one}, sample="patient")
