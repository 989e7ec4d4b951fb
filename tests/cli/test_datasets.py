"""`bivaluate datasets`: the list needs no network; a fetch without one says what to do."""

import json

import pytest


def test_list(run, tmp_path):
    done = run("datasets", BIVALUATE_DATA=str(tmp_path / "cache"))
    assert done.code == 0
    for word in ("yeast:04_elutriation", "tavazoie", "prelic_arabidopsis", "cancer:golub-1999-v1", "doi:10.1109"):
        assert word in done.out
    assert not (tmp_path / "cache").exists()


def test_list_as_json(run):
    records = json.loads(run("datasets", "--json").out)
    assert len(records) == 63
    assert set(records[0]) == {"name", "group", "shape", "missing", "source", "reference", "sha256"}


def test_unknown_names(run):
    done = run("datasets", "fetch", "yeats")
    assert done.code == 2
    assert "no real data set 'yeats'" in done.err


def test_no_network(run, tmp_path):
    done = run(
        *("datasets", "fetch", "yeast"),
        BIVALUATE_DATA=str(tmp_path / "cache"),
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS="",
        PIP_CONFIG_FILE="/dev/null",
    )
    assert done.code == 2
    assert "pip could not download" in done.err
    assert f"put it into {tmp_path / 'cache'}" in done.err


@pytest.mark.network
def test_fetch_and_write(run, tmp_path):
    where = {"BIVALUATE_DATA": str(tmp_path / "cache")}
    done = run("datasets", "fetch", "yeast", **where)
    assert done.code == 0
    assert "yeast: 17 data sets" in done.out
    offline = {**where, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": "/dev/null"}
    assert run("datasets", "write", "14_N2_depletion", "-o", "n2.csv", **offline).code == 0
    assert (tmp_path / "n2.csv").read_text().startswith(",30,60,120")
    assert "yes" in run("datasets", **offline).out
