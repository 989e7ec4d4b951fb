"""Measures of topics in text: do the words of a topic occur together, and do topics have words of their own?

Rows are documents and columns words: a cell above zero says that the word occurs. The words of a bicluster that are
looked at are the ten with the largest sums over its documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._types import Floats, Ints
from bivaluate.measures.measure import COL_SCALE, ROW_SCALE, SCALE, UNIT, measure
from bivaluate.measures.workspace import Workspace

N_WORDS = 10
EPSILON = 1e-12  # of gensim: a pair that never occurs has a finite logarithm


def _top_words(workspace: Workspace) -> list[Ints]:
    """Return the words of each bicluster with the largest sums over its documents, the first ones where they tie."""
    found = []
    for rows, cols in workspace.solution:
        parts = workspace.matrix.map_rows(lambda _, numbers, cells: np.asarray(cells.sum(axis=0)).ravel(), rows)
        order = np.argsort(-np.sum(list(parts), axis=0)[cols], kind="stable")
        found.append(np.sort(cols[order[:N_WORDS]]))
    return found


def _coherence(workspace: Workspace) -> Floats:
    """Return the mean NPMI of the pairs of words of each bicluster."""
    topics = _top_words(workspace)
    words = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *topics]))
    if workspace.has_missing or not len(words):
        return np.full(len(topics), np.nan)

    def occurring(_: int, cells: Any) -> tuple[Floats, bool]:
        part = cells[:, words]
        there = (part > 0).astype(np.float64)
        return np.asarray((there.T @ there).todense() if hasattr(there, "todense") else there.T @ there), part.min() < 0

    together = list(workspace.matrix.map_chunks(occurring))
    if any(negative for _, negative in together):
        return np.full(len(topics), np.nan)
    shares = np.sum([counts for counts, _ in together], axis=0) / workspace.shape[0]
    return np.array([_npmi(shares[np.ix_(at, at)]) for at in (np.searchsorted(words, topic) for topic in topics)])


def _npmi(shares: Floats) -> float:
    """Return the mean over pairs; `shares` says how often two words occur in one document, and each word."""
    i, j = np.triu_indices(len(shares), 1)
    single = np.diagonal(shares)
    if not len(i) or not single.all():
        return float("nan")
    both = shares[i, j] + EPSILON
    surprise = -np.log(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.where(shares[i, j] == 1, 0.0, np.log(both / (single[i] * single[j])) / surprise)))


@measure(
    "npmi_k", "NPMI_k", "topic coherence of a bicluster", "Whether the top words (columns) of a topic occur together.",
    compute=_coherence, direction="high", range=(-1.0, 1.0), invariances=(SCALE, ROW_SCALE, COL_SCALE),
    reference="Röder, Both & Hinneburg 2015, doi:10.1145/2684822.2685324",
)  # fmt: skip
@measure(
    "npmi", "NPMI", "topic coherence", "Whether the top words (columns) of topics occur together: the mean over topics.",
    compute=lambda w: float(np.nanmean(c)) if len(c := _coherence(w)) and not np.isnan(c).all() else float("nan"),
    level="solution", direction="high", range=(-1.0, 1.0), invariances=(SCALE, ROW_SCALE, COL_SCALE),
    reference="Röder, Both & Hinneburg 2015, doi:10.1145/2684822.2685324",
)  # fmt: skip
def topic_coherence(X: Any, solution: Any) -> Floats:
    r"""Return the coherence of the topics of a matrix of documents x words.

    The mean over all pairs of the ten top words of a topic of
    :math:`\ln(p_{ij} / (p_i p_j)) / -\ln p_{ij}`, where :math:`p_i` is the share of documents with word i: gensim's
    ``c_npmi`` with documents as windows. From -1 (never together) over 0 (by chance) to 1 (always).
    """
    return _coherence(Workspace.of(X, solution))


def _diversity(workspace: Workspace) -> float:
    words = [word for topic in _top_words(workspace) for word in topic.tolist()]
    return len(set(words)) / len(words) if words and not workspace.has_missing else float("nan")


@measure(
    "topic_diversity", "diversity of words", "topic diversity", "Share of the top words (columns) of topics that differ.",
    compute=_diversity, level="solution", direction="high", range=UNIT, invariances=(SCALE,),
    reference="Dieng, Ruiz & Blei 2020, doi:10.1162/tacl_a_00325",
)  # fmt: skip
def topic_diversity(X: Any, solution: Any) -> float:
    """Return which share of the top words of all topics differ: 1 if no two topics share one."""
    return _diversity(Workspace.of(X, solution))
