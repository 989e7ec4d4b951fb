"""`bivaluate enrich`: which gene sets the biclusters are enriched in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bivaluate._errors import ParameterError
from bivaluate.cli.options import Csv, Json, MatrixFile, Seed, SolutionFile, grouped, option
from bivaluate.cli.tables import number, out, percentage, print_json, print_list, print_table, write_csv

if TYPE_CHECKING:
    from bivaluate.enrichment import GeneSets

Matrix = Annotated[Path, option("The matrix they come from; its labels are the genes.", "--matrix")]
Sets = Annotated[Path | None, option("Gene sets in a GMT file.", "--sets")]
Go = Annotated[str | None, option("Gene Ontology: sgd for yeast (fetched), or a GAF file with --obo.", "--go")]
Obo = Annotated[Path | None, option("The ontology of a GAF file, in OBO format.", "--obo")]


@grouped
def enrich(
    solution: Annotated[Path, typer.Argument(help="The biclusters, in any format bivaluate reads.")],
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    matrix: Matrix,
    sets: Sets = None,
    go: Go = None,
    obo: Obo = None,
    genes: Annotated[str, option("Where the genes are: rows or columns.")] = "rows",
    level: Annotated[float, option("False discovery rate.")] = 0.05,
    min_size: Annotated[int, option("Leave out sets with fewer genes of the matrix.")] = 2,
    n_random: Annotated[int, option("Random sets of genes per bicluster, as a control.", "--random")] = 100,
    seed: Seed = 0,
    csv: Csv = None,
    as_json: Json = False,
) -> None:
    """Ask whether the genes of each bicluster share a function.

    A hypergeometric test per bicluster and gene set, with the genes of the matrix as background and q-values after
    Benjamini and Hochberg. Beside every share stands what random genes in the same numbers give: without it a share
    says little.

    Examples:

    - `bivaluate enrich found.json --matrix expression.csv --sets pathways.gmt`
    - `bivaluate enrich found.json --matrix yeast.tsv --go sgd`
    - `bivaluate enrich found.json --matrix counts.h5ad --go goa_human.gaf.gz --obo go-basic.obo --json`
    """
    from bivaluate.enrichment import enrich as enrich_solution
    from bivaluate.enrichment.hypergeometric import describe

    gene_sets = _read_sets(sets, go, obo)
    X = matrix_file.read(matrix)
    found = solution_file.read(solution, X)
    result = enrich_solution(
        found, X, gene_sets, genes=genes, level=level, min_size=min_size, n_random=n_random, random_state=seed
    )
    if csv is not None:
        write_csv(csv, result.terms)
    if as_json:
        print_json(result.to_dict())
        return
    counts = result.background
    out.print(f"{counts['annotated']:,} of {counts['genes']:,} genes are in {counts['sets']:,} sets.")
    rows = [
        (
            *(row["bicluster"], str(row["genes"]), str(row["annotated"]), str(row["n_enriched"])),
            *(percentage(row["random"]), row["title"] or "–", number(row["p"]), number(row["q"])),
        )
        for row in result.biclusters
    ]
    print_table(["", "genes", "annotated", "sets", "random", "best set", "p", "q"], rows)
    print_list(f"Enriched (q ≤ {level:g})", describe(result))
    out.print(f"\n{result.summary}")


def _read_sets(sets: Path | None, go: str | None, obo: Path | None) -> GeneSets:
    from bivaluate.enrichment import load_yeast_ontology, read_annotations, read_gmt

    if (sets is None) == (go is None):
        raise ParameterError(
            "name the gene sets: either --sets FILE.gmt, or --go sgd, or --go FILE.gaf --obo FILE.obo."
        )
    if sets is not None:
        return read_gmt(sets)
    if go == "sgd":
        return load_yeast_ontology()
    if obo is None:
        raise ParameterError(f"--go {go} needs the ontology too: add --obo FILE.obo (or use --go sgd for yeast).")
    return read_annotations(str(go), obo)
