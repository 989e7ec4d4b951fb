"""The data sets of a plan: files, scenarios and fetched data sets, by name."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bivaluate._errors import BivaluateError, FileError, MissingExtraError, ParameterError, suggest
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering
from bivaluate.sweep.plan import PLANTED, Plan


@dataclass(frozen=True)
class Source:
    """One data set: how it is called in tables and where its matrix comes from."""

    name: str
    spec: str
    kind: str  # scenario | named | file
    read: Mapping[str, Any] = field(default_factory=dict)

    @property
    def per_seed(self) -> bool:
        """Whether every seed has a matrix of its own."""
        return self.kind == "scenario"

    def load(self, seed: int | None) -> tuple[Matrix, Biclustering | None]:
        """Return the matrix, and the planted solution of a scenario."""
        if self.kind == "scenario":
            from bivaluate.datasets import make_scenario

            assert seed is not None
            values, truth, _ = make_scenario(self.spec.partition(":")[2], random_state=seed)
            return Matrix.of(values, name=self.name), truth
        if self.kind == "named":
            from bivaluate.datasets import load

            return load(self.spec).renamed(self.name), None
        from bivaluate.io import read_matrix

        return read_matrix(self.spec, **self.read).renamed(self.name), None


def sources(plan: Plan) -> list[Source]:
    """Expand ``scenario:*`` and the like and give every data set its name."""
    expanded = list(dict.fromkeys(name for spec in plan.datasets for name in _expand(spec)))
    found = []
    stems = [Path(spec).name.split(".")[0] for spec in expanded]
    for spec, stem in zip(expanded, stems, strict=True):
        kind = _kind(spec)
        name = spec if kind != "file" or stems.count(stem) > 1 else stem
        found.append(Source(name, spec, kind, plan.read if kind == "file" else {}))
    if plan.k == PLANTED:
        for source in found:
            if source.kind != "scenario":
                raise ParameterError(
                    f"k is 'planted', but {source.name} is no scenario and its number of biclusters is unknown; "
                    "give numbers, for example -k 3,5,8."
                )
    return found


def _expand(spec: str) -> Sequence[str]:
    if Path(spec).exists():
        return [spec]
    prefix, _, name = spec.partition(":")
    if prefix == "scenario":
        from bivaluate.datasets import SCENARIOS

        return _matching(spec, name, [f"scenario:{key}" for key in SCENARIOS])
    if ":" in spec and len(prefix) > 1:
        known = _listed()
        return _matching(spec, name, [key for key in known if key.startswith(f"{prefix}:")] or known)
    return [spec] if spec in _listed() else [_check_file(spec)]


def _matching(spec: str, name: str, known: Iterable[str]) -> list[str]:
    known = list(known)
    if any(mark in name for mark in "*?["):
        found = [key for key in known if fnmatch.fnmatchcase(key, spec)]
        if not found:
            raise ParameterError(f"{spec} matches no data set; known: {_some(known)}.")
        return found
    if spec not in known:
        raise ParameterError(f"there is no data set {spec!r}; known: {_some(known)}.{suggest(spec, known)}")
    return [spec]


def _check_file(spec: str) -> str:
    raise FileError(
        f"there is no file {spec!r}. A data set is a file, scenario:S1, scenario:*, yeast:04_elutriation or yeast:*."
    )


def _kind(spec: str) -> str:
    if Path(spec).exists():
        return "file"
    return "scenario" if spec.startswith("scenario:") else "named"


def _listed() -> list[str]:
    from bivaluate.datasets import list_datasets

    return [str(getattr(entry, "name", entry)) for entry in list_datasets()]


def _some(known: Sequence[str]) -> str:
    return ", ".join(known[:20]) + (" …" if len(known) > 20 else "")


def load_checked(source: Source, seed: int | None) -> tuple[Matrix, Biclustering | None]:
    """Load a matrix before anything runs; say which data set could not be read."""
    try:
        return source.load(seed)
    except MissingExtraError:
        raise
    except BivaluateError as error:
        raise type(error)(f"data set {source.name}: {error}") from error
