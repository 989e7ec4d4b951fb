"""REPLICATION.md, made from the files of a replication and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bivaluate._text import listing
from bivaluate.datasets.published import PAPER
from bivaluate.replicate.claim_evidence import TABLES, Evidence, read_csv
from bivaluate.replicate.claim_rules import ENOUGH, FITTED, HALF, IMPLIED, INDEPENDENT, MOST, REPRODUCED, VERDICTS, WIDE
from bivaluate.replicate.claims import GROUPS, order
from bivaluate.replicate.figures import CAPTIONS
from bivaluate.replicate.profile import PROFILES
from bivaluate.replicate.reasons import explanations, inconsistencies, truth_finding

if TYPE_CHECKING:
    import pandas as pd

MARKS = {"reproduced": "✔", "partly": "◐", "not reproduced": "✘", "uninformative": "?", "not testable": "–"}
Claims = Sequence[dict[Any, Any]]


def render(folder: Path) -> str:
    """Return the text of REPLICATION.md for the files in `folder`; links are relative to its parent."""
    claims = _read(folder, "claims").to_dict("records")
    provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    parts = [
        *_opening(claims, provenance),
        *_summary(claims),
        *_figure(folder, "fig_winners"),
        "## Is the winner nearer to the truth?",
        "",
        *_truth(folder),
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
    """Return how many claims have each verdict, those the scenarios were fitted to apart."""
    return headline_words(_read(folder, "claims").to_dict("records"))


def headline_words(claims: Claims) -> str:
    """Return how many claims have each verdict, those the scenarios were fitted to apart.

    >>> headline_words([{"verdict": "partly", "basis": "independent"}, {"verdict": "reproduced", "basis": "fitted"}])
    'Of 2 checks, 1 is independent: 0 reproduced, 1 partly, 0 not reproduced, 0 uninformative, 0 not testable. Of the 1 whose numbers the scenarios were fitted to, or that follow from such numbers, 1 is reproduced.'
    """  # noqa: W505
    counts = verdict_counts([claim for claim in claims if claim["basis"] == INDEPENDENT])
    n, fitted = sum(counts.values()), verdict_counts([claim for claim in claims if claim["basis"] != INDEPENDENT])
    met = fitted[REPRODUCED]
    return (
        f"Of {len(claims)} checks, {n} {_be(n)} independent: {', '.join(f'{counts[v]} {v}' for v in VERDICTS)}. Of the "
        f"{sum(fitted.values())} whose numbers the scenarios were fitted to, or that follow from such numbers, {met} "
        f"{_be(met)} reproduced."
    )


def short_headline(claims: Claims) -> str:
    """Return what the independent checks say, in one sentence.

    >>> short_headline([{"verdict": verdict, "basis": "independent"} for verdict in ("reproduced", "partly")])
    'Of 2 independent checks of the paper, 1 is reproduced and 1 partly.'
    """
    counts = verdict_counts([claim for claim in claims if claim["basis"] == INDEPENDENT])
    reproduced = counts.pop(REPRODUCED)
    said = [f"{reproduced} {_be(reproduced)} {REPRODUCED}", *(f"{n} {verdict}" for verdict, n in counts.items() if n)]
    total = reproduced + sum(counts.values())
    return f"Of {total} independent checks of the paper, {listing(said)}."


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def verdict_counts(claims: Claims) -> dict[str, int]:
    """Return how many claims have each verdict."""
    counts = Counter(claim["verdict"] for claim in claims)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def measured_words(claim: dict[Any, Any]) -> str:
    """Return what was measured, with its interval: a mean, or in how many seeds a direction holds."""
    if not int(claim["seeds"]):
        return "not run"
    if claim["kind"] == "direction":
        share = float(claim["measured"])
        low, high = 100 * float(claim["low"]), 100 * float(claim["high"])
        return f"{share * claim['seeds']:.0f} of {claim['seeds']} seeds [{low:.0f} %, {high:.0f} %]"
    words = f"{tidy(claim['measured'])} [{tidy(claim['low'])}, {tidy(claim['high'])}]"
    if int(claim["undefined seeds"]):
        words += f", undefined in {claim['undefined seeds']} of {claim['seeds']}"
    return words


def depends_words(claim: dict[Any, Any]) -> str:
    """Return what the verdict depends on."""
    words = [name for name in ("convention", "seed") if claim[f"depends on {name}"] == "yes"]
    return ", ".join(words) or "–"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table.

    >>> table(["a", "b"], [["1", "x|y"]])
    ['| a | b |', '|---|---|', '| 1 | x\\\\|y |']
    """
    lines = [_line(headings), "|" + "---|" * len(headings)]
    return lines + [_line(row) for row in rows]


def frame_table(frame: pd.DataFrame) -> list[str]:
    """Return the lines of a Markdown table with the content of a DataFrame."""
    rows = [[tidy(value) for value in row] for row in frame.itertuples(index=False)]
    return table([str(column) for column in frame.columns], rows)


