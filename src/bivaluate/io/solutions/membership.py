"""Membership tables in CSV or TSV, in any of four layouts told apart by the header.

- long: ``bicluster, axis, index and/or label``, one line per member (``axis`` is row or column);
- lists: ``bicluster, rows, cols``, one line per bicluster, members separated by blanks, semicolons or commas;
- matrix: ``axis, label, B1, B2, …``, one line per row and column of the data, cells 0 or 1 (asked for by name, without
  ``axis`` where the labels of the matrix tell rows from columns; unasked, it could be a matrix of zeros and ones);
- clusters: ``gene, module``, one line per row (or column): every bicluster has all of the other side; the header may
  leave out the word gene, as R's does, or be left out. Of scanpy's ``group, names, scores, pvals_adj`` the genes with a
  score above 0 and an adjusted p up to 0.05 are taken.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

from bivaluate._document import COL_WORDS, EXAMPLE_TABLE, NAME_WORDS, ROW_WORDS, Document
from bivaluate._files import as_text, from_text, table_target
from bivaluate.io.formats import Format, FormatError, Matrix, Options, Source, indices, numbered
from bivaluate.io.members import labelled

_GENE = ("gene_name", "gene_id", "gene_symbol", "genename", "geneid", "genesymbol", "symbol", "probe")
_ROW = frozenset(["r", *_GENE, *ROW_WORDS, *(word.removesuffix("s") for word in ROW_WORDS)])
_COL = frozenset(["c", *COL_WORDS, *(word.removesuffix("s") for word in COL_WORDS)])
_WGCNA = ("modulecolor", "modulecolors", "modulelabel", "modulelabels", "color", "colors")
_CLUSTER = frozenset([*NAME_WORDS, *(f"{word}s" for word in NAME_WORDS), "community", *_WGCNA])
ADJUSTED = 0.05  # the largest adjusted p of a marker
_COUNTS = (("n_genes", "numofrows"), ("n_samples", "numofcolumns"))
_INDEXES = ("gene_indexes", "sample_indexes")
_AXIS = "put a column 'axis' (row or column) in front, as in axis,label,B1,B2"
_CELLS = {"0": False, "False": False, "FALSE": False, "1": True, "True": True, "TRUE": True}

Rows = Iterator[tuple[int, list[str]]]


def _detects(source: Source) -> bool:
    """By the names in the header."""
    return _layout(_header(source.head_text)[1]) is not None


def _is_certain(source: Source) -> bool:
    """Whether the header begins as only a membership table does."""
    return source.head_text.startswith(("bicluster,", "axis,")) and _detects(source)


def _header(text: str) -> tuple[int, list[str], str]:
    """Return the line of the header, its words and its delimiter; genes and their modules may come without one."""
    n, first = next(((n, line) for n, line in numbered(text) if not line.startswith("#")), (1, ""))
    delimiter = max("\t;, ", key=first.count)
    lines = [line for line in text.split("\n")[n - 1 : n + 99] if line.strip()]
    header, *rest = [[cell.strip().strip('"') for cell in line.split(delimiter)] for line in lines or [""]]
    if {"group", "names"} <= {*header}:  # scanpy's markers
        header = ["gene" if word == "names" else word for word in header]
    if _layout(header) is None and header[0] == "" and "".join(header[1:2]).lower() in _CLUSTER:
        return n, ["gene", *header[1:]], delimiter
    if _layout(header) is None and delimiter != " " and all(len(line) == 2 for line in (header, *rest)):
        genes, modules = map(set, zip(header, *rest, strict=True))
        if len(genes) == len(lines) > len(modules) and all(module[:1].isalpha() for module in modules):
            named = len(header[0]) > 1 and header[0].lower() in _ROW | _COL  # a header: only its second word is unknown
            return n - (not named), [header[0] if named else "gene", "module"], delimiter
    return n, header, delimiter


def _layout(header: list[str]) -> str | None:
    header = [word.lower() for word in header]
    if "axis" in header:
        if "bicluster" in header and {"index", "label", "member"} & set(header):
            return "long"
        return "matrix" if len(header) > 2 and header[:2] == ["axis", "label"] else None
    words = set(header)
    if words & set(ROW_WORDS) and words & set(COL_WORDS):
        return "lists"
    return "clusters" if bool(words & _ROW) != bool(words & _COL) and words & _CLUSTER else None


def read_table(source: Source, options: Options) -> Document:
    """Read a table in whichever layout its header announces."""
    text = source.text()
    first, header, delimiter = _header(text)
    layout = _layout(header)
    if layout is None and not _is_without_axis(text):
        needed = "'bicluster,axis,label', 'bicluster,rows,cols', 'axis,label,B1,B2,…' or 'gene,module'"
        raise source.fault(f"the header is {', '.join(header[:8])[:120]!r}; {needed} is needed. {EXAMPLE_TABLE}")
    rows = _rows(text.split("\n")[first:], first, len(header), delimiter, source)
    if layout is None:
        return _matrix(_with_axis(rows, options.X, source), header[1:], source)
    if layout == "matrix":
        return _matrix(rows, header[2:], source)
    read = {"long": _long, "lists": _lists, "clusters": _clusters}[layout]
    return read(rows, [word.lower() for word in header], source)


def _rows(lines: list[str], first: int, width: int, delimiter: str, source: Source) -> Rows:
    """Yield the numbered, filled lines after the header, split."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = first
    try:
        for n, cells in enumerate(reader, 1):
            line = first + reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) == width + 1 and cells[0] == str(n):  # as R's write.table numbers rows
                del cells[0]
            if len(cells) != width:
                raise FormatError(f"{source.name}, line {line} has {len(cells)} fields, but the header has {width}.")
            yield line, [from_text(cell.strip()) for cell in cells]
    except csv.Error as error:
        raise source.fault(f"{error}.", line + 1) from None


