"""Score biclusters of a matrix.

rule score:
    input: matrix="expression.csv", solutions=["las.json", "qubic.blocks"]
    output: table="scores.csv", report="report.html"
    params: extra=""
    wrapper: "file:packaging/snakemake"
"""

from snakemake.shell import shell

solutions = " ".join(snakemake.input.solutions)  # noqa: F821
extra = snakemake.params.get("extra", "")  # noqa: F821
log = snakemake.log_fmt_shell(stdout=True, stderr=True)  # noqa: F821
shell(
    "bivaluate score {snakemake.input.matrix} {solutions} --csv {snakemake.output.table} "
    "--report {snakemake.output.report} {extra} {log}"
)
