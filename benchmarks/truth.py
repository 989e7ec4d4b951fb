"""Which criterion finds the right solution, the right K, and says that nothing is there where nothing is?

python -m benchmarks.truth [--seeds 3] [--first-seed 0] [--designs a,b] [--only "evidence;cc"] [--refits 1] [--keep FOLDER]
    [--page FILE]

With --refits criteria that fit again (held-out cells, stability) are asked only about the fresh designs, and so many of the
seeds. With --keep what
was judged is kept, a file or two per design and seed, and a run that was stopped goes on where it was. Criteria × designs × seeds, with the constant answers beside them. Three questions:
K: of the (design, seed, algorithm) where some K reaches CE ≥ 0.5, how often the number of biclusters the criterion
reports is the planted one; noise: how often it says that nothing is there; algorithm: of the (design, seed) in which
the best CE of two algorithms differ by at least 0.1, how often the best one is chosen, K included in the choice.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import textwrap
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth_designs import DESIGNS, Design, path_of
from bivaluate import Biclustering, compare, evaluate
from bivaluate.algorithms.registry import make_estimator
from bivaluate.chance.evidence import Evidence, evidence_table
from bivaluate.judge.stability import stability
from bivaluate.sweep.held_out import PredictiveGain, predictive_gain

Floats = NDArray[np.float64]

K_VALUES = (2, 3, 4, 5, 6, 8)
ALGORITHMS = ("las", "cca", "cocluster", "spectral", "find", "plaid")
NESTED = {"las": True, "cca": True, "cocluster": False, "spectral": False, "find": True, "plaid": True}
ABLE, DIFFERENT = 0.5, 0.1
DEFAULT = "evidence"
TARGETS = {"K": 0.80, "noise": 0.95, "algorithm": 0.90}
QUESTIONS = {"K": "K found", "noise": "noise called noise", "algorithm": "right algorithm"}
# Who is counted beside the criteria: paths, planted biclusters, and those that `find` returns.
PATH, PLANTED, SEARCHED = "path: ", "planted", "searched"
MEASURES = {"nve_cov": "low", "nve": "low", "avg_ve": "low", "asr": "low", "cc": "high"}


def fit(algorithm: str, X: Floats, k: int) -> Biclustering:
    """Fit an algorithm for k biclusters, always with the same seed."""
    if algorithm == "cocluster":
        from sklearn.cluster import SpectralCoclustering

        positive = X - min(0.0, float(X.min()))
        positive = positive + 1e-9 * float(positive.max())
        return Biclustering.from_estimator(SpectralCoclustering(k, random_state=0).fit(positive))
    parameters = {"n_restarts": 100, "n_jobs": 1} if algorithm == "las" else {}
    return make_estimator(algorithm, k, random_state=0, **parameters).fit(X).solution_


def nested(algorithm: str, X: Floats) -> dict[int, Biclustering]:
    """Return the solution for every K, from one fit where the algorithm allows it."""
    if NESTED[algorithm]:
        largest = fit(algorithm, X, K_VALUES[-1])
        return {k: largest.select(range(min(k, len(largest)))) for k in K_VALUES}
    return {k: fit(algorithm, X, k) for k in K_VALUES}


@dataclass
class Sweep:
    """What one algorithm makes of one matrix, judged when first asked."""

    X: Floats
    truth: Biclustering
    algorithm: str

    @cached_property
    def solutions(self) -> dict[int, Biclustering]:
        return nested(self.algorithm, self.X)

    @cached_property
    def ce(self) -> dict[int, float]:
        return {k: float(compare(self.truth, s)["ce"] or 0.0) for k, s in self.solutions.items()}

    @cached_property
    def evidence(self) -> dict[int, Evidence]:
        return {k: evidence_table(self.X, s) for k, s in self.solutions.items()}

    @cached_property
    def held_out(self) -> PredictiveGain:
        return predictive_gain(self.X, lambda X, k: fit(self.algorithm, X, k), K_VALUES, nested=NESTED[self.algorithm])

    @cached_property
    def stability(self) -> dict[int, float]:
        return {
            k: stability(self.X, lambda X, k=k: fit(self.algorithm, X, k), repeats=3, null_runs=1).mean
            for k in K_VALUES
        }

    @cached_property
    def scores(self) -> dict[int, dict[str, float]]:
        return {
            k: evaluate(self.X, s, metrics=list(MEASURES), single="matrix").scores
            if len(s)
            else dict.fromkeys(MEASURES, math.nan)
            for k, s in self.solutions.items()
        }


@dataclass(frozen=True)
class Answer:
    """What a criterion makes of a sweep: K chosen (None: nothing is there), number of biclusters, value to compare."""

    k: int | None
    number: int
    value: float


NOTHING = Answer(None, 0, -math.inf)


def by_evidence(sweep: Sweep) -> Answer:
    """Largest total evidence; K is the number of supported biclusters."""
    k = max(K_VALUES, key=lambda k: sweep.evidence[k].total if sweep.evidence[k].n_supported else -math.inf)
    chosen = sweep.evidence[k]
    return Answer(k, chosen.n_supported, chosen.total) if chosen.n_supported else NOTHING


def by_evidence_asked(sweep: Sweep) -> Answer:
    """Largest total evidence; K is the number of biclusters of that solution, supported or not."""
    answer = by_evidence(sweep)
    return answer if answer.k is None else Answer(answer.k, len(sweep.solutions[answer.k]), answer.value)


def by_held_out(sweep: Sweep) -> Answer:
    """Largest predictive gain; nothing if within two standard errors of 0."""
    gain = sweep.held_out
    if gain.best_k is None:
        return NOTHING
    return Answer(gain.best_k, len(sweep.solutions[gain.best_k]), float(gain.mean[gain.best]))


def by_both(sweep: Sweep) -> Answer:
    """Where held-out cells and evidence both see something: largest evidence among K within one s.e. of the best."""
    gain = sweep.held_out
    if gain.nothing:
        return NOTHING
    near = gain.mean >= gain.mean[gain.best] - gain.standard_error[gain.best]
    able = [k for k, ok in zip(gain.k_values, near, strict=True) if ok and sweep.evidence[k].n_supported]
    if not able:
        return NOTHING
    k = max(able, key=lambda k: sweep.evidence[k].total)
    return Answer(k, sweep.evidence[k].n_supported, sweep.evidence[k].total)


def by_evidence_then_held_out(sweep: Sweep) -> Answer:
    """Evidence chooses; held-out cells must confirm that something is there."""
    return NOTHING if sweep.held_out.nothing else by_evidence(sweep)


def by_held_out_supported(sweep: Sweep) -> Answer:
    """Held-out cells choose; the supported biclusters are counted."""
    answer = by_held_out(sweep)
    if answer.k is None or not sweep.evidence[answer.k].n_supported:
        return NOTHING
    return Answer(answer.k, sweep.evidence[answer.k].n_supported, answer.value)


def by_stability(sweep: Sweep) -> Answer:
    """Largest stability beyond surrogates; nothing if not positive."""
    k = max(K_VALUES, key=lambda k: sweep.stability[k] if sweep.stability[k] > 0 else -math.inf)
    value = sweep.stability[k]
    return Answer(k, len(sweep.solutions[k]), value) if value > 0 else NOTHING


def by_measure(key: str) -> Callable[[Sweep], Answer]:
    """Best value of a measure; nothing where it is undefined, or 0 for CC, throughout."""

    def choose(sweep: Sweep) -> Answer:
        sign = -1.0 if MEASURES[key] == "low" else 1.0
        values = {k: sign * scores[key] for k, scores in sweep.scores.items()}
        able = {k: v for k, v in values.items() if not math.isnan(v) and not (key == "cc" and v == 0)}
        if not able:
            return NOTHING
        k = max(able, key=able.__getitem__)
        return Answer(k, len(sweep.solutions[k]), able[k])

    return choose


CRITERIA: dict[str, Callable[[Sweep], Answer]] = {
    "evidence": by_evidence,
    "evidence, K asked": by_evidence_asked,
    "held-out": by_held_out,
    "held-out, supported": by_held_out_supported,
    "both": by_both,
    "evidence if held-out": by_evidence_then_held_out,
    "stability": by_stability,
    **{key: by_measure(key) for key in MEASURES},
}


# They need the algorithms to be fitted again, many times.
REFITS = ("held-out", "held-out, supported", "both", "evidence if held-out", "stability")


@dataclass
class Tally:
    """Hits and tries of one criterion, by question and design."""

    hits: dict[tuple[str, str], list[float]]

    def add(self, question: str, design: str, value: float) -> None:
        self.hits[question, design].append(value)

    def share(self, question: str, designs: Collection[str] | None = None) -> tuple[float, int]:
        values = [
            v for (q, d), vs in self.hits.items() if q == question and (designs is None or d in designs) for v in vs
        ]
        return (float(np.mean(values)) if values else math.nan), len(values)


Entry = tuple[str, str, float]  # who was asked, what, and how it went


def judge(design: Design, seed: int, names: list[str]) -> list[Entry]:
    """Ask criteria about one matrix."""
    X, truth = design.make(seed)
    sweeps = [Sweep(X, truth, algorithm) for algorithm in ALGORITHMS]
    best = [max(sweep.ce.values()) for sweep in sweeps]
    differ = not design.noise and max(best) - sorted(best)[-2] >= DIFFERENT
    found: list[Entry] = []
    for name in names:
        answers = [CRITERIA[name](sweep) for sweep in sweeps]
        for sweep, answer in zip(sweeps, answers, strict=True):
            if design.noise:
                found.append((name, "noise", answer.k is None))
            elif max(sweep.ce.values()) >= ABLE:
                found += [(name, "K", answer.number == len(truth)), (name, "planted", len(truth))]
        if not design.noise:
            chosen = int(np.argmax([answer.value for answer in answers]))
            k = answers[chosen].k
            found.append((name, "CE", 0.0 if k is None else sweeps[chosen].ce[k]))
            if differ:
                found.append((name, "algorithm", k is not None and best[chosen] == max(best)))
    if DEFAULT not in names:
        return found
    if not design.noise:
        for a, algorithm in enumerate(ALGORITHMS):
            found.append((f"always {algorithm}", "CE", best[a]))
            if differ:
                found.append((f"always {algorithm}", "algorithm", best[a] == max(best)))
        found += [(PATH + name, "path", hit) for name, hit in path_hits(X, truth, seed).items()]
        found += [(PLANTED, "supported", supported) for supported in evidence_table(X, truth).supported]
    searched = sweeps[ALGORITHMS.index("find")].evidence[K_VALUES[-1]]
    return found + [
        (SEARCHED, "in noise" if design.noise else "supported", supported) for supported in searched.supported
    ]


def judge_all(
    designs: list[Design], seeds: range, names: list[str], refits: int | None, keep: Path | None
) -> dict[str, Tally]:
    """Ask every criterion about every matrix; what is kept from an earlier run is not asked again."""
    tallies = {name: Tally(defaultdict(list)) for name in (*names, *(f"always {a}" for a in ALGORITHMS))}
    quick, again = ([name for name in names if (name in REFITS) == fitted] for fitted in (False, True))
    for design in designs:
        for seed in seeds:
            able = refits is None or (design.fresh and seed < seeds.start + refits)
            groups = {"": quick, "-refits": again if able else []}
            for ending, group in groups.items():
                kept = keep / f"{design.name}-{seed}{ending}.json" if keep else None
                if not group:
                    continue
                if kept and kept.exists():
                    entries = json.loads(kept.read_text(encoding="utf-8"))
                else:
                    print(f"{design.name}, seed {seed}{ending}", file=sys.stderr, flush=True)
                    entries = [(name, question, float(value)) for name, question, value in judge(design, seed, group)]
                    if kept:
                        kept.parent.mkdir(parents=True, exist_ok=True)
                        kept.write_text(json.dumps(entries), encoding="utf-8")
                for name, question, value in entries:
                    tallies.setdefault(name, Tally(defaultdict(list))).add(question, design.name, value)
    return tallies


def constant_k(tally: Tally) -> tuple[int, float]:
    """Return the constant number of biclusters that is right most often, and how often, where some K is able."""
    planted = [number for (question, _), numbers in tally.hits.items() if question == "planted" for number in numbers]
    values, counts = np.unique(planted, return_counts=True)
    return int(values[counts.argmax()]), float(counts.max() / counts.sum())


def path_hits(X: Floats, truth: Biclustering, seed: int) -> dict[str, bool]:
    """Return by whom the planted K is found on a path: planted blocks with errors, then searched junk."""
    blocks = path_of(X, truth, seed)
    prefixes = {k: Biclustering(blocks[:k], X.shape) for k in range(1, len(blocks) + 1)}
    totals = {k: evidence_table(X, s).total for k, s in prefixes.items()}
    hits = {
        "evidence": evidence_table(X, prefixes[len(blocks)]).n_supported == len(truth),
        "evidence, best prefix": max(totals, key=totals.__getitem__) == len(truth),
    }
    scores = {k: evaluate(X, s, metrics=list(MEASURES), single="matrix").scores for k, s in prefixes.items()}
    for key, direction in MEASURES.items():
        sign = -1 if direction == "low" else 1
        able = {k: sign * v[key] for k, v in scores.items() if not math.isnan(v[key])}
        hits[key] = bool(able) and max(able, key=able.__getitem__) == len(truth)
    return hits


def paths(tallies: dict[str, Tally]) -> list[str]:
    """Return how often the planted K is found on paths."""
    lines = ["| path | K found | cases |", "|---|---|---|"]
    for name, tally in tallies.items():
        if name.startswith(PATH):
            value, n = tally.share("path")
            lines.append(f"| {name.removeprefix(PATH)} | {value:.2f} | {n} |")
    return lines


def missed(tally: Tally, designs: list[Design]) -> list[str]:
    """Return where the default criterion falls short of its targets, a line each, the worst first."""
    found = []
    for question, target in TARGETS.items():
        for design in designs:
            value, n = tally.share(question, {design.name})
            if n and value < target:
                found.append(
                    (
                        value - target,
                        f"- {QUESTIONS[question]}, {design.name}: {value:.2f} of {n} (wanted {target:.2f}).",
                    )
                )
    return [line for _, line in sorted(found)] or ["- nothing in these seeds."]


def table(tallies: dict[str, Tally], designs: Collection[str] | None = None) -> list[str]:
    """Return the main table, of some designs or of all."""
    lines = [
        "| criterion | K found | noise: says nothing | right algorithm | mean CE of its choice |",
        "|---|---|---|---|---|",
    ]
    for name, tally in tallies.items():
        shares = [tally.share(question, designs) for question in ("K", "noise", "algorithm", "CE")]
        if any(n for _, n in shares):
            cells = ["–" if math.isnan(value) else f"{value:.2f} ({n})" for value, n in shares]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def by_design(tallies: dict[str, Tally], question: str, designs: list[Design]) -> list[str]:
    """Return one question, design by design."""
    names = [name for name, tally in tallies.items() if tally.share(question)[1]]
    names.sort(key=lambda name: name != DEFAULT)
    lines = [f"| {question} | cases | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for design in designs:
        n = tallies[names[0]].share(question, {design.name})[1]
        if n:
            shares = [tallies[name].share(question, {design.name}) for name in names]
            values = " | ".join(f"{value:.2f}" if cases else "–" for value, cases in shares)
            lines.append(f"| {design.name} | {n} | {values} |")
    return lines


PAGE = """# Choosing the solution and K

