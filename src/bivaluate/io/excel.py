"""Excel workbooks (extra ``excel``): one sheet, read as a text table would be."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterator
from typing import Any

from bivaluate._errors import FormatError, MissingExtraError, ParameterError, suggest
from bivaluate.io import delimited
from bivaluate.io.dialect import SAMPLE_LINES, detect
from bivaluate.io.options import MatrixOptions
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix

KEY = "excel"
NAME = "Excel .xlsx"
EXTENSIONS = (".xlsx", ".xlsm")
OPTIONS = frozenset({"sheet", "header", "index_cols"})
MAX_UNPACKED = 1 << 30


def detects(source: Source) -> bool:
    """A zip archive that holds a workbook or bears the name."""
    if source.is_folder or not source.head.startswith(b"PK"):
        return False
    return source.suffix in EXTENSIONS or source.zip_holds("xl/workbook.xml")


def read(source: Source, options: MatrixOptions) -> Matrix:
    """Read one sheet, the first unless one is named."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("reading .xlsx", "openpyxl", "excel") from None
    _check_size(source)
    try:
        book = openpyxl.load_workbook(source.path, read_only=True, data_only=True)
        sheet = _sheet(book, options.sheet, source.name)
        lines = list(_lines(sheet))
        book.close()
    except ParameterError:
        raise
    except Exception as error:  # the parser is not ours: whatever it stumbles over, the file is at fault
        reason = (str(error).splitlines() or [""])[0][:120]
        raise FormatError(f"{source.name} is not a readable workbook ({type(error).__name__}: {reason}).") from None
    dialect = detect(
        list(itertools.islice(lines, SAMPLE_LINES)),
        source.name,
        delimiter="\t",
        decimal=".",
        header=options.header,
        index_cols=options.index_cols,
    )
    return delimited.parse_rows(source, dialect, iter(lines))


def _check_size(source: Source) -> None:
    source.size  # noqa: B018  a missing file is told apart from a damaged one
    try:
        with zipfile.ZipFile(source.path) as archive:
            total = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise FormatError(f"{source.name} is not a readable workbook ({error}).") from None
    if total > MAX_UNPACKED:
        raise FormatError(f"{source.name} unpacks to {total >> 20} MiB; at most {MAX_UNPACKED >> 20} can be read.")


def _sheet(book: Any, sheet: str | int | None, name: str) -> Any:
    names = book.sheetnames
    if isinstance(sheet, str) and sheet.isdigit() and sheet not in names:
        sheet = int(sheet)
    if isinstance(sheet, str):
        if sheet not in names:
            raise ParameterError(f"{name} has no sheet {sheet!r}; sheets: {', '.join(names)}.{suggest(sheet, names)}")
        return book[sheet]
    position = sheet or 0
    if not 0 <= position < len(names):
        raise ParameterError(f"sheet is {position}; {name} has {len(names)} sheet(s), counted from 0.")
    return book[names[position]]


def _lines(sheet: Any) -> Iterator[tuple[int, str]]:
    """Yield rows as tab-separated text, so that detection and faults are those of text tables."""
    width = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = ["" if v is None else repr(v) if isinstance(v, float) else str(v) for v in row]
        cells = [" ".join(cell.replace('"', "'").split()) for cell in cells]
        while cells and not cells[-1] and len(cells) > width:
            cells.pop()
        width = max(width, len(cells))
        if any(cells):
            yield number, "\t".join(cells)
