"""The ten synthetic scenarios of the NVE paper, as a table of parameters.

The parameters are calibrated to the numbers the paper prints, not recovered from it: the paper does not give
its generator. S3, S4, S5, S6 and S8 have no printed numbers; they are designs that show the published effect.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bivaluate._check import check_seed
from bivaluate._errors import ParameterError, suggest
from bivaluate._files import FilePath, make_folder, write_whole
from bivaluate._types import Floats
from bivaluate.datasets.generator import Block, make_biclusters
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

SHAPE = (300, 40)


@dataclass(frozen=True)
class Scenario:
    """A scenario: its name and purpose in the paper, and the blocks it plants in a 300 x 40 matrix.

    Parameters
    ----------
    id, name, signal, stress : str
        S1 to S8, S9a or S9b; what the paper calls it, the pattern of its blocks, what it puts to the test.
    blocks : tuple of Block
        What it plants.
    effects : {"block", "matrix"}, default="block"
        As in :func:`make_biclusters`.

    See Also
    --------
    get_scenario, make_scenario

    Examples
    --------
    >>> SCENARIOS["S7"].n_biclusters
    4
    """

    id: str
    name: str
    signal: str
    stress: str
    blocks: tuple[Block, ...]
    effects: str = "block"

    @property
    def n_biclusters(self) -> int:
        """Number of planted biclusters (K).

        Examples
        --------
        >>> SCENARIOS["S1"].n_biclusters
        4
        """
        return len(self.blocks)


@dataclass(frozen=True)
class Description:
    """What one scenario matrix is: the scenario, the seed, and the recipe that makes it again."""

    scenario: Scenario
    random_state: int
    recipe: dict[str, Any]

    def __str__(self) -> str:
        s = self.scenario
        return f"{s.id} {s.name} (K = {s.n_biclusters}, {s.signal}; {s.stress}), seed {self.random_state}"


_FOUR = ((30, 15), (25, 16), (20, 18), (15, 20))
_ADDITIVE: dict[str, Any] = {"noise": 0.31, "row_effect": 2.0, "col_effect": 1.5}


def _alternating(sizes: tuple[tuple[int, int], ...], level: float, **common: Any) -> tuple[Block, ...]:
    """Return additive blocks whose base levels are +level, -level, +level, …"""
    return tuple(Block(*size, level=level if k % 2 == 0 else -level, **common) for k, size in enumerate(sizes))


def _with_noise(blocks: tuple[Block, ...], noise: tuple[float, ...]) -> tuple[Block, ...]:
    return tuple(replace(block, noise=sd) for block, sd in zip(blocks, noise, strict=True))


SCENARIOS: dict[str, Scenario] = {
    scenario.id: scenario
    for scenario in (
        Scenario("S1", "Additive", "pure additive, low noise", "baseline agreement; NVE well below 1",
                 _alternating(_FOUR, 3.0, **_ADDITIVE)),
        Scenario("S2", "Scaling", "all-positive scaling", "MSR high, VE low: MSR and VE disagree",
                 tuple(Block(r, c, "scaling", noise=0.4, scale=(0.3, 2.4), pattern=(0.0, 6.0)) for r, c in _FOUR)),
        Scenario("S3", "Mixed shift-scale", "shift and scale, mixed sign",
                 "both MSR and VE degrade; NVE separability persists",
                 tuple(Block(r, c, "shift_scale", noise=0.35, row_effect=2.0, col_effect=1.5, scale=(0.5, 2.0),
                             negative=0.25) for r, c in _FOUR)),
        Scenario("S4", "Size vs. quality", "additive, 2 small clean and 2 large noisy",
                 "coverage against coherence; NVE_cov sensitivity",
                 _with_noise(_alternating(((10, 5), (8, 6), (40, 16), (35, 18)), 3.0, row_effect=2.0, col_effect=1.5),
                             (0.2, 0.2, 0.8, 0.8))),
        Scenario("S5", "Overlap", "additive, one matrix, blocks share cells",
                 "redundancy: MSR and VE blind, NVE sensitive",
                 (Block(30, 15, shared_cols=0, **_ADDITIVE),
                  *(Block(30, 15, shared_rows=15, shared_cols=10, **_ADDITIVE) for _ in range(3))),
                 effects="matrix"),
        Scenario("S6", "Thin columns", "additive and two-column stripes",
                 "VE degenerates on two columns; minimum-size filter needed",
                 (*_alternating(((30, 15), (25, 16)), 3.0, **_ADDITIVE),
                  Block(40, 2, "constant", noise=0.31, pattern=(4.0, 2.0)),
                  Block(30, 2, "constant", noise=0.31, pattern=(4.0, 2.0)))),
        Scenario("S7", "Identical clones", "same pattern, shared columns",
                 "no separability: NVE near 1 despite low MSR and VE",
                 _with_noise((Block(25, 14, row_effect=2.0, col_effect=1.0),
                              *(Block(25, 14, "clone", row_effect=2.0) for _ in range(3))), (0.3, 0.3, 0.3, 0.4))),
        Scenario("S8", "Noise ladder", "additive, noise increasing", "measures against a controlled loss of quality",
                 _with_noise(_alternating(((20, 15),) * 5, 3.0, row_effect=2.0, col_effect=1.5),
                             (0.1, 0.3, 0.6, 1.0, 1.5))),
        Scenario("S9a", "Coverage tiling", "additive, moderate noise", "NVE_cov rewards broad coverage",
                 _alternating(((25, 5),) * 8, 1.25, noise=0.52, row_effect=1.9, col_effect=0.85)),
        Scenario("S9b", "Coverage cherry-pick", "additive, near-perfect", "NVE_cov penalises negligible coverage",
                 _alternating(((8, 5),) * 3, 1.25, noise=0.27, row_effect=3.0, col_effect=0.65)),
    )
}  # fmt: skip
#: S7 calibrated once more, for VE along columns: clones that differ in how far their rows are shifted, in nothing else.
VARIANTS: dict[str, Scenario] = {
    "S7c": Scenario("S7c", "Identical clones, VE along columns", "same pattern, shared columns, unequal row shifts",
                    "S7 for ve_axis='columns'",
                    (Block(25, 14, noise=0.33, row_effect=1.25, col_effect=1.0),
                     *(Block(25, 14, "clone", noise=0.33, row_effect=spread) for spread in (1.1, 0.95, 0.8)))),
}  # fmt: skip


def get_scenario(name: str) -> Scenario:
    """Return a scenario by its id, in upper or lower case.

    Parameters
    ----------
    name : str
        S1 to S8, S9a or S9b; S7c is S7 calibrated for VE along columns.

    Returns
    -------
    Scenario
        Its record.

    Raises
    ------
    ParameterError
        If there is no such scenario.

    See Also
    --------
    make_scenario

    Examples
    --------
    >>> get_scenario("s9A").name
    'Coverage tiling'
    """
    for id_, scenario in (SCENARIOS | VARIANTS).items():
        if str(name).lower() == id_.lower():
            return scenario
    near = suggest(str(name).upper(), SCENARIOS)
    raise ParameterError(f"there is no scenario {name!r}; scenarios: {', '.join(SCENARIOS)}.{near}")


def make_scenario(name: str, random_state: int) -> tuple[Floats, Biclustering, Description]:
    """Make one of the ten scenarios of the NVE paper.

    Parameters
    ----------
    name : str
        S1 to S8, S9a or S9b.
    random_state : int
        The seed. Scenarios draw from independent streams, so one seed may serve all ten.

    Returns
    -------
    X : ndarray
        The 300 x 40 matrix.
    truth : Biclustering
        The planted biclusters.
    description : Description
        What the scenario stresses, and the recipe: ``make_biclusters(**description.recipe)`` makes X again.

    Raises
    ------
    ParameterError
        If there is no such scenario, or the seed is not a whole number from 0.

    See Also
    --------
    get_scenario, planted_table

    Examples
    --------
    >>> X, truth, description = make_scenario("S1", random_state=0)
    >>> X.shape, len(truth), truth[0].shape
    ((300, 40), 4, (30, 15))
    >>> print(description)
    S1 Additive (K = 4, pure additive, low noise; baseline agreement; NVE well below 1), seed 0
    """
    scenario = get_scenario(name)
    seed = check_seed(random_state)
    stream = list(SCENARIOS | VARIANTS).index(scenario.id)
    X, truth, recipe = make_biclusters(SHAPE, scenario.blocks, random_state=[seed, stream], effects=scenario.effects)
    return X, truth, Description(scenario, seed, recipe)


def write_scenario(name: str, random_state: int, folder: FilePath) -> list[Path]:
    """Write ``S1_seed0.csv``, ``S1_seed0.truth.json`` and ``S1_seed0.recipe.json``.

    Numbers are written in full, so reading the matrix gives back the same values.
    """
    from bivaluate.io import write_matrix

    X, truth, description = make_scenario(name, random_state)
    stem = f"{description.scenario.id}_seed{description.random_state}"
    make_folder(Path(folder))
    rows, cols = (tuple(f"{side}{i + 1}" for i in range(size)) for side, size in zip("rc", X.shape, strict=True))
    paths = [Path(folder, f"{stem}{ending}") for ending in (".csv", ".truth.json", ".recipe.json")]
    write_matrix(Matrix(X, rows, cols, stem), paths[0])
    truth.with_info(scenario=description.scenario.id, random_state=description.random_state).to_json(paths[1])
    recipe = {"scenario": str(description), "make_biclusters": description.recipe}
    write_whole(paths[2], json.dumps(recipe, indent=1) + "\n")
    return paths
