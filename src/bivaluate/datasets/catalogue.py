"""The real data sets: where each lies in the archive, its shape, its missing cells and its checksum."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ARCHIVE = "biclustlib-0.0.13-py3-none-any.whl"
ARCHIVE_REQUIREMENT = "biclustlib==0.0.13"
ARCHIVE_SHA256 = "862795ccf30338336b9f6e95c205ef20e0381f1c3c592977eed6be11e3c79dc6"
ARCHIVE_BYTES = 19325473
FOLDER = "biclustlib/datasets/data/"
TAVAZOIE_GENES = (
    "yeast_tavazoie/genes_yeast_tavazoie.txt",
    "20bac410511fd295771a6b074706f1532d04f14e7361c7060f8b535c9d10e379",
)


@dataclass(frozen=True)
class Group:
    """Data sets that were published together."""

    key: str
    title: str
    reference: str
    doi: str


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
        """Who published it, with its DOI."""
        group = GROUPS[self.group]
        return f"{group.reference} doi:{group.doi}"

    @property
    def source(self) -> str:
        """Where the file comes from."""
        return f"PyPI {ARCHIVE_REQUIREMENT}, {FOLDER}{self.member}"


ALIASES = {"yeast:08_25mm_DTT": "yeast:08_25mM_DTT", "yeast:14_N2_depletion": "yeast:14_nitrogen_depletion"}


def _record(fields: list[str]) -> RealDataset:
    name, group, rows, cols, missing, member, checksum = fields
    return RealDataset(name, group, (int(rows), int(cols)), int(missing), member, checksum)


def _lines(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]


GROUPS = {fields[0]: Group(*fields) for fields in _lines("groups.tsv")}
DATASETS = {fields[0]: _record(fields) for fields in _lines("catalogue.tsv")}
