"""`bivaluate score`: a matrix and some solutions in, a verdict out."""

import dataclasses
import shlex
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bivaluate._errors import DegenerateWarning, ParameterError
from bivaluate._text import distinct, listing, plural, shared
from bivaluate.cli import options, tables
from bivaluate.cli._types import Biclustering, Evaluation, Matrix
from bivaluate.cli.files import is_stream
from bivaluate.cli.options import MatrixFile, SolutionFile, option, spoken
from bivaluate.cli.tables import err, heading, number, out, print_list, print_table, say_written

Curve = Mapping[str, Mapping[str, Any]]
_LEGEND = "↓ low is better, ↑ high is better; `bivaluate metrics` explains every column."


@options.grouped
def score(
    matrix: options.MatrixPath,
    solutions: Annotated[list[Path], typer.Argument(help="Solutions: bivaluate JSON, CSV, or another tool's file.")],
    scoring: options.Scoring,
    matrix_file: MatrixFile,
    solution_file: SolutionFile,
    gene_sets: options.GeneSetFile,
    annotations: options.AnnotationFile,
    biclusters: Annotated[bool, option("One line per bicluster, worst first.", "--biclusters", "-b")] = False,
    sort: Annotated[str | None, option("Measure to sort by (default: evidence).")] = None,
    metrics: options.Metrics = None,
    own: options.OwnMeasures = None,
    as_json: options.Json = False,
    csv: options.Csv = None,
    report: options.Report = None,
    mqc: Annotated[Path | None, option("Also write a table for MultiQC to this file, NAME_mqc.json.")] = None,
    scheduler: options.Scheduler = None,
    write_back: Annotated[bool, option("Also store scores and members in the .h5ad file.", "--write-back")] = False,
) -> None:
    """Score one or several biclustering solutions of a matrix.

    Examples:

    - `bivaluate score expression.csv solution.json`
    - `bivaluate score expression.csv solution.json biclust.txt --sort nve_cov`
    - `bivaluate score expression.csv solution.json --biclusters`
    - `bivaluate score expression.csv biclust.txt --report report.html --sets sets.gmt --annotations samples.csv`

    With files of your own:

    - `bivaluate score expression.csv qubic.blocks` (the file of another tool)
    - `bivaluate score cells.npy solution.json --memory 2G --scheduler tcp://head:8786`
    - `bivaluate score counts.h5ad cnmf_run/` (every K of the run)
    """
    from bivaluate._cluster import connect
    from bivaluate.evaluation import evaluate

    if write_back and matrix.suffix != ".h5ad":
        raise ParameterError(f"--write-back stores results in an .h5ad file, not in {matrix.name}; use --csv, --json.")
    if mqc and not mqc.name.endswith("_mqc.json"):
        raise ParameterError(f"--mqc is {mqc}; MultiQC looks for files whose names end in _mqc.json.")
    looked_up = gene_sets.for_report()
    test = annotations.test(matrix)
    chosen, sort = _with_sort(options.chosen_metrics(metrics, own), sort, own or (), biclusters)
    how = scoring.given
    X = matrix_file.read(matrix).settled()
    files, read = _read_all(solutions, X, solution_file)
    workers = nullcontext() if scheduler is None else connect(scheduler)
    traits: dict[str, Any] = {}
    with tables.progress() as update, workers as how["scheduler"], warnings.catch_warnings():
        # an array in memory is not read, and is looked at once for all solutions
        how["progress"] = None if update is None or X.in_memory else partial(update, "reading rows")
        if not as_json:  # the findings say it
            warnings.simplefilter("ignore", DegenerateWarning)
        evaluations = [evaluate(X, s, metrics=chosen, **how) for s in read]
        for evaluation, place in zip(evaluations, _places(matrix, files, matrix_file, solution_file), strict=True):
            evaluation.place = place
            if looked_up:
                from bivaluate.report.source import naming

                evaluation.verdict = naming(evaluation.verdict, evaluation.solution, X, looked_up["sets"])[0]
            traits[_name(evaluation)] = table = test(evaluation.solution, X)
            if table is not None:
                from bivaluate.report.elsewhere import with_traits

                evaluation.verdict = with_traits(evaluation.verdict, table)
    curve = {} if biclusters else _curve(evaluations)
    rows = _rows(evaluations, biclusters, curve) if csv else []
    if not tables.give(rows, _document(evaluations, curve, traits) if as_json else [], csv, as_json, ["solution"]):
        each = biclusters or not evaluations[0].scores  # measures of single biclusters only
        _print_biclusters(evaluations, sort) if each else _print_solutions(evaluations, sort)
        if curve:
            _print_curve(curve, evaluations)
        for name, table in traits.items():
            tables.print_traits(table, name)
    if mqc:
        from bivaluate.report.render import write_multiqc

        write_multiqc(mqc, evaluations)
        say_written(mqc)
    if write_back:
        from bivaluate.io import write_h5ad_results

        for evaluation in evaluations:
            key = "bivaluate" if len(evaluations) == 1 else f"bivaluate_{_name(evaluation).replace('/', '_')}"
            write_h5ad_results(matrix, evaluation, key=key, transpose=matrix_file.transpose)
            err.print(f"wrote {key} into {matrix}")
    if report:
        from bivaluate.report import build_report
        from bivaluate.report.elsewhere import annotated, trait_sections
        from bivaluate.report.source import from_evaluations

        found = {id(e.solution): traits[_name(e)] for e in evaluations}
        source = annotated(from_evaluations(evaluations), lambda solution, X: found[id(solution)])
        named = [(table, name if len(traits) > 1 else "") for name, table in traits.items()]
        panels = [panel for table, name in named for panel in trait_sections(table, name)]
        build_report(source, report, sections=panels, **looked_up)
        say_written(report)


