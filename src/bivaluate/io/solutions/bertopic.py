"""A BERTopic model saved with serialization="safetensors" or "pytorch": the topic of each document, and its words."""

import json
from typing import Any

from bivaluate.io.formats import Document, Format, Options, ParameterError, Source

_FILE, _WORDS = "topics.json", '"topic_representations"'


def _in_folder(source: Source) -> bool:
    return any(path.name == _FILE for path in source.listed())


def _detects(source: Source) -> bool:
    return source.head_text.lstrip().startswith("{") and _WORDS in source.head_text[:200]


def _read(source: Source, options: Options) -> Document:
    """Read the topics; documents are the rows or columns of the matrix by their order, words by their labels."""
    if source.is_folder:
        source = Source(source.path / _FILE)
    try:
        content = json.loads(source.text())
        words, topics = dict(content["topic_representations"]), list(content["topics"])
    except (ValueError, KeyError, TypeError):
        raise source.fault("topic_representations and topics are needed, as BERTopic.save writes them.") from None
    X = options.X
    if X is None:
        raise ParameterError(f"{source.name} names words: their places are those of a matrix of documents and words.")
    n = len(topics)
    documents = next((axis for axis in (0, 1) if X.shape[axis] == n), None)
    labels = None if documents is None else (X.col_labels, X.row_labels)[documents]
    if documents is None or labels is None:
        size = f"{X.shape[0]} x {X.shape[1]}"
        raise source.fault(f"it has {n} documents; a matrix of these and labelled words is needed, not {size}.")
    places = {label: place for place, label in enumerate(labels)}
    pairs: list[tuple[Any, Any]] = []
    names: list[str] = []
    for topic in sorted(int(name) for name in words):
        of_topic = [at for at, one in enumerate(topics) if one == topic]
        known = sorted({places[str(word)] for word, *_ in words[str(topic)] if str(word) in places})
        if topic >= 0 and of_topic and known:  # -1 holds what belongs to none
            pairs.append((of_topic, known) if documents == 0 else (known, of_topic))
            names.append(str(content.get("topic_labels", {}).get(str(topic), topic)))
    return Document(pairs, "index", X.shape, {"algorithm": "BERTopic", "k": len(pairs)}, names=names)


_NOTE = "the documents and the top words of each topic; needs the matrix, documents in their order and words as labels"
FORMAT = Format("bertopic", "BERTopic model, topics.json", (".json",), _detects, _read, folder=_in_folder, note=_NOTE)
