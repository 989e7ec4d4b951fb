"""The coherent submatrix search against LAS with its default restarts, both sides in one run.

python -m benchmarks.bench_find
"""

from __future__ import annotations

from benchmarks.find import SIZES, speed
from benchmarks.timing import Comparison, print_table


def main() -> list[Comparison]:
    """Time the two smaller sizes; `python -m benchmarks.find speed` also does the largest."""
    lines = []
    for n, m, _, must, goal in SIZES[:2]:
        row = speed()[f"{n} x {m}"]()
        reached = "goal" if row["wall"] <= goal else "must" if row["wall"] <= must else "MISSED"
        note = f"must {must:g} s, goal {goal:g} s of wall time: {reached}"
        lines.append(
            Comparison(f"find, {n}x{m}", "LAS, 1000 restarts", row["las_cpu"], row["cpu"], note=note, wall=row["wall"])
        )
    return print_table("Coherent submatrices against Large Average Submatrices", lines)


if __name__ == "__main__":
    main()
