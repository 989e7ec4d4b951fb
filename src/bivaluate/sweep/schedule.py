"""What a plan comes down to: the data sets, the cells in the order of the tables, and the tasks that perform them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import Any

from bivaluate._errors import BivaluateError, MissingExtraError, ParameterError
from bivaluate._files import check_reachable
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering
from bivaluate.sweep.cells import DATA, Cell, Slot, Task
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
        if self.kind != "file":
            from bivaluate.datasets.named import load_named

            matrix, planted = load_named(self.spec, seed or 0)
            return matrix.renamed(self.name), planted if self.kind == "scenario" else None
        from bivaluate.io import read_matrix

        return read_matrix(self.spec, **self.read).renamed(self.name), None


def sources(plan: Plan) -> list[Source]:
    """Expand ``scenario:*`` and the like and give every data set its name."""
    expanded = list(dict.fromkeys(name for spec in plan.datasets for name in _expand(spec)))
    found = []
    stems = [Path(spec).name.split(".")[0] for spec in expanded]
    for spec, stem in zip(expanded, stems, strict=True):
        kind = "file" if os.path.exists(spec) else "scenario" if spec.startswith("scenario:") else "named"
        name = spec if kind != "file" or stems.count(stem) > 1 else stem
        found.append(Source(name, spec, kind, plan.read if kind == "file" else {}))
        if plan.k == PLANTED and kind != "scenario":
            raise ParameterError(
                f"k is 'planted', but {name} is not a scenario and its number of biclusters is unknown; "
                "give numbers, for example 3, 5 and 8."
            )
    return found


def _expand(spec: str) -> Sequence[str]:
    """Return the data sets a name or pattern stands for."""
    if os.path.exists(spec):
        return [spec]
    from bivaluate.datasets.named import expand_name

    check_reachable(Path(spec))
    return expand_name(spec)


def load_checked(source: Source, seed: int | None) -> tuple[Matrix, Biclustering | None]:
    """Load a matrix before anything runs; say which data set could not be read."""
    try:
        return source.load(seed)
    except MissingExtraError:
        raise
    except BivaluateError as error:
        raise type(error)(f"data set {source.name}: {error}") from error


def matrix_keys(found: list[Source], plan: Plan) -> list[tuple[Source, int | None]]:
    """Return every matrix of a plan: a data set, and the seed where every seed has a matrix of its own."""
    seeds = _seeds(plan)
    return [(source, seed) for source in found for seed in (seeds if source.per_seed else [None])]


def all_slots(plan: Plan, found: list[Source], planted: dict[tuple[str, int | None], int | None]) -> Iterator[Slot]:
    """Yield every place of the journal in the order of the tables: data first, then their copies."""
    from bivaluate.algorithms.registry import finds_k

    seeds = _seeds(plan)
    found_k = {algorithm: finds_k(algorithm) for algorithm in plan.algorithms}

    def ks(source: Source, algorithm: str) -> list[int]:
        if plan.k == PLANTED:
            return [planted[source.name, seeds[0]] or 0]
        assert not isinstance(plan.k, int)
        # An algorithm that finds K itself is fitted once: the largest K is an upper bound.
        return [int(k) for k in (plan.k[-1:] if found_k[algorithm] else plan.k)]

    for variant, copy in [(DATA, 0), *plan.variants]:
        for source in found:
            # A data set of one matrix needs one fit per copy; the copies take the seeds in turn.
            own = seeds if variant == DATA or source.per_seed else [seeds[copy % len(seeds)]]
            for algorithm in plan.algorithms:
                for k, seed in product(ks(source, algorithm), own):
                    yield Slot(Cell(source.name, algorithm, k, seed), variant, copy)


def tasks(plan: Plan, waiting: list[Slot]) -> Iterator[Task]:
    """Group cells that share one fit; cells of one matrix come together, the data before their copies."""
    from bivaluate.algorithms.registry import is_nested

    rank = {dataset: i for i, dataset in enumerate(dict.fromkeys(slot.cell.dataset for slot in waiting))}
    per_seed = {source.name: source.per_seed for source in sources(plan)}
    nested = {algorithm: is_nested(algorithm) for algorithm in {slot.cell.algorithm for slot in waiting}}

    def fit(slot: Slot) -> tuple[Any, ...]:
        cell = slot.cell
        alone = 0 if nested[cell.algorithm] else cell.k
        return (slot.variant != DATA, rank[cell.dataset], cell.seed, slot.variant, slot.copy, cell.algorithm, alone)

    for _, group in groupby(sorted(waiting, key=fit), key=fit):
        members = list(group)
        first = members[0].cell
        yield Task(
            dataset=first.dataset,
            matrix_seed=first.seed if per_seed[first.dataset] else None,
            seed=first.seed,
            algorithm=first.algorithm,
            ks=tuple(sorted(member.cell.k for member in members)),
            random_state=first.seed if plan.algorithm_seed is None else plan.algorithm_seed,
            variant=members[0].variant,
            copy=members[0].copy,
            metrics=plan.metrics if isinstance(plan.metrics, str) else tuple(plan.metrics),
            parameters=_parameters(plan, first.algorithm),
            score=plan.score,
            held_out=plan.held_out,
            stability=plan.stability,
        )


def _parameters(plan: Plan, algorithm: str) -> Mapping[str, Any]:
    """Return the parameters of an algorithm; a command gets the limit of the plan, so that its last lines are kept."""
    from bivaluate.algorithms.registry import estimator_of, is_command

    given = plan.parameters.get(algorithm, {})
    if plan.time_limit is None or not is_command(algorithm):
        return given
    own = {**estimator_of(algorithm)[1], **given}.get("time_limit")
    return {**given, "time_limit": plan.time_limit if own is None else min(own, plan.time_limit)}


def _seeds(plan: Plan) -> list[int]:
    assert not isinstance(plan.seeds, int)
    return list(plan.seeds)
