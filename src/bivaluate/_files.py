"""Files that appear whole or not at all, gzipped where the name says so, and what to do when the disk refuses."""

import csv
import errno
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from bivaluate._errors import FileError

FilePath = str | os.PathLike[str]
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet begins a formula with
PART = ".part"  # in the name of every unfinished file


@contextmanager
def atomic_path(path: Path, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when the block ends well.

    The temporary name ends like `path` does, because some writers choose a format by it.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=PART + path.suffix)
        os.close(handle)
    except (OSError, ValueError) as error:
        raise disk_error(path, error) from error
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o600 if private else 0o666 & ~umask)
        temporary.replace(path)
    except OSError as error:
        raise disk_error(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8, so that it is there wholly or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(encoded(content) if isinstance(content, str) else content)


def make_folder(path: Path) -> None:
    """Make a folder and those above it; it may be there already."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(path, error) from error


def encoded(text: str) -> bytes:
    """Return text as UTF-8; half a surrogate pair, which no file can hold, is written out."""
    return text.encode("utf-8", "backslashreplace")


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed process left half written under `folder`."""
    for left in folder.rglob(f".*{PART}*"):
        left.unlink(missing_ok=True)


def check_reachable(path: Path) -> None:
    """Raise where nobody can say whether something lies at a path, for want of a permission for instance."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error


def check_readable(path: Path) -> None:
    """Raise where a file that is there may not be read."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}.") from error


def disk_error(path: Path, error: Exception, note: str = "") -> FileError:
    """Turn what the disk said into an error that says what to do."""
    text = str(error)
    if "is full" in text or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return FileError(f"the disk of {path} is full. {note}Free some space and start the same command again.")
    if "readonly" in text or isinstance(error, PermissionError):
        folder = path if os.path.isdir(path) else path.parent
        return FileError(f"no permission to write in {folder}. Choose another folder, or change its permissions.")
    return FileError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}.")


@contextmanager
def text_target(path: Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file for writing, gzipped where the name ends in ``.gz``."""
    import gzip

    open_text: Any = gzip.open if path.name.lower().endswith(".gz") else open
    how = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
    with atomic_path(path) as temporary, open_text(temporary, "wt", **how) as stream:
        yield stream


@contextmanager
def table_target(path: Path) -> Iterator[Any]:
    """Open a table for writing, as a ``csv.writer``: ``.csv`` with commas, anything else with tabs."""
    delimiter = "," if path.name.lower().removesuffix(".gz").endswith(".csv") else "\t"
    with text_target(path) as stream:
        yield csv.writer(stream, delimiter=delimiter, lineterminator="\n")


def table_text(frame: Any) -> bytes:
    """Return a table as CSV in which no text becomes a formula."""
    words = frame[[name for name in frame.columns if frame[name].dtype.kind == "O"]]
    texts = words.map(lambda cell: as_text(cell) if isinstance(cell, str) else cell)
    return encoded(frame.assign(**texts).to_csv(index=False, lineterminator="\n"))


def as_text(label: str) -> str:
    """Return a label as a spreadsheet shows it: an apostrophe before what it would take for a formula.

    >>> as_text("=A1"), as_text("-1.5"), as_text("g1"), as_text("'=A1")
    ("'=A1", '-1.5', 'g1', "''=A1")
    """
    if label.lstrip("'")[:1] not in FORMULA or not label.lstrip("'"):
        return label
    try:
        float(label)
    except ValueError:
        return f"'{label}"
    return label


def from_text(cell: str) -> str:
    """Return the label :func:`as_text` was given.

    >>> [from_text(as_text(label)) for label in ("=A1", "-1.5", "g1", "'=A1", "'x")]
    ['=A1', '-1.5', 'g1', "'=A1", "'x"]
    """
    return cell[1:] if cell[:1] == "'" and cell.lstrip("'")[:1] in FORMULA and cell.lstrip("'") else cell


class TemporaryRows:
    """Rows of float64 written one after the other to a temporary file, which goes with whatever reads it."""

    def __init__(self) -> None:
        with self._writing():
            handle, name = tempfile.mkstemp(prefix="bivaluate-", suffix=".rows")
        self.path = Path(name)
        self._stream = os.fdopen(handle, "wb")

    def add(self, rows: bytes | memoryview) -> None:
        """Write some rows."""
        with self._writing():
            self._stream.write(rows)

    def flush(self) -> None:
        """Write what is still held, so that the file can be read."""
        with self._writing():
            self._stream.flush()

    def close(self, keep_for: object = None) -> None:
        """End writing; the file is removed at once, or with the object that reads it."""
        with self._writing():
            self._stream.close()
        if keep_for is None:
            self.path.unlink(missing_ok=True)
        else:
            weakref.finalize(keep_for, self.path.unlink, missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if hasattr(self, "path"):
                self.path.unlink(missing_ok=True)
            found = f"cannot write temporary rows to {tempfile.gettempdir()}: {error.strerror or error}"
            raise FileError(f"{found}. Set TMPDIR to a folder with room for 8 bytes a cell.") from error
