from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def matrix_file(tmp_path: Path) -> str:
    """A small labelled matrix in a file."""
    values = np.random.default_rng(5).normal(size=(12, 8))
    header = "gene\t" + "\t".join(f"c{j}" for j in range(8))
    lines = [f"g{i}\t" + "\t".join(repr(float(v)) for v in row) for i, row in enumerate(values)]
    path = tmp_path / "small.tsv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return str(path)