def _with_sort(
    chosen: str | list[str], sort: str | None, own: Sequence[str], biclusters: bool
) -> tuple[str | list[str], str | None]:
    """Return the measures to compute, the one to sort by among them, and the key of that."""
    from bivaluate.registry import choose_metrics, metric_of, own_key

    key, level = own_key(sort, own), "bicluster" if biclusters else "solution"
    if key is None:
        return chosen, None
    asked = metric_of(level, key)
    if asked.level != level:
        what = "bicluster" if biclusters else "whole solution"
        raise ParameterError(f"--sort {sort}: a measure of a {what} is needed here.")
    return list(dict.fromkeys([*(metric.key for metric in choose_metrics(chosen)), asked.key])), asked.key


def _read_all(paths: Sequence[Path], X: Matrix, solution_file: SolutionFile) -> tuple[list[Path], list[Biclustering]]:
    """Read solutions and give each a name of its own; the file of each comes first."""
    read = [(path, solution) for path in paths for solution in solution_file.read_all(path, X)]
    files = [path for path, _ in read]
    names = [str(solution.info.get("name", path.stem)) for path, solution in read]
    names = distinct(names, [path.name for path in files], [str(path) for path in files])
    return files, [solution.with_info(name=name) for (_, solution), name in zip(read, names, strict=True)]


def _places(matrix: Path, files: list[Path], how: MatrixFile, of_solutions: SolutionFile) -> list[tuple[str, str]]:
    """Return how commands name the matrix and each solution, with the options of this command."""
    from bivaluate.sweep.again import reading_words

    asked = reading_words({name: v for name, v in dataclasses.asdict(of_solutions).items() if v is not None})
    lone = [not is_stream(file) and files.count(file) == 1 for file in files]
    named = [shlex.join([str(file), *asked]) if own else "SOLUTION" for file, own in zip(files, lone, strict=True)]
    return [(how.named(matrix), name) for name in named]


def _print_solutions(evaluations: Sequence[Evaluation], sort: str | None) -> None:
    """Print the verdict on each solution, the best first, then the measures and the notes that all share."""
    from bivaluate.judge.choice import which_is_best
    from bivaluate.registry import RECORDS, main_metrics

    computed = evaluations[0].scores
    main = ["n_biclusters", *(metric.key for metric in main_metrics())]
    keys = [k for k in main if k in computed] if "nve" in computed else list(computed)
    if len(computed) > 30:
        keys = [k for k in computed if RECORDS[k].direction != "none" or k == "n_biclusters"]
    keys += [key for key in computed if key not in keys and (key == sort or ":" in key)]
    sort = sort or next((key for key in main[1:] if key in computed), None)
    if sort:
        order = tables.best_first(sort, [e.scores.get(sort) for e in evaluations])
        evaluations = [evaluations[index] for index in order]
    names = [_name(e) for e in evaluations]
    common = _shared_findings(evaluations)
    own = [key for key in evaluations[0].records[0] if ":" in key] if evaluations[0].records else []
    for name, evaluation in zip(names, evaluations, strict=True):
        brought = {heading(key): [number(record[key]) for record in evaluation.records] for key in own}
        tables.print_verdict(evaluation.verdict, name, {"": evaluation.names} | brought if own else brought)
        _print_findings(evaluation, common)
    first, said = which_is_best(names, [e.scores for e in evaluations])
    if said:
        out.print(f"\n{said}", style="bold")
    print_list("All solutions", [spoken(sentence) for sentence in common])
    print_list("Next", evaluations[first].verdict.next_steps)
    columns = [[tables.score_text(key, e.scores.get(key)) for key in keys] for e in evaluations]
    out.print()
    if len(keys) > len(main) + 1:
        rows = [(heading(key), *values) for key, *values in zip(keys, *columns, strict=True)]
        print_table(["measure", *names], rows)
    else:
        rows = [(name, *cells) for name, cells in zip(names, columns, strict=True)]
        print_table(["solution", *map(heading, keys)], rows)
    out.print(_LEGEND, style="dim")


def _curve(evaluations: Sequence[Evaluation]) -> Curve:
    """Return what chance alone gives for solutions of several K of one run, by name; nothing for other solutions."""
    if len({e.solution.info.get("k") for e in evaluations} - {None}) < 2:
        return {}
    from bivaluate.sweep.search import PLACEMENTS, k_curve

    return {record.pop("solution"): record | {"placements": PLACEMENTS} for record in k_curve(evaluations)}


