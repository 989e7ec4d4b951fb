"""`make bench`: every benchmark after the other; the ratios go to docs/benchmarks.json, from there into the README."""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchmarks import bench_algorithms, bench_chance, bench_evaluate, bench_mergers, bench_paper, bench_sweep

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.json"


def main() -> None:
    """Run all of them and write the ratios."""
    if os.getloadavg()[0] > 0.5:
        print(f"load average {os.getloadavg()[0]:.1f}: other work on this machine will blur the ratios")
    rows = [
        {
            "work": c.work,
            "peer": c.against,
            "ratio": round(c.ratio, 2),
            "peer_seconds": float(f"{c.peer:.4g}"),
            "our_seconds": float(f"{c.ours:.4g}"),
            "must": c.must,
            "goal": c.goal,
            "reached": c.verdict,
            "note": c.note,
        }
        for module in (
            bench_mergers,
            bench_evaluate,
            bench_chance,
            bench_algorithms,
            bench_sweep,
            bench_paper,
        )
        for c in module.main()
    ]
    RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\nwrote {RESULTS.name}; `make docs` takes it into the README")


if __name__ == "__main__":
    main()
