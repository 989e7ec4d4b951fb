"""What commands have in common: their options, each spelled once, and messages in the words of the command line."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import re
import shlex
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from bivaluate._errors import BivaluateError, FileError, FormatError, ParameterError
from bivaluate._text import Advice
from bivaluate.cli.files import FORCE, check_written, is_stream, latex_option, streams, without_paths

if TYPE_CHECKING:
    from bivaluate.enrichment import GeneSets
    from bivaluate.matrix import Matrix
    from bivaluate.solution import Biclustering


# How every command and group of commands is set up.
SETTINGS: dict[str, Any] = {"add_completion": False, "rich_markup_mode": "markdown", "pretty_exceptions_enable": False}


def option(help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """Return an option: what it does, how it is spelled where its name does not say it, where help lists it."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


MATRIX = typer.Argument(
    help="The matrix: CSV/TSV (.gz too), .npy, .npz, Parquet, GCT, h5ad, …; - for standard input; or example:, scenario:S1, "
    "yeast:04_elutriation."
)
MatrixPath = Annotated[Path, MATRIX]
MatrixOfSolutions = Annotated[Path | None, option("Their matrix: gives the shape, resolves labels.", "--matrix")]
#: How a program outside bivaluate is named, for the help of every command that runs algorithms.
COMMANDS = (
    "NAME=cmd:COMMAND, a program run in this folder: {matrix} is the matrix (in the format of the file, or CSV; {matrix:tsv}, "
    "{matrix:npy}, {matrix:mtx}), {out} the file or folder to write ({out}/x: a file in a folder that exists), {k} the "
    "number of biclusters, {seed} the seed. Commands come last: what follows one, commas too, belongs to it."
)
One = Annotated[str | None, typer.Argument(help="Show one in full.")]
RunFolder = Annotated[Path, typer.Argument(help="The run folder of a sweep.")]
Json = Annotated[bool, option("Print everything as JSON.", "--json")]
Csv = Annotated[Path | None, option("Also write the main table to this CSV file (- for standard output).", "--csv")]
Report = Annotated[Path | None, option("Also write an HTML report to this file.", "--report")]
Seed = Annotated[int, option("Same seed, same answer.", "--seed")]
Jobs = Annotated[int | None, option("How many to run at once (default: one per core).", "--jobs", "-j")]
WorkerJobs = Annotated[int, option("Worker processes on this machine; each has its own memory.", "--jobs", "-j")]
Metrics = Annotated[str | None, option("Measures separated by commas, or all (see `bivaluate metrics`).")]
_OWN = "MODULE:FUNCTION, a measure of your own: a function of (X, solution), or of the values of one bicluster; "
_OWN += "repeatable. High is better unless FUNCTION.direction is 'low'."
OwnMeasures = Annotated[list[str] | None, option(_OWN, "--measure")]
#: What --score of `score` and `sweep` takes, by name.
SETTINGS_OF_SCORE = {
    "min_rows": "min_rows=3, the fewest rows wanted",
    "min_cols": "min_cols=3, the fewest columns",
    "small": "small=drop leaves smaller biclusters out",
    "degenerate": "degenerate=formula gives one row or one column the paper's 0",
    "single": "single=matrix compares a single bicluster with the whole matrix",
}
_MISSING = "Missing values (NaN): raise (stop), or omit."
Missing = Annotated[str, option(_MISSING, "--missing")]
Parameters = Annotated[list[str] | None, option("NAME=VALUE of an algorithm; repeatable.", "--param")]
Scheduler = Annotated[str | None, option("Use the workers of this Dask scheduler: tcp://host:8786.", "--scheduler")]
_reading_matrix = functools.partial(option, panel="How to read the matrix")
_reading_solution = functools.partial(option, panel="How to read solutions")
_scoring = functools.partial(option, panel="How to score")
_settings = f"NAME=VALUE, repeatable: {'; '.join(SETTINGS_OF_SCORE.values())}."
ScoreSettings = Annotated[list[str] | None, _scoring(_settings, "--score")]
_gene_sets = functools.partial(option, panel="Gene sets")
_annotations = functools.partial(option, panel="Annotations")