**In short.** Score or sweep as usual and take the solution with the most *evidence*: how far its biclusters are beyond
what noise gives, each under the pattern that fits it best, less the cost of naming its rows and columns. K is the number of *supported* biclusters. If none is, nothing is there. `select`, `select_k`,
`solution_scorer` and the report's headline do this by default; `--by nve_cov` (or any other measure) overrides it.

Written by `{command}`; do not edit.

Held-out cells are the second opinion: `sweep --held-out 5` hides cells, fits again and predicts them, and `select --by
predictive` chooses by the gain (`select_k(..., scoring="predictive")` in Python); within two standard errors of 0 it chooses
nothing. `select` prints a verdict: where evidence, held-out cells and the measure asked for agree, where they do not, and where
nothing is there. `sweep --stability 10` says which biclusters come back when rows and columns are left out; do not choose by it.

What to know before trusting a number: where neighbouring columns are correlated (time series), evidence counts every cell as
less than one, because smooth noise looks coherent; without that, autoregressive noise with coefficient 0.7 paid in every seed
tried, with it in none, but a planted block has to stand out more (3 standard deviations where 2 would do). Biclusters of the
solution that lie side by side are not mistaken for a series; those the solution misses may be: if the order of columns means
nothing, shuffle them. What only a few rows or columns of a bicluster do does not count for it.

