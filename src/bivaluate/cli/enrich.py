"""`bivaluate enrich`: which gene sets the biclusters are enriched in."""

from pathlib import Path
from typing import Annotated

import typer

from bivaluate._text import plural
from bivaluate.cli.options import Csv, GeneSetFile, Json, MatrixFile, Seed, SolutionFile, grouped, option
from bivaluate.cli.tables import give, out, percentage, print_list, print_records


@grouped
def enrich(
    solution: Annotated[Path, typer.Argument(help="The biclusters, in any format bivaluate reads.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    gene_sets: GeneSetFile,
    matrix: Annotated[Path, option("The matrix they come from; its labels are the genes.", "--matrix")],
    genes: Annotated[str, option("Where the genes are: rows or columns.")] = "rows",
    level: Annotated[float, option("False discovery rate.")] = 0.05,
    seed: Seed = 0,
    csv: Csv = None,
    as_json: Json = False,
) -> None:
    """Ask whether the genes of each bicluster share a function.

    A hypergeometric test per bicluster and gene set, with q-values after Benjamini and Hochberg. The background is the
    genes of the matrix that are in some set, so give a whole collection, not only the sets of interest. Beside every
    share stands what random lists of as many genes give: without it a share says little.

    Examples:

    - `bivaluate enrich found.json --matrix expression.csv --sets sets.gmt`

    With files of your own:

    - `bivaluate enrich found.json --matrix yeast.tsv --go sgd`
    - `bivaluate enrich found.json --matrix counts.h5ad --go goa_human.gaf.gz,go-basic.obo --json`
    """
    from bivaluate.enrichment import enrich as enrich_solution
    from bivaluate.enrichment.gene_sets import set_name
    from bivaluate.enrichment.hypergeometric import describe_enrichment

    sets = gene_sets.read()
    X = matrix_file.read(matrix)
    found = solution_file.read(solution, X)
    result = enrich_solution(found, X, sets, genes=genes, level=level, random_state=seed)
    if give(result.terms, result.to_dict(), csv, as_json):
        return
    counts = result.background
    out.print(f"{counts['annotated']:,} of {counts['genes']:,} genes are in {plural(counts['sets'], 'set')}.")
    named = {"bicluster": "", "genes": "genes", "annotated": "annotated", "n_enriched": "sets", "share": "random"}
    shown = [(percentage(row["random"]), set_name(row["best"], row["title"])) for row in result.biclusters]
    rows = [row | {"share": share, "set": best} for row, (share, best) in zip(result.biclusters, shown, strict=True)]
    print_records(named | {"set": "best set", "p": "p", "q": "q"}, rows)
    print_list(f"Enriched (q ≤ {level:g})", describe_enrichment(result))
    out.print(f"\n{result.summary}")