@dataclasses.dataclass(frozen=True)
class MatrixFile:
    """How to read a matrix; the fields are the options of every command that reads one."""

    transpose: Annotated[bool, _reading_matrix("Swap rows and columns after reading.", "--transpose")] = False
    matrix_format: Annotated[str | None, _reading_matrix("Format of the matrix (default: detected).")] = None
    delimiter: Annotated[str | None, _reading_matrix("Field separator of a text file (default: detected).")] = None
    decimal: Annotated[str | None, _reading_matrix("Decimal mark of a text file (default: detected).")] = None
    header: Annotated[bool | None, _reading_matrix("Whether line 1 holds column labels (default: detected).")] = None
    index_cols: Annotated[int | None, _reading_matrix("Leading columns with row labels (default: detected).")] = None
    layer: Annotated[str | None, _reading_matrix("Layer (.h5ad, .loom, zarr), dataset or genome (HDF5).")] = None
    modality: Annotated[str | None, _reading_matrix("Modality of a MuData file.")] = None
    sheet: Annotated[str | None, _reading_matrix("Sheet of an Excel file.")] = None
    absent: Annotated[str | None, _reading_matrix("Values a sparse file leaves out: zero (default) or missing.")] = None
    rows: Annotated[str | None, _reading_matrix("What the rows are, such as genes (default: by format).")] = None
    columns: Annotated[str | None, _reading_matrix("What the columns are, such as samples.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, as :func:`bivaluate.read_matrix` calls them."""
        _check_format("--matrix-format", self.matrix_format, "matrix")
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if getattr(self, f.name) != f.default}
        return {name.removeprefix("matrix_"): value for name, value in values.items()}

    def named(self, path: Path) -> str:
        """Return how commands name the matrix, with the options on how to read it."""
        from bivaluate.sweep.again import reading_words

        return "MATRIX" if is_stream(path) else shlex.join([str(path), *reading_words(self.given)])

    def read(self, path: Path) -> Matrix:
        """Read a matrix, and say so if the file holds biclusters instead."""
        from bivaluate.io import read_matrix

        if not os.path.exists(path) and _is_name(path):
            from bivaluate.datasets.named import load_named

            if self.given.keys() - {"absent", "rows", "columns"}:
                raise ParameterError(f"{path} names a data set, not a file: leave out the options on how to read it.")
            found = load_named(str(path))[0].called(self.rows, self.columns)
            return found if self.absent is None else dataclasses.replace(found, absent=self.absent)
        try:
            return read_matrix(path, **self.given)
        except FormatError as error:
            from bivaluate.io.solutions import is_solution

            if not self.given and is_solution(path):
                swapped = "Were the two swapped? The matrix comes first."
                raise FormatError(f"{path} holds biclusters, not a matrix. {swapped}") from error
            raise


@dataclasses.dataclass(frozen=True)
class SolutionFile:
    """How to read solutions; the fields are the options of every command that reads one."""

    solution_format: Annotated[str | None, _reading_solution("Format of the solution (default: detected).")] = None
    index_base: Annotated[int | None, _reading_solution("Whether indices start at 0 or at 1.")] = None
    members: Annotated[str | None, _reading_solution("Read numbers that could be either as index or label.")] = None
    item: Annotated[int | None, _reading_solution("Which solution of several in a file, counted from 0.")] = None
    rule: Annotated[str | None, _reading_solution("Which members belong to a factor: mixture, top:0.1 or sd:1.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The options as :func:`bivaluate.read_solution` calls them."""
        _check_format("--solution-format", self.solution_format, "solution")
        values = dataclasses.asdict(self)
        return {"format": values.pop("solution_format"), **values}

    def read(self, path: Path, X: Matrix | None) -> Biclustering:
        """Read a solution of a matrix."""
        from bivaluate.io import read_solution

        return _named_solution(path) or read_solution(path, X, **self.given)

    def read_all(self, path: Path, X: Matrix | None) -> list[Biclustering]:
        """Read every solution of a matrix that a file or folder holds."""
        from bivaluate.io import read_solutions

        named = _named_solution(path)
        if os.path.isfile(path / "plan.toml") and os.path.isfile(path / "results.csv"):
            how = f"`bivaluate select {path}` chooses a solution, `bivaluate report {path}` writes the page"
            raise ParameterError(f"{path} is the folder of a sweep: {how}; {path / 'solutions'} holds them all.")
        return read_solutions(path, X, **self.given) if named is None else [named]


def _is_name(path: Path) -> bool:
    from bivaluate.datasets.named import is_name

    return is_name(str(path))


def _named_solution(path: Path) -> Biclustering | None:
    """Return the biclusters that belong to data by name; None if the path is that of a file."""
    if os.path.exists(path) or not _is_name(path):
        return None
    from bivaluate.datasets.named import load_named

    found = load_named(str(path))[1]
    if found is None:
        raise ParameterError(f"{path} has no biclusters that belong to it; name a solution file.")
    return found


@dataclasses.dataclass(frozen=True)
class Scoring:
    """What counts how; the fields are options of :func:`bivaluate.evaluate`, those of `settings` among them."""

    missing: Annotated[str, _scoring(_MISSING)] = "raise"
    ve_axis: Annotated[str, _scoring("VE, and all built on it, standardises rows (as printed) or columns.")] = "rows"
    sample: Annotated[float | None, _scoring("Estimate from this share of the rows, with standard errors.")] = None
    memory: Annotated[str | None, _scoring("Most memory for what is read by rows, such as 2G.")] = None
    n_jobs: Annotated[int | None, _scoring("Threads for large inputs (default: one per core).", "--jobs", "-j")] = None
    settings: ScoreSettings = None

    @property
    def given(self) -> dict[str, Any]:
        """The options as :func:`bivaluate.evaluate` calls them."""
        from bivaluate._check import check_choice
        from bivaluate.sweep.plan import parse_assignments

        values = dataclasses.asdict(self)
        named = parse_assignments("--score", values.pop("settings") or [])
        for name in named:
            check_choice("--score", name, list(SETTINGS_OF_SCORE))
        return values | named


@dataclasses.dataclass(frozen=True)
class GeneSetFile:
    """Which gene sets to look biclusters up in; the fields are the options of every command that does."""

    sets: Annotated[Path | None, _gene_sets("Gene sets in a GMT file.")] = None
    go: Annotated[str | None, _gene_sets("Gene Ontology: sgd for yeast (fetched), or FILE.gaf,FILE.obo.")] = None

    def read(self) -> GeneSets:
        """Read the gene sets."""
        from bivaluate.enrichment import load_yeast_ontology, read_annotations, read_gmt

        if (self.sets is None) == (self.go is None):
            raise ParameterError("name the gene sets: either --sets FILE.gmt, or --go sgd, or --go FILE.gaf,FILE.obo.")
        if self.sets is not None:
            return read_gmt(self.sets)
        if self.go == "sgd":
            return load_yeast_ontology()
        annotations, _, ontology = str(self.go).partition(",")
        if not ontology:
            raise ParameterError(f"--go {self.go} needs the ontology too: FILE.gaf,FILE.obo (or sgd for yeast).")
        return read_annotations(annotations, ontology)

    def for_report(self) -> dict[str, Any]:
        """Return the gene sets as :func:`bivaluate.build_report` takes them; nothing where none are named."""
        return {} if self.sets is None and self.go is None else {"sets": self.read()}


@dataclasses.dataclass(frozen=True)
class AnnotationFile:
    """What is known about samples; the field is an option of every command that tests it."""

    annotations: Annotated[Path | None, _annotations("Annotations of samples: CSV or TSV, labels first.")] = None

    def test(self, path: Path) -> Callable[[Biclustering, Matrix], Any]:
        """Return what tests the annotations, those of an .h5ad file or data set where none are named; None without."""
        return _tested(self.annotations, path)


@dataclasses.dataclass(frozen=True)
class TraitFile(AnnotationFile):
    """What is known about samples, and how it is tested; the fields are options of :func:`bivaluate.traits`."""

    of: Annotated[str, _annotations("What they describe: columns or rows.", "--annotated")] = "columns"
    within: Annotated[str | None, _annotations("Permute samples within the classes of this column.")] = None
    technical: Annotated[str | None, _annotations("Columns that make a bicluster doubtful: batch,plate.")] = None
    survival: Annotated[str | None, _annotations("The columns of time and event: time,event.")] = None

    def test(self, path: Path) -> Callable[[Biclustering, Matrix], Any]:
        """Return what tests the annotations as the options say."""
        named = listed(self.survival)
        if named is not None and len(named) != 2:
            raise ParameterError(f"--survival is {self.survival}; two columns are needed: the time and the event.")
        how = {"within": self.within, "technical": listed(self.technical) or (), "survival": named and tuple(named)}
        return _tested(self.annotations, path, self.of, **how)


def _tested(given: Path | None, path: Path, of: str = "columns", **how: Any) -> Callable[[Biclustering, Matrix], Any]:
    table = _samples(given, path)
    if table is None:
        if any(how.values()):
            raise ParameterError("--within, --technical and --survival name columns of --annotations FILE; add it.")
        return lambda solution, X: None
    from bivaluate.elsewhere.traits import traits

    def tested(solution: Biclustering, X: Matrix) -> Any:
        turned = len(table) == X.shape[0] and str(table.index[0]) in ("0", (X.row_labels or ("",))[0])
        return traits(solution, X, table, of="rows" if given is None and turned else of, **how)

    return tested


def _samples(given: Path | None, path: Path) -> Any:
    """Return what is known about samples: from a file, from .obs, or as the classes of a data set; None if nothing."""
    from bivaluate._anndata import holds_obs

    if given is not None or (holds_obs(path) and os.path.isfile(path)):
        from bivaluate.elsewhere.traits import read_samples

        return read_samples(given or path)
    from bivaluate.datasets.catalogue import DATASETS

    if str(path) not in DATASETS or os.path.exists(path):
        return None
    import pandas as pd

    from bivaluate.datasets.real import load_labelled

    data = load_labelled(str(path))
    table = pd.DataFrame(data.col_classes or data.row_classes)
    apart = len(table) and table.sum(axis=1).max() == 1
    return table.idxmax(axis=1).where(table.any(axis=1)).to_frame("class") if apart else table if len(table) else None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for each field of the groups among its parameters."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    plain, fields = [], []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            plain.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.POSITIONAL_OR_KEYWORD))
            continue
        types = get_type_hints(groups[name], include_extras=True)
        fields += [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=types[f.name])
            for f in dataclasses.fields(groups[name])
        ]
    signature = inspect.Signature([*plain, *fields])

    @functools.wraps(command)
    def flat(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        for name, group in groups.items():
            values[name] = group(**{f.name: values.pop(f.name) for f in dataclasses.fields(group)})
        command(**values)

    flat.__signature__ = signature  # type: ignore[attr-defined]
    flat.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return flat


def listed(text: str | None) -> list[str] | None:
    """Return the words between commas."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def chosen_metrics(metrics: str | None, own: list[str] | None = None) -> str | list[str]:
    """Return what --metrics and --measure ask for."""
    chosen = "all" if metrics == "all" else listed(metrics) or "default"
    if not own:
        return chosen
    from bivaluate.registry import choose_metrics

    return [metric.key for metric in [*choose_metrics(chosen), *choose_metrics(own)]]


def _check_format(option: str, key: str | None, kind: str) -> list[dict[str, Any]]:
    """Refuse a format that does not exist; return the records of all of a kind."""
    from bivaluate._check import check_choice
    from bivaluate.io import describe_formats

    known = [record for record in describe_formats() if record["kind"] == kind]
    if key is not None:
        check_choice(option, key, [f["key"] for f in known if f["written"] or option != "--format"])
    return known


def check_target(path: Path, format: str | None = None, kind: str = "solution") -> None:
    """Refuse a file that cannot be written, before the work is done."""
    written = [record for record in _check_format("--format", format, kind) if record["written"]]
    known = sorted({extension for record in written for extension in record["extensions"]})
    if format is None and not path.name.lower().removesuffix(".gz").endswith(tuple(known)):
        keys = ", ".join(record["key"] for record in written)
        use = f"use one of {', '.join(known)}, or `bivaluate convert` with --format: {keys}"
        raise ParameterError(f"cannot tell the format of {path} by its extension; {use}.")
    if not os.path.isdir(path.parent):
        raise FileError(f"cannot write {path}: there is no folder {path.parent}.")


#: How the command that is running spells its options, by the names Python has for them.
_running: ContextVar[Mapping[str, str]] = ContextVar("running", default=MappingProxyType({}))

ANYWHERE = ("--untrusted", "--force")  # of all commands, before or after their name
BEFORE = ("-q", "--quiet", "-v", "--verbose")  # of all commands, before their name


def ask_for(option: str, ctx: Any) -> None:
    """Note an option of all commands."""
    if option == "--untrusted":
        os.environ["BIVALUATE_UNTRUSTED"] = "1"  # for worker processes too
    else:
        ctx.meta[FORCE] = True


class _Value:
    """What typer makes of a value, without the pydantic it would import: that takes a tenth of a second."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind = param.type_descriptor.annotation
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if kind == list[Path]:
            return [*map(Path, value)]
        if kind in (str, Path, list[str]) or type(value) is kind:
            return (get_origin(kind) or kind)(value)
        from typer._coercion import build_runtime_param

        return build_runtime_param(param.type_descriptor).coerce(value, param, ctx)


class Plain:
    """A command whose parameters typer 0.29 reads without pydantic; other versions never import it."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "_runtime_param", self) is None:
                parameter._runtime_param = _Value()
        return parameters


class _Spoken(Plain):
    """A command whose errors name its own options, and that refuses what no command can do."""

    params: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if any("--csv" in parameter.opts for parameter in self.params):
            self.params.append(latex_option())

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        for word in {*ANYWHERE} & {*args}:
            ask_for(word, ctx)
        args = [word for word in args if word not in ANYWHERE]
        own = {spelling for parameter in self.params for spelling in parameter.opts}
        if any(parameter.metavar == "OUT" for parameter in self.params):  # -o as elsewhere
            args = [word for word in args if word != "-o"]
        for word in (word.partition("=")[0] for word in args if word.partition("=")[0] not in own):
            if word in BEFORE:
                raise ParameterError(f"{word} comes before the command: bivaluate {word} {ctx.info_name} …")
            if (ctx.info_name, word) == ("enrich", "--report"):
                raise ParameterError("bivaluate score MATRIX SOLUTION --go … --report writes the page (or --sets …).")
        try:
            return super().parse_args(ctx, args)  # type: ignore[misc]
        except typer.BadParameter as error:
            found = re.search(r"valid (integer|float|number)", error.message)
            if error.param is None or found is None:
                raise
            name, kind = str(error.param.name), "a whole number" if found[1] == "integer" else "a number"
            raise ParameterError(f"{spellings(self).get(name, name)} needs {kind}.") from None

    def invoke(self, ctx: Any) -> Any:
        spelled = spellings(self)
        check_written(self.params, ctx)
        from bivaluate.cli.tables import command, latex_tables

        running, name = _running.set(spelled), command.set(str(ctx.info_name))
        try:
            with streams(ctx, self.params, spelled):
                latex = ctx.params.pop("latex", None)  # not `-` any more, but what stands for it
                try:
                    with latex_tables(latex) if latex else nullcontext():
                        return super().invoke(ctx)  # type: ignore[misc]
                except BivaluateError as error:
                    error.args = tuple(spoken(part) if isinstance(part, str) else part for part in error.args)
                    raise
        except KeyboardInterrupt:
            typer.echo("stopped: interrupted from the keyboard.", err=True)
            raise typer.Exit(130) from None
        finally:
            _running.reset(running)
            command.reset(name)


class Command(_Spoken, TyperCommand):
    """A command without commands below it."""


class OptionGroup(_Spoken, TyperGroup):
    """A command with commands below it."""


def spellings(command: Any) -> dict[str, str]:
    """Return how a command spells its options, by the names Python has for them."""
    spelled = {p.name: max(p.opts, key=len) for p in command.params if p.opts[0].startswith("-")}
    if "--score" in spelled.values():
        spelled |= {name: f"--score {name}=" for name in SETTINGS_OF_SCORE}
    return spelled


def spoken(text: str) -> str:
    """Return a message of the library in the words of the command that is running."""
    spelled = _running.get()
    if isinstance(text, Advice):
        return without_paths(text.said(spelled.get))
    first, verb, rest = text.partition(" is ")
    return without_paths(f"{spelled.get(first, first)}{verb}{rest}")
