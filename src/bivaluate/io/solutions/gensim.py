"""An LDA model of gensim: ``NAME.expElogbeta.npy`` of ``model.save``, beside the topics of documents."""

from pathlib import Path

import numpy as np

from bivaluate.io.formats import Document, Format, Options, Source
from bivaluate.io.solutions.numpy_factors import factor_document

_WORDS = ".expElogbeta.npy"


def _files(source: Source) -> tuple[list[Path], list[Path]]:
    there = source.listed()
    return [p for p in there if p.name.endswith(_WORDS)], [p for p in there if p.suffix == ".mm"]


def _read(source: Source, options: Options) -> Document:
    """Read the weights and apply the rule: documents are rows, words are columns."""
    from scipy.io import mmread

    words, documents = _files(source)
    if len(words) != 1 or len(documents) != 1:
        found = ", ".join(p.name for p in [*words, *documents]) or "neither"
        raise source.fault(f"one NAME{_WORDS} and one NAME.mm are needed (MmCorpus.serialize), found {found}.")
    weights = np.load(words[0], allow_pickle=False)
    topics = mmread(documents[0]).toarray()
    lacking = len(weights) - topics.shape[1]  # MmCorpus leaves out the last topics if no document has them
    topics = np.pad(topics, ((0, 0), (0, max(0, lacking))))
    return factor_document(topics, weights, options, algorithm="gensim LDA")


_SERIALIZED = "`MmCorpus.serialize('NAME.mm', model[corpus])`"
_NOTE = f"a folder with `NAME.expElogbeta.npy` (of `model.save`) and `NAME.mm`, by {_SERIALIZED}"
FORMAT = Format(
    "gensim",
    "gensim LDA model",
    (),
    None,
    _read,
    options=("rule",),
    folder=lambda source: bool(_files(source)[0]),
    note=_NOTE,
)
