"""The files a command reads and writes: those that stand in for `-` while it runs, and what may be written over."""

import functools
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import typer

from bivaluate._errors import BivaluateError, ParameterError
from bivaluate._files import disk_error

DASH = "-"
#: Parameters that name a folder; everything else of type Path is a file.
FOLDERS = ("run", "run_folder", "folder", "tables", "consensus")
#: What options write: how the file ends that stands for standard output (formats go by it), and what it begins like;
#: --out and OUT write a solution unless the command says otherwise.
WRITTEN = {
    "--out": (".json", "solution"),
    "--csv": (".csv", "table"),
    "--latex": (".tex", "latex"),
    "--report": (".html", "page"),
    "--mqc": ("_mqc.json", "json"),
}
_WRITTEN_BY = {"report": (".html", "page"), "convert": (".csv", "solution"), "write": (".csv", "matrix")}
FORCE = "force"

_standing_in: ContextVar[Path | None] = ContextVar("standing_in", default=None)


@contextmanager
def streams(ctx: Any, params: Sequence[Any], spelled: dict[str, str]) -> Iterator[None]:
    """Put files in the place of `-` among the parameters of a command while it runs."""
    dashed = [parameter for parameter in params if DASH in map(str, _values(ctx.params.get(parameter.name)))]
    dashed = [p for p in dashed if p.name not in spelled or isinstance(_values(ctx.params[p.name])[0], Path)]
    if not dashed:
        yield
        return
    written = [parameter for parameter in dashed if is_written(parameter)]
    _check(ctx, dashed, written, spelled)
    targets = []
    with tempfile.TemporaryDirectory(prefix="bivaluate-") as folder:
        for parameter in dashed:
            ending, _ = _written(parameter, ctx.info_name)
            path = Path(folder, f"stdout{ending}" if parameter in written else "stdin")
            if parameter in written:
                targets.append(path)
            else:
                path.write_bytes(sys.stdin.buffer.read())
            value = ctx.params[parameter.name]
            is_list = isinstance(value, (list, tuple))
            ctx.params[parameter.name] = [path if str(one) == DASH else one for one in value] if is_list else path
        token = _standing_in.set(Path(folder))
        try:
            with _results_to_standard_error() if targets else nullcontext():
                yield
            for path in filter(Path.is_file, targets):
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


def stem_of(matrix: Path) -> str:
    """Return what files made of a matrix are called, up to their ending.

    >>> stem_of(Path("data/expression.tsv.gz")), stem_of(Path("scenario:S1")), stem_of(Path("example:"))
    ('expression', 'scenario_S1', 'example')
    """
    return matrix.name.split(".")[0].replace(":", "_").strip("_")


def without_paths(text: str) -> str:
    """Return a message that says standard input rather than the name of the file that stands for it."""
    folder = _standing_in.get()
    return text if folder is None else text.replace(str(folder / "stdin"), "standard input")


@functools.cache
def latex_option() -> Any:
    """Return --latex, made as typer makes options, for the commands that have --csv."""
    maker = typer.Typer()
    given = typer.Option(None, "--latex", help="Also write the tables that are printed to this LaTeX file (booktabs).")

    @maker.command()
    def command(latex: Path | None = given) -> None: ...

    return typer.main.get_command(maker).params[0]


def check_written(params: list[Any], ctx: Any) -> None:
    """Refuse, before any work, what cannot be written, is also read, or is of another kind without --force."""
    given = [(parameter, ctx.params.get(parameter.name)) for parameter in params]
    written = [(p, Path(value)) for p, value in given if isinstance(value, Path) and is_written(p)]
    for parameter, path in written:
        if not is_stream(path) and os.path.isdir(path.parent) and not os.access(path.parent, os.W_OK):
            raise disk_error(path, PermissionError())
        if not os.path.isfile(path):
            continue
        name = max(parameter.opts, key=len) if parameter.opts[0].startswith("-") else parameter.name.upper()
        for other, value in given:
            read = [] if is_written(other) else value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(one, (str, Path)) and _is_read_from(path, Path(one)) for one in read):
                raise ParameterError(f"{name} is {path}, which is also read here. Choose another file.")
        if not ctx.meta.get(FORCE) and not _is_of_kind(path, _written(parameter, ctx.info_name)[1]):
            raise ParameterError(f"{path} exists and is not what would be written there. Pass --force to replace it.")


def is_written(parameter: Any) -> bool:
    """Whether a parameter of a command names a file to write."""
    return bool(set(WRITTEN) & set(parameter.opts)) or parameter.metavar == "OUT"


def _is_read_from(path: Path, source: Path) -> bool:
    """Whether a file is read, or belongs to a folder that is; what others put into a run folder does not."""
    if os.path.isfile(source):
        return os.path.samefile(source, path)
    if not os.path.isdir(source) or not path.resolve().is_relative_to(source.resolve()):
        return False
    from bivaluate.sweep.folder import JOURNAL, is_own

    return not os.path.isfile(source / JOURNAL) or is_own(path.resolve().relative_to(source.resolve()))


def _written(parameter: Any, command: str) -> tuple[str, str]:
    """Return how a file ends that a parameter names, and its kind: page, table, latex, json, matrix or solution."""
    option = next((name for name in parameter.opts if name in WRITTEN), "--out")
    return _WRITTEN_BY.get(command, WRITTEN[option]) if option == "--out" else WRITTEN[option]


def _is_of_kind(path: Path, kind: str) -> bool:
    """Whether a file is empty or begins like what is to be written there."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return False
    if not head:
        return True
    if kind == "solution" or (kind == "matrix" and b"\0" in head):
        from bivaluate.io.formats import recognise
        from bivaluate.io.source import Source

        try:
            return recognise(kind, Source(path)) is not None
        except BivaluateError:
            return False
    if kind in ("page", "json", "latex"):
        return head.startswith({"page": (b"<",), "json": (b"{",), "latex": (b"%", b"\\")}[kind])
    is_table = any(mark in head.partition(b"\n")[0] for mark in (b",", b"\t", b";"))
    return b"\0" not in head and not head.startswith((b"<", b"{", b"[")) and is_table
