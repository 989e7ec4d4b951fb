"""What the chance correction costs beside the virtual errors it corrects.

python -m benchmarks.bench_chance
"""

from __future__ import annotations

from benchmarks.bench_mergers import workload
from benchmarks.timing import Comparison, best_of
from bivaluate import Biclustering
from bivaluate.chance.scores import chance_scores
from bivaluate.measures._mergers import merger_matrices
from bivaluate.measures.cover import Cover
from bivaluate.measures.workspace import Workspace

MOST = 0.10


def share(name: str = "large") -> tuple[float, float]:
    """Seconds for VE of all K² mergers, and for E0 of all of them, V* of all blocks and what both need."""
    X, pairs = workload(name)
    solution = Biclustering(pairs, X.shape)
    mergers = merger_matrices(X, solution)

    # Shapes of mergers are counted for the coverage measures anyway.
    cover = Cover(solution)
    _ = cover.merged_shapes
    checked = Workspace.of(X, solution)

    def correct() -> None:
        workspace = Workspace(checked.matrix, solution)
        vars(workspace).update(mergers=mergers, cover=cover)  # the errors of the biclusters are on the diagonal
        chance_scores(workspace)

    return best_of(lambda: merger_matrices(X, solution), 5), best_of(correct, 5)


def main() -> list[Comparison]:
    """Print the share."""
    ve, correction = share()
    verdict = "met" if correction < MOST * ve else "missed"
    print(
        f"20000x500, K=100: VE and MSR of all mergers {ve * 1e3:.0f} ms, chance correction {correction * 1e3:.1f} ms "
        f"= {correction / ve:.1%} (must stay below {MOST:.0%}: {verdict})"
    )
    return []


if __name__ == "__main__":
    main()
