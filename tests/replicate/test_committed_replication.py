"""docs/REPLICATION.md and its files: what a visitor reads is what the code makes of the committed evidence."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pandas as pd
import pytest

from bivaluate.replicate import Evidence, judge_all
from bivaluate.replicate.claim_rules import VERDICTS
from bivaluate.replicate.document import render_document, replication_headline
from bivaluate.replicate.replication import FULL, QUICK, write_tables

DOCS = Path(__file__).parents[2] / "docs"
FILES = DOCS / "replication"


def test_the_document_is_what_its_files_say() -> None:
    text = (DOCS / "REPLICATION.md").read_text(encoding="utf-8")
    assert render_document(FILES) == text
    assert replication_headline(FILES) in text


def test_its_links_lead_somewhere() -> None:
    text = (DOCS / "REPLICATION.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    for link in links:
        assert (DOCS / link).exists(), link


@pytest.fixture(scope="module")
def remade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables, made again from the committed evidence."""
    folder = tmp_path_factory.mktemp("tables")
    evidence = Evidence.read(FILES)
    write_tables(evidence, judge_all(evidence), folder)
    return folder


def test_every_verdict_and_table_follows_from_the_evidence(remade: Path) -> None:
    made = sorted(path.name for path in remade.glob("*.csv"))
    assert "claims.csv" in made
    for name in made:
        assert (remade / name).read_text(encoding="utf-8") == (FILES / name).read_text(encoding="utf-8"), name


def test_the_evidence_is_that_of_a_full_run() -> None:
    evidence = Evidence.read(FILES)
    assert evidence.matched["seed"].nunique() == FULL.scenario_seeds
    assert evidence.yeast["dataset"].nunique() == 17
    assert set(evidence.yeast["seed"]) == {*range(FULL.yeast_seeds), 42}
    assert evidence.planted["seed"].nunique() == FULL.planted_seeds


def test_no_path_of_a_machine_and_no_date_is_in_the_files() -> None:
    for path in [DOCS / "REPLICATION.md", *FILES.glob("*.csv"), *FILES.glob("*.json")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(home|tmp|work|root)/|20\d\d-\d\d-\d\d", text), path.name


def test_the_planted_scores_are_those_of_the_scenarios() -> None:
    from bivaluate.datasets.published import planted_scores

    table = pd.read_csv(FILES / "planted.csv").set_index(["scenario", "seed"])
    for name in ("S1", "S5", "S9b"):
        [scores] = planted_scores(name, [7])
        for measure in ("asr", "avg_ve", "nsr", "nve", "nve_cov", "coverage"):
            assert table.loc[(name, 7), measure] == pytest.approx(scores[measure], rel=1e-5)


def test_fewer_seeds_never_improve_a_verdict() -> None:
    evidence = Evidence.read(FILES)
    few = dataclasses.replace(
        evidence,
        matched=evidence.matched[evidence.matched["seed"] < QUICK.scenario_seeds],
        biclusters=evidence.biclusters[evidence.biclusters["seed"] < QUICK.scenario_seeds],
        yeast=evidence.yeast[evidence.yeast["seed"].isin([*range(QUICK.yeast_seeds), 42])],
    )
    for full, quick in zip(judge_all(evidence), judge_all(few), strict=True):
        better = VERDICTS.index(quick.verdict) < VERDICTS.index(full.verdict)
        assert not better or quick.verdict == "uninformative", full.claim.id