def _axis(word: str, source: Source, line: int) -> int:
    if word.lower() not in _ROW | _COL:
        raise source.fault(f"axis is {word[:40]!r}; 'row' or 'column' is needed.", line)
    return int(word.lower() in _COL)


def _long(rows: Rows, header: list[str], source: Source) -> Document:
    found: dict[str, tuple[int, tuple[list[str], list[str]], tuple[list[str], list[str]]]] = {}
    line_of: dict[str, int] = {}
    for line, cells in rows:
        cell = dict(zip(header, cells, strict=True))
        _, members, labels = found.setdefault(cell["bicluster"], (line, ([], []), ([], [])))
        axis = _axis(cell["axis"], source, line)
        index, label = cell.get("index", ""), cell.get("label", cell.get("member", ""))
        if index and indices([index]) is None:
            raise source.fault(f"index {index[:40]!r} is not a whole number from 0.", line)
        if not index and not label:
            raise source.fault("neither an index nor a label.", line)
        members[axis].append(index)
        labels[axis].append(label)
        line_of.setdefault(label, line)
    lines = [line for line, _, _ in found.values()]
    numbers, names = [pair for _, pair, _ in found.values()], [pair for _, _, pair in found.values()]
    all_named = all(name for pair in names for side in pair for name in side)
    if all(index for pair in numbers for side in pair for index in side):
        whole = [([int(i) for i in r], [int(j) for j in c]) for r, c in numbers]
        labels_ = names if all_named else None
        return Document(whole, "index", labels=labels_, lines=lines, line_of=line_of, names=[*found])
    if not all_named:
        raise source.fault("some members have only an index and some only a label; use one throughout.")
    return Document(names, "label" if "label" in header else "token", lines=lines, line_of=line_of, names=[*found])


def _lists(rows: Rows, header: list[str], source: Source) -> Document:
    """Read lists, by index too where UnPaSt wrote them, and hold them against sizes stated beside them."""
    at = [next(j for j, word in enumerate(header) if word in words) for words in (ROW_WORDS, COL_WORDS)]
    name_at, *counted = (next((j for j, x in enumerate(header) if x in words), None) for words in (_CLUSTER, *_COUNTS))
    numbered = [header.index(word) for word in _INDEXES if word in header]
    members, positions, lines, names = [], [], [], []
    for line, cells in rows:
        rows_, cols = (_split(cells[j], " " if "n_genes" in header else None) for j in at)
        for what, j, side, stated in zip(("rows", "columns"), at, (rows_, cols), counted, strict=True):
            if stated is not None:
                source.check_count(cells[stated].removesuffix(".0"), len(side), header[j], line)
            if not side:
                raise source.fault(f"the bicluster has no {what}.", line)
        if len(numbered) == 2:
            found = [indices(cells[j].split()) for j in numbered]
            if found[0] is None or found[1] is None:
                raise source.fault("gene_indexes and sample_indexes must be whole numbers.", line)
            if (len(found[0]), len(found[1])) != (len(rows_), len(cols)):
                raise source.fault("different numbers of names and indexes.", line)
            positions.append((found[0], found[1]))
        members.append((rows_, cols))
        lines.append(line)
        names.append("" if name_at is None else cells[name_at])
    if positions:
        return Document(positions, "index", labels=members, lines=lines, names=names)
    return Document(members, "token", lines=lines, names=names)


