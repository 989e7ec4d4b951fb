"""COALESCE (Sleipnir) text: ``Cluster``, ``Genes`` and ``Conditions`` lines, members by name."""

import re

from bivaluate.io.formats import Document, Format, FormatError, Members, Options, Source


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
    members: list[Members] = []
    for n, cluster in clusters:
        for key in ("Genes", "Conditions"):
            if not cluster.get(key):
                raise source.fault(f"this cluster has no {key}.", n)
        members.append((cluster["Genes"], cluster["Conditions"]))
    if not members:
        raise FormatError(f"{source.name} holds no line 'Cluster'.")
    return Document(members, "token", lines=[n for n, _ in clusters])


FORMAT = Format("coalesce", "COALESCE text", (), _detects, _read)
