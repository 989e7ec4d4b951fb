"""Text and tables to write, gzipped where the name says so."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from bivaluate._files import atomic_path


@contextmanager
def text_target(path: Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file for writing, gzipped where the name ends in ``.gz``."""
    with atomic_path(path) as temporary:
        if path.name.lower().endswith(".gz"):
            import gzip

            with gzip.open(temporary, "wt", encoding="utf-8", newline="") as stream:
                yield stream
        else:
            with temporary.open("w", encoding="utf-8", newline="") as stream:
                yield stream


@contextmanager
def table_target(path: Path) -> Iterator[Any]:
    """Open a table for writing, as a ``csv.writer``: ``.csv`` with commas, anything else with tabs."""
    delimiter = "," if path.name.lower().removesuffix(".gz").endswith(".csv") else "\t"
    with text_target(path) as stream:
        yield csv.writer(stream, delimiter=delimiter, lineterminator="\n")
