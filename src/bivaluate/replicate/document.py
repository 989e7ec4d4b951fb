"""REPLICATION.md, made from the files of a replication and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bivaluate._errors import FileError
from bivaluate.datasets.published import PAPER
from bivaluate.replicate.claims import GROUPS, order
from bivaluate.replicate.evidence import Evidence
from bivaluate.replicate.explanations import explanations
from bivaluate.replicate.figures import CAPTIONS
from bivaluate.replicate.inconsistencies import inconsistencies
from bivaluate.replicate.markdown import table, tidy
from bivaluate.replicate.profile import PROFILES
from bivaluate.replicate.verdict import VERDICTS
from bivaluate.replicate.wording import depends_words, headline_words, measured_words, verdict_counts

if TYPE_CHECKING:
    import pandas as pd

MARKS = {"reproduced": "✔", "partly": "◐", "not reproduced": "✘", "not testable": "–"}


def render(folder: Path) -> str:
    """Return the text of REPLICATION.md for the files in `folder`; links are relative to its parent."""
    claims = _read(folder, "claims").to_dict("records")
    provenance = json.loads(_text(folder / "provenance.json"))
    parts = [
        *_opening(claims, provenance),
        *_summary(claims),
        *_figure(folder, "fig_winners"),
        "## What was not reproduced",
        "",
        *_failures(claims),
        "## Why",
        "",
        *(f"- {sentence}" for sentence in explanations(Evidence.read(folder))),
        "",
        "## What depends on a convention or on a seed",
        "",
        *_dependence(claims),
        "## Claim by claim",
        "",
        *_legend(provenance),
        *(line for group in GROUPS for line in _group(group, claims)),
        "## The paper's tables beside ours",
        "",
        *_tables(folder),
        "## Figures",
        "",
        *(line for name in CAPTIONS if name != "fig_winners" for line in _figure(folder, name)),
        "## The paper's own inconsistencies",
        "",
        *(f"- {sentence}" for sentence in inconsistencies()),
        "",
        "## How this was made",
        "",
        *_provenance(folder, provenance),
    ]
    return "\n".join(parts).rstrip() + "\n"


def headline(folder: Path) -> str:
    """Return one sentence with the number of claims per verdict."""
    return headline_words(_read(folder, "claims").to_dict("records"))


def _opening(claims: list[dict[Any, Any]], provenance: dict[str, Any]) -> list[str]:
    return [
        "# Replication",
        "",
        "<!-- Written by `bivaluate replicate`; do not edit. -->",
        "",
        f"Does the paper hold up? ({PAPER}.) Every table, figure and claim of it was run again with "
        f"`{provenance['command']}`. {headline_words(claims)}",
        "",
        "Two things to know before reading on:",
        "",
        "- The paper does not give its generators. The ten scenarios here were calibrated to the numbers it prints, so "
        "agreement with the planted table (claim 4) is a fit, not a confirmation. Directions, algorithm results and "
        "everything on yeast were not fitted, except that S2 was also chosen to resemble claim 2.",
        "- The rules were fixed in code before the first run; only the shares the paper does not print (claims 7.2, 7.4 "
        "and 7.6, not testable) were added after it. A printed number is reproduced when it lies in the 95 % "
        "interval of one further seed; a direction when it holds in at least 90 % of the seeds, partly when in at least 50 %. "
        "A wide interval is a weak confirmation: see the column “depends on”.",
        "",
    ]


def _summary(claims: list[dict[Any, Any]]) -> list[str]:
    rows = []
    for group, title in GROUPS.items():
        members = [claim for claim in claims if order(claim["claim"])[0] == group]
        counts = verdict_counts(members)
        rows.append([str(group), title, *(str(counts[v] or "") for v in VERDICTS)])
    return [*table(["", "claim", *VERDICTS], rows), ""]


def _failures(claims: list[dict[Any, Any]]) -> list[str]:
    rows = [
        [claim["claim"], claim["sentence"], str(claim["paper"]), measured_words(claim)]
        for claim in claims
        if claim["verdict"] == "not reproduced"
    ]
    return [*table(["", "claim", "paper", "measured [95 %]"], rows), ""] if rows else ["Nothing.", ""]


def _dependence(claims: list[dict[Any, Any]]) -> list[str]:
    conventional = [claim for claim in claims if claim["depends on convention"] == "yes"]
    seeded = [claim for claim in claims if claim["depends on seed"] == "yes"]
    lines = [
        f"{len(conventional)} of {len(claims)} verdicts change with a convention the paper leaves open, {len(seeded)} checks "
        "vary with the seed. The conventions:",
        "",
        *(f"- **{profile.name}**: {profile.words}." for profile in PROFILES.values()),
        "",
    ]
    if conventional:
        rows = [[c["claim"], c["sentence"], c["verdict"], c["verdict with our defaults"]] for c in conventional]
        lines += [*table(["claim", "", "paper's conventions", "our defaults"], rows), ""]
    return lines


def _legend(provenance: dict[str, Any]) -> list[str]:
    return [
        f"**Seeds.** Planted solutions: seeds 0 to {provenance['planted_seeds'] - 1}. Scenarios: matrices of seeds 0 to "
        f"{provenance['scenario_seeds'] - 1}, algorithms with random_state 42; “other seeds” runs the algorithms with the "
        "seed of the matrix. Yeast: algorithm seeds "
        f"{', '.join(map(str, provenance['yeast_seeds'])) or 'none'}; “seed 42” is the paper's. Verdicts are under the "
        "paper's conventions. For directions, “measured” is the share of seeds in which they hold.",
        "",
    ]


def _group(group: int, claims: list[dict[Any, Any]]) -> list[str]:
    members = [claim for claim in claims if order(claim["claim"])[0] == group]
    rows = [
        [
            claim["claim"],
            claim["sentence"] + (f" *({claim['reading']})*" if claim["reading"] else ""),
            str(claim["paper"]),
            measured_words(claim),
            str(claim["with seed 42"]),
            f"{MARKS[claim['verdict']]} {claim['verdict']}",
            depends_words(claim),
        ]
        for claim in members
    ]
    headings = ["", "claim", "paper", "measured [95 %]", "seed 42", "verdict", "depends on"]
    if not any(row[4] for row in rows):
        headings, rows = headings[:4] + headings[5:], [row[:4] + row[5:] for row in rows]
    sources = ", ".join(dict.fromkeys(claim["source"] for claim in members))
    return [f"### {group}. {GROUPS[group]}", "", f"Source: {sources}.", "", *table(headings, rows), ""]


def _tables(folder: Path) -> list[str]:
    titles = {
        "table_winners": "Scenarios won of ten, mean over seeds, under each convention, algorithms with random_state 42; the "
        "file also has them with the seed of the matrix.",
        "table_planted": "Targeted NSR diagnostic on the planted solutions.",
        "table_k_picks": "Chosen K in the yeast K-sweeps. “other seeds” counts how often each K is chosen.",
        "table_different_k": "Share of data set–algorithm pairs in which NVE_cov chooses another K.",
        "table_favourites": "Yeast data sets on which each algorithm is best over all K (mean over seeds, and seed 42).",
        "table_scenarios": "Scenario summary.",
    }
    lines = []
    for name, title in titles.items():
        frame = _read(folder, name)
        if name == "table_winners":
            frame = frame[frame["algorithm seed"] == "fixed"].drop(columns="algorithm seed")
        lines += [f"**{title}** [`{name}.csv`]({folder.name}/{name}.csv)", ""]
        rows = [[tidy(value) for value in row] for row in frame.itertuples(index=False)]
        lines += [*table([str(c) for c in frame.columns], rows), ""] if rows else ["Not run.", ""]
    return lines


def _figure(folder: Path, name: str) -> list[str]:
    if not (folder / f"{name}.png").exists():
        return []
    caption = CAPTIONS[name]
    return [f"![{caption}]({folder.name}/{name}.png)", "", f"*{caption}* [SVG]({folder.name}/{name}.svg)", ""]


def _provenance(folder: Path, provenance: dict[str, Any]) -> list[str]:
    packages = ", ".join(f"{name} {version}" for name, version in provenance["packages"].items())
    files = ["planted", "checks", "matched", "biclusters", "yeast", "claims", "table_yeast_choices"]
    links = ", ".join(f"[{name}.csv]({folder.name}/{name}.csv)" for name in files)
    notes = [f"- {note}" for note in provenance["notes"]]
    return [
        f"`{provenance['command']}` with bivaluate {provenance['bivaluate']}, Python {provenance['python']}, {packages}.",
        f"Everything above is computed from these files: {links}.",
        "",
        *notes,
    ]


def _read(folder: Path, name: str) -> pd.DataFrame:
    import pandas as pd

    path = folder / f"{name}.csv"
    try:
        frame = pd.read_csv(path, dtype={"claim": str, "paper": str, "with seed 42": str, "seed 42": str})
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}.") from error
    words = frame.columns[[not pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes]]
    frame[words] = frame[words].fillna("")
    return frame


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}.") from error
