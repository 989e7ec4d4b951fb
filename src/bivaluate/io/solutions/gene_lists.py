"""Lists of genes: a GMT file, or a folder with one text file for each list, which names it."""

from bivaluate.io.formats import Document, Format, Members, Options, Source

_EXTENSIONS = (".txt", ".list", ".lst", ".grp")


def _in_folder(source: Source) -> bool:
    """Whether every file is text of one word a line; tables of scores have more."""
    files = source.listed()
    return bool(files) and all(p.suffix.lower() in _EXTENSIONS and len(_first(Source(p)).split()) == 1 for p in files)


def _first(source: Source) -> str:
    return next((line for line in source.head_text.split("\n") if line.strip() and not line.startswith("#")), "")


def _read(source: Source, options: Options) -> Document:
    """Read the lists; every one has all of the other side of the matrix."""
    found: list[tuple[str, list[str]]] = []
    if source.is_folder:
        for file in map(Source, source.listed()):
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


_NOTE = "`NAME description gene gene …`, by tabs; or a folder of `NAME.txt`, a gene a line; every list has all columns"
_NAMED = ("gene-lists", "GMT file, or a folder of gene lists", (".gmt",))
FORMAT = Format(*_NAMED, lambda source: source.suffix == ".gmt", _read, note=_NOTE, folder=_in_folder)
