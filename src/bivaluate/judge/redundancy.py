"""Evidence as one row per bicluster, and who is redundant with whom: what findings, pages and pruning show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bivaluate.chance.evidence import REDUNDANT, SUPPORTED, Evidence
from bivaluate.judge.limits import is_duplicate
from bivaluate.measures.cover import Cover

#: What :func:`evidence_rows` gives of every bicluster.
EVIDENCE_COLUMNS = (
    "evidence", "evidence_alone", "pattern", "verdict", "supported", "redundant_with", "shared", "reason",
)  # fmt: skip
#: What separates names in the column `redundant_with`.
BETWEEN = ", "


@dataclass(frozen=True)
class RedundantGroup:
    """A supported bicluster and those that are redundant with it, directly or through each other."""

    members: tuple[int, ...]
    duplicates: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Return every two members."""
        return list(combinations(self.members, 2))


def evidence_rows(evidence: Evidence, cover: Cover, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return evidence, pattern, verdict and its reasons, a row per bicluster, as tables and files have them."""
    rows = []
    for k, verdict in enumerate(evidence.verdicts):
        others = evidence.redundant_with[k]
        shared = max((cover.shared_cells(k, other) for other in others), default=0) / max(cover.sizes[k], 1)
        with_whom = BETWEEN.join(names[other] for other in others)
        found = (float(evidence.gain[k]), float(evidence.alone[k]), evidence.patterns[k], verdict, verdict == SUPPORTED)
        rows.append(dict(zip(EVIDENCE_COLUMNS, (*found, with_whom, float(shared), evidence.reasons[k]), strict=True)))
    return rows


def follows(record: Mapping[str, Any]) -> bool:
    """Return whether the mean of a block of a partition follows from other blocks and the means of rows and columns."""
    return record["verdict"] == REDUNDANT and record.get("shared") == 0 and not record["evidence"] > 0


def as_a_whole(records: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a partition is supported as a whole: some of its blocks are, and the others follow from them."""
    rest = [record for record in records if record["verdict"] != SUPPORTED]
    return bool(rest) and all(map(follows, rest))


def redundant_groups(records: Sequence[Mapping[str, Any]]) -> list[RedundantGroup]:
    """Return the groups of biclusters that are redundant with each other, ordered by their first member."""
    at = {str(record["bicluster"]): k for k, record in enumerate(records)}
    groups: list[set[int]] = []
    for k, record in enumerate(records):
        if record.get("redundant_with") and not follows(record):
            joined = {k, *(at[name] for name in str(record["redundant_with"]).split(BETWEEN))}
            touched = [group for group in groups if group & joined]
            groups = [group for group in groups if not group & joined] + [joined.union(*touched)]
    found = []
    for group in sorted(map(sorted, groups)):
        shares = [records[k]["shared"] for k in group if records[k].get("redundant_with") and not follows(records[k])]
        found.append(RedundantGroup(tuple(group), all(map(is_duplicate, shares))))
    return found
