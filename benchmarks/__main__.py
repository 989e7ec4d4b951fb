"""`make bench`: every benchmark after the other; the ratios go to docs/benchmarks.json, from there into the README.

``python -m benchmarks evaluate sweep`` runs only these and keeps the other rows.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.json"
BENCHMARKS = ("mergers", "scale", "evaluate", "chance", "algorithms", "find", "patterns", "models", "sweep", "paper")


def main() -> None:
    """Run them and write the ratios."""
    chosen = sys.argv[1:] or BENCHMARKS
    if os.getloadavg()[0] > 0.5:
        print(f"load average {os.getloadavg()[0]:.1f}: other work on this machine will blur the ratios")
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    for name in chosen:
        rows = [row for row in rows if row["benchmark"] != name]
        rows += [
            {
                "benchmark": name,
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
            for c in importlib.import_module(f"benchmarks.bench_{name}").main()
        ]
        rows.sort(key=lambda row: BENCHMARKS.index(row["benchmark"]))
        RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\nwrote {RESULTS.name}; `make docs` takes it into the README")


if __name__ == "__main__":
    main()
