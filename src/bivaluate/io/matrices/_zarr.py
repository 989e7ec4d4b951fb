"""A zarr folder opened with care: files that lie in it, codecs of a list, chunks no larger than their array says."""

from __future__ import annotations

import functools
import math
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np

from bivaluate._errors import FormatError

FREE_BYTES = 1 << 24
MOST_UNPACKED = 1100  # times a filter can make stored bytes more, deflate at most 1032
LARGEST_TEXT = 1 << 26  # bytes of a file that describes arrays
# Codecs that make numbers and labels of bytes and nothing else. Others, pickle among them, may run code.
CODECS = {"bytes", "endian", "transpose", "shuffle", "delta", "crc32", "crc32c", "adler32", "fletcher32", "vlen-utf8"}
CODECS |= {"vlen-bytes", "blosc", "zstd", "zlib", "gzip", "lz4", "sharding_indexed"}
_ZSTD = b"\x28\xb5\x2f\xfd"
_MOST_OF_ZSTD = 1 << 15  # times a byte of zstd can become, where it does not state its size


def opened(path: Path) -> Any:
    """Open a folder for reading."""
    import zarr

    return zarr.open(_folder_store()(path, read_only=True), mode="r")


def check_codecs(node: Any, name: str) -> None:
    """Raise where an array is packed by what is not on the list; note what its chunks may unpack to."""
    metadata = getattr(node, "metadata", None)
    if not hasattr(node, "dtype") or metadata is None:
        return
    for codec in _codecs(metadata):
        if codec not in CODECS:
            raise FormatError(f"{name}: {node.name} is packed with {codec!r}, which is not read: it may run code.")
    chunk = math.prod(getattr(node, "shards", None) or node.chunks) * np.dtype(node.dtype).itemsize
    of_numbers = np.dtype(node.dtype).kind in "fiub"
    node.store.chunks[str(node.path)] = (_codecs(metadata), chunk if of_numbers else None)


def _codecs(metadata: Any) -> tuple[str, ...]:
    if hasattr(metadata, "compressor"):  # zarr format 2
        return tuple(str(codec.codec_id) for codec in (*(metadata.filters or ()), metadata.compressor) if codec)
    return tuple(_names([codec.to_dict() for codec in metadata.codecs]))


def _names(codecs: Any) -> list[str]:
    names = []
    for codec in codecs:
        names.append(str(codec["name"]).removeprefix("numcodecs."))
        inner = codec.get("configuration", {})
        names += [*_names(inner.get("codecs", ())), *_names(inner.get("index_codecs", ()))]
    return names


@functools.cache
def _folder_store() -> Any:
    """Return zarr's store of a folder that refuses links out of it, pipes and devices, and chunks that say too much."""
    from zarr.storage import LocalStore

    class FolderStore(LocalStore):
        def __init__(self, root: Any, *, read_only: bool = True) -> None:
            super().__init__(root, read_only=read_only)
            self.chunks: dict[str, tuple[tuple[str, ...], int | None]] = {}

        def with_read_only(self, read_only: bool = False) -> Any:
            return self

        def get_sync(self, key: str, **options: Any) -> Any:
            check_file(self.root, key)
            return self._passed(key, super().get_sync(key, **options))

        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
            check_file(self.root, key)
            return self._passed(key, await super().get(key, prototype, byte_range))

        async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:
            return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

        def _passed(self, key: str, buffer: Any) -> Any:
            found = [array for array in self.chunks if key.startswith(f"{array}/" if array else "")]
            if (
                buffer is not None
                and found
                and not key.endswith((".json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"))
            ):
                codecs, chunk = self.chunks[max(found, key=len)]
                check_chunk(buffer.to_bytes(), codecs, chunk, f"{self.root.name}: {key}")
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
    if key.endswith((".json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")) and found.st_size > LARGEST_TEXT:
        raise FormatError(f"{root.name}: {key} is larger than {LARGEST_TEXT >> 20} MiB.")


def check_chunk(data: bytes, codecs: tuple[str, ...], chunk: int | None, name: str) -> None:
    """Raise where a packed chunk says that it unpacks to far more than its array has cells for."""
    stated = [_stated(data, codec) for codec in codecs]
    most = FREE_BYTES + MOST_UNPACKED * len(data) if chunk is None else 2 * chunk + 1024
    if max(stated, default=0) > most:
        raise FormatError(f"{name} unpacks to {max(stated):,} bytes, and a chunk of its array to {most:,} at most.")


def _stated(data: bytes, codec: str) -> int:
    """Return how many bytes a packed chunk says that it unpacks to; 0 where it cannot be many."""
    if codec == "blosc":
        return int.from_bytes(data[4:8], "little")
    if codec == "lz4":
        return int.from_bytes(data[:4], "little")
    if codec != "zstd" or not data.startswith(_ZSTD) or len(data) < 6:
        return 0
    flags = data[4]
    single = flags >> 5 & 1
    width = (single, 2, 4, 8)[flags >> 6]
    begin = 5 + (not single) + (0, 1, 2, 4)[flags & 3]
    if not width:  # not stated
        return _MOST_OF_ZSTD * len(data) if len(data) > 1 << 15 else 0
    return int.from_bytes(data[begin : begin + width], "little") + (256 if width == 2 else 0)
