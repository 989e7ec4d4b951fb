"""What a plan comes down to: the cells in the order of the tables, and the tasks that perform them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from bivaluate.sweep.algorithm import is_nested
from bivaluate.sweep.data import Source, sources
from bivaluate.sweep.journal import DATA, Slot
from bivaluate.sweep.plan import PLANTED, Cell, Plan
from bivaluate.sweep.work import Task


def matrix_keys(found: list[Source], plan: Plan) -> list[tuple[Source, int | None]]:
    """Return every matrix of a plan: a data set, and the seed where every seed has a matrix of its own."""
    keys: list[tuple[Source, int | None]] = []
    for source in found:
        keys += [(source, seed) for seed in _seeds(plan)] if source.per_seed else [(source, None)]
    return keys


def make_tasks(plan: Plan) -> list[Task]:
    """Return the tasks of a plan whose numbers K are given, as a sweep into an empty folder performs them."""
    return list(tasks(plan, list(all_slots(plan, sources(plan), {}))))


def all_slots(plan: Plan, found: list[Source], planted: dict[tuple[str, int | None], int | None]) -> Iterator[Slot]:
    """Yield every place of the journal in the order of the tables: data first, then each kind of copy."""
    seeds = _seeds(plan)

    def ks(source: Source) -> list[int]:
        if plan.k == PLANTED:
            return [planted[source.name, seeds[0]] or 0]
        assert not isinstance(plan.k, int)
        return [int(k) for k in plan.k]

    for source in found:
        for algorithm in plan.algorithms:
            for k in ks(source):
                for seed in seeds:
                    yield Slot(Cell(source.name, algorithm, k, seed))
    for variant, run in plan.variants:
        for source in found:
            # A data set of one matrix needs one run per copy; the algorithm's seed goes round.
            own = seeds if source.per_seed else [seeds[run % len(seeds)]]
            for algorithm in plan.algorithms:
                for k in ks(source):
                    for seed in own:
                        yield Slot(Cell(source.name, algorithm, k, seed), variant, run)


def tasks(plan: Plan, waiting: list[Slot]) -> Iterator[Task]:
    """Group cells that share one fit; cells of one matrix come together, the data before their copies."""
    order = {slot: position for position, slot in enumerate(waiting)}
    rank = {cell_dataset: i for i, cell_dataset in enumerate(dict.fromkeys(s.cell.dataset for s in waiting))}
    per_seed = {source.name: source.per_seed for source in sources(plan)}

    def fit(slot: Slot) -> tuple[Any, ...]:
        cell = slot.cell
        alone = 0 if is_nested(cell.algorithm) else cell.k
        return (slot.variant != DATA, rank[cell.dataset], cell.seed, slot.variant, slot.run, cell.algorithm, alone)

    for _, group in groupby(sorted(waiting, key=lambda slot: (fit(slot), order[slot])), key=fit):
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
            run=members[0].run,
            metrics=plan.metrics if isinstance(plan.metrics, str) else tuple(plan.metrics),
            parameters=plan.parameters.get(first.algorithm, {}),
            score=plan.score,
        )


def _seeds(plan: Plan) -> list[int]:
    assert not isinstance(plan.seeds, int)
    return list(plan.seeds)
