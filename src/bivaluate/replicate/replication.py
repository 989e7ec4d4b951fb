"""Run the whole paper: sweeps, evidence, verdicts, tables, figures, document and report."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bivaluate._errors import BivaluateError, FileError, RunError
from bivaluate._files import text_target
from bivaluate.datasets.published import YEAST_KS
from bivaluate.replicate.claim_rules import VERDICTS, Outcome
from bivaluate.replicate.profile import ALGORITHMS, PAPER_SEED, get_profile

FILES = "replication"
PAPER = get_profile("printed")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Size:
    """How much is run."""

    name: str
    planted_seeds: int
    scenario_seeds: int
    yeast: tuple[str, ...]
    yeast_seeds: int
    scenarios: tuple[str, ...] = ("scenario:*",)

    @property
    def command(self) -> str:
        """What is typed for it."""
        return "bivaluate replicate --full" if self.name == "full" else "bivaluate replicate"


QUICK = Size("quick", 100, 4, ("yeast:04_elutriation", "yeast:13_heat_shock_2"), 3)
FULL = Size("full", 100, 20, ("yeast:*",), 10)


@dataclass
class Replication:
    """What came out, and where it is."""

    folder: Path
    outcomes: list[Outcome]
    document: Path
    report: Path
    words: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def replicate(
    out: str | os.PathLike[str], *, full: bool = False, jobs: int = 1, progress: Progress | None = None
) -> Replication:
    """Reproduce the paper and judge each of its claims.

    Parameters
    ----------
    out : str or path-like
        Folder for everything; started again on the same folder, finished work is not repeated.
    full : bool, default=False
        All scenarios over 20 seeds and all 17 yeast matrices over 10 seeds, instead of a quick look.
    jobs : int, default=1
        Worker processes.
    progress : callable, optional
        Called with what is being done, how much of it is finished, and how much there is.

    Returns
    -------
    Replication
        The judged claims and the paths of what was written.

    Raises
    ------
    FileError
        If the folder cannot be written.

    See Also
    --------
    judge_all

    Examples
    --------
    >>> replicate("replication").document  # doctest: +SKIP
    PosixPath('replication/REPLICATION.md')
    """
    from bivaluate.replicate.document import full_words, headline, render
    from bivaluate.replicate.tables import claim_rows
    from bivaluate.sweep.workers import kept_workers

    size = FULL if full else QUICK
    folder, files = Path(out), Path(out) / FILES
    try:
        files.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot create the folder {files}: {error.strerror or error}.") from error
    runs = _Runs(folder / "runs", size, jobs, progress)
    notes: list[str] = []
    with kept_workers():
        scenarios, own_seeds = runs.scenarios(PAPER.algorithm_seed), runs.scenarios(None)
        yeast = runs.yeast(notes)
    runs.tell("evidence, tables, report", 0, 3)
    evidence = _gather(size, scenarios, own_seeds, yeast, files)
    runs.tell("evidence, tables, report", 1, 3)
    outcomes = _write(evidence, size, files, notes, yeast is not None)
    document = folder / "REPLICATION.md"
    _write_text(document, render(files))
    runs.tell("evidence, tables, report", 2, 3)
    report = _report(scenarios, outcomes, files, folder / "report.html", size)
    runs.tell("evidence, tables, report", 3, 3)
    words = [headline(files), full_words(claim_rows(outcomes), size.command)]
    return Replication(folder, outcomes, document, report, [sentence for sentence in words if sentence], notes)


@dataclass
class _Runs:
    folder: Path
    size: Size
    jobs: int
    progress: Progress | None

    def scenarios(self, algorithm_seed: int | None) -> Any:
        """Run the algorithms on the scenarios at the planted K."""
        name = "scenarios" if algorithm_seed is not None else "scenarios-own-seed"
        return self._sweep(
            name, self.size.scenarios, "planted", range(self.size.scenario_seeds), algorithm_seed=algorithm_seed
        )

    def yeast(self, notes: list[str]) -> Any | None:
        """Run the K-sweeps, or say why they are left out."""
        from bivaluate.datasets.real import fetch

        try:
            fetch("yeast")
        except (BivaluateError, OSError) as error:
            notes.append(f"The yeast part was left out because the matrices are not here: {error}")
            return None
        return self._sweep("yeast", self.size.yeast, YEAST_KS, [*range(self.size.yeast_seeds), PAPER_SEED])

    def _sweep(
        self, name: str, datasets: Sequence[str], k: Any, seeds: Sequence[int], algorithm_seed: int | None = None
    ) -> Any:
        from bivaluate.sweep.plan import Plan
        from bivaluate.sweep.run import Sweep

        how: dict[str, Any] = {"algorithm_seed": algorithm_seed, "parameters": PAPER.parameters}
        plan = Plan(datasets=datasets, algorithms=ALGORITHMS, k=k, seeds=list(seeds), **how)
        return Sweep(
            plan,
            self.folder / f"{self.size.name}-{name}",
            jobs=self.jobs,
            progress=lambda done, total, _: self.tell(name, done, total),
        ).run()

    def tell(self, what: str, done: int, total: int) -> None:
        """Pass progress on to whoever watches."""
        if self.progress is not None:
            self.progress(what, done, total)


def _gather(size: Size, scenarios: Any, own_seeds: Any, yeast: Any | None, files: Path) -> Any:
    """Collect the evidence and read it back from its files, so that verdicts depend on nothing else."""
    import pandas as pd

    from bivaluate.replicate.claim_evidence import (
        Evidence,
        find_evidence,
        found_evidence,
        matched_evidence,
        planted_evidence,
        yeast_evidence,
    )

    planted, checks = planted_evidence(size.planted_seeds)
    matched = pd.concat([matched_evidence(scenarios, "fixed"), matched_evidence(own_seeds, "own")], ignore_index=True)
    biclusters, truth = found_evidence(scenarios)
    others = find_evidence(dict.fromkeys(truth["scenario"]), dict.fromkeys(truth["seed"]))
    truth = pd.concat([truth, others], ignore_index=True)
    Evidence(planted, checks, matched, biclusters, truth, yeast_evidence(yeast)).write(files)
    return Evidence.read(files)


def _write(evidence: Any, size: Size, files: Path, notes: list[str], with_yeast: bool) -> list[Outcome]:
    from bivaluate.replicate.claims import judge_all
    from bivaluate.replicate.figures import draw_all
    from bivaluate.sweep.run import package_versions

    outcomes = judge_all(evidence)
    write_tables(evidence, outcomes, files)
    draw_all(evidence, files)
    provenance = {
        "command": size.command,
        "bivaluate": version("bivaluate"),
        "python": platform.python_version(),
        "packages": package_versions(),
        "planted_seeds": size.planted_seeds,
        "scenario_seeds": size.scenario_seeds,
        "yeast_seeds": list(range(size.yeast_seeds)) if with_yeast else [],
        "notes": notes,
    }
    _write_text(files / "provenance.json", json.dumps(provenance, indent=1) + "\n")
    return outcomes


def write_tables(evidence: Any, outcomes: list[Outcome], files: Path) -> None:
    """Write every table as CSV and as Markdown."""
    from bivaluate.replicate.claim_evidence import write_csv
    from bivaluate.replicate.document import frame_table
    from bivaluate.replicate.tables import all_tables

    for name, frame in all_tables(evidence, outcomes).items():
        write_csv(frame, files / f"{name}.csv")
        _write_text(files / f"{name}.md", "\n".join(frame_table(frame)) + "\n")


def is_replication(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder was made by :func:`replicate`."""
    return os.path.isdir(Path(folder) / FILES) and os.path.isdir(Path(folder) / "runs")


