"""Topics in text: coherence against gensim and a naive twin, diversity by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bivaluate import evaluate
from bivaluate.measures.topics import topic_coherence, topic_diversity
from tests.reference.topics import npmi


def corpus():
    rng = np.random.default_rng(7)
    X = rng.poisson(0.25, (40, 14))
    X[:15, :6] += rng.poisson(1.0, (15, 6))
    X[15:30, 5:11] += rng.poisson(0.8, (15, 6))
    X[:, 13] = 1
    return X.astype(float)


TOPICS = [(range(15), range(6)), (range(15, 30), range(5, 11)), (range(40), [12, 13]), (range(5), [2, 9, 11])]
GENSIM = [0.22995463386313417, 0.09044683863186556, 2.9795396249993916e-12, 0.03385937568224883]


def test_gensims_numbers():
    """c_npmi of gensim 4.4 with windows longer than any document."""
    np.testing.assert_allclose(topic_coherence(corpus(), TOPICS), GENSIM, rtol=1e-9, atol=1e-11)


def test_the_same_with_gensim_itself():
    corpora, models = pytest.importorskip("gensim.corpora"), pytest.importorskip("gensim.models.coherencemodel")
    X, words = corpus(), [f"w{j}" for j in range(14)]
    texts = [[word for word, count in zip(words, row, strict=True) for _ in range(int(count))] for row in X]
    topics = [[words[j] for j in cols] for _, cols in TOPICS]
    judge = models.CoherenceModel(
        topics=topics, texts=texts, dictionary=corpora.Dictionary(texts), coherence="c_npmi", window_size=1000,
        topn=10, processes=1,
    )  # fmt: skip
    np.testing.assert_allclose(topic_coherence(X, TOPICS), judge.get_coherence_per_topic(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_naive_twin_dense_and_sparse(form):
    X = corpus()
    expected = [npmi(X, list(cols)) for _, cols in TOPICS]
    np.testing.assert_allclose(topic_coherence(form(X), TOPICS), expected, rtol=1e-12)
    scores = evaluate(form(X), TOPICS, metrics=["npmi", "npmi_k", "topic_diversity"])
    assert scores.scores["npmi"] == pytest.approx(np.mean(expected))
    assert [record["npmi_k"] for record in scores.records] == pytest.approx(expected)
    assert scores.scores["topic_diversity"] == topic_diversity(X, TOPICS) == 14 / 17


def test_ten_words_with_the_largest_sums():
    X = corpus()
    wide = [(range(15), range(14))]
    top = np.sort(np.argsort(-X[:15].sum(axis=0), kind="stable")[:10])
    assert topic_coherence(X, wide) == pytest.approx([npmi(X, top)])


def test_words_of_every_document_are_together_by_chance():
    assert topic_coherence(np.ones((5, 3)), [(range(5), [0, 1])]).tolist() == [0.0]


def test_what_has_no_coherence():
    X = corpus()
    X[:, 4] = 0
    assert np.isnan(topic_coherence(X, [(range(9), [3])])).all()  # one word
    assert np.isnan(topic_coherence(X, [(range(9), [3, 4])])).all()  # a word that never occurs
    assert np.isnan(topic_coherence(X - 1, TOPICS)).all()  # no counts
    assert np.isnan(topic_diversity(X, []))
