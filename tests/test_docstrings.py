"""Every public name has a numpydoc docstring: parameters with types, what is returned and raised, an example that runs."""

import ast
import functools
import importlib
import inspect
import textwrap

import pytest

from bivaluate.registry import METRICS

numpydoc = pytest.importorskip("numpydoc.validate")

PACKAGES = (
    "bivaluate",
    "bivaluate.algorithms",
    "bivaluate.benchmark",
    "bivaluate.datasets",
    "bivaluate.enrichment",
    "bivaluate.io",
    "bivaluate.plots",
    "bivaluate.replicate",
    "bivaluate.report",
    "bivaluate.sweep",
)
# Missing docstrings; undocumented, unknown or untyped parameters; missing Returns, Yields, See Also and Examples; sections
# out of order; descriptions that are not sentences.
DEMANDED = {
    *("GL07", "GL08", "SS01", "SS03", "SS06", "PR01", "PR02", "PR03", "PR04", "PR08", "PR09"),
    *("RT01", "RT03", "RT04", "YD01", "SA01", "SA02", "SA03", "EX01"),
}
# Errors and warnings say all there is to say in one sentence.
ONE_SENTENCE = {"PR01", "SA01", "EX01"}
# What belongs to a class has its class beside it.
OF_A_CLASS = {"SA01"}


@functools.cache
def public_things():
    """Return every public class, function and measure, and what belongs to the classes, by name; each once."""
    things = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if name.startswith("__") or not callable(thing) or thing in [known for known, _ in things.values()]:
                continue
            things[f"{package}.{name}"] = thing, DEMANDED - (ONE_SENTENCE if _is_exception(thing) else set())
            if inspect.isclass(thing) and not _is_exception(thing):
                for part, value in vars(thing).items():
                    function = _function(value)
                    if not part.startswith("_") and function is not None:
                        things[f"{package}.{name}.{part}"] = function, DEMANDED - OF_A_CLASS
    for metric in METRICS.values():
        name = f"{metric.function.__module__}.{metric.function.__name__}"
        if metric.function not in [known for known, _ in things.values()]:
            things[name] = metric.function, DEMANDED
    return things


def _function(value):
    """Return the function of a method or property; None for anything else."""
    for name in ("__func__", "fget", "func"):
        value = getattr(value, name, value)
    return value if inspect.isfunction(value) else None


def _is_exception(thing):
    return inspect.isclass(thing) and issubclass(thing, BaseException)


each_name = pytest.mark.parametrize("name", public_things())


@each_name
def test_public_names_are_documented(name):
    found = numpydoc.validate(name)["errors"]
    assert [f"{code}: {text}" for code, text in found if code in public_things()[name][1]] == []


@each_name
def test_what_raises_says_so(name):
    function = inspect.unwrap(public_things()[name][0])
    if not inspect.isfunction(function):
        return
    nodes = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))))
    raises = [node for node in nodes if isinstance(node, ast.Raise) and node.exc is not None]
    checks = [node for node in nodes if isinstance(node, ast.Call) and _called(node).startswith("check_")]
    if raises or checks:
        assert "\nRaises\n" in inspect.cleandoc(function.__doc__)


def _called(node):
    return getattr(node.func, "id", "")


@each_name
def test_what_is_to_be_seen_also_exists(name):
    thing = public_things()[name][0]
    package = next(p for p in sorted(PACKAGES, key=len, reverse=True) if name.startswith(f"{p}."))
    places = [importlib.import_module(place) for place in (package, "bivaluate", thing.__module__)]
    places += [owner for owner, _ in public_things().values() if getattr(owner, name.rpartition(".")[2], None) is thing]
    for references, _ in numpydoc.get_doc_object(thing)["See Also"]:
        for reference, _ in references:
            assert any(_holds(place, reference) for place in places), reference


def _holds(thing, reference):
    for part in reference.removeprefix("bivaluate.").split("."):
        thing = getattr(thing, part, None)
    return thing is not None
