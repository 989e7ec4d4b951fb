"""REPLICATION.md, made from the files of a replication and nothing else."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bivaluate._text import markdown_table
from bivaluate.datasets.published import PAPER
from bivaluate.replicate import claim_rules as rules
from bivaluate.replicate.claim_evidence import TABLES, Evidence, read_csv
from bivaluate.replicate.claim_rules import VERDICTS, margin_words
from bivaluate.replicate.claims import GROUPS, TEXT, claim_order
from bivaluate.replicate.profile import PROFILES
from bivaluate.replicate.reasons import READINGS, explanations, inconsistencies, second_reading, truth_finding

MARKS = dict(zip((*VERDICTS, rules.TOO_FEW), "✔◐✘≈?––", strict=True))
Claims = Sequence[dict[Any, Any]]


def render_document(folder: Path) -> str:
    """Return the text of REPLICATION.md for the files in `folder`; links are relative to its parent."""
    claims = _read(folder, "claims").to_dict("records")
    provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    evidence = Evidence.read(folder)
    sections = {
        "Is the winner nearer to the truth?": _truth(folder),
        "What was not reproduced": _failures(claims),
        "Why": [_bullets(explanations(evidence))],
        "What depends on a convention or on a seed": _dependence(claims),
        "Claim by claim": [_legend(provenance), *(part for group in GROUPS for part in _group(group, claims))],
        "The paper's tables beside ours": _tables(folder),
        "Figures": [part for name in TEXT["captions"] if name != "fig_winners" for part in _figure(folder, name)],
        "The paper's own inconsistencies": [_bullets(inconsistencies())],
        "How this was made": _provenance(folder, provenance),
    }
    first = [*_opening(claims, provenance, second_reading(evidence)), _summary(claims), *_figure(folder, "fig_winners")]
    parts = [*first, *(part for title, own in sections.items() for part in (f"## {title}", *own))]
    return "\n\n".join(filter(None, parts)) + "\n"


def _bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def replication_headline(folder: Path) -> str:
    """Return the result in two sentences: how many claims have each verdict, and what the second reading changes."""
    words = headline_words(_read(folder, "claims").to_dict("records"))
    return f"{words} {second_reading(Evidence.read(folder))}".strip()


def headline_words(claims: Claims) -> str:
    """Return how many claims have each verdict: the one count on the terminal, the page, README and documents."""
    classes = (rules.INDEPENDENT,), (rules.DESIGNED,), (rules.FITTED, rules.IMPLIED)
    groups = [[c for c in claims if c["basis"] in bases] for bases in classes]
    counts, designed, fitted = map(verdict_counts, groups)
    met, failed = counts.pop(rules.REPRODUCED), counts.pop(rules.NOT_REPRODUCED)
    others = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    return (
        f"{met} of {len(groups[0])} independent checks of the paper are reproduced and {failed} are not ({others}); of "
        f"{len(groups[1])} that depend on our scenarios {designed[rules.REPRODUCED]} are, and of {len(groups[2])} fitted to "
        f"its numbers or implied by them {fitted[rules.REPRODUCED]}."
    )


def full_words(claims: Claims, command: str) -> str:
    """Return which checks of the quick form need the full one; nothing in the full form."""
    ids = [str(c["claim"]) for c in claims if verdict_words(c) == rules.TOO_FEW]
    groups = ", ".join(dict.fromkeys(id_.partition(".")[0] for id_ in ids))
    need = f"{len(ids)} of {len(claims)} checks have {rules.TOO_FEW} in this run and need --full: claims {groups}."
    return "" if "--full" in command else need


def verdict_counts(claims: Claims) -> dict[str, int]:
    """Return how many claims have each verdict, and how many have too few seeds for one, if any."""
    counts = Counter(map(verdict_words, claims))
    return {verdict: counts[verdict] for verdict in VERDICTS} | {w: n for w, n in counts.items() if w == rules.TOO_FEW}


def verdict_words(claim: dict[Any, Any]) -> str:
    """Return the verdict on a claim, or that there are too few seeds for one."""
    return rules.TOO_FEW if claim["few seeds"] == "yes" else str(claim["verdict"])


def measured_words(claim: dict[Any, Any]) -> str:
    """Return what was measured, with its interval: a mean, or in how many seeds a direction or choice holds."""
    seeds, left_out = int(claim["seeds"]), int(claim["undefined seeds"])
    if not seeds:
        return "not run"
    if claim["kind"] == rules.NUMBER:
        words = f"{cell_text(claim['measured'])} [{cell_text(claim['low'])}, {cell_text(claim['high'])}]"
        return words + (f", undefined in {left_out} of {seeds}" if left_out else "")
    decided, cases = seeds - left_out, "rows" if claim_order(str(claim["claim"]))[0] == 17 else "seeds"
    words = f"0 of {seeds} {cases} decide it"
    if decided:
        low, high = 100 * float(claim["low"]), 100 * float(claim["high"])
        word = "deciding seeds" if left_out else cases
        words = f"{float(claim['measured']) * decided:.0f} of {decided} {word} [{low:.0f} %, {high:.0f} %]"
    return words + (f", margin {margin_words(float(claim['margin']))}" if claim["kind"] == rules.CHOICE else "")


def columns_words(claim: dict[Any, Any]) -> str:
    """Return verdict, what was measured and the paper's seed with VE along columns; nothing where it does not apply."""
    if not claim["verdict along columns"]:
        return ""
    value = float(claim["measured along columns"])
    said = [cell_text(value) if claim["kind"] == rules.NUMBER else f"{100 * value:.0f} %"] if value == value else []
    said += [f"margin {margin_words(float(claim['margin along columns']))}"] if claim["kind"] == rules.CHOICE else []
    said += [f"seed 42: {at_seed}"] if (at_seed := claim["with seed 42 along columns"]) else []
    return f"{claim['verdict along columns']} ({'; '.join(said)})"


