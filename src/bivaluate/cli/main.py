"""The `bivaluate` command: finds the sub-command, loads only its module, turns errors into messages and exit codes."""

import gc
import importlib
import io
import os
import shlex
import signal
import sys
import time
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bivaluate import __version__
from bivaluate._errors import BivaluateError, BivaluateWarning, CommandError, SparePandas, suggest
from bivaluate.cli.options import SETTINGS, Command, ask_for, option, spoken

# Sub-command -> what it does. Its module is imported when the command runs.
COMMANDS = {
    "example": "Write a small matrix and biclusters of it, to try the other commands on.",
    "find": "Find the biclusters of a matrix, and how many there are.",
    "score": "Score one or several solutions of a matrix.",
    "metrics": "List the measures: what they mean, which way is better.",
    "compare": "Compare solutions with a known truth, or with another one.",
    "enrich": "Ask whether the genes of biclusters share a function.",
    "confirm": "Ask whether biclusters found in one matrix hold in another.",
    "recur": "Find the biclusters or programs that recur over samples.",
    "traits": "Ask what the samples of biclusters have in common.",
    "prune": "Propose which biclusters to drop or merge.",
    "refine": "Polish biclusters from any tool, and say how each changed.",
    "run": "Run a biclustering algorithm on a matrix.",
    "algorithms": "List the algorithms: what they seek, which data they take.",
    "sweep": "Run algorithms over K, seeds and data sets.",
    "select": "Choose algorithm and K from a sweep.",
    "report": "Turn a sweep into one HTML page.",
    "replicate": "Reproduce the paper and judge each of its claims.",
    "benchmark": "Ask which measure recognises good biclusters, across algorithms and data.",
    "datasets": "List, fetch or write real data sets and the ten synthetic scenarios.",
    "convert": "Convert solutions between the formats of biclustering tools.",
    "doctor": "Say what is installed, or whether the folder of a sweep is whole; compile everything once.",
}
# Commands whose module has another name.
MODULES = {**dict.fromkeys(("confirm", "recur", "traits"), "elsewhere"), "refine": "prune"}
MOVED = {"check": "doctor RUN", "glossary": "metrics --glossary", "scenarios": "datasets scenarios"}

EPILOG = (
    "Start with: bivaluate example, then bivaluate find expression.csv, or bivaluate score expression.csv "
    "solution.json — every command explains itself with --help. --untrusted and --force may also follow the command. Where a file is named, - is standard input or output. "
    "Exit codes: 0 done, 1 the work failed, 2 wrong command or input, 130 interrupted."
)


class LazyGroup(TyperGroup):
    """Lists commands from a table and imports a command's module when it is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """Return the name and help line only: listing the commands must not import them."""
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name in MOVED:
            ctx.fail(f"{name} is part of another command now: bivaluate {MOVED[name]}")
        if name not in COMMANDS:
            which = "score" if any(map(os.path.isfile, args[1:])) else "find"
            meant = f" Did you mean: bivaluate {shlex.join([which, *args])}"
            ctx.fail(f"there is no command {name!r}.{meant if os.path.isfile(name) else suggest(name, COMMANDS)}")
        return name, _load(name), args[1:]


def _load(name: str) -> Any:
    module = importlib.import_module(f"bivaluate.cli.{MODULES.get(name, name)}")
    if hasattr(module, "app"):
        return typer.main.get_command(module.app)
    app = typer.Typer(**SETTINGS)
    app.command(name, cls=Command)(getattr(module, name))
    command = typer.main.get_command(app)
    command.name = name
    return command


# Plain help and usage errors here: rich takes longer to load than everything else together.
app = typer.Typer(
    **SETTINGS | {"rich_markup_mode": None, "add_completion": True},
    cls=LazyGroup,
    no_args_is_help=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bivaluate {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[bool, option("Print the version.", "--version", callback=_print_version, is_eager=True)] = False,
    quiet: Annotated[bool, option("Print only results and errors.", "--quiet", "-q")] = False,
    verbose: Annotated[bool, option("Also print how long it took.", "--verbose", "-v")] = False,
    untrusted: Annotated[bool, option("Parse input files in a sandboxed process first.", "--untrusted")] = False,
    force: Annotated[bool, option("Replace existing files of another kind.", "--force")] = False,
) -> None:
    """Are these biclusters any good? Score, compare, choose and show biclustering solutions."""
    for name in [name for name, given in (("--untrusted", untrusted), ("--force", force)) if given]:
        ask_for(name, context)
    if quiet:
        from bivaluate.cli.tables import err

        err.quiet = True
        warnings.simplefilter("ignore", BivaluateWarning)
    if verbose:
        start, start_cpu = time.perf_counter(), time.process_time()

        @context.call_on_close
        def say_time() -> None:
            took, cpu = time.perf_counter() - start, time.process_time() - start_cpu
            print(f"took {took:.1f} s ({cpu:.1f} s of CPU)", file=sys.stderr)


def main() -> None:
    """Run the command line; exit with 0, with 1 where the work failed, 2 where the input is wrong, or 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show is written out
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", BivaluateWarning)
    try:
        app()
    except BivaluateError as error:
        _say("error", str(error))
        sys.exit(1 if isinstance(error, CommandError) else 2)
    except MemoryError as error:
        _say("error", f"not enough memory: {str(error) or 'the work is too large for this machine'}.")
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


def script() -> None:
    """Run the command line as a process of its own, which an interrupt ends with 130 even while Python shuts down."""
    gc.set_threshold(50_000)  # objects of libraries stay: looking for unused ones takes a tenth of the start
    sys.meta_path.insert(0, SparePandas())
    try:
        main()
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))


def _say(kind: str, text: str) -> None:
    print(f"{kind}: {text}", file=sys.stderr)


def _show_warning(message: Warning | str, category: type[Warning], *args: Any, **kwargs: Any) -> None:
    if issubclass(category, BivaluateWarning):
        _say("warning", spoken(message.args[0] if isinstance(message, Warning) else message))


if __name__ == "__main__":
    script()
