"""BiBit (BiBitR's jar): one line per bicluster, fields separated by semicolons, members by name."""

from bivaluate.io.formats import Format
from bivaluate.io.solutions.membership import read_table

_HEADER = "NumOfRows;NumOfColumns;Rows;Columns"
FORMAT = Format("bibit", "BiBit (BiBitR)", (), lambda source: source.head_text.lstrip().startswith(_HEADER), read_table)
