"""Excel workbooks: one sheet, read as a text table would be."""

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bivaluate.io.formats import Format, FormatError, Matrix, Options, ParameterError, Source, check_held, plural
from bivaluate.io.matrices._dialect import SAMPLE_LINES, detect
from bivaluate.io.matrices.delimited import parse_rows

MAX_UNPACKED = 1 << 30
# Every cell of a workbook has its own address, so that one of equal numbers unpacks to 15 times its size.
MOST_UNPACKED, FREE_UNPACKED = 30, 1 << 22
_EXTENSIONS = (".xlsx", ".xlsm")


def _detects(source: Source) -> bool:
    """A zip archive that holds a workbook or bears the name."""
    return source.head.startswith(b"PK") and (source.suffix in _EXTENSIONS or "xl/workbook.xml" in source.zip_names())


def _read(source: Source, options: Options) -> Matrix:
    """Read one sheet, the first unless one is named."""
    import openpyxl

    with zipfile.ZipFile(source.path) as archive:
        total = sum(member.file_size for member in archive.infolist())
    source.check_unpacked(total, MOST_UNPACKED, FREE_UNPACKED)
    if total > MAX_UNPACKED:
        raise FormatError(f"{source.name} unpacks to {total >> 20} MiB; at most {MAX_UNPACKED >> 20} can be read.")
    book = openpyxl.load_workbook(source.path, read_only=True, data_only=True)
    lines = list(_lines(_sheet(book, options.sheet, source.name)))
    book.close()
    dialect = detect(lines[:SAMPLE_LINES], source, replace(options, delimiter="\t", decimal="."))
    return parse_rows(source, dialect, iter(lines))


def _sheet(book: Any, sheet: str | int | None, name: str) -> Any:
    names = book.sheetnames
    if isinstance(sheet, str) and not (sheet.isdigit() and sheet not in names):
        check_held(name, "sheet", sheet, names)
        return book[sheet]
    if not 0 <= int(sheet or 0) < len(names):
        raise ParameterError(f"sheet is {sheet}; {name} has {plural(len(names), 'sheet')}, counted from 0.")
    return book[names[int(sheet or 0)]]


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


_NOTE = "the first sheet unless `sheet=` names another"
_OPTIONS = ("sheet", "header", "index_cols")
FORMAT = Format("excel", "Excel .xlsx", _EXTENSIONS, _detects, _read, options=_OPTIONS, needs="openpyxl", note=_NOTE)
