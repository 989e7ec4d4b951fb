"""COALESCE (Sleipnir) text: ``Cluster``, ``Genes`` and ``Conditions`` lines, members by name."""

import re

from bivaluate.io.formats import Document, Format, FormatError, Options, Source
from bivaluate.io.members import document_of_blocks


def _detects(source: Source) -> bool:
    return all(re.search(rf"^{word}\t", source.head_text, re.MULTILINE) for word in ("Cluster", "Genes"))


def _read(source: Source, options: Options) -> Document:
    """Read genes and conditions; motifs are skipped."""
    clusters: list[tuple[int, dict[str, list[str]]]] = []
    for n, line in source.text_lines():
        key, *words = line.rstrip().split("\t")
        if key == "Cluster":
            clusters.append((n, {}))
        elif key in ("Genes", "Conditions"):
            if not clusters:
                raise source.fault(f"{key} appear before the first Cluster.", n)
            clusters[-1][1][key] = [word for word in words if word]
    if not clusters:
        raise FormatError(f"{source.name} holds no line 'Cluster'.")
    return document_of_blocks(clusters, ("Genes", "Conditions"), "this cluster has no {}.", source)


FORMAT = Format("coalesce", "COALESCE text", (), _detects, _read)