def frame_table(frame: pd.DataFrame) -> str:
    """Return a Markdown table with the content of a DataFrame."""
    rows = [[cell_text(value) for value in row] for row in frame.itertuples(index=False)]
    return markdown_table([str(column) for column in frame.columns], rows)


def cell_text(value: Any) -> str:
    """Return a cell as text: numbers with four significant digits, nothing for undefined."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)


def _opening(claims: Claims, provenance: dict[str, Any], second: str) -> list[str]:
    numbers = {"wide": rules.WIDE, "most": rules.MOST, "half": rules.HALF, "close": rules.CLOSE}
    filled = {name: f"{100 * value:.0f}" for name, value in numbers.items()}
    filled |= {"enough": str(rules.ENOUGH), "readings": str(READINGS)}
    return [
        "# Replication",
        "<!-- Written by `bivaluate replicate`; do not edit. -->",
        full_words(claims, provenance["command"]),
        f"Does the paper hold up? ({PAPER}.) Every table, figure and claim of it was run again with "
        f"`{provenance['command']}`. {headline_words(claims)} {second}".rstrip(),
        "What to know before reading on:",
        _bullets([sentence.format(**filled) for sentence in TEXT["opening"].values()]),
    ]


def _truth(folder: Path) -> list[str]:
    frame = _read(folder, "table_truth")
    if not len(frame):
        return ["Not run."]
    link = f"[`table_truth.csv`]({folder.name}/table_truth.csv)"
    return [truth_finding(frame.to_dict("records")), frame_table(frame), f"{TEXT['legend']['truth']} {link}"]


def _summary(claims: Claims) -> str:
    rows, verdicts = [], list(verdict_counts(claims))
    for group, title in GROUPS.items():
        members = [claim for claim in claims if claim_order(claim["claim"])[0] == group]
        counts, bases = verdict_counts(members), Counter(claim["basis"] for claim in members)
        others = (bases[rules.DESIGNED], bases[rules.FITTED] + bases[rules.IMPLIED])
        rows.append([str(group), title, *(str(counts.get(v) or "") for v in verdicts), *(str(n or "") for n in others)])
    of_all = f"of all, {rules.DESIGNED}", f"{rules.FITTED} or {rules.IMPLIED}"
    return markdown_table(["", "claim", *verdicts, *of_all], rows)


def _failures(claims: Claims) -> list[str]:
    failed = [claim for claim in claims if claim["verdict"] == rules.NOT_REPRODUCED]
    said = {"": "claim", "claim": "sentence", "basis": "basis", "paper": "paper"}
    rows = [[*(str(c[name]) for name in said.values()), measured_words(c), columns_words(c)] for c in failed]
    return [markdown_table([*said, "measured [95 %]", "VE along columns"], rows) if rows else "Nothing."]


def _dependence(claims: Claims) -> list[str]:
    conventional, seeded = ([c for c in claims if c[f"depends on {name}"] == "yes"] for name in ("convention", "seed"))
    rows = [[c["claim"], c["sentence"], c["verdict"], c["verdict with our defaults"]] for c in conventional]
    return [
        f"{len(conventional)} of {len(claims)} verdicts change with a convention the paper leaves open, {len(seeded)} checks "
        "vary with the seed. The conventions:",
        _bullets([f"**{profile.name}**: {profile.words}." for profile in PROFILES.values()]),
        markdown_table(["claim", "", "printed formula", "our defaults"], rows) if rows else "",
    ]


def _legend(provenance: dict[str, Any]) -> str:
    planted, scenarios = provenance["planted_seeds"] - 1, provenance["scenario_seeds"] - 1
    yeast = ", ".join(map(str, provenance["yeast_seeds"])) or "none"
    return str(TEXT["legend"]["seeds"].format(planted=planted, scenarios=scenarios, yeast=yeast))


def _group(group: int, claims: Claims) -> list[str]:
    members = [claim for claim in claims if claim_order(claim["claim"])[0] == group]
    columns: dict[str, Callable[[dict[Any, Any]], str]] = {
        "": lambda c: c["claim"],
        "claim": lambda c: c["sentence"] + (f" *({c['reading']})*" if c["reading"] else ""),
        "basis": lambda c: c["basis"],
        "paper": lambda c: str(c["paper"]),
        "measured [95 %]": measured_words,
        "seed 42": lambda c: str(c["with seed 42"]),
        "verdict": lambda c: f"{MARKS[verdict_words(c)]} {verdict_words(c)}",
        "VE along columns": columns_words,
        "depends on": lambda c: ", ".join(n for n in ("convention", "seed") if c[f"depends on {n}"] == "yes") or "–",
    }
    cells = {name: [say(claim) for claim in members] for name, say in columns.items()}
    kept = {name: said for name, said in cells.items() if any(said) or name not in ("seed 42", "VE along columns")}
    sources = ", ".join(dict.fromkeys(claim["source"] for claim in members))
    rows = list(zip(*kept.values(), strict=True))
    return [f"### {group}. {GROUPS[group]}", f"Source: {sources}.", markdown_table(list(kept), rows)]


def _tables(folder: Path) -> list[str]:
    parts = []
    for name, title in TEXT["tables"].items():
        frame = _read(folder, name)
        if name == "table_winners":
            frame = frame[frame["algorithm seed"] == "fixed"].drop(columns="algorithm seed")
        shown = frame_table(frame) if len(frame) else "Not run."
        parts += [f"**{title}** [`{name}.csv`]({folder.name}/{name}.csv)", shown]
    return parts


def _figure(folder: Path, name: str) -> list[str]:
    if not (folder / f"{name}.png").exists():
        return []
    caption = TEXT["captions"][name]
    return [f"![{caption}]({folder.name}/{name}.png)", f"*{caption}* [SVG]({folder.name}/{name}.svg)"]


def _provenance(folder: Path, provenance: dict[str, Any]) -> list[str]:
    packages = ", ".join(f"{name} {version}" for name, version in provenance["packages"].items())
    links = ", ".join(f"[{n}.csv]({folder.name}/{n}.csv)" for n in (*TABLES, "claims", "table_yeast_choices"))
    versions = f"bivaluate {provenance['bivaluate']}, Python {provenance['python']}, {packages}"
    made = f"`{provenance['command']}` with {versions}.\nEverything above is computed from these files: {links}."
    return [made, _bullets(provenance["notes"])]


def _read(folder: Path, name: str) -> pd.DataFrame:
    """Read a table in which words stay words, and nothing is said where a word is missing."""
    words = ("claim", "paper", "with seed 42", "with seed 42 along columns", "verdict along columns", "seed 42")
    frame = read_csv(folder / f"{name}.csv", dtype=dict.fromkeys(words, str))
    plain = frame.select_dtypes(exclude="number").columns
    frame[plain] = frame[plain].fillna("")
    return frame
