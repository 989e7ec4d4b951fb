"""Write the page: one HTML file with everything in it, and the tables it shows beside it; or a table for MultiQC."""

from __future__ import annotations

import base64
import io
import json
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from bivaluate._errors import FileError, ParameterError
from bivaluate._files import table_text, write_whole
from bivaluate._text import Advice, number, percent
from bivaluate._types import Axes
from bivaluate.enrichment.gene_sets import GeneSets
from bivaluate.registry import RECORDS, main_metrics, symbol

if TYPE_CHECKING:
    from bivaluate.evaluation import Evaluation
    from bivaluate.report.page import Page

SCRIPTS = ("table.js", "download.js", "chart.js", "compare.js", "heatmap.js", "solution.js", "page.js")

#: How verdicts are coloured.
TONES = {"supported": "good", "redundant": "fair", "not_supported": "bad", "too_small": "muted"}
_TYPES = {".png": "png", ".svg": "svg+xml", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}


@dataclass(frozen=True)
class Figure:
    """A picture with what it shows in words.

    Parameters
    ----------
    path : path or matplotlib.axes.Axes
        The file (SVG, PNG, JPEG or WebP), or what was drawn.
    caption : str
        Words below the picture.
    alt : str
        Words in its place for those who cannot see it; the caption if not given.

    See Also
    --------
    Section

    Examples
    --------
    >>> Figure("map.svg", "The blocks on the map.").caption
    'The blocks on the map.'
    """

    path: str | Path | Axes
    caption: str
    alt: str = ""

    def data_uri(self) -> str:
        """Return the picture as a data URI, so that the page needs nothing beside it.

        Returns
        -------
        str
            The type and the content of the file.

        Raises
        ------
        FileError, ParameterError
            If the file cannot be read, or is not a picture the page can hold.

        Examples
        --------
        >>> Figure("map.png", "The blocks on the map.").data_uri()  # doctest: +SKIP
        """
        if not isinstance(self.path, (str, Path)):
            stream = io.BytesIO()
            figure: Any = self.path.get_figure(root=True)
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
            return f"data:image/svg+xml;base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"
        path = Path(self.path)
        kind = _TYPES.get(path.suffix.lower())
        if kind is None:
            raise ParameterError(f"{path} is not a picture the page can hold; allowed: {', '.join(_TYPES)}.")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror or error}.") from error
        return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


@dataclass(frozen=True)
class Section:
    """An additional section of the page, after the verdict.

    Parameters
    ----------
    title : str
    text : str
    columns : sequence of str
        Headings of a table.
    rows : sequence of sequences
        Its rows; a cell may be text, a number or None.
    figures : sequence of Figure
    marks : tuple of (str, str)
        Words shown as a coloured label when a cell equals them, with their tone:
        ``good``, ``fair``, ``bad`` or ``muted``.
    folds : tuple of (str, int)
        Headings under which the rows are folded away, each with how many of the next rows it holds; none to show all.

    See Also
    --------
    build_report

    Examples
    --------
    >>> Section("Two claims", columns=("claim", "verdict"), rows=(("1", "kept"), ("2", "lost"))).title
    'Two claims'
    """

    title: str
    text: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    figures: Sequence[Figure] = ()
    marks: tuple[tuple[str, str], ...] = ()
    folds: tuple[tuple[str, int], ...] = ()


def _parts(section: Section) -> list[tuple[str, Sequence[Sequence[Any]]]]:
    """Return the rows of a section under the headings they are folded away under; all under none without folds."""
    ends = accumulate(size for _, size in section.folds)
    folded = [(name, section.rows[end - size : end]) for (name, size), end in zip(section.folds, ends, strict=True)]
    return folded or [("", section.rows)]


def _counted(section: Section, rows: Sequence[Sequence[Any]]) -> list[tuple[str, int, str]]:
    """Return the marked words among some rows of a section: each with how often it stands there and its tone."""
    cells = Counter(str(cell) for row in rows for cell in row)
    return [(word, cells[word], tone) for word, tone in section.marks if cells[word]]


def _anchor(section: Section) -> str:
    """Return the id of a section on the page."""
    return "section-" + re.sub(r"\W+", "-", section.title.lower()).strip("-")


def build_report(
    source: Any,
    path: str | os.PathLike[str],
    title: str | None = None,
    sections: Sequence[Section] = (),
    *,
    by: str | None = None,
    sets: GeneSets | None = None,
    genes: str = "rows",
    headline: str = "",
) -> Path:
    """Write a report as one self-contained HTML file, and the tables it shows as CSV files beside it.

    Parameters
    ----------
    source : path, Run, Evaluation or list of Evaluation
        A run folder (its path, or what :func:`bivaluate.sweep.load_run` returns), one evaluation, or a list of
        evaluations from :func:`bivaluate.evaluate`.
    path : path
    title : str, optional
        Heading of the page; named after the data if not given.
    sections : sequence of Section
    by : str, optional
        The measure that chooses the winner of the headline; by default the first main measure there is, which is the
        total evidence.
    sets : GeneSets, optional
        Gene sets to test the biclusters of drawn solutions for, with :func:`bivaluate.enrich`.
    genes : {"rows", "columns"}, default="rows"
        Where the genes are.
    headline : str, optional
        What the page begins with, in place of its own verdict, which then follows the sections.

    Returns
    -------
    Path
        The page; the tables stand beside it.

    Raises
    ------
    ParameterError, FileError
        If `source` cannot be reported, `by` cannot rank solutions or was not computed, the gene sets share no gene
        with a matrix, or a file cannot be written.

    See Also
    --------
    evaluate, load_run

    Examples
    --------
    >>> build_report(evaluate(X, S), "report.html").name
    'report.html'
    """
    from bivaluate.report.page import make_page
    from bivaluate.report.source import read_source

    found = read_source(source)
    if sets is not None:
        found = found.with_sets(sets, genes)
    page = make_page(found, title, by)
    target = Path(path)
    beside = {name: target.with_suffix(f".{name}.csv") for name in page.tables}
    names = [f".{name}.csv" for name in beside]
    write_whole(target, render(page, sections, found.rerun, found.provenance, names, headline))
    for name, file in beside.items():
        write_whole(file, table_text(page.tables[name]))
    return target


