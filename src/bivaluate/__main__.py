"""``python -m bivaluate`` is the `bivaluate` command."""

from bivaluate.cli.main import script

script()
