"""UnPaSt TSV: lists separated by blanks, by name and, in newer files, by index from 0."""

from bivaluate.io.formats import Format, Source
from bivaluate.io.solutions.membership import read_table


def _detects(source: Source) -> bool:
    """By the column names."""
    lines = source.head_text.split("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return {"genes", "samples", "n_genes", "n_samples"} <= {word.strip() for word in first.split("\t")}


FORMAT = Format("unpast", "UnPaSt TSV", (), _detects, read_table)
