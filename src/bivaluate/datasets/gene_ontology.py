"""The Gene Ontology annotations of yeast, which travel with the yeast matrices."""
from pathlib import Path
def yeast_files() -> tuple[Path, Path]:
    raise NotImplementedError
