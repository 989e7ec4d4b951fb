"""Topics as BERTopic, OCTIS and gensim write them."""

import json

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array

from bivaluate import Biclustering, FormatError, Matrix, ParameterError, read_solution

WORDS = ("apple", "pear", "car", "bus")
X = Matrix(np.array([[2, 1, 0, 0], [1, 3, 0, 0], [0, 0, 1, 1], [0, 1, 2, 1], [1, 0, 1, 0.0]]), None, WORDS)
TOPICS = {
    "topic_representations": {
        "-1": [["apple", 0.1]],
        "0": [["apple", 0.9], ["pear", 0.5], ["fresh apple", 0.2]],
        "1": [["bus", 0.7], ["car", 0.6]],
    },
    "topics": [0, 0, 1, 1, -1],
    "topic_sizes": {"0": 2, "1": 2, "-1": 1},
}
FOUND = Biclustering([([0, 1], [0, 1]), ([2, 3], [2, 3])], X.shape)


def test_bertopic(tmp_path):
    (tmp_path / "model").mkdir()
    path = tmp_path / "model" / "topics.json"
    path.write_text(json.dumps(TOPICS, indent=2))
    assert read_solution(path, X) == read_solution(path.parent, X) == FOUND
    turned = Matrix(X.values.T, WORDS, None)
    assert read_solution(path, turned) == Biclustering([(c, r) for r, c in FOUND], turned.shape)
    with pytest.raises(ParameterError, match="names words: their places are those of a matrix"):
        read_solution(path)
    with pytest.raises(
        FormatError, match="it has 5 documents; a matrix of these and labelled words is needed, not 4 x 4"
    ):
        read_solution(path, Matrix(X.values[:4], None, WORDS))
    path.write_text('{"topic_representations": {"0": []}}')
    with pytest.raises(FormatError, match="topic_representations and topics are needed"):
        read_solution(path, X)


def test_octis(tmp_path):
    W, H = np.array([[9.0, 1], [8, 0], [0, 7], [1, 9], [0, 0]]), np.array([[5.0, 4, 0, 0], [0, 0, 6, 5]])
    np.savez(tmp_path / "o.npz", **{"topic-word-matrix": H, "topic-document-matrix": W.T, "topics": [["a"], ["b"]]})
    assert read_solution(tmp_path / "o.npz", X) == FOUND == Biclustering.from_factors(W, H)
    assert read_solution(tmp_path / "o.npz", X, rule="top:0.2")[0].rows.tolist() == [0]
    np.savez(tmp_path / "bad.npz", **{"topic-word-matrix": H[:1], "topic-document-matrix": W.T})
    with pytest.raises(FormatError, match="2 factors"):
        read_solution(tmp_path / "bad.npz", X)


def test_gensim(tmp_path):
    W, H = np.array([[0.9, 0.1], [0.8, 0], [0, 0.7], [0.1, 0.9], [0, 0]]), np.array([[5.0, 4, 0, 0], [0, 0, 6, 5]])
    np.save(tmp_path / "lda.expElogbeta.npy", H)
    with pytest.raises(FormatError, match=r"one NAME\.mm are needed .* found lda\.expElogbeta\.npy"):
        read_solution(tmp_path, X)
    with (tmp_path / "lda.mm").open("wb") as stream:
        mmwrite(stream, coo_array(W))
    assert read_solution(tmp_path, X) == FOUND
