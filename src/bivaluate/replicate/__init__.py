"""The NVE paper, run again: its tables as data, its claims as checks, a verdict on each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "PROFILES": "profile",
    "get_profile": "profile",
    "all_claims": "claims",
    "judge_all": "claims",
    "Evidence": "evidence",
    "replicate": "run",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"bivaluate.replicate.{_HOME[name]}"), name)
    raise AttributeError(f"module 'bivaluate.replicate' has no attribute {name!r}")
