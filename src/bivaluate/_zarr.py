"""A zarr folder opened with care: files that lie in it, codecs of a list, chunks no larger than their array says."""

import functools
import math
import os
import stat
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bivaluate._errors import FormatError

FREE_BYTES = 1 << 24
MOST_UNPACKED = 1100  # times a filter can make stored bytes more, deflate at most 1032
DESCRIPTIONS = (".json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")
LARGEST_TEXT = 1 << 26  # bytes of a file that describes arrays
# Codecs that make numbers and labels of bytes and nothing else. Others, pickle among them, may run code.
CODECS = {"bytes", "endian", "transpose", "shuffle", "delta", "crc32", "crc32c", "adler32", "fletcher32", "vlen-utf8"}
CODECS |= {"vlen-bytes", "sharding_indexed"}
PACKINGS = {"blosc", "zstd", "zlib", "gzip", "lz4"}  # one of them at a time
_ZSTD = b"\x28\xb5\x2f\xfd"


def open_folder(path: Path) -> Any:
    """Open a folder for reading."""
    import zarr

    return zarr.open(_folder_store()(path, read_only=True), mode="r")


class _Chunks(NamedTuple):
    """How the chunks of an array are packed, what one may unpack to, and how many of them a shard holds."""

    codecs: tuple[str, ...]
    size: int | None  # bytes; None where they are labels
    n_in_shard: int = 0
    index_is_first: bool = False


def check_codecs(node: Any, name: str) -> None:
    """Raise where an array is packed by what is not on the list, or twice; note what its chunks may unpack to."""
    metadata = getattr(node, "metadata", None)
    if not hasattr(node, "dtype") or metadata is None:
        return
    codecs = _codecs(metadata)
    for codec in codecs:
        if codec not in CODECS | PACKINGS:
            raise FormatError(f"{name}: {node.name} is packed with {codec!r}, which is not read: it may run code.")
    if sum(codec in PACKINGS for codec in codecs) > 1 or codecs.count("sharding_indexed") > 1:
        raise FormatError(f"{name}: {node.name} is packed more than once ({', '.join(codecs)}), which is not read.")
    size = math.prod(node.chunks) * np.dtype(node.dtype).itemsize if np.dtype(node.dtype).kind in "fiub" else None
    if not getattr(node, "shards", None):
        node.store.chunks[str(node.path)] = _Chunks(codecs, size)
        return
    (shard,) = (codec.to_dict()["configuration"] for codec in metadata.codecs if hasattr(codec, "index_location"))
    if _names(shard["index_codecs"]) != ["bytes", "crc32c"]:
        raise FormatError(f"{name}: the index of shards of {node.name} is packed, which is not read.")
    n_in_shard = math.prod(node.shards) // math.prod(node.chunks)
    is_first = str(getattr(shard["index_location"], "value", shard["index_location"])) == "start"
    node.store.chunks[str(node.path)] = _Chunks(codecs, size, n_in_shard, is_first)


def _codecs(metadata: Any) -> tuple[str, ...]:
    if hasattr(metadata, "compressor"):  # zarr format 2
        return tuple(str(codec.codec_id) for codec in (*(metadata.filters or ()), metadata.compressor) if codec)
    return tuple(_names([codec.to_dict() for codec in metadata.codecs]))


def _names(codecs: Any) -> list[str]:
    names = []
    for codec in codecs:
        names.append(str(codec["name"]).removeprefix("numcodecs."))
        names += _names(codec.get("configuration", {}).get("codecs", ()))
    return names


@functools.cache
def _folder_store() -> Any:
    """Return zarr's store of a folder that refuses links out of it, pipes and devices, and chunks that say too much."""
    from zarr.storage import LocalStore

    class FolderStore(LocalStore):
        def __init__(self, root: Any, *, read_only: bool = True) -> None:
            super().__init__(root, read_only=read_only)
            self.chunks: dict[str, _Chunks] = {}

        def with_read_only(self, read_only: bool = False) -> Any:
            return self

        def get_sync(self, key: str, **options: Any) -> Any:
            check_file(self.root, key)
            return self._passed(key, super().get_sync(key, **options), options.get("byte_range"))

        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
            check_file(self.root, key)
            return self._passed(key, await super().get(key, prototype, byte_range), byte_range)

        async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:
            return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

        def _passed(self, key: str, buffer: Any, byte_range: Any) -> Any:
            found = [array for array in self.chunks if key.startswith(f"{array}/" if array else "")]
            if buffer is not None and found and not key.endswith(DESCRIPTIONS):
                chunks = self.chunks[max(found, key=len)]
                for data in _chunks_of(buffer.to_bytes(), chunks, byte_range):
                    check_chunk(data, chunks.codecs, chunks.size, f"{self.root.name}: {key}")
            return buffer

    return FolderStore