def write_multiqc(path: Path, evaluations: Sequence[Evaluation]) -> None:
    """Write the main scores and the verdicts as a table for MultiQC, which looks for names ending in ``_mqc.json``."""
    named = {str(e.solution.info.get("name", "solution")): e for e in evaluations}
    shown = [metric for metric in main_metrics() if metric.key in evaluations[0].scores]
    document = {
        "id": "bivaluate",
        "section_name": "bivaluate",
        "description": "Are the biclusters coherent, distinct and worth speaking of? "
        + " ".join(f"{name}: {e.verdict.headline}" for name, e in named.items()),
        "plot_type": "table",
        "pconfig": {"id": "bivaluate_scores", "title": "bivaluate: scores of solutions"},
        "headers": {metric.key: {"title": metric.symbol, "description": metric.summary} for metric in shown},
        "data": {
            name: {m.key: e.scores[m.key] for m in shown if math.isfinite(e.scores[m.key])} for name, e in named.items()
        },
    }
    write_whole(path, json.dumps(document, indent=1) + "\n")


def render(
    page: Page,
    sections: Sequence[Section] = (),
    rerun: str = "",
    provenance: Any = None,
    tables: Any = (),
    first: str = "",
) -> str:
    """Return the page as HTML; `tables` are the endings of the files beside it, `first` is what it begins with."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from bivaluate import __version__
    from bivaluate._glossary import GLOSSARY
    from bivaluate.judge.verdict import columns
    from bivaluate.report.methods import BETTER, describe_methods, formulas, methods_text, references
    from bivaluate.report.page import bicluster_measures

    look: dict[str, Any] = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    loader = PackageLoader("bivaluate.report", "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, **look)
    environment.filters |= {"number": number, "percent": percent, "symbol": symbol, "tidy": tidy, "said": _said}
    environment.filters |= {"anchor": _anchor, "parts": _parts, "counted": _counted, "broken": _broken}
    symbols = {key: record.symbol for key, record in RECORDS.items()}
    remarks = re.compile(rf"\b({'|'.join(symbols[key] for key in ('nve', 'nsr', 've'))})\b|\bstored\b")
    environment.tests["of_measures"] = lambda text: " prefer" not in text and remarks.search(text)  # for specialists
    environment.globals |= {"columns": columns, "tones": TONES, "glossary": GLOSSARY}
    environment.globals |= {"better": BETTER, "formulas": formulas(), "is_number": _is_number, "version": __version__}
    methods = describe_methods(page.measures)
    menu: dict[str, str] = {}
    for section in sections:  # those of several solutions, "title: solution", have one entry
        menu.setdefault(section.title.partition(": ")[0], _anchor(section))
    return environment.get_template("report.html.j2").render(
        page=page,
        sections=sections,
        menu=menu,
        style=_static("report.css"),
        scripts=[_static(name) for name in ("d3.min.js", *SCRIPTS)],
        data=embed(dict(page.data) | {"bicluster_measures": bicluster_measures(), "symbols": symbols}),
        methods=methods,
        references=references(methods),
        methods_text=methods_text(methods, __version__, rerun),
        rerun=rerun,
        tables=tables,
        headline=first,
        many=len(page.data["groups"]) != 1,
        provenance=provenance or {},
    )


def _broken(text: str) -> Markup:
    """Return a text that may break behind the marks within long names, and never within a number."""
    return Markup(re.sub(r"(?<=\w[_.:/-])(?=[^\W\d])", "<wbr>", str(escape(text))))


def _said(text: str) -> str:
    """Return a sentence in the words of commands, which the page names throughout."""
    return text.said(lambda name: None) if isinstance(text, Advice) else str(text)


def _static(name: str) -> str:
    text = (files("bivaluate.report") / "static" / name).read_text(encoding="utf-8")
    return re.sub(r"</(script|style)", r"<\\/\1", text, flags=re.IGNORECASE)


def embed(data: Any) -> str:
    """Return JSON that is safe inside a script element: no label can end it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def tidy(text: str) -> Markup:
    """Escape a text, keep a number and its unit on one line, set the index of a symbol low and commands as code."""
    joined = re.sub(r"(?<=\d) (?=%)|(?<=\b[Kp]) (?==)|(?<==) (?=\d)", "\u00a0", text)
    lowered = _indexed_symbols().sub(lambda found: "{}<sub>{}</sub>".format(*found[0].split("_")), str(escape(joined)))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", lowered))


@cache
def _indexed_symbols() -> re.Pattern[str]:
    """Return what finds the symbols of measures that have an index, as NVE_cov does."""
    return re.compile("|".join(rf"\b{r.symbol}\b" for key, r in RECORDS.items() if "_" in r.symbol and r.symbol != key))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
