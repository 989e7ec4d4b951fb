"""Get the archive of real data with pip, check it, and keep its matrices in a per-user cache."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bivaluate._errors import FileError, FormatError
from bivaluate.datasets.catalogue import (
    ARCHIVE,
    ARCHIVE_BYTES,
    ARCHIVE_REQUIREMENT,
    ARCHIVE_SHA256,
    DATASETS,
    FOLDER,
    TAVAZOIE_GENES,
)

Progress = Callable[[int, int], None]

_MAX_MEMBER = 1 << 23
_RAW_PROGRESS_SINCE = (24, 1)


def cache_folder() -> Path:
    """Return where matrices are kept: ``BIVALUATE_DATA``, else the user's cache folder."""
    chosen = os.environ.get("BIVALUATE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("bivaluate", appauthor=False))


def files() -> dict[str, str]:
    """Return the checksum of every file that is kept, by its place in the archive."""
    return {record.member: record.sha256 for record in DATASETS.values()} | dict([TAVAZOIE_GENES])


def cached_path(member: str) -> Path:
    """Return where a file is kept, under a name of ours."""
    if member not in files():
        raise FileError(f"{member!r} is not in the catalogue.")
    return cache_folder() / ARCHIVE.partition("-py3")[0] / member.replace("/", "__")


def cached_bytes(member: str) -> bytes | None:
    """Return a kept file if it is there and whole, else None."""
    try:
        data = cached_path(member).read_bytes()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == files()[member] else None


def fetch_archive(wheel: str | os.PathLike[str] | None = None, progress: Progress | None = None) -> Path:
    """Fetch and unpack all real data sets unless they are there already; return the folder they are in.

    Parameters
    ----------
    wheel
        The archive, if it was downloaded by hand. One lying in the cache folder is found unasked.
    progress
        Called with bytes done and bytes in all.
    """
    folder = cached_path(TAVAZOIE_GENES[0]).parent
    if wheel is None and all(cached_bytes(member) is not None for member in files()):
        return folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot write to the cache {folder}: {error.strerror or error}. Choose another with BIVALUATE_DATA."
        ) from error
    placed = cache_folder() / ARCHIVE
    if wheel is not None or placed.is_file():
        _unpack(Path(wheel) if wheel is not None else placed)
    else:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as temporary:
            _unpack(_download(Path(temporary), progress))
    return folder


def _download(folder: Path, progress: Progress | None) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise FileError(f"pip is not installed for {sys.executable}, so nothing can be downloaded. {_by_hand()}")
    raw = tuple(int(n) for n in re.findall(r"\d+", importlib.metadata.version("pip"))[:2]) >= _RAW_PROGRESS_SINCE
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        *("--disable-pip-version-check", "--no-input", "--progress-bar", "raw" if raw else "off"),
        *("--dest", str(folder), ARCHIVE_REQUIREMENT),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        said = list(_followed(pip, progress))
    found = folder / ARCHIVE
    if pip.returncode or not found.is_file():
        reason = next((line for line in reversed(said) if line.startswith("ERROR")), (said or ["no answer"])[-1])
        raise FileError(f"pip could not download {ARCHIVE_REQUIREMENT}: {reason.strip()[:300]} {_by_hand()}")
    return found


def _followed(pip: subprocess.Popen[str], progress: Progress | None) -> Iterator[str]:
    assert pip.stdout is not None
    for line in pip.stdout:
        step = re.match(r"Progress (\d+) of (\d+)", line)
        if step is None:
            if line.strip():
                yield line
        elif progress is not None:
            progress(int(step[1]), int(step[2]) or ARCHIVE_BYTES)


def _by_hand() -> str:
    return (
        f"Without it: get {ARCHIVE} from PyPI (project biclustlib) on a machine with a network, put it into "
        f"{cache_folder()} (or pass it: bivaluate datasets fetch --wheel FILE), and try again."
    )


def _unpack(wheel: Path) -> None:
    """Check the archive and copy the files of the catalogue, each checked, under names of ours."""
    from bivaluate._files import atomic_path

    try:
        if wheel.stat().st_size != ARCHIVE_BYTES:
            raise FormatError(f"{wheel} has {wheel.stat().st_size} bytes; {ARCHIVE} has {ARCHIVE_BYTES}. {_by_hand()}")
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {wheel}: {error.strerror or error}.") from error
    if found != ARCHIVE_SHA256:
        raise FormatError(
            f"{wheel} is not the expected archive: its SHA-256 is {found}, not {ARCHIVE_SHA256}. Nothing was unpacked."
        )
    with zipfile.ZipFile(wheel) as archive:
        for member, checksum in files().items():
            if archive.getinfo(FOLDER + member).file_size > _MAX_MEMBER:
                raise FormatError(f"{wheel}: {member} is larger than {_MAX_MEMBER >> 20} MiB.")
            data = archive.read(FOLDER + member)
            if hashlib.sha256(data).hexdigest() != checksum:
                raise FormatError(f"{wheel}: the checksum of {member} does not match the catalogue.")
            with atomic_path(cached_path(member)) as temporary:
                temporary.write_bytes(data)
