"""What the chance correction costs beside the virtual errors it corrects.

python -m benchmarks.bench_chance
"""

from __future__ import annotations

from benchmarks.bench_mergers import workload
from benchmarks.timing import Comparison, best_of, print_table
from bivaluate import Biclustering
from bivaluate.chance.scores import chance_scores
from bivaluate.measures.cover import Cover
from bivaluate.measures.workspace import Workspace

MOST = 0.10


def share(name: str = "large") -> tuple[float, float]:
    """Seconds for VE of all K² mergers, and for E0 of all of them, V* of all blocks and what both need."""
    X, pairs = workload(name)
    solution = Biclustering(pairs, X.shape)
    # Shapes of mergers are counted for the coverage measures anyway.
    cover = Cover(solution)
    _ = cover.shared_rows, cover.shared_cols
    checked = Workspace.of(X, solution)
    # The errors of the biclusters are on the diagonal, and constant rows are counted on the way.
    known = {"mergers": checked.mergers, "_merged": checked._merged, "cover": cover}

    def correct() -> None:
        workspace = Workspace(checked.matrix, solution)
        vars(workspace).update(known)
        chance_scores(workspace)

    return best_of(lambda: Workspace.of(X, solution).mergers, 5), best_of(correct, 5)


def main() -> list[Comparison]:
    """Print the share."""
    ve, correction = share()
    note = f"{correction / ve:.1%} of it; must stay below {MOST:.0%}"
    line = Comparison(
        "chance correction, 20000x500 K=100", "VE of all mergers", ve, correction, 1 / MOST, 1 / MOST, note
    )
    return print_table("what the chance correction costs", [line])


if __name__ == "__main__":
    main()
