"""The output of an OCTIS model, as ``save_model_output`` keeps it: weights of words and of documents in each topic."""

from bivaluate.io.formats import Document, Format, Options, Source
from bivaluate.io.matrices.numpy_files import read_arrays
from bivaluate.io.solutions.numpy_factors import factor_document

_WORDS, _DOCUMENTS = "topic-word-matrix", "topic-document-matrix"


def _read(source: Source, options: Options) -> Document:
    """Read the weights and apply the rule: documents are rows, words are columns."""
    arrays = read_arrays(source, (_WORDS, _DOCUMENTS))
    if len(arrays) < 2:
        raise source.fault(f"the arrays {_WORDS!r} and {_DOCUMENTS!r} are needed, as OCTIS's save_model_output writes.")
    return factor_document(arrays[_DOCUMENTS].T, arrays[_WORDS], options, algorithm="OCTIS")


_NOTE = "documents x words; `rule=` (`--rule`) says which members belong"
_NAMED = ("octis", "OCTIS model output", (".npz",), lambda source: {_WORDS, _DOCUMENTS} <= source.array_names())
FORMAT = Format(*_NAMED, _read, options=("rule",), note=_NOTE)