def _print_curve(curve: Curve, evaluations: Sequence[Evaluation]) -> None:
    """Print what each K is worth, beside the same sizes and overlaps placed at random, and which to take."""
    from bivaluate.judge.choice import AtK, about_k, best_solution, family, supported_at

    keys = ("total_evidence", "null_total_evidence", "n_supported", "supported_coverage", "nve", "null_nve")
    shown = {name: [tables.score_text(key, record[key]) for key in keys] for name, record in curve.items()}
    rows = [(str(curve[name]["k"]), *texts, name) for name, texts in shown.items()]
    headings = ["at random" if key.startswith("null_") else heading(key) for key in keys]
    drawn = plural(next(iter(curve.values()))["placements"], "placement")
    out.print()
    title = f"by K; at random: same sizes and overlaps, mean of {drawn}"
    print_table(["K", *headings, "solution"], rows, title)
    best = best_solution([e.scores for e in evaluations])
    name = _name(evaluations[best or 0])
    if best is None or not curve[name]["n_supported"]:
        return
    k, found = curve[name]["k"], {_name(e): len(e.solution) for e in evaluations}
    alike = {of: row for of, row in curve.items() if family(of, row["k"]) == family(name, k)}
    ks = [AtK(row["k"], row["total_evidence"], found[of], row["n_supported"]) for of, row in alike.items()]
    if len(ks) > 1:
        said = supported_at(ks, k)
        out.print(" ".join([f"\n{name}: {said[:1].lower()}{said[1:]}", *about_k(ks, k)]), style="bold")


def _print_biclusters(evaluations: Sequence[Evaluation], sort: str | None) -> None:
    """Print one line per bicluster of every solution, the worst first."""
    common = _shared_findings(evaluations)
    for evaluation in evaluations:
        if evaluation.records:
            headings, rows = _bicluster_table(evaluation.records, sort)
            print_table(headings, rows, _name(evaluation))
            _print_findings(evaluation, common)
        else:
            out.print(f"{_name(evaluation)}: no biclusters")
    print_list("All solutions", [spoken(sentence) for sentence in common])


def _bicluster_table(records: Sequence[dict[str, Any]], sort: str | None) -> tuple[list[str], list[list[str]]]:
    from bivaluate.judge.verdict import WORDS
    from bivaluate.registry import RECORDS, symbol

    sort = sort or next((key for key in ("evidence", "nve_k") if key in records[0]), None)
    order = tables.best_first(sort, [r[sort] for r in records])[::-1] if sort else range(len(records))
    keys = [key for key in records[0] if key in RECORDS]
    rows = []
    for record in (records[index] for index in order):
        first = [str(record[field]) for field in ("bicluster", "n_rows", "n_cols")]
        verdict = WORDS.get(str(record.get("verdict")), "–")
        last = [record.get("pattern") or "–", verdict, record["partner"] or "–", number(record["ve_merged"])]
        rows.append([*first, *(tables.with_error(record[key], record.get(f"{key}_se")) for key in keys), *last])
    last = ["pattern", "verdict", "nearest", f"merged {symbol('ve')}"]
    return ["", "rows", "cols", *map(heading, keys), *last], rows


def _shared_findings(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return what is said of every solution, such as a remark on the data: it is printed once."""
    return shared([e.findings for e in evaluations], [e.names for e in evaluations])


def _print_findings(evaluation: Evaluation, common: Sequence[str]) -> None:
    """Print the notes on one solution; not what is said of all of them, or by the headline."""
    for sentence in evaluation.findings:
        told = sentence in evaluation.solution.info.get("notes", ())  # when the file was read
        if sentence not in common and sentence != evaluation.verdict.headline and not told:
            out.print(f"  • {spoken(sentence)}")
    if evaluation.undefined:
        left = listing(evaluation.undefined, 10)
        said = f"    {left}: left out of the scores; --score degenerate=formula takes the formula's 0."
        out.print(said, style="dim")


def _name(evaluation: Evaluation) -> str:
    return str(evaluation.solution.info["name"])


def _rows(evaluations: Sequence[Evaluation], biclusters: bool, curve: Curve) -> list[dict[str, Any]]:
    if biclusters:
        return [{"solution": _name(e), **record} for e in evaluations for record in e.records]
    return [{"solution": _name(e), **e.scores, **curve.get(_name(e), {})} for e in evaluations]


def _document(evaluations: Sequence[Evaluation], curve: Curve, traits: Mapping[str, Any]) -> list[dict[str, Any]]:
    documents = []
    for evaluation in evaluations:
        table, at_random = traits[_name(evaluation)], curve.get(_name(evaluation))
        more = {} if table is None else {"traits": table.to_dict("records")}
        documents.append(evaluation.to_dict() | more | ({} if at_random is None else {"at_random": at_random}))
    return documents
