"""Every public name has a numpydoc docstring: parameters with types, what is returned, an example that runs."""

import importlib
import inspect

import pytest

numpydoc = pytest.importorskip("numpydoc.validate")

PACKAGES = (
    "bivaluate",
    "bivaluate.algorithms",
    "bivaluate.datasets",
    "bivaluate.io",
    "bivaluate.plots",
    "bivaluate.sweep",
)
# Missing docstrings; undocumented, unknown or untyped parameters; missing Returns, Yields and Examples.
DEMANDED = {"GL08", "SS01", "SS03", "SS06", "PR01", "PR02", "PR03", "PR04", "RT01", "RT03", "YD01", "EX01"}
# Errors and warnings say all there is to say in one sentence.
ONE_SENTENCE = {"PR01", "EX01"}


def public_names():
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if name.startswith("__") or not callable(thing):
                continue
            yield f"{package}.{name}", DEMANDED - (ONE_SENTENCE if _is_exception(thing) else set())
            if inspect.isclass(thing) and not _is_exception(thing):
                for method, value in vars(thing).items():
                    function = getattr(value, "__func__", value)
                    if not method.startswith("_") and inspect.isfunction(function):
                        yield f"{package}.{name}.{method}", DEMANDED - {"EX01"}


def _is_exception(thing):
    return inspect.isclass(thing) and issubclass(thing, BaseException)


@pytest.mark.parametrize(
    ("name", "demanded"), list(public_names()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_public_names_are_documented(name, demanded):
    found = numpydoc.validate(name)["errors"]
    assert [f"{code}: {text}" for code, text in found if code in demanded] == []
