"""COALESCE (Sleipnir) text: ``Cluster``, ``Genes`` and ``Conditions`` lines, members by name."""

from __future__ import annotations

import re

from bivaluate._document import Document, Members
from bivaluate._errors import FormatError
from bivaluate.io.options import SolutionOptions
from bivaluate.io.source import Source

KEY = "coalesce"
NAME = "COALESCE text"
EXTENSIONS: tuple[str, ...] = ()
INDEX_BASE = 0


def detects(source: Source) -> bool:
    """By ``Cluster`` and ``Genes`` lines."""
    text = source.head_text
    return bool(re.search(r"^Cluster\t", text, re.MULTILINE) and re.search(r"^Genes\t", text, re.MULTILINE))


def read(source: Source, options: SolutionOptions) -> Document:
    """Read genes and conditions; motifs are skipped."""
    clusters: list[tuple[int, dict[str, list[str]]]] = []
    for n, line in enumerate(source.text().split("\n"), start=1):
        key, *words = line.rstrip().split("\t")
        if key == "Cluster":
            clusters.append((n, {}))
        elif key in ("Genes", "Conditions"):
            if not clusters:
                raise FormatError(f"{source.name}, line {n}: {key} stand before the first Cluster.")
            clusters[-1][1][key] = [word for word in words if word]
    members: list[Members] = []
    for n, cluster in clusters:
        for key in ("Genes", "Conditions"):
            if not cluster.get(key):
                raise FormatError(f"{source.name}, line {n}: this cluster has no {key}.")
        members.append((cluster["Genes"], cluster["Conditions"]))
    if not members:
        raise FormatError(f"{source.name} holds no line 'Cluster'.")
    return Document(members, "token", base=INDEX_BASE, lines=[n for n, _ in clusters])
