"""Run the whole paper: sweeps, evidence, verdicts, tables, figures, document and report."""

import json
import platform
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bivaluate._errors import BivaluateError
from bivaluate._files import FilePath, make_folder, write_whole
from bivaluate.datasets import real
from bivaluate.datasets.published import YEAST_KS
from bivaluate.replicate import claim_evidence, document, figures
from bivaluate.replicate.claim_evidence import Evidence, write_csv
from bivaluate.replicate.claim_rules import TOO_FEW, VERDICTS, JudgedClaim
from bivaluate.replicate.claims import GROUPS, TEXT, claim_order, judge_all
from bivaluate.replicate.document import columns_words, frame_table, full_words, measured_words, replication_headline
from bivaluate.replicate.profile import ALGORITHMS, PAPER_SEED, get_profile
from bivaluate.replicate.tables import all_tables, claim_rows
from bivaluate.report import Figure, Section, build_report
from bivaluate.sweep import Plan, Run, Sweep
from bivaluate.sweep.run import package_versions
from bivaluate.sweep.workers import kept_workers

FILES = "replication"
PAPER = get_profile("printed")
Progress = Callable[[str, int, int], None]
Outcomes = list[JudgedClaim]


@dataclass(frozen=True)
class Size:
    """How much is run."""

    name: str
    planted_seeds: int
    scenario_seeds: int
    yeast: tuple[str, ...]
    yeast_seeds: int
    scenarios: tuple[str, ...] = ("scenario:*",)
    command: str = "bivaluate replicate"


QUICK = Size("quick", 100, 4, ("yeast:04_elutriation", "yeast:13_heat_shock_2"), 3)
FULL = Size("full", 100, 20, ("yeast:*",), 10, command="bivaluate replicate --full")


@dataclass
class Replication:
    """What came out, and where it is."""

    folder: Path
    outcomes: list[JudgedClaim]
    document: Path
    report: Path
    words: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def replicate(out: FilePath, *, full: bool = False, jobs: int = 1, progress: Progress | None = None) -> Replication:
    """Reproduce the paper and judge each of its claims.

    Parameters
    ----------
    out, full : str or path-like, bool
        The folder, in which finished work is not repeated; 20 seeds of scenarios and 17 yeast matrices over 10 seeds.
    jobs, progress : int, callable or None
        Worker processes; called with what is being done, how much of it is finished, and how much there is.

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
    size = FULL if full else QUICK
    folder, files = Path(out), Path(out) / FILES
    make_folder(files)
    tell = progress or (lambda *_: None)

    def sweep(name: str, datasets: Sequence[str], k: Any, seeds: Sequence[int], fixed: int | None = None) -> Run:
        how: dict[str, Any] = {"algorithm_seed": fixed, "parameters": PAPER.parameters}
        plan = Plan(datasets=datasets, algorithms=ALGORITHMS, k=k, seeds=list(seeds), **how)
        place = folder / "runs" / f"{size.name}-{name}"
        return Sweep(plan, place, jobs=jobs, progress=lambda done, total, _: tell(name, done, total)).run()

    notes: list[str] = []
    with kept_workers():
        planted = size.scenarios, "planted", range(size.scenario_seeds)
        scenarios, own_seeds = sweep("scenarios", *planted, PAPER.algorithm_seed), sweep("scenarios-own-seed", *planted)
        try:
            real.fetch("yeast")
        except (BivaluateError, OSError) as error:
            notes, yeast = [f"The yeast part was left out because the matrices are not here: {error}"], None
        else:
            yeast = sweep("yeast", size.yeast, YEAST_KS, [*range(size.yeast_seeds), PAPER_SEED])
    tell("evidence, tables, report", 0, 3)
    claim_evidence.gather_evidence(size.planted_seeds, scenarios, own_seeds, yeast).write(files)
    evidence = Evidence.read(files)  # so that verdicts depend on nothing but the files
    tell("evidence, tables, report", 1, 3)
    outcomes = judge_all(evidence)
    write_tables(evidence, outcomes, files)
    figures.draw_all(evidence, files)
    made_by = {"command": size.command, "bivaluate": version("bivaluate"), "python": platform.python_version()}
    seeds = {name: getattr(size, name) for name in ("planted_seeds", "scenario_seeds")}
    seeds["yeast_seeds"] = list(range(size.yeast_seeds)) if yeast is not None else []
    provenance = made_by | {"packages": package_versions()} | seeds | {"notes": notes}
    write_whole(files / "provenance.json", json.dumps(provenance, indent=1) + "\n")
    write_whole(folder / "REPLICATION.md", document.render_document(files))
    tell("evidence, tables, report", 2, 3)
    report = _report(scenarios, outcomes, files, folder / "report.html", size)
    tell("evidence, tables, report", 3, 3)
    words = [full_words(claim_rows(outcomes), size.command), replication_headline(files)]
    return Replication(folder, outcomes, folder / "REPLICATION.md", report, [text for text in words if text], notes)


def write_tables(evidence: Evidence, outcomes: Outcomes, files: Path) -> None:
    """Write every table as CSV and as Markdown."""
    for name, frame in all_tables(evidence, outcomes).items():
        write_csv(frame, files / f"{name}.csv")
        write_whole(files / f"{name}.md", frame_table(frame) + "\n")


def _report(scenarios: Run, outcomes: Outcomes, files: Path, path: Path, size: Size) -> Path:
    """Write the page: it begins with what the checks say; the claims are folded by their groups."""
    claims = claim_rows(outcomes)
    rows = [
        [c["claim"], c["sentence"], c["paper"], measured_words(c), document.verdict_words(c), columns_words(c)]
        for c in claims
    ]
    sizes = Counter(claim_order(str(c["claim"]))[0] for c in claims)
    marks = tuple(zip((*VERDICTS, TOO_FEW), ("good", "fair", "bad", *["muted"] * 4), strict=True))
    captions = {files / f"{name}.png": caption for name, caption in TEXT["captions"].items()}
    pictures = [Figure(path, caption, caption) for path, caption in captions.items() if path.exists()]
    need = full_words(claims, size.command)
    said = f"{need} {replication_headline(files)} {TEXT['legend']['page']}".lstrip()
    headings = ("claim", "what the paper says", "paper", "measured", "verdict", "VE along columns")
    folds = tuple((f"{group}. {GROUPS[group]}", size) for group, size in sizes.items())
    first = Section("The claims of the paper", said, headings, rows, marks=marks, folds=folds)
    sections = [first, Section("The figures of the paper", figures=pictures)]
    counted = f"{need.partition(':')[0]}. {replication_headline(files).partition(' (')[0]}.".removeprefix(". ")
    return build_report(scenarios, path, "Replication of the NVE paper", sections, headline=counted)
