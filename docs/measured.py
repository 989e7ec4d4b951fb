"""An extension of the site's docstring reader: what all measures share is written into their docstrings at import."""

from __future__ import annotations

import inspect
from typing import Any

import griffe


class Measured(griffe.Extension):
    """Take the docstrings of functions decorated as measures from the imported functions."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Replace the docstring of a measure by the one it has once imported."""
        if any(str(decorator.value).startswith("measure(") for decorator in func.decorators):
            text = inspect.getdoc(griffe.dynamic_import(func.path))
            func.docstring = griffe.Docstring(text or "", parent=func, lineno=func.lineno)
