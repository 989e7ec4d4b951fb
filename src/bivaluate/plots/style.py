"""Every colour, line and size of every figure, in one place; colour-blind safe throughout."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from bivaluate._types import Axes, Figure

P = ParamSpec("P")
R = TypeVar("R")

INK, QUIET, RULE, FAINT, OUTLINE = "#222222", "#6b6b6b", "#d9d9d9", "#f2f2f2", "#000000"
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, AMBER, YELLOW = "#56B4E9", "#E69F00", "#F0E442"
CYCLE = (BLUE, ORANGE, GREEN, PINK, SKY, AMBER, INK, YELLOW)
MARKERS = "os^DvPX*"

#: Map for signed values: blue below zero, white at zero, red above.
DIVERGING = "RdBu_r"
#: Map for amounts: light is little, dark is much.
SEQUENTIAL = "Blues"

#: Colour, marker and dash of each algorithm; others follow `CYCLE`.
ALGORITHMS: dict[str, tuple[str, str, str]] = {
    "cca": (BLUE, "o", "-"),
    "las": (ORANGE, "s", "--"),
    "spectral": (GREEN, "^", "-."),
}

COLUMN_WIDTH, PAGE_WIDTH = 3.5, 7.2

_TICKS = {"labelsize": 7.5, "color": QUIET, "labelcolor": INK, "major.width": 0.7}
_TITLES = {"titlesize": 8.5, "titleweight": "bold", "titlelocation": "left", "labelsize": 8.0, "labelcolor": INK}
_FRAME = {"edgecolor": QUIET, "linewidth": 0.7, "spines.top": False, "spines.right": False, "axisbelow": True}
_GROUPS: dict[str, dict[str, Any]] = {
    "font": {"family": "sans-serif", "sans-serif": ["DejaVu Sans"], "size": 8.0},
    "axes": _TITLES | _FRAME,
    "xtick": _TICKS,
    "ytick": _TICKS,
    "text": {"color": INK},
    "lines": {"linewidth": 1.4, "markersize": 4.5},
    "legend": {"fontsize": 7.5, "frameon": False},
    "grid": {"color": RULE, "linewidth": 0.6},
    "hatch": {"linewidth": 0.6},
    "figure": {"facecolor": "white"},
    "svg": {"hashsalt": "bivaluate", "fonttype": "path"},
    "savefig": {"dpi": 200},
}
RC: Any = {f"{group}.{name}": value for group, own in _GROUPS.items() for name, value in own.items()}


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function under the house style, leaving matplotlib's own settings alone."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        from matplotlib import rc_context

        with rc_context(RC):
            return draw(*args, **kwargs)

    return wrapper


@styled
def new_figure(width: float = COLUMN_WIDTH, height: float = 2.6) -> Figure:
    """Return an empty figure in the house style, sized in inches; a notebook shows it, with or without pyplot."""
    return _figure_class()(figsize=(width, height), layout="constrained")


@functools.cache
def _figure_class() -> type[Figure]:
    """Return matplotlib's figure with a picture for notebooks, which otherwise only pyplot's figures have."""
    import io

    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    return ShownFigure


@styled
def new_grid(rows: int, cols: int, width: float, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure in the house style and its axes, row by row; `options` go to ``Figure.subplots``."""
    figure = new_figure(width, height)
    return figure, list(figure.subplots(rows, cols, squeeze=False, **options).flat)


@styled
def new_axes(ax: Axes | None = None, width: float = COLUMN_WIDTH, height: float = 2.6) -> Axes:
    """Return `ax`, or the only axes of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def write_cells(ax: Axes, values: Any, dark_from: float, text: str = "{:.2f}") -> None:
    """Write the numbers of a matrix into its cells, in white on dark ones; what is undefined stays empty."""
    for y, line in enumerate(values):
        for x, value in enumerate(line):
            if value == value:
                colour = "white" if abs(value) > dark_from else INK
                ax.text(x, y, text.format(value), ha="center", va="center", fontsize=7.0, color=colour)


def mark_best(ax: Axes, x: float, y: float) -> None:
    """Draw a ring around the best point."""
    ax.plot(x, y, "o", clip_on=False, markersize=10, fillstyle="none", color=QUIET, markeredgewidth=1.0)


@styled
def legend_above(figure: Figure, ax: Axes) -> None:
    """Put one legend for the whole figure above it, with the entries of `ax`."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), handlelength=2.4)


@styled
def save(figure: Figure, stem: str | Path) -> list[Path]:
    """Write a figure as SVG and PNG beside each other; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    stem : str or Path
        The path without an extension.

    Returns
    -------
    list of Path
        The two files.

    See Also
    --------
    bivaluate.Evaluation.plot

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> [path.name for path in save(Figure(), f"{tempfile.mkdtemp()}/empty")]
    ['empty.svg', 'empty.png']
    """
    paths = [Path(f"{stem}.svg"), Path(f"{stem}.png")]
    figure.savefig(paths[0], metadata={"Date": None, "Creator": None})
    figure.savefig(paths[1], metadata={"Software": None})
    return paths


def algorithm_style(key: str, others: Sequence[str] = ()) -> tuple[str, str, str]:
    """Return colour, marker and dash of an algorithm; one not in `ALGORITHMS` takes its turn among `others`."""
    if key in ALGORITHMS:
        return ALGORITHMS[key]
    unknown = [other for other in others if other not in ALGORITHMS]
    turn = unknown.index(key) if key in unknown else 0
    return series_colour(3 + turn), series_marker(3 + turn), (":", "-", "--")[turn % 3]


def line_style(key: str, others: Sequence[str] = ()) -> dict[str, Any]:
    """Return the same as options of a line."""
    return dict(zip(("color", "marker", "linestyle"), algorithm_style(key, others), strict=True))


def series_colour(position: int) -> str:
    """Return the colour of the series at this position; after the last colour the first one comes again."""
    return CYCLE[position % len(CYCLE)]


def series_marker(position: int) -> str:
    """Return the marker of the series at this position."""
    return MARKERS[position % len(MARKERS)]


def measure_label(key: str) -> str:
    """Return the symbol of a measure as figures print it."""
    from bivaluate.registry import symbol

    name, _, index = symbol(key).partition("_")
    return rf"{name}$_{{\mathrm{{{index}}}}}$" if index else name