def _split(cell: str, mark: str | None) -> list[str]:
    """Return the members of a list, separated by semicolons, else by commas, else by blanks, unless a mark is known."""
    mark = mark or next((mark for mark in ";," if mark in cell), None)
    return [word.strip() for word in cell.split(mark) if word.strip()]


def _clusters(rows: Rows, header: list[str], source: Source) -> Document:
    side = next(j for j, word in enumerate(header) if word in _ROW | _COL)
    cluster = next(j for j, word in enumerate(header) if word in _CLUSTER)
    axis = int(header[side] in _COL)
    found: dict[str, tuple[list[str], list[str]]] = {}
    line_of: dict[str, int] = {}
    p = header.index("pvals_adj") if {"group", "scores", "pvals_adj"} <= {*header} else None
    for line, cells in rows:
        if p is not None and (cells[header.index("scores")].startswith("-") or float(cells[p] or 1) > ADJUSTED):
            continue  # scanpy lists every gene for every group
        if cells[cluster] and cells[side]:
            found.setdefault(cells[cluster], ([], []))[axis].append(cells[side])
            line_of.setdefault(cells[side], line)
    return Document([*found.values()], "token", line_of=line_of, names=[*found], whole=1 - axis)


def _matrix(rows: Rows, names: list[str], source: Source) -> Document:
    pairs: list[tuple[list[int], list[int]]] = [([], []) for _ in names]
    sides: tuple[list[str], list[str]] = ([], [])
    for line, (axis_word, label, *cells) in rows:
        axis = _axis(axis_word, source, line)
        for k, cell in enumerate(cells):
            if cell not in _CELLS:
                raise source.fault(f"cell {cell[:40]!r} under {names[k]!r}; 0 or 1 is needed.", line)
            if _CELLS[cell]:
                pairs[k][axis].append(len(sides[axis]))
        sides[axis].append(label)
    genes, conditions = sides
    if not genes or not conditions:
        raise source.fault(f"lines for both axes are needed, found {len(genes)} rows and {len(conditions)} columns.")
    labels = labelled(pairs, genes, conditions)
    return Document(pairs, "index", (len(genes), len(conditions)), labels=labels, names=names)


def _is_without_axis(text: str) -> bool:
    """Whether the first line after the header is a label, or any word, and zeros and ones."""
    first, header, delimiter = _header(text)
    cells = next((line.split(delimiter) for n, line in numbered(text) if n > first), [])
    return "axis" not in header and 1 < len(cells) == len(header) and all(c.strip() in _CELLS for c in cells[1:])


def _with_axis(rows: Rows, X: Matrix | None, source: Source) -> Rows:
    """Say in front of every line whether its label is of a row or of a column; only labels of the matrix tell."""
    known = {"row": frozenset((X and X.row_labels) or ()), "column": frozenset((X and X.col_labels) or ())}
    for n, (label, *cells) in rows:
        axes = [word for word, labels in known.items() if label in labels]
        if len(axes) != 1:
            raise source.fault(f"nothing tells whether {label[:40]!r} is a row or a column of the matrix; {_AXIS}.", n)
        yield n, [*axes, label, *cells]


def _nearly(source: Source) -> str:
    if not _is_without_axis(source.head_text):
        return ""
    return f"In a table of zeros and ones, {_AXIS}; as csv it needs none if labels of X tell rows from columns."


def _write(document: Document, path: Path) -> None:
    """Write the long layout: one line per member, index and label where known."""
    fields = ["label"] if document.by == "label" else ["index", "label"] if document.labels else ["index"]
    with table_target(path) as writer:
        writer.writerow(["bicluster", "axis", *fields])
        for k, pair in enumerate(document.members):
            for axis, what in enumerate(("row", "column")):
                names = [document.labels[k][axis]] if document.labels and len(fields) == 2 else []
                cells = ([as_text(str(value)) for value in values] for values in zip(pair[axis], *names, strict=True))
                writer.writerows([document.called(k), what, *values] for values in cells)


_NAMED, _NOTE = ("csv", "membership table (CSV, TSV)", (".csv", ".tsv")), "four layouts, see below"
FORMAT = Format(*_NAMED, _detects, read_table, _write, note=_NOTE, rank=1, is_certain=_is_certain, nearly=_nearly)
