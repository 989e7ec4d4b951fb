"""Real data: the catalogue, the cache, the fetch (a real one marked network), and what goes wrong on the way."""

import hashlib
import importlib.util
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from bivaluate import datasets
from bivaluate._errors import FileError, FormatError, ParameterError
from bivaluate.datasets import cache, catalogue, real

PAPER_FIGURE = ["04_elutriation", "08_25mm_DTT", "14_N2_depletion"]


def test_catalogue():
    records = datasets.list_datasets()
    sizes = {group: len(datasets.list_datasets(group)) for group in catalogue.GROUPS}
    assert sizes == {"yeast": 17, "tavazoie": 1, "prelic": 2, "cancer": 35}
    for record in records:
        assert len(record.sha256) == 64
        assert record.reference
        assert "doi:10." in record.reference
        assert record.member in record.source
        assert min(record.shape) > 0
    assert len({record.sha256 for record in records}) == len(records)


@pytest.mark.parametrize("name", PAPER_FIGURE)
def test_names_of_the_paper(name):
    assert real.find_dataset(name).group == "yeast"
    assert real.find_dataset(f"yeast:{name}") == real.find_dataset(name)


def test_unknown_names():
    with pytest.raises(ParameterError, match=r"no real data set 'elutriation'. Did you mean '04_elutriation'"):
        datasets.load("elutriation")
    with pytest.raises(ParameterError, match=r"no group 'yeats'.*Did you mean 'yeast'"):
        datasets.list_datasets("yeats")
    with pytest.raises(ParameterError, match=r"not one of the 17 yeast matrices; use load"):
        datasets.load_yeast("tavazoie")


