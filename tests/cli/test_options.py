"""Options are spelled the same in every command, and messages speak the words of the command that was typed."""

import ast
import dataclasses
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import bivaluate
from bivaluate import Biclustering
from bivaluate._text import distinct
from bivaluate.cli import main, options
from bivaluate.cli.main import COMMANDS
from bivaluate.cli.options import MatrixFile, SolutionFile, spoken

SOURCES = Path(bivaluate.__file__).parent
READ_A_MATRIX = ("score", "compare", "prune", "run", "sweep", "convert")
READ_A_SOLUTION = ("score", "compare", "prune", "convert")


def commands():
    """Every command by name, those below datasets and scenarios too."""
    found = {}
    for name in COMMANDS:
        command = main._load(name)
        found[name] = command
        for sub, below in getattr(command, "commands", {}).items():
            found[f"{name} {sub}"] = below
    return found


def spellings(command):
    return {p.name: max(p.opts, key=len) for p in command.params if p.opts[0].startswith("-")}


@pytest.fixture
def type_in(tmp_path, monkeypatch, capsys):
    """Type a command; return exit code, output and messages."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 12))
    np.savetxt(tmp_path / "m.csv", X, delimiter=",")
    X[3, 4] = np.nan
    np.savetxt(tmp_path / "holes.csv", X, delimiter=",")
    solution = Biclustering([(range(5), range(4)), ([7], range(4)), (range(10, 20), range(2, 9))], X.shape)
    solution.to_json(tmp_path / "s.json")
    (tmp_path / "d").mkdir()
    solution.select([0, 2]).to_json(tmp_path / "d" / "s.json")
    (tmp_path / "q.blocks").write_text("BC000\tS=4\n Genes [2]: g1 g3 \n Conds [2]: b d \n")
    monkeypatch.chdir(tmp_path)

    def command(*words):
        monkeypatch.setattr("sys.argv", ["bivaluate", *words])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as end:
            main.main()
        shown = capsys.readouterr()
        return end.value.code or 0, shown.out, shown.err

    return command


@pytest.mark.parametrize(("names", "group"), [(READ_A_MATRIX, MatrixFile), (READ_A_SOLUTION, SolutionFile)])
def test_reading_options_are_in_every_command_that_reads(names, group):
    known = commands()
    for name in names:
        assert {f.name for f in dataclasses.fields(group)} <= spellings(known[name]).keys(), name


def test_one_spelling_for_each_thing():
    by_name, by_option = {}, {}
    for command in commands().values():
        for parameter in command.params:
            if parameter.opts[0].startswith("-"):
                by_name.setdefault(parameter.name, set()).add(tuple(sorted(parameter.opts)))
                for spelling in parameter.opts:
                    by_option.setdefault(spelling, set()).add(parameter.is_flag)
    assert {name: spelled for name, spelled in by_name.items() if len(spelled) > 1} == {}
    assert {option: kinds for option, kinds in by_option.items() if len(kinds) > 1} == {}
    gone = {"--output", "--random-state", "--set", "--to", "--found-format"}
    assert not gone & by_option.keys()
    assert {"--out", "-o", "-k", "--seed", "--param", "--csv", "--json", "--format"} <= by_option.keys()


def messages():
    """Texts of the library that name an argument as Python does, or an option."""
    for path in sorted(SOURCES.rglob("*.py")):
        if path.relative_to(SOURCES).parts[0] in ("cli", "datasets"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        skipped |= {id(p) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for p in node.values}
        for node in ast.walk(tree):
            text = ""
            if isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "7" for p in node.values)
                text = "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
                text = node.value
            if " " in text and re.search(r"\b[a-z_]+=['\"\dTF]|(?<![\w-])--[a-z]{2}", text):
                yield text


def test_messages_are_spelled_for_the_command(monkeypatch):
    known = commands()
    python_names = set().union(*(spellings(command) for command in known.values()))
    walked = set(messages())
    assert len(walked) > 8
    for name in READ_A_SOLUTION:
        spelled = spellings(known[name])
        monkeypatch.setattr(options, "_spelled", spelled)
        for text in walked:
            said = spoken(text)
            if re.search(r"bivaluate|propose_pruning|sweep|^--|scorer|normalise='rank' needs", text):
                continue  # names another command, or belongs to sweeps alone
            left = set(re.findall(r"\b([a-z_]+)=['\"\dTF]", said)) & python_names
            assert not left, f"{name}: {said}"
            assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", said)) <= set(spelled.values()), f"{name}: {said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("small is 'x'; allowed: 'flag', 'drop'.", "--small is 'x'; allowed: 'flag', 'drop'."),
        ("1 left. Pass degenerate='formula' for 0.", "1 left. Pass --degenerate formula for 0."),
        ("1 left. Pass centre='rows' for 0.", "1 left."),
        ("Impute them, or pass missing='omit' to go on.", "Impute them, or pass --missing omit to go on."),
        ("Impute them, or pass gaps='omit' to go on.", "Impute them."),
        ('take logarithms or ranks (normalise="rank").', "take logarithms or ranks."),
        ('centre first (centre="columns", or the *_centred keys).', "centre first (the *_centred keys)."),
        ("use surrogates (ordered_columns=True, --ordered-columns).", "use surrogates (--ordered-columns)."),
        ("Say index_base=0 (--index-base 0).", "Say --index-base 0."),
        ("Name it with format= (--solution-format): a, b.", "Name it with --solution-format: a, b."),
        ("say which: item=0 … 3 (--item).", "say which: --item 0 … 3."),
        ("say decimal=',' (--decimal ,).", "say --decimal ,."),
        ("say which: item=0 … 3.", "say which: --item 0 … 3."),
        ("say decimal=','.", "say --decimal ,."),
        ("members='label' or members='index'.", "--members label or --members index."),
        ("judge with propose_pruning(..., ordered_columns=True).", "judge with bivaluate prune --ordered-columns."),
        ("--param n_jobs=2: no (really).", "--param n_jobs=2: no (really)."),
    ],
)
def test_words_of_the_command_line(monkeypatch, text, said):
    monkeypatch.setattr(options, "_spelled", spellings(commands()["score"]))
    assert spoken(text) == said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("score s.json m.csv", "error: s.json holds biclusters, not a matrix. Were the two swapped?"),
        ("prune s.json m.csv", "error: s.json holds biclusters, not a matrix. Were the two swapped?"),
        ("score - s.json", "error: MATRIX is '-'; standard input and output cannot be used here: name a file."),
        ("score m.csv s.json --csv -", "error: --csv is '-'; standard input"),
        ("sweep - -k 3", "error: MATRICES is '-'; standard input"),
        ("run m.csv -k three", "error: -k needs a whole number."),
        ("prune m.csv s.json --cut low", "error: --cut needs a number."),
        ("run m.csv -k 0", "error: -k is 0; it must be at least 1."),
        ("run m.csv --param random_state=5", "error: --param random_state=5: use --seed for this one."),
        ("score m.csv s.json --matrix-format xsl", "error: --matrix-format is 'xsl'; allowed: "),
        ("score holes.csv s.json", "or pass --missing omit to average over the observed cells."),
        ("prune holes.csv s.json", "Impute them."),
        ("prune m.csv s.json -o p.rds", "or name it with --format: biclustlib, bivaluate, csv, r-text."),
        ("prune m.csv s.json -o no/p.json", "error: cannot write no/p.json: there is no folder no."),
        ("compare q.blocks s.json", "q.blocks names its members by label and the other file by index: give their "),
        ("convert q.blocks x.json --format biclustlib", "Name it with --matrix."),
        ("report s.json", "bivaluate score MATRIX s.json --report report.html"),
    ],
)
def test_refusals_say_what_to_do(type_in, words, message):
    code, out, err = type_in(*words.split())
    assert code == 2
    assert message in err
    assert "missing=" not in err
    assert out == ""


def test_same_named_files_are_told_apart(type_in):
    code, out, err = type_in("score", "m.csv", "s.json", "d/s.json")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines()[1:3]} == {"s.json", "d/s.json"}
    assert "Pass --degenerate formula" in err
    same = ["a.json"] * 2
    assert distinct(["a", "a"], same) == ["a.json (1)", "a.json (2)"]
    assert distinct(["x", "y"], same) == ["x", "y"]


def test_pruning_everything_says_so(type_in, tmp_path):
    code, out, err = type_in("prune", "m.csv", "s.json", "--out", "p.json")
    assert code == 0
    assert "Nothing is left" in out
    assert "wrote p.json: a solution without biclusters, because none of 3 is left" in err
    assert len(Biclustering.from_json(tmp_path / "p.json")) == 0


def test_numbers_are_never_cut(run, example):
    shown = run("score", "matrix.csv", "solution.json", COLUMNS="30")
    assert "…" not in shown.out.split("\n\n")[0]
    assert "1.091" in shown.out
    wide = run("scenarios", COLUMNS="60").out.splitlines()
    assert max(map(len, wide)) <= 66
    assert "│" not in "".join(wide)


def test_exit_codes(type_in, monkeypatch):
    assert type_in("score", "m.csv", "s.json")[0] == 0
    code, out, err = type_in("sweep", "m.csv", "-a", "spectral", "-k", "13", "--out", "RUN")
    assert code == 1
    assert "spectral: 1 failed, for example: n_biclusters is 13" in out
    assert "next:" not in out
    assert "error: every cell failed, so there is nothing to choose from" in err
    assert type_in("score", "m.csv", "s.json", "--nonsense")[0] == 2
    assert type_in("score", "m.csv", "absent.json")[0] == 2

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("bivaluate.io.read_solutions", interrupted)
    code, _, err = type_in("score", "m.csv", "s.json")
    assert code == 130
    assert "stopped: interrupted from the keyboard." in err


def test_scoring_leaves_what_it_was_given_alone(monkeypatch, type_in):
    from bivaluate import evaluation

    seen = []
    original = evaluation.evaluate

    def spy(X, solution, **given):
        seen.append(original(X, solution, **given))
        seen[-1].kept = seen[-1].findings
        return seen[-1]

    monkeypatch.setattr(evaluation, "evaluate", spy)
    assert type_in("score", "m.csv", "s.json", "--ordered-columns")[0] == 0
    (result,) = seen
    assert len(result.findings) == len(result.kept) + 1
    assert result.findings[-1].startswith("Columns are ordered")
