"""Where bytes go: a file appears whole or not at all."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from bivaluate._errors import FileError


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when the block ends well."""
    import tempfile

    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=path.suffix)
        os.close(handle)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


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


def _unwritable(path: Path, error: Exception) -> FileError:
    return FileError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}.")
