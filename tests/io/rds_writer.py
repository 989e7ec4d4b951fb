"""Write R's XDR serialisation of a Biclust object, as saveRDS does, for the tests of the reader."""

import gzip
import struct


def _int(*values):
    return struct.pack(f">{len(values)}i", *values)


def _text(word):
    return _int(0x00040009, len(word)) + word.encode()


def _pair(tag, value):
    return _int(0x402, 1) + _text(tag) + value


def _matrix(kind, values, n, m):
    cells = [values[i][j] for j in range(m) for i in range(n)]
    dim = _pair("dim", _int(13, 2, n, m)) + _int(254)
    return _int(kind | 0x200, len(cells), *cells) + dim


def biclust_object(rows, cols, *, number=None, drop=None):
    """Bytes of an object with slots RowxNumber (n x K), NumberxCol (K x m), Number and Parameters."""
    slots = {
        "Parameters": _int(19, 0),
        "RowxNumber": _matrix(10, rows, len(rows), len(rows[0])),
        "NumberxCol": _matrix(10, cols, len(cols), len(cols[0])),
        "Number": _int(13, 1, len(cols) if number is None else number),
    }
    body = b"".join(_pair(tag, value) for tag, value in slots.items() if tag != drop)
    class_attribute = _pair("class", _int(16, 1) + _text("Biclust"))
    head = b"X\n" + _int(2, 0x00040000, 0x00020300)
    return head + _int(25 | 0x300 | 0x10000) + body + class_attribute + _int(254)


def save(path, content):
    path.write_bytes(gzip.compress(content))
