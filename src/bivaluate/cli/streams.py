"""`-` in place of a file: while a command runs, files stand in for standard input and standard output."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from bivaluate._errors import ParameterError

DASH = "-"
#: Parameters that name a folder; everything else of type Path is a file.
FOLDERS = ("run", "run_folder", "folder", "tables", "consensus")
#: How the file ends that stands for standard output, by parameter, where the command is not named: formats go by it.
_ENDINGS = {"csv": ".csv", "report": ".html", "mqc": "_mqc.json", "page": ".md", "target": ".json"}
_ENDINGS_OF = {("report", "target"): ".html", ("convert", "target"): ".csv", ("write", "target"): ".csv"}

_standing_in: ContextVar[Path | None] = ContextVar("standing_in", default=None)


@contextmanager
def streams(ctx: Any, params: Sequence[Any], spelled: dict[str, str], is_written: Any) -> Iterator[None]:
    """Put files in the place of `-` among the parameters of a command while it runs."""
    dashed = [parameter for parameter in params if DASH in map(str, _values(ctx.params.get(parameter.name)))]
    dashed = [p for p in dashed if p.name not in spelled or isinstance(_values(ctx.params[p.name])[0], Path)]
    if not dashed:
        yield
        return
    written = [parameter for parameter in dashed if is_written(parameter)]
    _check(ctx, dashed, written, spelled)
    with tempfile.TemporaryDirectory(prefix="bivaluate-") as folder:
        for parameter in dashed:
            command = ctx.info_name or ""
            ending = _ENDINGS_OF.get((command, parameter.name), _ENDINGS.get(parameter.name, ""))
            path = Path(folder, f"stdout{ending}" if parameter in written else "stdin")
            if parameter not in written:
                path.write_bytes(sys.stdin.buffer.read())
            value = ctx.params[parameter.name]
            is_list = isinstance(value, (list, tuple))
            ctx.params[parameter.name] = [path if str(one) == DASH else one for one in value] if is_list else path
        token = _standing_in.set(Path(folder))
        try:
            if written:
                with _results_to_standard_error():
                    yield
            else:
                yield
            for path in (ctx.params[parameter.name] for parameter in written):
                if path.is_file():
                    sys.stdout.flush()
                    sys.stdout.buffer.write(path.read_bytes())
                    sys.stdout.buffer.flush()
        finally:
            _standing_in.reset(token)


def _check(ctx: Any, dashed: Sequence[Any], written: Sequence[Any], spelled: dict[str, str]) -> None:
    """Refuse `-` where it cannot be."""
    for parameter in dashed:
        name = spelled.get(parameter.name, parameter.name.upper())
        if parameter.name in FOLDERS:
            raise ParameterError(f"{name} is '-'; a folder is needed here: name one.")
        if not isinstance(_values(ctx.params[parameter.name])[0], Path):
            raise ParameterError(f"{name} is '-'; standard input cannot be read here: name a file.")
    reads = sum([str(one) for one in _values(ctx.params[p.name])].count(DASH) for p in dashed if p not in written)
    if reads > 1:
        raise ParameterError("'-' is named more than once: only one file can be read from standard input.")
    if len(written) + bool(written and ctx.params.get("as_json")) > 1:
        raise ParameterError("only one thing can be written to standard output: name a file for the others.")


def _values(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


@contextmanager
def _results_to_standard_error() -> Iterator[None]:
    """Print tables and sentences to standard error, because a file goes to standard output."""
    from bivaluate.cli.tables import out

    out.stderr = True
    try:
        yield
    finally:
        out.stderr = False


def is_stream(path: Path) -> bool:
    """Whether a path stands for standard input or output."""
    return _standing_in.get() is not None and path.parent == _standing_in.get()


def without_paths(text: str) -> str:
    """Return a message that says standard input rather than the name of the file that stands for it."""
    folder = _standing_in.get()
    return text if folder is None else text.replace(str(folder / "stdin"), "standard input")
