"""Whether what stands in a run folder can stand there: a folder may come from strangers, or be damaged."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from bivaluate._errors import RunError
from bivaluate.sweep.journal import Journal
from bivaluate.sweep.plan import REMOVED, Plan, is_of_type

# What SQLite calls the values of each column.
_TEXT, _WHOLE, _NUMBER = ("text",), ("integer",), ("real", "integer", "null")
_BYTES = ("blob", "text", "null")  # unpacked when they are asked for, and named then
_COLUMNS: dict[str, dict[str, Sequence[str]]] = {
    "meta": {"key": _TEXT, "value": _TEXT},
    "matrices": {
        **dict.fromkeys(("dataset", "file", "checksum", "source"), _TEXT),
        **dict.fromkeys(("n_rows", "n_cols"), _WHOLE),
        "seed": ("integer", "null"),
        "truth": _BYTES,
    },
    "cells": {
        **dict.fromkeys(("variant", "dataset", "algorithm"), _TEXT),
        **dict.fromkeys(("run", "k", "seed"), _WHOLE),
        **dict.fromkeys(("status", "reason", "scores", "biclusters", "findings"), ("text", "null")),
        **dict.fromkeys(("solution", "mergers"), _BYTES),
        **dict.fromkeys(("fit_seconds", "score_seconds"), _NUMBER),
    },
    "sessions": {**dict.fromkeys(("started", "ended", "command", "jobs"), ("text", "null")), "cells": _WHOLE},
}
NEEDED = ("layout", "version", "plan", "provenance")
_PLAIN = (str, int, float, bool, type(None))


def check_journal(journal: Journal) -> None:
    """Raise where a journal is not made of tables, lacks one, or holds a value of a wrong type; name the row."""
    made_of = list(journal.found("SELECT type, name FROM sqlite_master"))
    for kind, name in made_of:
        if kind not in ("table", "index"):
            raise RunError(f"the journal {journal.path} holds the {kind} {name!r}; only tables are read.")
    for table, columns in _COLUMNS.items():
        if ("table", table) not in made_of:
            raise RunError(f"the journal {journal.path} has no table {table!r}.")
        there = {row[1] for row in journal.found(f"PRAGMA table_info({table})")}
        for column, types in columns.items():
            if column not in there:
                raise RunError(f"the journal {journal.path} is damaged: {table} has no column {column!r}.")
            known = ", ".join(f"'{kind}'" for kind in types)
            query = f"SELECT rowid, typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ({known})"
            for row, kind in journal.found(query):
                raise RunError(f"row {row} of {table} in the journal {journal.path} is damaged: {column} holds {kind}.")
    for entry in journal.records("matrices"):
        if PurePath(entry["file"]).name != entry["file"] or "\\" in entry["file"]:
            raise RunError(
                f"the matrix of {entry['dataset']} is said to be in {entry['file']!r}, outside {journal.path.parent}."
            )
    missing = [key for key in NEEDED if key not in journal.meta]
    if missing:
        raise RunError(f"the journal {journal.path} does not say its {missing[0]}.")


def sound_plan(content: Any, where: str) -> dict[str, Any]:
    """Return the plan of a run as it was stored, if its values are of the types of a plan."""
    if not isinstance(content, dict):
        raise RunError(f"the plan in {where} is damaged: it is no table of names and values.")
    allowed = typing.get_type_hints(Plan)
    for name, value in content.items():
        if value is not None and name not in REMOVED and not is_of_type(value, allowed.get(name, type(None))):
            raise RunError(f"the plan in {where} is damaged: {name} is {str(value)[:60]!r}.")
    if not content.get("datasets") or not content.get("algorithms"):
        raise RunError(f"the plan in {where} is damaged: it names no data set or no algorithm.")
    return content


def sound_record(content: Any, where: str) -> dict[str, Any]:
    """Return scores, or what is said of one bicluster, if they are plain values by name."""
    if not isinstance(content, Mapping) or not all(isinstance(value, _PLAIN) for value in content.values()):
        raise RunError(f"{where}: its scores in the journal are damaged: numbers by name are needed.")
    return dict(content)


def sound_list(content: Any, kind: type, where: str) -> list[Any]:
    """Return a list of the journal, if it is one and holds what it should."""
    if not isinstance(content, list) or not all(isinstance(item, kind) for item in content):
        raise RunError(f"{where}: a list in the journal is damaged.")
    return content


def sound_provenance(content: Any, where: str) -> dict[str, Any]:
    """Return what a run says about its making, if it says it."""
    if not isinstance(content, dict) or "bivaluate" not in content:
        raise RunError(f"the provenance in the journal of {where} is damaged.")
    return content