@pytest.fixture
def small_world(tmp_path, monkeypatch):
    """A catalogue of two sets in a wheel made here, and an empty cache."""
    members = {
        "yeast_benchmark/a.csv": b"#\tGID\t0\t30\n1 \tYAL1 \t1.5 \t2\n2 \tYAL2 \t3\t4\n",
        "yeast_tavazoie/t.txt": b" 1 -1\n 3 4\n",
        "yeast_tavazoie/genes.txt": b"YAL1\nYAL2\n",
    }
    wheel = tmp_path / catalogue.ARCHIVE
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in members.items():
            archive.writestr(catalogue.FOLDER + name, data)
        archive.writestr("../../evil.txt", b"never unpacked")
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    records = {
        "yeast:a": catalogue.RealDataset(
            "yeast:a", "yeast", (2, 2), 0, "yeast_benchmark/a.csv", sums["yeast_benchmark/a.csv"]
        ),
        "tavazoie": catalogue.RealDataset(
            "tavazoie", "tavazoie", (2, 2), 1, "yeast_tavazoie/t.txt", sums["yeast_tavazoie/t.txt"]
        ),
    }
    genes = ("yeast_tavazoie/genes.txt", sums["yeast_tavazoie/genes.txt"])
    for module in (cache, real):
        monkeypatch.setattr(module, "DATASETS", records)
        monkeypatch.setattr(module, "TAVAZOIE_GENES", genes)
    monkeypatch.setattr(cache, "ARCHIVE_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(cache, "ARCHIVE_BYTES", wheel.stat().st_size)
    monkeypatch.setenv("BIVALUATE_DATA", str(tmp_path / "cache"))
    return wheel


def no_network(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def test_fetch_from_a_wheel_and_use_offline(small_world, monkeypatch, tmp_path):
    datasets.fetch("yeast", wheel=small_world)
    monkeypatch.setattr(cache, "_download", lambda *_: pytest.fail("went to the network"))
    frame = datasets.load_yeast("a")
    assert frame.index.tolist() == ["YAL1", "YAL2"]
    assert frame.columns.tolist() == ["0", "30"]
    tavazoie = datasets.load("tavazoie")
    np.testing.assert_array_equal(tavazoie.values, [[1, np.nan], [3, 4]])
    assert (tavazoie.row_labels, tavazoie.name) == (("YAL1", "YAL2"), "tavazoie")
    assert not list(tmp_path.rglob("evil.txt"))
    assert not list((tmp_path / "cache").rglob(".*"))


def test_a_wheel_in_the_cache_folder_is_found(small_world, monkeypatch):
    monkeypatch.setattr(cache, "_download", lambda *_: pytest.fail("went to the network"))
    cache.cache_folder().mkdir()
    small_world.rename(cache.cache_folder() / catalogue.ARCHIVE)
    assert datasets.load("yeast:a").shape == (2, 2)


def test_a_damaged_cache_is_fetched_again(small_world, monkeypatch):
    datasets.fetch(wheel=small_world)
    cache.cached_path("yeast_benchmark/a.csv").write_text("something else")
    monkeypatch.setattr(cache, "_download", lambda *_: small_world)
    assert datasets.load("yeast:a").shape == (2, 2)


def test_wrong_archives(small_world, monkeypatch, tmp_path):
    data = bytearray(small_world.read_bytes())
    data[50] ^= 1
    small_world.write_bytes(data)
    with pytest.raises(FormatError, match=r"its SHA-256 is .*Nothing was unpacked"):
        datasets.fetch(wheel=small_world)
    small_world.write_bytes(data[:-5])
    with pytest.raises(FormatError, match=r"bytes"):
        datasets.fetch(wheel=small_world)
    with pytest.raises(FileError, match=r"cannot read"):
        datasets.fetch(wheel=tmp_path / "none.whl")
    assert not list((tmp_path / "cache").rglob("*.csv"))


def test_without_a_network_the_way_by_hand_is_told(small_world, monkeypatch):
    no_network(monkeypatch)
    with pytest.raises(FileError, match=r"pip could not download .*ERROR.*put it into .*cache.*--wheel FILE"):
        datasets.load("yeast:a")
    assert not list(cache.cache_folder().rglob("*.csv"))


def test_without_pip_it_is_said(small_world, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileError, match=r"pip is not installed for .*put it into"):
        datasets.load("yeast:a")


def test_an_unwritable_cache(small_world, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BIVALUATE_DATA", str(tmp_path / "file"))
    with pytest.raises(FileError, match=r"cannot write to the cache .*BIVALUATE_DATA"):
        datasets.fetch(wheel=small_world)


def test_the_default_cache_is_per_user(monkeypatch):
    monkeypatch.delenv("BIVALUATE_DATA", raising=False)
    assert "bivaluate" in str(cache.cache_folder())


def test_the_command_honours_pip_configuration(small_world, monkeypatch):
    called = []

    class Pip(subprocess.Popen):
        def __init__(self, command, **options):
            called.append(command)
            assert "env" not in options
            super().__init__([sys.executable, "-c", "print('Progress 5 of 10')"], **options)

    monkeypatch.setattr(subprocess, "Popen", Pip)
    steps = []
    with pytest.raises(FileError, match=r"could not download"):
        datasets.fetch("yeast", progress=lambda *step: steps.append(step))
    assert called[0][1:6] == ["-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    assert steps == [(5, 10)]


@pytest.mark.network
def test_the_real_fetch(tmp_path, monkeypatch):
    monkeypatch.setenv("BIVALUATE_DATA", str(tmp_path))
    steps = []
    assert len(datasets.fetch("yeast", progress=lambda *step: steps.append(step))) == 17
    no_network(monkeypatch)
    monkeypatch.setattr(cache, "_download", lambda *_: pytest.fail("went to the network"))
    for record in datasets.list_datasets():
        matrix = datasets.load(record.name)
        assert matrix.shape == record.shape
        assert int(np.isnan(matrix.values).sum()) == record.missing
        assert matrix.row_labels is not None
    frame = datasets.load_yeast("04_elutriation")
    assert frame.shape == (935, 14)
    assert frame.loc["YAL017W", "0"] == 1.18
    assert datasets.load("tavazoie").row_labels[0] == "YAL001C"
