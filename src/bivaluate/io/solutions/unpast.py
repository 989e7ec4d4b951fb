"""UnPaSt TSV: lists separated by blanks, by name and, in newer files, by index from 0."""

from bivaluate.io.formats import Document, Format, FormatError, Members, Options, Source, indices, numbered


def _rows(text: str) -> list[tuple[int, list[str]]]:
    return [(n, line.split("\t")) for n, line in numbered(text) if not line.startswith("#")]


def _detects(source: Source) -> bool:
    """By the column names."""
    lines = source.head_text.split("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return {"genes", "samples", "n_genes", "n_samples"} <= {word.strip() for word in first.split("\t")}


def _read(source: Source, options: Options) -> Document:
    """Read names, and indices where the file has them."""
    rows = _rows(source.text())
    header = [word.strip() for word in rows[0][1]] if rows else []
    if not {"genes", "samples"} <= set(header):
        raise source.fault("the columns 'genes' and 'samples' are needed.")
    indexed = {"gene_indexes", "sample_indexes"} <= set(header)
    members: list[Members] = []
    labels: list[Members] = []
    for n, cells in rows[1:]:
        if len(cells) != len(header):
            raise FormatError(f"{source.name}, line {n} has {len(cells)} fields, but the header has {len(header)}.")
        cell = dict(zip(header, cells, strict=True))
        genes, samples = cell["genes"].split(), cell["samples"].split()
        for side, what in ((genes, "genes"), (samples, "samples")):
            stated = cell.get(f"n_{what}", str(len(side))).strip().removesuffix(".0")
            source.check_count(stated, len(side), what, n)
        labels.append((genes, samples))
        if indexed:
            numbers = [indices(cell[key].split()) for key in ("gene_indexes", "sample_indexes")]
            if numbers[0] is None or numbers[1] is None:
                raise source.fault("gene_indexes and sample_indexes must be whole numbers.", n)
            if (len(numbers[0]), len(numbers[1])) != (len(genes), len(samples)):
                raise source.fault("different numbers of names and indexes.", n)
            members.append((numbers[0], numbers[1]))
    lines = [n for n, _ in rows[1:]]
    if indexed:
        return Document(members, "index", labels=labels, lines=lines)
    return Document(labels, "token", lines=lines)


FORMAT = Format("unpast", "UnPaSt TSV", (), _detects, _read)
