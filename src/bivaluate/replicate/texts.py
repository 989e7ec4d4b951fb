"""The words of the replication, read from claims.toml and text.toml: what the paper says, and what the page says."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bivaluate.datasets.published import K_PICKS_SOURCE, MATCHED_SOURCE, PLANTED_SOURCE, YEAST_SOURCE
from bivaluate.replicate.claim_rules import INDEPENDENT, Claim, Measure

_CLAIMS, TEXT = (
    tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8")) for name in ("claims.toml", "text.toml")
)
_TABLES = {"planted": PLANTED_SOURCE, "matched": MATCHED_SOURCE, "k_picks": K_PICKS_SOURCE, "yeast": YEAST_SOURCE}
SOURCES: dict[str, str] = _CLAIMS["sources"] | _TABLES
GROUPS = {int(number): title for number, title in _CLAIMS["groups"].items()}
#: Groups whose claims about yeast are also looked at with VE along columns.
BOTH_READINGS = (8, 9, 10)


def worded(on: str, measure: Callable[[str, dict[str, Any]], Measure]) -> Iterator[Claim]:
    """Yield the claims in words about one experiment, each with its check."""
    for id_, said in _CLAIMS[on].items():
        yield Claim(
            id_,
            said["says"],
            SOURCES[said.get("source", on)],
            on,
            measure(id_, said),
            reading=said.get("reading", ""),
            basis=said.get("basis", INDEPENDENT),
            vague=said.get("vague", False),
            columns=order(id_)[0] in BOTH_READINGS,
        )


def order(id_: str) -> tuple[int, int]:
    """Return group and part of a claim's number."""
    group, part = id_.split(".")
    return int(group), int(part)
