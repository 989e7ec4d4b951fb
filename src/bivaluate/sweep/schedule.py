"""What a plan comes down to: the data sets, the cells in the order of the tables, and the tasks that perform them."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import Any, NamedTuple

from bivaluate._errors import BivaluateError, DenseWarning, MatrixError, MissingExtraError, ParameterError
from bivaluate._files import check_reachable
from bivaluate._text import FINAL
from bivaluate.judge.choice import EVIDENCE
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering
from bivaluate.sweep.cells import DATA, EXTRA_SEED, Cell, Slot, Task
from bivaluate.sweep.plan import PLANTED, Plan
from bivaluate.sweep.portfolio import AUTO, PORTFOLIO, parameters_for, traits_of, unsuited, view_for
from bivaluate.sweep.stages import SUPPORTED, Fit, Score, Searched, next_fits

MatrixKey = tuple[str, int | None]
Scored = dict[Cell, Score | None]
# Cells up to which the K around the best, and more seeds, are tried.
MOST_CELLS_CLOSER, MOST_CELLS_NESTED = 2_000_000, 100_000


@dataclass(frozen=True)
class DataSet:
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
        """Return the matrix, and the planted solution of a scenario; say which data set cannot be read."""
        from bivaluate.datasets.named import load_named
        from bivaluate.io import read_matrix

        try:
            if self.kind == "file":
                return read_matrix(self.spec, **self.read).renamed(self.name), None
            matrix, planted = load_named(self.spec, seed or 0)
            return matrix.renamed(self.name), planted if self.kind == "scenario" else None
        except MissingExtraError:
            raise
        except BivaluateError as error:
            raise type(error)(f"data set {self.name}: {error}") from error


def sources(plan: Plan) -> list[DataSet]:
    """Expand ``scenario:*`` and the like and give every data set its name."""
    expanded = list(dict.fromkeys(name for spec in plan.datasets for name in _expand(spec)))
    found = []
    stems = [Path(spec).name.split(".")[0] for spec in expanded]
    for spec, stem in zip(expanded, stems, strict=True):
        kind = "file" if os.path.exists(spec) else "scenario" if spec.startswith("scenario:") else "named"
        name = spec if kind != "file" or stems.count(stem) > 1 else stem
        found.append(DataSet(name, spec, kind, plan.read if kind == "file" else {}))
        if plan.k == PLANTED and kind != "scenario":
            unknown = f"k is 'planted', but {name} is not a scenario and its number of biclusters is unknown"
            raise ParameterError(f"{unknown}; give numbers, for example 3, 5 and 8.")
    return found


def _expand(spec: str) -> Sequence[str]:
    """Return the data sets a name or pattern stands for."""
    if os.path.exists(spec):
        return [spec]
    from bivaluate.datasets.named import expand_name

    check_reachable(Path(spec))
    return expand_name(spec)


def matrix_keys(found: list[DataSet], plan: Plan) -> list[tuple[DataSet, int | None]]:
    """Return every matrix of a plan: a data set, and the seed where every seed has a matrix of its own."""
    seeds = _seeds(plan)
    return [(source, seed) for source in found for seed in (seeds if source.per_seed else [None])]


class Chosen(NamedTuple):
    """The algorithms that run on a matrix, by their names in tables, why others are left out, and how to score."""

    searched: Mapping[str, Searched]
    left_out: Mapping[str, str]
    score: Mapping[str, Any]


ChosenFor = Mapping[MatrixKey, Chosen]
SolutionOf = Callable[[Cell], bytes | None]


def choose_for(plan: Plan, matrix: Matrix) -> Chosen:
    """Return what runs on a matrix; an algorithm that was named itself and cannot take it is an error."""
    from bivaluate.algorithms.registry import finds_k, is_nested, split_name
    from bivaluate.sweep.work import check_data

    auto = AUTO in plan.algorithms
    traits = traits_of(matrix) if auto or plan.k == AUTO else None
    score = {**plan.score, **({"missing": "omit"} if traits and traits.gaps else {})}
    gaps = score.get("missing") == "omit"
    searched, left_out = {}, {}
    for key in dict.fromkeys([*(PORTFOLIO if auto else ()), *(key for key in plan.algorithms if key != AUTO)]):
        listed = traits is not None and key in PORTFOLIO
        asked = key in plan.algorithms and key not in plan.by_pattern
        own = {**(parameters_for(key, traits) if listed and traits else {}), **_parameters(plan, key)}
        view = view_for(key, traits) if listed and traits else ""
        try:
            if listed and traits and not asked and (reason := unsuited(key, traits)):
                raise MatrixError(reason)
            if not view:
                with warnings.catch_warnings(action="ignore", category=DenseWarning):  # said once, of all algorithms
                    check_data(key, own, matrix, gaps)
        except BivaluateError as error:
            if not asked:
                left_out[key] = str(error)
                continue
            if isinstance(error, MissingExtraError):
                raise
            raise type(error)(f"{key} cannot be run on data set {matrix.name}: {error}") from error
        name = split_name(key)[0] or key
        closer = math.prod(matrix.shape) <= (MOST_CELLS_NESTED if is_nested(key) else MOST_CELLS_CLOSER)
        searched[name] = Searched(finds_k(key), is_nested(key), closer, view, own, key)
    return Chosen(searched, left_out, score)


def first_slots(
    plan: Plan, found: list[DataSet], chosen: ChosenFor, planted: Mapping[MatrixKey, int | None]
) -> Iterator[Slot]:
    """Yield the first places of the journal in the order of the tables: data first, then their copies."""
    if plan.k == AUTO:
        yield from next_slots(plan, found, chosen, {})
        return
    seeds = _seeds(plan)

    def ks(source: DataSet, own_k: bool) -> list[int]:
        if plan.k == PLANTED:
            return [planted[source.name, seeds[0]] or 0]
        assert not isinstance(plan.k, int)
        # An algorithm that finds K itself is fitted once: the largest K is an upper bound.
        return [int(k) for k in (plan.k[-1:] if own_k else plan.k)]

    for variant, copy in [(DATA, 0), *_variants(plan)]:
        for source in found:
            of_source = [of.searched for (name, _), of in chosen.items() if name == source.name]
            for algorithm, searched in {key: one for of in of_source for key, one in of.items()}.items():
                for k, seed in product(ks(source, searched.finds_k), _own_seeds(source, variant, copy, seeds)):
                    if algorithm in chosen[source.name, seed if source.per_seed else None].searched:
                        yield Slot(Cell(source.name, algorithm, k, seed), variant, copy)


def next_slots(plan: Plan, found: list[DataSet], chosen: ChosenFor, done: Scored) -> list[Slot]:
    """Return the places that come next where K is found by the plan: data first, then their copies."""
    seeds = _seeds(plan)
    cells: dict[Cell, DataSet] = {}
    for source in found:
        for seed in seeds:
            own = [cell for cell in done if cell.dataset == source.name]
            own = [cell for cell in own if not source.per_seed or cell.seed % EXTRA_SEED == seed]
            mine = {Fit(*cell[1:]): done[cell] for cell in own}
            of = chosen[source.name, seed if source.per_seed else None]
            cells |= {Cell(source.name, *fit): source for fit in next_fits(of.searched, mine, seed)}
    slots = [Slot(cell) for cell in cells]
    for variant, copy in _variants(plan):
        for cell, source in cells.items():
            if cell.seed in _own_seeds(source, variant, copy, seeds) and not cell.algorithm.endswith(FINAL):
                slots.append(Slot(cell, variant, copy))
    return slots


def _own_seeds(source: DataSet, variant: str, copy: int, seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds of one copy: a data set of one matrix needs one fit per copy, which takes the seeds in turn."""
    return seeds if variant == DATA or source.per_seed else [seeds[copy % len(seeds)]]


