"""Lists of genes: a GMT file, a text file of one gene a line, or a folder of such files, which name the lists."""

from pathlib import Path

from bivaluate._errors import SolutionError
from bivaluate._files import text_target
from bivaluate.io.formats import Document, Format, Members, Options, Source

_EXTENSIONS = (".txt", ".list", ".lst", ".grp")


def _in_folder(source: Source) -> bool:
    """Whether every file is a list of words."""
    files = source.listed()
    return bool(files) and all(_is_list(Source(p)) for p in files)


def _is_list(source: Source) -> bool:
    """Whether a text file has one word a line, and not a number; tables of scores have more."""
    words = [line.split() for line in source.head_text.split("\n") if line.strip() and not line.startswith("#")]
    words = words[:-1] or words  # the last one may be cut
    plain = all(len(line) == 1 and not line[0].replace(".", "").isdigit() for line in words)
    return source.suffix in _EXTENSIONS and bool(words) and plain


def _read(source: Source, options: Options) -> Document:
    """Read the lists; every one has all of the other side of the matrix."""
    found: list[tuple[str, list[str]]] = []
    if source.is_folder or source.suffix != ".gmt":
        for file in map(Source, source.listed()) if source.is_folder else [source]:
            found.append((file.stem, [line.strip() for _, line in file.text_lines() if not line.startswith("#")]))
    else:
        for n, line in source.text_lines():
            name, *rest = (cell.strip() for cell in line.split("\t"))
            if not any(rest[1:]):
                raise source.fault("a name, a description and members are needed, separated by tabs.", n)
            found.append((name, [cell for cell in rest[1:] if cell]))
    lists = [list(dict.fromkeys(members)) for _, members in found]
    every = {member for members in lists for member in members}
    known = (options.X.row_labels, options.X.col_labels) if options.X else ((), ())
    in_rows, in_cols = (len(every.intersection(labels or ())) for labels in known)
    are_columns = in_cols > in_rows
    pairs: list[Members] = [([], members) if are_columns else (members, []) for members in lists]
    return Document(pairs, "token", names=[name for name, _ in found], whole=int(not are_columns))


def _write(document: Document, path: Path) -> None:
    """Write the rows of every bicluster as a gene set; the description names its columns."""
    if document.by == "index" and document.labels is None:
        raise SolutionError(
            "a GMT file holds names; this solution has indices only: give a matrix with labels as well."
        )
    with text_target(path) as stream:
        for k, (rows, cols) in enumerate(document.labels or document.members):
            print(document.called(k), f"columns: {', '.join(map(str, cols))}", *rows, sep="\t", file=stream)


_NOTE = (
    "`NAME description gene gene …`, by tabs; or `NAME.txt`, a gene a line, or a folder of these; all columns are taken"
)
_NAMED = ("gene-lists", "GMT file, gene list, or a folder of gene lists", (".gmt",))
FORMAT = Format(*_NAMED, lambda s: s.suffix == ".gmt" or _is_list(s), _read, _write, note=_NOTE, folder=_in_folder)