def tidy(value: Any) -> str:
    """Return a cell as text: numbers with four significant digits, nothing for undefined.

    >>> tidy(0.123456), tidy(12.0), tidy(float("nan")), tidy("S1"), tidy("0.0021")
    ('0.1235', '12', '', 'S1', '0.0021')
    """
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _opening(claims: Claims, provenance: dict[str, Any]) -> list[str]:
    return [
        "# Replication",
        "",
        "<!-- Written by `bivaluate replicate`; do not edit. -->",
        "",
        f"Does the paper hold up? ({PAPER}.) Every table, figure and claim of it was run again with "
        f"`{provenance['command']}`. {headline_words(claims)}",
        "",
        "What to know before reading on:",
        "",
        "- **Fitted or independent.** The paper does not give its generators. The ten scenarios here were calibrated to the "
        "numbers it prints: the planted table (claim 4) and S2 at matched K (claim 2) are *fitted*, and directions that "
        "follow from those numbers are *implied*; their agreement does not confirm the paper. Everything else is *independent*, and "
        "only that is counted first.",
        "- **A number** is reproduced when it lies in the 95 % interval of one further seed. An interval that holds it but "
        f"reaches further than ±{100 * WIDE:.0f} % of it would hold many other numbers too: uninformative.",
        f"- **A direction** is reproduced when it holds in at least {100 * MOST:.0f} % of the seeds, partly when in at least "
        f"{100 * HALF:.0f} %.",
        f"- **Few seeds** decide nothing: below {ENOUGH} every verdict is uninformative, whether the seeds agree with the "
        "paper or not, so the quick form never looks better than the full one.",
        "- **Not testable** are numbers the paper does not print, and words such as “many” that need a threshold of ours; "
        "what was measured is shown all the same.",
        "- The rules for numbers and directions were fixed in code before the first run; uninformative verdicts, the count of "
        "fitted claims, the rule that nobody wins where all tie (which changes only the shares of claim 7), and claims 1.10, "
        "1.11, 5.6, 5.7, 7.2, 7.4, 7.6, 10.3 to 10.5 and 14.4 were added after it.",
        "",
    ]


def _truth(folder: Path) -> list[str]:
    frame = _read(folder, "table_truth")
    if not len(frame):
        return ["Not run.", ""]
    link = f"[`table_truth.csv`]({folder.name}/table_truth.csv)"
    ours = " `find` is our own search, not one of the paper's: it is compared with the nearest of the paper's three."
    note = (
        "CE: clustering-error similarity to the planted biclusters, 1 at best. A case is a scenario and a seed."
        f"{ours if frame['answer'].str.startswith('find').any() else ''} {link}"
    )
    return [truth_finding(frame.to_dict("records")), "", *frame_table(frame), "", note, ""]


def _summary(claims: Claims) -> list[str]:
    rows = []
    for group, title in GROUPS.items():
        members = [claim for claim in claims if order(claim["claim"])[0] == group]
        counts = verdict_counts(members)
        fitted = sum(claim["basis"] != INDEPENDENT for claim in members)
        rows.append([str(group), title, *(str(counts[v] or "") for v in VERDICTS), str(fitted or "")])
    return [*table(["", "claim", *VERDICTS, f"of all, {FITTED} or {IMPLIED}"], rows), ""]


def _failures(claims: Claims) -> list[str]:
    rows = [
        [claim["claim"], claim["sentence"], str(claim["paper"]), measured_words(claim)]
        for claim in claims
        if claim["verdict"] == "not reproduced"
    ]
    return [*table(["", "claim", "paper", "measured [95 %]"], rows), ""] if rows else ["Nothing.", ""]


def _dependence(claims: Claims) -> list[str]:
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


def _group(group: int, claims: Claims) -> list[str]:
    members = [claim for claim in claims if order(claim["claim"])[0] == group]
    rows = [
        [
            claim["claim"],
            claim["sentence"] + (f" *({claim['reading']})*" if claim["reading"] else ""),
            claim["basis"],
            str(claim["paper"]),
            measured_words(claim),
            str(claim["with seed 42"]),
            f"{MARKS[claim['verdict']]} {claim['verdict']}",
            depends_words(claim),
        ]
        for claim in members
    ]
    headings = ["", "claim", "basis", "paper", "measured [95 %]", "seed 42", "verdict", "depends on"]
    if not any(row[5] for row in rows):
        headings, rows = headings[:5] + headings[6:], [row[:5] + row[6:] for row in rows]
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
        lines += [*frame_table(frame), ""] if len(frame) else ["Not run.", ""]
    return lines


def _figure(folder: Path, name: str) -> list[str]:
    if not (folder / f"{name}.png").exists():
        return []
    caption = CAPTIONS[name]
    return [f"![{caption}]({folder.name}/{name}.png)", "", f"*{caption}* [SVG]({folder.name}/{name}.svg)", ""]


def _provenance(folder: Path, provenance: dict[str, Any]) -> list[str]:
    packages = ", ".join(f"{name} {version}" for name, version in provenance["packages"].items())
    files = [*TABLES, "claims", "table_yeast_choices"]
    links = ", ".join(f"[{name}.csv]({folder.name}/{name}.csv)" for name in files)
    notes = [f"- {note}" for note in provenance["notes"]]
    return [
        f"`{provenance['command']}` with bivaluate {provenance['bivaluate']}, Python {provenance['python']}, {packages}.",
        f"Everything above is computed from these files: {links}.",
        "",
        *notes,
    ]


def _read(folder: Path, name: str) -> pd.DataFrame:
    """Read a table in which words stay words, and nothing is said where a word is missing."""
    words = ("claim", "paper", "with seed 42", "seed 42")
    frame = read_csv(folder / f"{name}.csv", dtype=dict.fromkeys(words, str))
    plain = frame.select_dtypes(exclude="number").columns
    frame[plain] = frame[plain].fillna("")
    return frame
