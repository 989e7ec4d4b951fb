"""The whole command on a small scale: without a network, resumed, written out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from bivaluate import FileError, RunError, load_run
from bivaluate.cli.main import app
from bivaluate.replicate import Evidence, replication
from bivaluate.replicate.claims import GROUPS
from bivaluate.replicate.document import render_document, replication_headline

SMALL = replication.Size("quick", 3, 2, (), 3, ("scenario:S2", "scenario:S9b"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory):
    """One small replication without yeast, by the command line."""
    folder = tmp_path_factory.mktemp("replication")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replication, "QUICK", SMALL)
        patch.setattr(replication, "PAPER", replace(replication.PAPER, parameters={"las": {"n_restarts": 5}}))
        for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": "/dev/null"}.items():
            patch.setenv(name, value)  # no network
        patch.setenv("BIVALUATE_DATA", str(tmp_path_factory.mktemp("data")))
        arguments = ["replicate", "--out", str(folder), "--jobs", "1"]
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        patch.setattr("bivaluate.replicate.figures.draw_all", lambda *_: None)  # they are there, and take seconds
        patch.setattr("bivaluate.replicate.claim_evidence.find_evidence", lambda *_: _as_found(folder))
        again = CliRunner().invoke(app, arguments, catch_exceptions=False)
    return folder, result, again


def _as_found(folder: Path) -> pd.DataFrame:
    truth = Evidence.read(folder / "replication").truth
    return truth[truth["algorithm"] == "find"]


def test_it_says_what_came_out_and_where(small) -> None:
    folder, result, _ = small
    assert result.exit_code == 0
    said = " ".join(result.output.split())
    assert replication_headline(folder / "replication") in said
    assert replication_headline(folder / "replication") in (folder / "REPLICATION.md").read_text(encoding="utf-8")
    first = re.search(r"(\d+ of \d+ checks have too few seeds in this run and need --full): claims 1", said)
    assert first.start() < said.index(replication_headline(folder / "replication"))
    table = (folder / "REPLICATION.md").read_text(encoding="utf-8")
    assert table.count("| – too few seeds |") == int(first[1].split()[0])
    claims = pd.read_csv(folder / "replication" / "claims.csv")
    words = claims["verdict"].where(claims["few seeds"] == "no", "too few seeds")[claims["basis"] == "independent"]
    for word in ("not testable", "too few seeds", "undecided"):
        assert f"{(words == word).sum()} {word}" in replication_headline(folder / "replication")
    assert f">{first[1]}. " in (folder / "report.html").read_text(encoding="utf-8")
    assert f"report: {folder / 'report.html'}" in result.output.replace("\n", "")


def test_without_a_network_the_yeast_part_is_left_out_and_said(small) -> None:
    folder, result, _ = small
    assert "The yeast part was left out" in result.output
    assert "The yeast part was left out" in (folder / "REPLICATION.md").read_text(encoding="utf-8")
    claims = pd.read_csv(folder / "replication" / "claims.csv", dtype={"claim": str})
    yeast = claims[claims["claim"].str.match(r"(7|8|9|10)\.")]
    assert set(yeast["verdict"]) == {"not testable"}


def test_every_table_and_figure_is_written(small) -> None:
    folder = small[0] / "replication"
    tables = ["scenarios", "planted", "truth", "winners", "k_picks", "different_k", "favourites", "yeast_choices"]
    for name in [*(f"table_{table}" for table in tables), "claims"]:
        assert (folder / f"{name}.csv").exists()
        assert (folder / f"{name}.md").exists()
    for name in ("heatmaps", "decomposition", "matched_k", "winners", "nve_maps"):
        assert (folder / f"fig_{name}.svg").read_bytes().startswith(b"<?xml")
        assert (folder / f"fig_{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_document_is_made_from_the_files_alone(small) -> None:
    folder = small[0]
    assert render_document(folder / "replication") == (folder / "REPLICATION.md").read_text(encoding="utf-8")
    provenance = json.loads((folder / "replication" / "provenance.json").read_text(encoding="utf-8"))
    assert provenance["command"] == "bivaluate replicate"


def test_links_of_the_document_lead_somewhere(small) -> None:
    folder = small[0]
    for link in re.findall(r"\]\(([^)]+)\)", (folder / "REPLICATION.md").read_text(encoding="utf-8")):
        assert (folder / link).exists(), link


def test_the_report_holds_the_claims(small) -> None:
    page = (small[0] / "report.html").read_text(encoding="utf-8")
    assert "The claims of the paper" in page
    assert "not testable" in page
    claims = len(pd.read_csv(small[0] / "replication" / "claims.csv"))
    found = re.search(r"<h1[^>]*>(.*?)</h1>", page)
    assert found is not None
    undecided = r"\d+ of \d+ checks have too few seeds in this run and need --full\. "
    assert re.match(
        undecided + r"\d+ of \d+ independent checks of the paper are reproduced and \d+ are not\.", found[1]
    )
    assert re.sub(undecided, "", found[1])[:-1] in replication_headline(small[0] / "replication")
    folded = re.findall(r'<details class="fold">(.*?)</details>', page, re.DOTALL)
    assert len(folded) == len(GROUPS)
    assert sum(part.count("<tr>") - 1 for part in folded) == claims


def test_the_page_of_a_replication_is_not_that_of_a_run(small) -> None:
    made = CliRunner().invoke(app, ["report", str(small[0])])
    assert isinstance(made.exception, RunError)
    assert str(made.exception).endswith(f"Its runs: {small[0] / 'runs'}.")


def test_started_again_it_repeats_no_run_and_writes_the_same(small) -> None:
    folder, result, again = small
    # Kernels that are not on disk yet are announced by the first run; how far it is depends on how long it takes.
    first, second = (
        re.sub(r"compiling kernels, once.*\n|evidence, tables, report: \d of 3\n|after [\d.]+ s", "", shown.output)
        for shown in (result, again)
    )
    assert first == second
    runs = [load_run(run) for run in (folder / "runs").iterdir()]
    assert len(runs) == 2
    for run in runs:
        fits = [session["cells"] for session in run.provenance["sessions"]]
        assert fits[0] == sum(fits) > 0, "a finished run was performed again"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FileError, match=r"^cannot write .*file.replication: "):
        replication.replicate(tmp_path / "file")


def test_the_document_needs_its_files(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*claims\.csv"):
        render_document(tmp_path)
