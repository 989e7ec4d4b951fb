"""What a command may write over: nothing that it reads, and nothing of another kind unless --force is given."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import typer

from bivaluate._errors import BivaluateError, ParameterError

WRITTEN = ("--out", "--csv", "--report", "--mqc", "--page")  # options that name a file to write
FORCE = "force"


def _note(context: typer.Context, value: bool) -> bool:
    context.meta[FORCE] = value
    return value


@functools.cache
def force_option() -> Any:
    """Return --force, made as typer makes options, for every command that writes a file."""
    maker = typer.Typer()
    words = "Replace an existing file of another kind."
    given = typer.Option(False, "--force", help=words, callback=_note, expose_value=False)

    @maker.command()
    def command(force: bool = given) -> None: ...

    return next(parameter for parameter in typer.main.get_command(maker).params if "--force" in parameter.opts)


def check_written(params: list[Any], ctx: Any) -> None:
    """Refuse to write over what is read, and over a file of another kind unless --force is given."""
    given = [(parameter, ctx.params.get(parameter.name)) for parameter in params]
    written = [(p, Path(value)) for p, value in given if isinstance(value, Path) and is_written(p)]
    for parameter, path in written:
        if not os.path.isfile(path):
            continue
        name = max(parameter.opts, key=len) if parameter.opts[0].startswith("-") else parameter.name.upper()
        for other, value in given:
            read = [] if is_written(other) else value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(one, (str, Path)) and _is_read_from(path, Path(one)) for one in read):
                raise ParameterError(f"{name} is {path}, which is also read here. Choose another file.")
        if not ctx.meta.get(FORCE) and not _is_of_kind(path, _kind(parameter, ctx.info_name)):
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


def _kind(parameter: Any, command: str) -> str:
    """Return what is written to a file: "page", "table", "json", "matrix" or "solution"."""
    options = set(parameter.opts)
    if options & {"--report", "--page"} or (command == "report" and "--out" in options):
        return "page"
    if options & {"--csv", "--mqc"}:
        return "table" if "--csv" in options else "json"
    return "matrix" if command == "write" else "solution"


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
    if kind in ("page", "json"):
        return head.startswith(b"<" if kind == "page" else b"{")
    is_table = any(mark in head.partition(b"\n")[0] for mark in (b",", b"\t", b";"))
    return b"\0" not in head and not head.startswith((b"<", b"{", b"[")) and is_table
