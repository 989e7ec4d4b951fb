"""`bivaluate prune`: explains, shows, and writes only where it is told to."""

import json

import numpy as np
import pytest

from bivaluate import Biclustering


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 30))
    X[:40, :12] = 2 * rng.normal(size=12) + 0.3 * rng.normal(size=(40, 12))
    np.save(tmp_path / "X.npy", X)
    pairs = [(range(15), range(12)), (range(15, 40), range(12)), (range(80, 86), range(20, 23))]
    Biclustering(pairs, X.shape).to_json(tmp_path / "S.json")
    Biclustering([(range(40), range(12))], X.shape).to_json(tmp_path / "good.json")
    return tmp_path


def test_proposals_are_explained_and_nothing_is_written(run, files):
    before = sorted(files.iterdir())
    shown = run("prune", "X.npy", "S.json")
    assert shown.code == 0
    assert "Merge B1 and B2 into 40 × 12" in shown.out
    assert "Drop B3" in shown.out
    assert "before" in shown.out
    assert "nothing written" in shown.err
    assert sorted(files.iterdir()) == before


def test_out_writes_the_pruned_solution(run, files):
    shown = run("prune", "X.npy", "S.json", "--out", "pruned.json")
    assert "wrote pruned.json: 1 of 3 biclusters" in shown.err
    pruned = Biclustering.from_json(files / "pruned.json")
    assert [b.shape for b in pruned] == [(40, 12)]
    assert pruned.info["made_of"] == ["B1+B2"]


def test_json(run, files):
    document = json.loads(run("prune", "X.npy", "S.json", "--json").out)
    assert [p["action"] for p in document["proposals"]] == ["merge", "drop"]
    assert document["biclusters"] == ["B1+B2"]
    assert document["after"]["n_biclusters"] == 1
    assert document["after"]["nve"] is None


def test_keep_weak_and_nothing_to_do(run, files):
    assert "Drop" not in run("prune", "X.npy", "S.json", "--keep-weak").out
    assert "Nothing to drop or merge among 1 bicluster." in run("prune", "X.npy", "good.json").out


def test_bad_input(run, files):
    shown = run("prune", "X.npy", "S.json", "--missing", "drop")
    assert shown.code == 2
    assert "allowed: 'raise', 'omit'" in shown.err
    assert run("prune", "X.npy", "absent.json").code == 2
    assert "Transpose one of them" in run("prune", "X.npy", "S.json", "--transpose").err
    assert "Did you mean 'qubic'" in run("prune", "X.npy", "S.json", "--solution-format", "qubc").err
    assert "'layer' does not apply to it" in run("prune", "X.npy", "S.json", "--layer", "counts").err


def test_absent_ratings_may_be_missing(run, tmp_path):
    rng = np.random.default_rng(5)
    ratings = rng.integers(1, 6, size=(100, 60))
    ratings[:30, :20] = rng.choice([4, 5, 5, 5], size=(30, 20))
    given = np.argwhere(rng.random(ratings.shape) < 0.4)
    lines = [f"u{i:03d}\tm{j:03d}\t{ratings[i, j]}" for i, j in given]
    (tmp_path / "ratings.tsv").write_text("\n".join(["user\titem\trating", *lines]) + "\n")
    pairs = [[[f"u{i:03d}" for i in range(30)], [f"m{j:03d}" for j in range(20)]]]
    (tmp_path / "one.json").write_text(json.dumps(pairs))
    scored = run("score", "ratings.tsv", "one.json", "--absent", "missing")
    assert "The bicluster is supported" in scored.out
    pruned = run("prune", "ratings.tsv", "one.json", "--absent", "missing", "--json")
    assert pruned.code == 0
    assert json.loads(pruned.out)["proposals"] == []
    assert run("find", "ratings.tsv", "--absent", "missing", "-a", "auto").code == 0
    assert run("sweep", "ratings.tsv", "-a", "spectral_co", "-k", "2", "--absent", "missing", "--out", "R").code == 2
