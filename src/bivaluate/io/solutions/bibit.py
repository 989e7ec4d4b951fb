"""BiBit (BiBitR's jar): one line per bicluster, fields separated by semicolons, members by name."""

from bivaluate.io.formats import Document, Format, Members, Options, Source

_HEADER = "NumOfRows;NumOfColumns;Rows;Columns"


def _read(source: Source, options: Options) -> Document:
    """Read the lists and hold them against the sizes stated beside them."""
    members: list[Members] = []
    lines = [(n, line) for n, line in source.text_lines() if line.strip() != _HEADER]
    for n, line in lines:
        fields = line.split(";")
        if len(fields) != 4:
            raise source.fault(f"4 fields are needed ({_HEADER}), {len(fields)} found.", n)
        rows, cols = ([word.strip() for word in side.split(",") if word.strip()] for side in fields[2:])
        source.check_count(fields[0].strip(), len(rows), "rows", n)
        source.check_count(fields[1].strip(), len(cols), "columns", n)
        members.append((rows, cols))
    return Document(members, "token", lines=[n for n, _ in lines])


FORMAT = Format("bibit", "BiBit (BiBitR)", (), lambda source: source.head_text.lstrip().startswith(_HEADER), _read)
