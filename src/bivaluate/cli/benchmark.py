"""`bivaluate benchmark`: does a better score mean a better solution?"""

from pathlib import Path
from typing import Annotated, Any

from bivaluate._errors import ParameterError
from bivaluate.cli.options import COMMANDS, Csv, Json, OwnMeasures, Scheduler, WorkerJobs, listed, option
from bivaluate.cli.sweep import report_failures, split_algorithms
from bivaluate.cli.tables import err, give, out, print_table, progress, with_error

_SOLUTIONS = (
    "NAME=FOLDER of another method's files, DATA_SET_SEED.json as raised_0.json; repeat. Matrices: OUT/matrices."
)
FEW = 6  # data sets with a column each
Full = Annotated[bool, option("All data, with every algorithm that runs here.", "--full/--quick")]


def benchmark(
    run_folder: Annotated[Path, option("The folder; a run in it is continued.", "--out", "-o")] = Path("benchmark"),
    full: Full = False,
    algorithms: Annotated[str | None, option(f"Keys, patterns, or {COMMANDS}", "--algorithms", "-a")] = None,
    cases: Annotated[str | None, option("Only these data, separated by commas.")] = None,
    seeds: Annotated[int, option("Seeds of planted data.")] = 1,
    solutions: Annotated[list[str] | None, option(_SOLUTIONS)] = None,
    time_limit: Annotated[float | None, option("Seconds a fit may take (default: 30, with --full 600).")] = None,
    rescore: Annotated[bool, option("Fit nothing; compute every measure again from --out.", "--rescore")] = False,
    own: OwnMeasures = None,
    jobs: WorkerJobs = 1,
    scheduler: Scheduler = None,
    as_json: Json = False,
    csv: Csv = None,
) -> None:
    """Run algorithms on data with a truth, and say which measures agree with it.

    Planted biclusters, noise, yeast genes with the Gene Ontology, and matrices whose rows or columns have known
    classes. If it is killed, the same command continues where it left off.

    Examples:

    - `bivaluate benchmark --out RUN --jobs 2`
    - `bivaluate benchmark --out FEW --cases raised,noise --algorithms las,cca`

    With files of your own:

    - `bivaluate benchmark --full --out FULL --scheduler tcp://head:8786`
    - `bivaluate benchmark --out RUN --solutions mine=my_folder`
    - `bivaluate benchmark --out RUN --algorithms 'las,coherent,mine=cmd:python mytool.py {matrix:csv} {out} {k}'`
    """
    from bivaluate.algorithms.registry import split_name
    from bivaluate.benchmark import answer, run_benchmark, write_page
    from bivaluate.benchmark.answer import ALL, FEWER, LAST, algorithm_names
    from bivaluate.benchmark.page import MEAN, benchmark_headline, cell_texts
    from bivaluate.registry import symbol

    folders = {}
    for text in solutions or []:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise ParameterError(f"--solutions is {text!r}; NAME=FOLDER is needed, for example mine=my_folder.")
        folders[name] = folder
    words = split_algorithms(algorithms)
    how: dict[str, Any] = {"algorithms": words, "cases": listed(cases), "seeds": seeds, "solutions": folders}
    how |= {"time_limit": time_limit, "rescore": rescore, "measures": own or (), "jobs": jobs, "scheduler": scheduler}
    with progress() as update:
        found = run_benchmark(run_folder, quick=not full, **how, progress=update)
    if not len(found.solutions):
        report_failures(found.failed, found.failed["algorithm"], run_folder / "run")
    tables = answer(found)
    command = f"bivaluate benchmark {'--full' if full else '--quick'}"
    written = write_page(found, tables, run_folder / "benchmark.md", command)
    headline = benchmark_headline(tables)
    document = {name: table.to_dict("records") for name, table in tables.items()} | {"headline": headline}
    if not give(tables["measures"].to_dict("records"), document, csv, as_json):
        table = tables["algorithms"]
        keys = list(table["algorithm"])
        names = [str(name) for name in table if name not in ("algorithm", "mean_low", "mean_high")]
        texts = zip(keys, cell_texts(table, names, ["mean"]), strict=True)
        cells = {(key, name): text for key, line in texts for name, text in zip(names, line, strict=True)}
        title = "Which algorithm is best? Agreement with the truth, each at its best K"
        of_each = tables["algorithms_by_case"].to_dict("records")
        if len(cases_run := dict.fromkeys(row["case"] for row in of_each)) <= FEW:
            names = [*cases_run, "mean", "mean_n"]
            title += f", by data set{', mean ± sd over seeds' if seeds > 1 else ''}"
            for row in of_each:
                cells[row["algorithm"], row["case"]] = with_error(row["mean"], row["std"], 2, 2)
        rows = [(*algorithm_names([key]), *(cells.get((key, name), "–") for name in names)) for key in keys]
        print_table(["algorithm", *(f"{name}↑" for name in [*names[:-2], MEAN]), "data sets"], rows, title)
        out.print(f"{ALL}\n")
        asked = ("solutions_n", "solutions", "right_algorithm", "right_k", "noise")
        each = cell_texts(tables["measures"], asked)
        rows = [(symbol(key), *cells) for key, cells in zip(tables["measures"]["measure"], each, strict=True)]
        headings = ["measure", "data sets", "rank correlation↑", "best algorithm↑", "best K↑", "refuses noise↑"]
        print_table(headings, rows, "Which measure recognises it?")
        out.print(f"{LAST} {FEWER}\n\n{headline}")
    err.print(f"wrote {written[0]} and {len(written) - 1} files beside it")
    named = [split_name(word)[0] or word for word in words or []]
    report_failures(found.failed, named, run_folder / "run")