Three questions are asked of every criterion: *K*: of the cases in which some K reaches a clustering-error similarity (CE) of
0.5 to the planted biclusters, how often is the number reported the planted one; *noise*: how often does it say that nothing
is there where nothing is; *algorithm*: where the best CE of two algorithms differs by 0.1 or more, how often is the best one
chosen. The constant answers stand in the same table.

{words}

"""


def in_words(tallies: dict[str, Tally], designs: list[Design], seeds: range, refits: int | None) -> str:
    """Say what the tables are of, how the default criterion fares beside the best constant answer, and what `find` adds."""
    fresh = {design.name for design in designs if design.fresh}
    default = tallies[DEFAULT]
    said = [f"The tables are of {len(seeds)} seed{'s' if len(seeds) > 1 else ''} per design, never used before."]
    if refits is not None and any(name in tallies for name in REFITS):
        said[0] += (
            f" Held-out cells, which take many fits, were asked on {refits} of them and the designs nothing was tuned on."
        )
    said[0] += " A share of 0.9 of 30 cases has a standard error of 0.05."
    for where, names in (("the designs nothing was tuned on", fresh), ("all designs", None)):
        own, n = default.share("algorithm", names)
        best, constant = max((tallies[f"always {a}"].share("algorithm", names)[0], a) for a in ALGORITHMS)
        if n:
            verb = "is behind" if own < best else "is level with" if own == best else "beats"
            said.append(
                f"On {where} evidence names the right algorithm in {own:.2f} of {n} cases and {verb} the best constant "
                f"answer, always {constant} ({best:.2f})."
            )
    parts = []
    for who, question in ((PLANTED, "supported"), (SEARCHED, "supported"), (SEARCHED, "in noise")):
        share, n = tallies[who].share(question) if who in tallies else (0.0, 0)
        parts.append((round(share * n) if n else 0, n))
    (planted, of_planted), (standing, searched), (false, in_noise) = parts
    said.append(
        f"`find` searches with a score of its own, S: a row inside the block against the same row outside of it, cell by cell, "
        f"for patterns of columns; evidence takes a finished block from any tool, tries every kind of pattern, raised blocks "
        f"included, and charges for the choice of rows, columns and kind. On these matrices {planted} of the {of_planted} "
        f"planted biclusters are supported; `find` returns {searched} biclusters where some are "
        f"planted, of which {standing} are supported, and {in_noise} in noise, of which {false} are. So S serves the search and evidence "
        f"the verdict: a bicluster counts when it is supported, whoever found it."
    )
    unseen = [d.name for d in designs if not d.noise and tallies[PLANTED].share("supported", {d.name})[0] < 1]
    if unseen:
        said.append(
            f"Planted biclusters are not all supported, even when they are given exactly, in {', '.join(unseen)}."
        )
    return "\n\n".join(textwrap.fill(text, 120) for text in said)


def main() -> None:
    """Judge the criteria, print the tables, and write the page where one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--only", default=";".join(CRITERIA), help="criteria, separated by semicolons")
    parser.add_argument(
        "--refits", type=int, help="fresh designs and so many seeds for criteria that fit again; else all"
    )
    parser.add_argument("--keep", type=Path, help="folder for what was judged, a file per design and seed")
    parser.add_argument("--page", type=Path, help="also write the tables to this Markdown file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    designs = [DESIGNS[name] for name in options.designs.split(",")]
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    start = time.perf_counter()
    tallies = judge_all(designs, seeds, options.only.split(";"), options.refits, options.keep)
    lines = []
    if DEFAULT in tallies:
        lines += [f"## What {DEFAULT} misses", "", *missed(tallies[DEFAULT], designs), ""]
    fresh = {design.name for design in designs if design.fresh}
    if fresh:
        lines += ["## Designs nothing was tuned on", "", *table(tallies, fresh), ""]
    lines += ["## All designs", "", *table(tallies)]
    if not all(design.noise for design in designs):
        k, share = constant_k(next(iter(tallies.values())))
        lines += ["", f"The constant answer K = {k} is right in {share:.2f} of the cases of the first column."]
        for question in ("K", "algorithm"):
            lines += ["", f"## By design: {question}", "", *by_design(tallies, question, designs)]
        lines += ["", "## Paths: planted biclusters with wrong members, then junk", "", *paths(tallies)]
    if any(design.noise for design in designs):
        lines += ["", "## By design: noise", "", *by_design(tallies, "noise", designs)]
    lines += ["", f"{len(designs)} designs, seeds {seeds.start} to {seeds.stop - 1}."]
    print(*lines, f"{time.perf_counter() - start:.0f} s", sep="\n")
    if options.page:
        command = f"python -m benchmarks.truth --seeds {options.seeds} --first-seed {options.first_seed}"
        command += f" --refits {options.refits}" if options.refits else ""
        command += "" if options.designs == ",".join(DESIGNS) else f" --designs {options.designs}"
        command += "" if options.only == ";".join(CRITERIA) else f' --only "{options.only}"'
        page = PAGE.replace("{command}", f"{command} --page {options.page.as_posix()}")
        page = page.replace("{words}", in_words(tallies, designs, seeds, options.refits))
        options.page.write_text(page + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