def report_again(folder: str | os.PathLike[str], path: str | os.PathLike[str], title: str | None = None) -> Path:
    """Write the report of a finished replication again, from its own files."""
    from bivaluate.replicate.claim_evidence import Evidence
    from bivaluate.replicate.claims import judge_all
    from bivaluate.sweep.load import load_run

    files, runs = Path(folder) / FILES, Path(folder) / "runs"
    if not (files / "provenance.json").exists():
        begun = ", ".join(sorted(str(run) for run in runs.iterdir())) or "none"
        raise RunError(
            f"{folder} is a replication that is not finished. Start the same command again to continue, "
            f"or make the report of one of its runs: {begun}."
        )
    command = json.loads((files / "provenance.json").read_text(encoding="utf-8"))["command"]
    size = FULL if "--full" in command else QUICK
    scenarios = load_run(runs / f"{size.name}-scenarios")
    return _report(scenarios, judge_all(Evidence.read(files)), files, Path(path), size, title)


def _report(
    scenarios: Any, outcomes: list[Outcome], files: Path, path: Path, size: Size, title: str | None = None
) -> Path:
    """Write the page: it begins with what the checks say; the claims are folded by their groups."""
    from bivaluate.replicate.document import columns_words, full_words, headline, measured_words
    from bivaluate.replicate.tables import claim_rows
    from bivaluate.replicate.texts import GROUPS, TEXT, order
    from bivaluate.report import Figure, Section, build_report

    claims = claim_rows(outcomes)
    rows = [[c["claim"], c["sentence"], c["paper"], measured_words(c), c["verdict"], columns_words(c)] for c in claims]
    sizes = Counter(order(str(c["claim"]))[0] for c in claims)
    marks = tuple(zip(VERDICTS, ("good", "fair", "bad", "muted", "muted", "muted"), strict=True))
    pictures = [
        Figure(files / f"{name}.png", caption, caption)
        for name, caption in TEXT["captions"].items()
        if (files / f"{name}.png").exists()
    ]
    sections = [
        Section(
            "The claims of the paper",
            f"{headline(files)} {full_words(claims, size.command)} Verdicts are under the printed formula; brackets are 95 % intervals. "
            "REPLICATION.md beside this page has the rules, the sources and the reasons.",
            ("claim", "what the paper says", "paper", "measured", "verdict", "VE along columns"),
            rows,
            marks=marks,
            folds=tuple((f"{group}. {GROUPS[group]}", size) for group, size in sizes.items()),
        ),
        Section("The figures of the paper", figures=pictures),
    ]
    name = title or "Replication of the NVE paper"
    return build_report(scenarios, path, name, sections, headline=headline(files).partition(" (")[0] + ".")


def _write_text(path: Path, text: str) -> None:
    with text_target(path) as stream:
        stream.write(text)
