"""Every format in words, for help texts and documentation."""

from __future__ import annotations

from typing import Any

from bivaluate.io.matrices import matrix_formats
from bivaluate.io.solutions import solution_formats


def describe_formats() -> list[dict[str, Any]]:
    """Return one record per format: kind, key, name, extensions, whether it is written, and how numbers count.

    Examples
    --------
    >>> [f["key"] for f in describe_formats() if f["kind"] == "solution" and f["written"]]
    ['biclustlib', 'bivaluate', 'csv', 'r-text']
    """
    matrices = [
        {
            "kind": "matrix",
            "key": record.key,
            "name": record.name,
            "extensions": record.extensions,
            "written": record.write is not None,
            "index_base": None,
        }
        for record in matrix_formats().values()
    ]
    solutions = [
        {
            "kind": "solution",
            "key": record.key,
            "name": record.name,
            "extensions": record.extensions,
            "written": record.write is not None,
            "index_base": record.index_base,
        }
        for record in solution_formats().values()
    ]
    return sorted(matrices + solutions, key=lambda record: (str(record["kind"]), str(record["key"])))
