"""Rows of the table of claims in words, for the document and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from bivaluate.replicate.markdown import tidy
from bivaluate.replicate.verdict import VERDICTS


def verdict_counts(claims: Sequence[dict[Any, Any]]) -> dict[str, int]:
    """Return how many claims have each verdict."""
    counts = Counter(claim["verdict"] for claim in claims)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def headline_words(claims: Sequence[dict[Any, Any]]) -> str:
    """Return one sentence with the number of claims per verdict.

    >>> headline_words([{"verdict": "partly"}])
    'Of 1 checks, 0 are reproduced, 1 partly, 0 not reproduced, 0 not testable.'
    """
    counts = verdict_counts(claims)
    return (
        f"Of {len(claims)} checks, {counts['reproduced']} are reproduced, {counts['partly']} partly, "
        f"{counts['not reproduced']} not reproduced, {counts['not testable']} not testable."
    )


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
