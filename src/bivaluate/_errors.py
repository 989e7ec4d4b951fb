"""Every error and warning bivaluate raises.

An error says what, where, what was found, what is allowed and what to do next.
"""

import difflib
import importlib
import os
import sys
from collections.abc import Iterable
from typing import Any


class BivaluateError(Exception):
    """Base of all errors raised on purpose by bivaluate."""


class MatrixError(BivaluateError, ValueError):
    """The data matrix cannot be used."""


class TooLargeError(MatrixError):
    """A matrix, or a block of it, does not fit in memory, and something needs all of its cells at once."""


class SolutionError(BivaluateError, ValueError):
    """The biclusters cannot be used, or do not fit the matrix."""


class NoSuchBiclusterError(SolutionError, IndexError):
    """A solution has no bicluster at a position."""


class ParameterError(BivaluateError, ValueError):
    """An argument or option has a value that is not allowed."""


class FormatError(BivaluateError, ValueError):
    """A file was read but its content does not follow its format."""


class FileError(BivaluateError, OSError):
    """A file or folder cannot be read or written."""


class RunError(BivaluateError, ValueError):
    """A run folder cannot be used for what was asked."""


class CommandError(BivaluateError, RuntimeError):
    """A program outside bivaluate failed: it ended badly, broke a limit, or wrote nothing that can be read."""


class CommandTimeoutError(CommandError):
    """A program outside bivaluate was stopped because it took longer than its limit."""


class MissingExtraError(BivaluateError, ImportError):
    """An optional package is needed; the message says how to install it."""

    def __init__(self, purpose: str, package: str) -> None:
        super().__init__(f"{purpose} needs {package}: pip install {package}")


def outside() -> int:
    """Return the stack level, for a warning, of the nearest caller outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bivaluate"):
        frame, level = frame.f_back, level + 1
    return level


class BivaluateWarning(UserWarning):
    """Base of all warnings given by bivaluate."""


class DegenerateWarning(BivaluateWarning):
    """Some biclusters have no defined score."""


class NullModelWarning(BivaluateWarning):
    """The data break an assumption of the chance correction."""


class SearchWarning(BivaluateWarning):
    """A search for biclusters could not do what was asked: the message says why, and what was found anyway."""


class DenseWarning(BivaluateWarning):
    """A sparse matrix is made dense for something that needs every cell."""


class LabelWarning(BivaluateWarning):
    """A file names rows and columns, and the matrix has no labels to find them by: their positions are taken."""


class EmptyBiclusterWarning(BivaluateWarning):
    """Empty biclusters were dropped."""


def import_optional(package: str, purpose: str) -> Any:
    """Return an optional package, or say how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingExtraError(purpose, package) from None


class SparePandas:
    """A finder for `sys.meta_path`: scikit-learn 1.9 imports pandas, and so pyarrow, for nothing, and does without."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            spec = getattr(sys.modules.get("sklearn.utils.fixes"), "__spec__", None)
            if getattr(spec, "_initializing", False):
                raise ModuleNotFoundError(name)


def suggest(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the known word nearest to `word`, whatever its case, or an empty string.

    >>> suggest("nev", ["nve", "msr"]), suggest("NVE", ["nve", "msr"]), suggest("plaid", ["las", "cca"])
    (" Did you mean 'nve'?", " Did you mean 'nve'?", '')
    """
    words = {str(one).lower(): str(one) for one in known}
    near = difflib.get_close_matches(str(word).lower(), words, n=1, cutoff=0.6)
    return f" Did you mean {words[near[0]]!r}?" if near else ""


def unreadable(path: str | os.PathLike[str], error: Exception) -> FileError:
    """Return the error for a file that cannot be opened, with the most alike name beside it."""
    folder, name = os.path.split(os.fspath(path))
    beside = os.listdir(folder or ".") if isinstance(error, FileNotFoundError) and os.path.isdir(folder or ".") else []
    return FileError(
        f"cannot read {os.fspath(path)}: {getattr(error, 'strerror', None) or error}.{suggest(name, beside)}"
    )
