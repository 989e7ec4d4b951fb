"""The figures of the benchmark's page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bivaluate.benchmark.answer import names_of

if TYPE_CHECKING:
    import pandas as pd


def draw_measures(table: pd.DataFrame, stem: Path) -> list[Path]:
    """Draw the rank correlation of every measure with the truth, with its interval."""
    from matplotlib.figure import Figure

    from bivaluate.plots import save, style

    known = table[table["solutions"].notna()].iloc[::-1]
    middle, low, high = (known[f"solutions{end}"].to_numpy(dtype=np.float64) for end in ("", "_low", "_high"))
    figure = Figure(figsize=(6.5, 0.22 * len(known) + 1.0), layout="constrained")
    ax = figure.subplots()
    places = np.arange(len(known))
    reach = np.stack([middle - low, high - middle])
    ax.errorbar(middle, places, xerr=reach, fmt="o", color=style.series_colour(0), capsize=2, ms=4)
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.set_yticks(places, names_of(map(str, known["measure"])))
    ax.set_xlabel("rank correlation with the truth")
    return save(figure, stem)


def draw_domains(table: pd.DataFrame, stem: Path) -> list[Path]:
    """Draw the rank correlation of every measure with the truth in every domain as a coloured table."""
    from matplotlib.figure import Figure

    from bivaluate.plots import save, style

    known = table[table["mean"].notna()]
    domains = [name for name in table.columns if name != "measure"]
    values = known[domains].to_numpy(dtype=np.float64)
    figure = Figure(figsize=(1.6 + 0.75 * len(domains), 0.22 * len(known) + 1.0), layout="constrained")
    ax = figure.subplots()
    image = ax.imshow(values, cmap=style.DIVERGING, vmin=-1.0, vmax=1.0, aspect="auto")
    for i, j in zip(*np.nonzero(np.isfinite(values)), strict=True):
        colour = "white" if abs(values[i, j]) > 0.6 else "black"
        ax.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", fontsize=7, color=colour)
    ax.set_xticks(range(len(domains)), domains, rotation=40, ha="right")
    ax.set_yticks(range(len(known)), names_of(map(str, known["measure"])))
    figure.colorbar(image, ax=ax, label="rank correlation with the truth")
    return save(figure, stem)
