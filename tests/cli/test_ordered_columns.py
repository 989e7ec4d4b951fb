"""`bivaluate score --ordered-columns` says which biclusters beat smooth surrogates."""

import json

import numpy as np

from bivaluate import Biclustering


def test_sentence_about_ordered_columns(run, tmp_path):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(60, 20)), axis=1)
    np.save(tmp_path / "X.npy", X)
    Biclustering([(range(8), range(10)), (range(20, 30), range(20))], X.shape).to_json(tmp_path / "S.json")
    shown = run("score", "X.npy", "S.json", "--ordered-columns", "--json")
    assert shown.code == 0
    (document,) = json.loads(shown.out)
    assert any(sentence.startswith("Columns are ordered: in 5 phase-randomised") for sentence in document["findings"])
    plain = json.loads(run("score", "X.npy", "S.json", "--json", "--all").out)[0]
    assert not any(sentence.startswith("Columns are ordered") for sentence in plain["findings"])
    assert any("Neighbouring columns are correlated" in sentence for sentence in plain["findings"])
    assert {"cc", "anve", "avg_ave_centred", "mbr_max", "nve_overlap"} <= plain["solution"].keys()
    assert {"ave", "z", "acv", "sbm", "chia_karuturi", "sign_variance"} <= plain["biclusters"][0].keys()
