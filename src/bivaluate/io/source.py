"""Where bytes come from: one file, plain or gzipped, read in bounded steps and decoded once."""

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

from bivaluate._check import in_short
from bivaluate._errors import BivaluateError, FileError, FormatError, unreadable
from bivaluate._files import FilePath
from bivaluate._text import Advice, first_line

HEAD_BYTES = 1 << 18
MAX_LINE = 1 << 26
MAX_TEXT = 1 << 33
MAX_SOLUTION = 1 << 28
MAX_CELLS = 1 << 29
MOST_UNPACKED = 300  # times a packed file may unpack to its size; tables of numbers stay far below
FREE_UNPACKED = 1 << 25  # bytes that may be unpacked from any file
# A packed file that unpacks to this many times its size, and this many bytes, is unpacked once before anything is kept.
LOOKED_THROUGH, LOOKED_AFTER = 20, 1 << 22
FREE_LINES = 1 << 20  # lines that any packed file may hold; more need a packed byte each

Part = TypeVar("Part", str, bytes)

_LONGEST_INDEX = 12  # digits
_GZIP = b"\x1f\x8b"
_OTHER_PACKINGS = {b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Source:
    """A file to read. Nothing is opened before it is asked for; every read is bounded."""

    def __init__(self, path: FilePath) -> None:
        try:
            self.path = Path(path)
        except TypeError:
            how = "what is in memory is passed as it is, for example to bivaluate.evaluate"
            raise FileError(f"the path of a file or folder is needed, found: {in_short(path)}; {how}.") from None
        self.name = str(path)
        plain = self.path.with_suffix("") if self.path.suffix.lower() == ".gz" else self.path
        self.suffix, self.stem = plain.suffix.lower(), plain.stem or "X"  # without .gz; the stem names a matrix

    @cached_property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return os.path.isdir(self.path)

    @cached_property
    def size(self) -> int:
        """Bytes on disk."""
        with self._reading():
            return self.path.stat().st_size

    @cached_property
    def gzipped(self) -> bool:
        """Whether the file is a gzip stream, by its first bytes."""
        with self.open_raw() as stream:
            return self.guarded(stream.read, 2) == _GZIP

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked."""
        with self.open() as stream:
            return self.guarded(stream.read, HEAD_BYTES)

    @cached_property
    def head_text(self) -> str:
        """The first bytes as text, up to the last whole line where there is one."""
        text = _with_plain_ends(self.head.decode(self.encoding, errors="ignore"))
        is_cut = len(self.head) == HEAD_BYTES and "\n" in text
        return text[: text.rindex("\n") + 1] if is_cut else text

    @cached_property
    def encoding(self) -> str:
        """UTF-8 or UTF-16 by byte order mark; Latin-1 where the first bytes are not UTF-8."""
        head = self.head
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
        try:
            head.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if len(head) < HEAD_BYTES or error.start < len(head) - 4:
                return "latin-1"
        return "utf-8-sig"

    def open_raw(self) -> IO[bytes]:
        """Open the bytes as they lie on disk."""
        with self._reading():
            if os.path.isfile(self.path) or not os.path.exists(self.path):
                return self.path.open("rb")
        raise FileError(f"cannot read {self.name}: it is not a regular file. Save the data to a file first.")

    def open(self) -> IO[bytes]:
        """Open the bytes; if they are gzipped, unpacked and counted."""
        return io.BufferedReader(_Unpacked(self), 1 << 17) if self.gzipped else self.open_raw()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            raise unreadable(self.path, error) from error

    def fault(self, message: str, line: int | None = None) -> FormatError:
        """Return the error for content that does not follow its format, with the line it stands on."""
        return FormatError(Advice(f"{self.name}{'' if line is None else f', line {line}'}: ", message))

    def damaged(self, error: BaseException, what: str = "") -> FormatError:
        """Return the error for a file somebody else's parser gave up on."""
        what = what or " ".join(filter(None, ("the", self.suffix, "folder" if self.is_folder else "file")))
        return self.fault(f"{what} is truncated or damaged ({first_line(error)}).")

    @contextmanager
    def parsing(self) -> Iterator[None]:
        """Turn whatever a library stumbles over into a format error; a missing file is not a damaged one."""
        self.is_folder or self.size  # noqa: B018
        try:
            yield
        except BivaluateError:
            raise
        except MemoryError as error:
            raise self.fault("reading it takes more memory than there is.") from error
        except Exception as error:
            raise self.damaged(error) from error

    def check_count(self, announced: int | str, found: int, what: str, line: int | None = None) -> None:
        """Raise unless as many things were found as the file announces."""
        if str(announced) != str(found):
            raise self.fault(f"{str(announced)[:20]} {what} announced, {found} found. Is the file truncated?", line)

    def index_lists(self, sides: Sequence[str], line: int) -> tuple[list[int], list[int]]:
        """Return rows and columns from the texts of two lists of indices."""
        rows, cols = (indices(side.replace(",", " ").split()) for side in sides)
        if not rows or not cols:
            raise self.fault("rows and columns must be non-empty lists of indices.", line)
        return rows, cols

    def check_text(self) -> None:
        """Raise unless the first bytes are text and not empty."""
        if not self.head.strip() or (len(self.head) < HEAD_BYTES and not self.head_text.strip()):
            raise FormatError(f"{self.name} is empty.")
        for beginning, how in _OTHER_PACKINGS.items():
            if self.head.startswith(beginning):
                raise FormatError(f"{self.name} is compressed with {how}; unpack it first, or compress it with gzip.")
        found = _NOT_TEXT.search(self.head)
        if found and self.encoding != "utf-16":
            said = f"{self.name} is not text (byte {found.start()} is 0x{found.group()[0]:02x}), and not in a binary"
            raise FormatError(f"{said} format that bivaluate knows. Run 'bivaluate convert --formats' for the list.")

    @property
    def most_unpacked(self) -> int:
        """The bytes that the file, if it is packed, may unpack to."""
        return max(FREE_UNPACKED, MOST_UNPACKED * self.size)

    def check_unpacked(self, unpacked: int, times: int | None = None, free: int | None = None) -> None:
        """Raise where a packed file unpacks to what no table of numbers does: not `free`, and `times` its size."""
        times, free = times or MOST_UNPACKED, free or FREE_UNPACKED
        if unpacked > free and unpacked > times * self.size:
            found = f"{self.name} unpacks to more than {times} times its {self.size:,} bytes"
            how = "If it is what you want to read, unpack it, or save it in another format, first."
            raise FormatError(f"{found}, which no table of measured numbers does. {how}")

    def check_lines(self, lines: int) -> None:
        """Raise where a packed file holds more lines than measured numbers need bytes, however short they are."""
        if self.gzipped and lines > FREE_LINES and lines > self.size:
            said = f"{self.name} holds more lines than its {self.size:,} compressed bytes, which no table of measured"
            raise FormatError(f"{said} numbers does. If it is what you want to read, unpack it first.")

    def lines(self, most: int = MAX_TEXT) -> Iterator[tuple[int, str]]:
        """Yield numbered lines without their line ends; no line and no file is read without bound."""
        self.check_text()
        with self.open() as stream:
            text = io.TextIOWrapper(stream, encoding=self.encoding, newline=None)
            total, number = 0, 0
            while line := self.guarded(text.readline, MAX_LINE):
                number += 1
                total += len(line)
                if len(line) >= MAX_LINE:
                    raise self.fault(f"longer than {MAX_LINE >> 20} MiB. Is this a table with line breaks?", number)
                if total > most:
                    raise FormatError(f"{self.name} holds more than {most >> 30} GiB of text.")
                if number > FREE_LINES:
                    self.check_lines(number)
                yield number, line.rstrip("\n")

    def filled_lines(self, most: int = MAX_TEXT) -> Iterator[tuple[int, str]]:
        """Yield numbered lines that are not blank."""
        return ((n, line) for n, line in self.lines(most) if line and not line.isspace())

    def text(self) -> str:
        """Return the whole text of a solution file, at most `MAX_SOLUTION` bytes."""
        self.check_text()
        data = self.all_bytes()
        self.check_lines(data.count(b"\n") + data.count(b"\r"))
        return _with_plain_ends(data.decode(self.encoding))

    def text_lines(self) -> list[tuple[int, str]]:
        """Return the numbered lines of a solution file that are not blank."""
        return numbered(self.text())

    def all_bytes(self) -> bytes:
        """Return all bytes, unpacked, at most `MAX_SOLUTION`."""
        data = io.BytesIO()
        with self.open() as stream:
            while data.tell() <= MAX_SOLUTION and (part := self.guarded(stream.read, FREE_UNPACKED)):
                data.write(part)
        if data.tell() > MAX_SOLUTION:
            raise FormatError(f"{self.name} is larger than {MAX_SOLUTION >> 20} MiB; it is not a list of biclusters.")
        return data.getvalue()

    def guarded(self, read: Callable[[int], Part], n: int) -> Part:
        """Return what is read; what goes wrong becomes an error of ours."""
        import zlib

        try:
            return read(n)
        except (EOFError, OSError, zlib.error) as error:
            if isinstance(error, OSError) and type(error).__name__ != "BadGzipFile":
                raise unreadable(self.path, error) from error
            raise self.damaged(error, "the gzip stream") from None

    def listed(self) -> list[Path]:
        """Return the files in a folder, by name."""
        with self._reading():
            return sorted(path for path in self.path.iterdir() if path.is_file())

    def zip_names(self) -> list[str]:
        """Return the names of the members of a zip archive; none if the file is not one."""
        import zipfile

        try:
            with zipfile.ZipFile(self.path) as archive:
                return archive.namelist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return []

    def array_names(self) -> set[str]:
        """Return the names of the arrays in an .npz archive; none if the file is not one."""
        names = self.zip_names() if self.head.startswith(b"PK") else []
        return {name.removesuffix(".npy") for name in names} if any(name.endswith(".npy") for name in names) else set()

    def check_members(self, archive: Any, members: Iterable[Any]) -> None:
        """Raise where members of a zip archive unpack to too much, or to a lot and are damaged."""
        total = sum(member.file_size for member in members)
        self.check_unpacked(total)
        if total > LOOKED_AFTER and total > LOOKED_THROUGH * self.size:
            for member in members:
                with archive.open(member) as stream:
                    while stream.read(1 << 20):  # at its end the checksum is compared
                        pass

    def as_latin1(self) -> "Source":
        """Return the same file, to be decoded as Latin-1 whatever its first bytes say."""
        other = Source(self.path)
        other.name = self.name
        other.__dict__["encoding"] = "latin-1"
        return other


class _Unpacked(io.RawIOBase):
    """The bytes of a gzipped file. One that unpacks to a lot is first unpacked to its end, and nothing of that kept."""

    def __init__(self, source: Source, is_look: bool = False) -> None:
        import gzip

        self._source, self._packed = source, source.open_raw()
        self._stream, self._total, self._is_looked_through = gzip.GzipFile(fileobj=self._packed), 0, is_look

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._source.guarded(self._stream.read, len(buffer))
        count = len(data)
        buffer[:count] = data
        self._total += count
        self._source.check_unpacked(self._total)
        is_much = self._total > LOOKED_AFTER and self._total > LOOKED_THROUGH * self._packed.tell()
        if is_much and not self._is_looked_through:
            self._is_looked_through = True
            with _Unpacked(self._source, is_look=True) as look:
                room = memoryview(bytearray(1 << 20))
                while look.readinto(room):
                    pass
        return count

    def close(self) -> None:
        self._stream.close()
        self._packed.close()
        super().close()


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def numbered(text: str) -> list[tuple[int, str]]:
    """Return the lines that are not blank with their numbers, counted from 1."""
    return [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]


def indices(words: Iterable[str]) -> list[int] | None:
    """Return the numbers where every word is a whole number from 0, else None."""
    words = list(words)
    if all(word.isascii() and word.isdigit() and len(word) <= _LONGEST_INDEX for word in words):
        return [int(word) for word in words]
    return None