def check_file(root: Path, key: str) -> None:
    """Raise where what is asked for is no file of the folder, or a description of unlikely size."""
    path, real = root / key, os.path.realpath(root / key)
    if not Path(real).is_relative_to(os.path.realpath(root)):
        raise FormatError(f"{root.name}: {key} leads out of the folder; data must lie in it.")
    try:
        found = os.stat(path)
    except OSError:
        return  # missing: zarr says what that means
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise FormatError(f"{root.name}: {key} is not a regular file.")
    if key.endswith(DESCRIPTIONS) and found.st_size > LARGEST_TEXT:
        raise FormatError(f"{root.name}: {key} is larger than {LARGEST_TEXT >> 20} MiB.")


def _chunks_of(data: bytes, chunks: _Chunks, byte_range: Any) -> Iterator[bytes]:
    """Yield the chunks in what was read: a chunk, one chunk of a shard, its index (none), or the whole shard."""
    if not chunks.n_in_shard:
        yield data
    elif byte_range is None:
        width = 16 * chunks.n_in_shard
        index = data[:width] if chunks.index_is_first else data[-width - 4 : -4]
        for offset, length in struct.iter_unpack("<QQ", index):
            yield data[offset : offset + length]
    elif hasattr(byte_range, "start") and not (chunks.index_is_first and byte_range.start == 0):
        yield data


def check_chunk(data: bytes, codecs: tuple[str, ...], size: int | None, name: str) -> None:
    """Raise where a packed chunk unpacks to far more than its array has cells for."""
    most = FREE_BYTES + MOST_UNPACKED * len(data) if size is None else 2 * size + 1024
    found = max((_unpacked(data, codec, most) for codec in codecs), default=0)
    if found > most:
        raise FormatError(f"{name} unpacks to {found:,} bytes, and a chunk of its array to {most:,} at most.")


def _unpacked(data: bytes, codec: str, most: int) -> int:
    """Return how many bytes a packed chunk says that it unpacks to, or may; 0 where that cannot be many."""
    if codec == "blosc":
        return int.from_bytes(data[4:8], "little")
    if codec == "lz4":
        return int.from_bytes(data[:4], "little")
    if codec == "zstd" and data.startswith(_ZSTD) and len(data) > 5:
        return _of_zstd(data)
    return _inflated(data, most) if codec in ("zlib", "gzip") and MOST_UNPACKED * len(data) > FREE_BYTES else 0


def _of_zstd(data: bytes) -> int:
    """Return the size that a frame states, or what its blocks can hold where that is much."""
    flags = data[4]
    single = flags >> 5 & 1
    width = (single, 2, 4, 8)[flags >> 6]
    at = 5 + (not single) + (0, 1, 2, 4)[flags & 3]
    if width:
        return int.from_bytes(data[at : at + width], "little") + (256 if width == 2 else 0)
    total, header = 0, 0
    while at < len(data) and not header & 1:
        header = int.from_bytes(data[at : at + 3], "little")
        size, kind = header >> 3, header >> 1 & 3
        total += 1 << 17 if kind == 2 else size
        at += 3 + (1 if kind == 1 else size)
    return total if total > FREE_BYTES else 0


def _inflated(data: bytes, most: int) -> int:
    """Count what deflate unpacks to, a part at a time, until it is more than enough."""
    total = 0
    while data and total <= most:
        stream = zlib.decompressobj(wbits=47)  # zlib or gzip
        while data and total <= most and not stream.eof:
            total += len(stream.decompress(data, 1 << 20))
            data = stream.unconsumed_tail
        data = stream.unused_data
    return total
