"""`make bench`: every benchmark after the other; the ratios go to docs/benchmarks.json, from there into the README.

python -m benchmarks                    all of them, the quick ones first
python -m benchmarks evaluate sweep     only these; the rows of the others are kept
python -m benchmarks --resume           only those that have not finished since the last commit
python -m benchmarks --minutes 20       none that would not end in time, as far as the last run tells

Each group is written as soon as it has ended, so nothing is lost if a later one is stopped.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "benchmarks.json"
ENDED = ROOT / ".benchmarks.json"  # by group: at which commit it ended, and how many seconds it took
# In the order of the table; those that take long run last.
GROUPS = (
    "mergers", "evaluate", "release", "chance", "growth", "scale", "waiting", "start", "reading", "algorithms", "find", "patterns",
    "models", "sweep", "paper",
)  # fmt: skip
# Seconds on two quiet cores, where no earlier run tells.
EXPECTED = {
    "mergers": 70, "evaluate": 50, "release": 40, "chance": 10, "growth": 30, "scale": 60, "waiting": 75, "start": 90, "reading": 100,
    "algorithms": 310, "find": 60, "patterns": 110, "models": 180, "sweep": 80, "paper": 315,
}  # fmt: skip


def main() -> None:
    """Run what is asked for and write the ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", choices=[[], *GROUPS], metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--resume", action="store_true", help="skip groups that ended since the last commit")
    parser.add_argument("--minutes", type=float, help="start no group that would end later than this")
    asked = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        print(f"load average {os.getloadavg()[0]:.1f}: other work on this machine will blur the ratios")
    ended: dict[str, Any] = json.loads(ENDED.read_text(encoding="utf-8")) if ENDED.exists() else {}
    commit = _commit()
    expected = {name: ended.get(name, {}).get("seconds", EXPECTED[name]) for name in GROUPS}
    chosen = sorted(asked.groups or GROUPS, key=expected.__getitem__)
    if asked.resume:
        chosen = [name for name in chosen if ended.get(name, {}).get("commit") != commit]
    begin, failed = time.monotonic(), []
    for number, name in enumerate(chosen, start=1):
        spent = time.monotonic() - begin
        if asked.minutes is not None and spent + expected[name] > 60 * asked.minutes:
            print(
                f"\n[{number}/{len(chosen)}] {name} left out: {expected[name]:.0f} s more would pass {asked.minutes:g} minutes"
            )
            continue
        print(f"\n[{number}/{len(chosen)}] {name}: about {expected[name]:.0f} s; {spent:.0f} s so far", flush=True)
        start = time.monotonic()
        try:
            found = importlib.import_module(f"benchmarks.bench_{name}").main()
        except Exception as error:
            print(f"{name} failed, its rows stay as they were: {type(error).__name__}: {error}")
            failed.append(name)
            continue
        _keep(name, found)
        ended[name] = {"commit": commit, "seconds": round(time.monotonic() - start)}
        ENDED.write_text(json.dumps(ended, indent=1) + "\n", encoding="utf-8")
    print(f"\n{time.monotonic() - begin:.0f} s; {RESULTS.name} is written, `make docs` takes it into the README")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def _keep(name: str, found: list[Any]) -> None:
    """Put the rows of one group in place of its earlier ones."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    rows = [row for row in rows if row["benchmark"] != name]
    rows += [
        {
            "benchmark": name,
            "work": c.work,
            "peer": c.against,
            "ratio": float(f"{c.ratio:.4g}"),
            "peer_seconds": float(f"{c.peer:.4g}"),
            "our_seconds": float(f"{c.ours:.4g}"),
            "all_cores": None if c.wall is None else float(f"{c.wall:.4g}"),
            "must": c.must,
            "goal": c.goal,
            "reached": c.verdict,
            "note": c.note,
            "measured": time.strftime("%Y-%m-%d"),
        }
        for c in found
    ]
    rows.sort(key=lambda row: GROUPS.index(row["benchmark"]))
    RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _commit() -> str:
    """Return the commit the source is at; "" outside a repository."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return asked.stdout.strip()


if __name__ == "__main__":
    main()