def tasks(plan: Plan, waiting: list[Slot], chosen: ChosenFor, solution_of: SolutionOf) -> Iterator[Task]:
    """Group fits that share one run; those of one matrix come together, the data before their copies."""
    rank = {dataset: i for i, dataset in enumerate(dict.fromkeys(slot.cell.dataset for slot in waiting))}
    order = {algorithm: i for i, algorithm in enumerate(dict.fromkeys(slot.cell.algorithm for slot in waiting))}

    def matrix_key(cell: Cell) -> MatrixKey:
        return (cell.dataset, None) if (cell.dataset, None) in chosen else (cell.dataset, cell.seed % EXTRA_SEED)

    def fit(slot: Slot) -> tuple[Any, ...]:
        cell, variant, copy = slot
        one = chosen[matrix_key(cell)].searched.get(cell.algorithm)
        alone = 0 if one is not None and one.nested else cell.k
        return variant != DATA, rank[cell.dataset], cell.seed, variant, copy, order[cell.algorithm], alone

    for _, group in groupby(sorted(waiting, key=fit), key=fit):
        members = list(group)
        first = members[0].cell
        of = chosen[matrix_key(first)]
        algorithm = first.algorithm.removesuffix(FINAL)
        one = of.searched.get(first.algorithm, Searched(finds_k=False, nested=False))
        ks = tuple(sorted(member.cell.k for member in members))
        random_state = first.seed if plan.algorithm_seed is None else plan.algorithm_seed
        how: dict[str, Any] = {"variant": members[0].variant, "copy": members[0].copy, "score": of.score}
        how |= {"parameters": dict(one.parameters), "view": one.view}
        how |= {"held_out": plan.held_out, "stability": plan.stability}
        needed = (EVIDENCE, SUPPORTED) if plan.k == AUTO else ()
        how["metrics"] = plan.metrics if isinstance(plan.metrics, str) else (*plan.metrics, *needed)
        how["key"] = of.searched[algorithm].word if algorithm in of.searched else algorithm
        if algorithm != first.algorithm:
            how["given"] = solution_of(first._replace(algorithm=algorithm))
        yield Task(first.dataset, matrix_key(first)[1], first.seed, first.algorithm, ks, random_state, **how)


def _parameters(plan: Plan, algorithm: str) -> Mapping[str, Any]:
    """Return the parameters of an algorithm; a command gets the limit of the plan, so that its last lines are kept."""
    from bivaluate.algorithms.registry import estimator_of, is_command

    given = plan.parameters.get(algorithm, {})
    if plan.time_limit is None or not is_command(algorithm):
        return given
    own = {**estimator_of(algorithm)[1], **given}.get("time_limit")
    return {**given, "time_limit": plan.time_limit if own is None else min(own, plan.time_limit)}


def _variants(plan: Plan) -> list[tuple[str, int]]:
    """Return the surrogates beside the data, as kind and number of the copy."""
    return [(str(plan.null), copy) for copy in range(plan.null_runs)] if plan.null else []


def _seeds(plan: Plan) -> list[int]:
    assert not isinstance(plan.seeds, int)
    return list(plan.seeds)
