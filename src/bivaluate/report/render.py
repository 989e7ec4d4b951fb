"""Write the page: one HTML file with everything in it."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from bivaluate._errors import FileError
from bivaluate._text import number, percent

if TYPE_CHECKING:
    from bivaluate.report.model import Page
    from bivaluate.report.sections import Section

SCRIPTS = ("table.js", "chart.js", "compare.js", "heatmap.js", "solution.js", "page.js")


def build_report(
    source: Any, path: str | os.PathLike[str], title: str | None = None, sections: Sequence[Section] = ()
) -> Path:
    """Write a report as one self-contained HTML file.

    Parameters
    ----------
    source
        A run folder (its path, or what :func:`bivaluate.sweep.load_run` returns), one evaluation, or a
        list of evaluations from :func:`bivaluate.evaluate`.
    path
        The file to write.
    title
        Heading of the page; named after the data if not given.
    sections
        Sections to add after the verdict.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> import bivaluate
    >>> X = [[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7], [6, 1, 2, 4]]
    >>> S = bivaluate.Biclustering([([0, 1, 2], [0, 1, 2]), ([2, 3], [0, 1, 3])], (4, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     build_report(bivaluate.evaluate(X, S), f"{folder}/report.html").name
    'report.html'
    """
    from bivaluate.report.model import make_page
    from bivaluate.report.source import read_source

    found = read_source(source)
    page = make_page(found, title)
    html = render(page, sections, rerun=found.rerun, provenance=dict(found.provenance))
    target = Path(path)
    try:
        target.write_text(html, encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {target}: {error.strerror or error}.") from error
    return target


def render(
    page: Page, sections: Sequence[Section] = (), *, rerun: str = "", provenance: dict[str, str] | None = None
) -> str:
    """Return the page as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from bivaluate import __version__
    from bivaluate.report.methods import describe_methods, methods_text, references
    from bivaluate.report.model import bicluster_measures

    environment = Environment(
        loader=PackageLoader("bivaluate.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "percent": percent, "tidy": tidy}
    methods = describe_methods(page.measures)
    return environment.get_template("report.html.j2").render(
        page=page,
        sections=sections,
        style=_static("report.css"),
        scripts=[_static(name) for name in ("d3.min.js", *SCRIPTS)],
        data=embed(dict(page.data) | {"bicluster_measures": bicluster_measures()}),
        methods=methods,
        references=references(methods),
        methods_text=methods_text(methods, __version__, rerun),
        rerun=rerun,
        provenance=provenance or {},
        version=__version__,
        is_number=_is_number,
    )


def _static(name: str) -> str:
    text = (files("bivaluate.report") / "static" / name).read_text(encoding="utf-8")
    return re.sub(r"</(script|style)", r"<\\/\1", text, flags=re.IGNORECASE)


def embed(data: Any) -> str:
    """Return JSON that is safe inside a script element: no label can end it.

    >>> embed({"label": "</script><b>"})
    '{"label":"\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def tidy(text: str) -> Markup:
    """Escape a text, keep a number and its unit on one line, and set the index of a symbol low.

    >>> tidy("NVE_cov < 5 %")
    Markup('NVE<sub>cov</sub> &lt; 5\xa0%')
    """
    joined = re.sub(r"(?<=\d) (?=%)|(?<=K) (?==)|(?<==) (?=\d)", "\u00a0", text)
    return Markup(re.sub(r"\b(NVE|NSR|CR)_([a-z]+)\b", r"\1<sub>\2</sub>", str(escape(joined))))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
