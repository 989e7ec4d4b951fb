"""Any command as an algorithm: what it is given, how it is held, and what is said when it fails."""

import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.base import clone

from bivaluate import CommandError, FileError, FormatError, MatrixError, ParameterError
from bivaluate.algorithms import CommandEstimator, choose_algorithms, make_estimator
from bivaluate.algorithms._supervise import memory_of
from bivaluate.algorithms.command import read_recipe, recipes
from bivaluate.algorithms.registry import finds_k, is_nested
from tests.processes import alive, wait_until

X = np.random.default_rng(0).normal(size=(9, 5)).round(3)
HEADER = "bicluster,rows,cols"


def python(code, *arguments, **parameters):
    """Return a command that runs a line of Python with `sys` and `open_` at hand."""
    line = f"import sys, os, time; {code}".replace("{", "{{").replace("}", "}}")
    words = " ".join(f'"{word}"' for word in arguments)
    return CommandEstimator(f"'{sys.executable}' -c \"{line}\" {words}", **parameters)


def writes(*lines, name="found.csv"):
    text = "\\n".join((HEADER, *lines))
    return f"open(sys.argv[1] + '/{name}', 'w').write('{text}\\n')"


def test_the_matrix_k_and_seed_are_given_and_the_file_is_read():
    code = (
        "words = sys.argv[1:]; table = [line.strip().split(',') for line in open(words[1])]; "
        "assert table[0] == ['id', 'c1', 'c2', 'c3', 'c4', 'c5'] and table[1][0] == 'r1' and len(table) == 10; "
        "assert words[2:] == ['2', '7', '9x5', '; touch $HOME']; "
        "open(words[0] + '/f.csv', 'w').write('bicluster,rows,cols\\nB1,r1 r9,c5\\nB2,r2,c1 c2\\n'); print(table[1][1])"
    )
    model = python(code, "{out}/", "{matrix}", "{k}", "{seed}", "{rows}x{cols}", "; touch $HOME", n_biclusters=2)
    assert not model.record.finds_k
    found = clone(model).set_params(random_state=7).fit(X)
    assert [(b.rows.tolist(), b.cols.tolist()) for b in found.solution_] == [([0, 8], [4]), ([1], [0, 1])]
    assert float(found.output_) == X[0, 0]
    assert found.rows_.shape == (2, 9)
    assert found.solution_.info["parameters"]["random_state"] == 7


@pytest.mark.parametrize(
    ("style", "reads"),
    [
        ("csv", "open(m).read().split()[1].split(',')[1]"),
        ("numbers", "open(m).read().split()[0]"),
        ("npy", "__import__('numpy').load(m)[0, 0]"),
    ],
)
def test_the_matrix_is_written_as_the_program_wants_it(style, reads):
    code = f"m = sys.argv[2]; print({reads}); {writes('B1,r1,c1')}"
    assert float(python(code, "{out}/", "{matrix}", matrix=style).fit(X).output_) == X[0, 0]


@pytest.mark.parametrize(
    ("style", "reads"),
    [
        ("csv", "open(m).read().split()[1].split(',')[1]"),
        ("npy", "__import__('numpy').load(m)[0, 0]"),
        ("mtx", "__import__('scipy.io').io.mmread(m).toarray()[0, 0]"),
    ],
)
def test_the_command_asks_for_a_format_and_a_path_that_does_not_exist_yet(style, reads):
    code = f"o, m = sys.argv[1:]; assert not os.path.exists(o); print({reads}); "
    file = "open(o, 'w').write('bicluster,rows,cols\\nB1,r1 r3,c2\\n')"
    model = python(code + file, "{out}", f"{{matrix:{style}}}").fit(X)
    assert float(model.output_) == X[0, 0]
    assert model.solution_[0].rows.tolist() == [0, 2]
    folder = "os.mkdir(o); open(o + '/some.json', 'w').write('[[[0, 2], [1]]]')"
    assert python(code + folder, "{out}", f"{{matrix:{style}}}").fit(X).solution_[0].rows.tolist() == [0, 2]


def test_a_command_runs_where_it_was_typed(tmp_path, monkeypatch):
    (tmp_path / "tool.py").write_text("import sys; open(sys.argv[1], 'w').write('bicluster,rows,cols\\nB1,r1,c1\\n')")
    monkeypatch.chdir(tmp_path)
    assert len(make_estimator(f"mine=cmd:'{sys.executable}' tool.py {{out}}", "auto").fit(X).solution_) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["tool.py"]
    with pytest.raises(
        CommandError, match=r"No such file or directory.*\{out\} is a path to be made, \{out\}/ a folder"
    ):
        CommandEstimator(f"'{sys.executable}' -c \"import sys; open(sys.argv[1] + '/x', 'w')\" {{out}}").fit(X)


def test_names_of_commands():
    assert choose_algorithms(["las", "a=cmd:x {out}", "b=recipe:unpast"]) == dict.fromkeys(
        ["las", "a=cmd:x {out}", "b=recipe:unpast"], True
    )
    with pytest.raises(ParameterError, match=r"'a' names two algorithms; choose another name"):
        choose_algorithms(["a=cmd:x {out}", "a=cmd:y {out}"])
    with pytest.raises(ParameterError, match=r"'las' is an algorithm of bivaluate; choose"):
        choose_algorithms(["las=cmd:x {out}"])


def test_missing_cells_are_refused_or_left_to_the_program():
    holes = X.copy()
    holes[2, 1] = np.nan
    model = python(f"print(open(sys.argv[2]).readlines()[3].split(',')[2]); {writes('B1,r1,c1')}", "{out}/", "{matrix}")
    with pytest.raises(MatrixError, match="without missing values"):
        model.fit(holes)
    assert model.set_params(missing="omit").fit(holes).output_ == "NA\n"


def test_a_number_that_is_not_asked_for_is_an_upper_bound():
    model = python(writes("B1,r1,c1", "B2,r2,c2", "B3,r3,c3"), "{out}/", n_biclusters="auto")
    assert model.record.finds_k
    assert len(model.fit(X).solution_) == 3
    assert len(model.set_params(n_biclusters=2).fit(X).solution_) == 2
    with pytest.raises(ParameterError, match="n_biclusters is 'auto'; a whole number"):
        python(writes(), "{out}/", "{k}", n_biclusters="auto").fit(X)


def test_finding_nothing_is_an_answer():
    model = python("print('0 clusters, sorry')", "{out}/", nothing=r"^0 clusters")
    assert len(model.fit(X).solution_) == 0
    assert (
        len(python("print('10 clusters'); " + writes("B1,r1,c1"), "{out}/", nothing=r"^0 clusters").fit(X).solution_)
        == 1
    )


@pytest.mark.parametrize(
    ("code", "parameters", "message"),
    [
        ("sys.exit('no such option: -q')", {}, r" ended with code 1\. Its last lines: no such option: -q$"),
        ("open('not/there.csv')", {}, r"No such file or directory: 'not/there.csv'$"),
        (
            "open(sys.argv[-1] + '/y/x', 'w')",
            {},
            r"/y/x' \({out} is a path to be made, {out}/ a folder that exists\.\)$",
        ),
        ("print('a'); os.abort()", {}, r" ended by signal 6\. Its last lines: a$"),
        ("pass", {}, r" wrote no file to \{out\}\. It printed nothing\.$"),
        ("pass", {"result": "out/*.tsv"}, r" wrote no file like out/\*\.tsv\."),
        (writes("B1,r77,c1"), {}, r" wrote out/found\.csv, which cannot be read: out/found\.csv.*r77"),
        ("open(sys.argv[1] + '/x', 'w').write('nonsense')", {}, r" wrote out/x, which cannot be read: out/x"),
        (
            writes("B1,r1,c1") + "; " + writes("B1,r1,c1", name="b.csv"),
            {},
            r"2 files: out/b\.csv and out/found\.csv\. Say",
        ),
        ("print('busy', flush=True); time.sleep(60)", {"time_limit": 0.4}, r"stopped at its limit of 0\.4 s\. .*"),
        ("x = b'1' * 400_000_000; time.sleep(60)", {"memory_limit": 150}, r"at its limit of 150 MB of memory"),
        ("print('n' * 5000); sys.exit(2)", {}, r"with code 2\. Its last lines: … n{300}$"),
    ],
)
def test_a_command_that_fails_says_how_and_its_last_words(code, parameters, message):
    with pytest.raises(CommandError, match=message):
        python(code, "{out}/", **parameters).fit(X)


def test_everything_a_command_started_ends_with_it(tmp_path):
    mark = tmp_path / "child"
    child = f"import os, time; open('{mark}', 'w').write(str(os.getpid())); time.sleep(600)"
    code = "import subprocess; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    limit = 0.5
    while not (mark.exists() and mark.read_text()):  # a busy machine needs longer to start two processes
        with pytest.raises(CommandError, match=rf"limit of {limit:g} s"):
            python(code, child, "{out}/", time_limit=limit).fit(X)
        limit *= 4
    wait_until(lambda: not alive(int(mark.read_text())))
    assert memory_of(os.getpgrp()) > 1_000_000 or sys.platform != "linux"


def test_the_program_has_an_environment_of_its_own(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    code = "print(os.environ.get('PYTHONPATH'), os.environ['TOOL']); " + writes("B1,r1,c1")
    assert python(code, "{out}/", environment={"TOOL": 3}).fit(X).output_.split() == ["None", "3"]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CommandEstimator(), "the command is empty; for example 'mytool"),
        (CommandEstimator("tool 'a"), "cannot be split into words: No closing quotation"),
        (CommandEstimator("no-such-tool {matrix}"), "there is no program 'no-such-tool'. Install it, or say where"),
        (CommandEstimator("python {matrx}"), "cannot be filled in: 'matrx'. Known: {program}, {matrix}"),
        (CommandEstimator("{program} {matrix}"), "needs to know where its program is: program=/path/to/it"),
        (CommandEstimator("python", matrix="arff"), "matrix is 'arff'; allowed: 'tsv', 'csv', 'numbers', 'npy', 'mtx'"),
        (CommandEstimator("python {matrix:arff} {out}"), "{matrix:…} is 'arff'; allowed: 'tsv', 'csv'"),
        (CommandEstimator("python {matrix}"), "does not say where to write: add {out}, the path of a file or folder"),
        (CommandEstimator("python", time_limit=-1), "time_limit is -1; it must be at least 0"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(model, message):
    with pytest.raises(ParameterError) as refusal:
        model.check_input(X)
    assert message in str(refusal.value)


def test_recipes(tmp_path):
    assert set(recipes()) == {"unpast", "qubic", "opsm", "rscript"}
    assert finds_k("recipe:unpast")
    assert not is_nested("recipe:qubic")
    with pytest.raises(ParameterError, match=r"there is no recipe 'unpats'; ready: .* Did you mean 'unpast'"):
        read_recipe("unpats")
    with pytest.raises(FileError, match=r"cannot read the recipe mine\.toml"):
        read_recipe("mine.toml")
    file = tmp_path / "mine.toml"
    for text, message in (
        ("command = ", "is not valid TOML"),
        ('comand = "x"', "'comand' is not part of a recipe; .* Did you mean 'command'"),
        ('program = "x"', '"command" is missing'),
    ):
        file.write_text(text)
        with pytest.raises(FormatError, match=message):
            read_recipe(str(file))
    line = "import sys; open(sys.argv[1] + '/f.csv', 'w').write('bicluster,rows,cols\\\\nB1,r1 r3,c2\\\\n')"
    file.write_text(f"program = '{sys.executable}'\ncommand = '''{{program}} -c \"{line}\" {{out}}/'''\n")
    assert make_estimator(f"recipe:{file}", 3).fit(X).solution_[0].rows.tolist() == [0, 2]


def ordered():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 12))
    values[:15, :6] = np.sort(rng.normal(size=(15, 6)), axis=1) + np.arange(6) * 2
    return values


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """QUBIC's program and OPSM.jar as biclustlib's wheel carries them."""
    folder = tmp_path_factory.mktemp("tools")
    pip = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--dest", folder, "biclustlib==0.0.13"]
    if subprocess.run(pip, capture_output=True).returncode:
        pytest.skip("biclustlib cannot be downloaded")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        for name in archive.namelist():
            if name.endswith(("bin/qubic/qubic", "OPSM.jar")):
                (folder / os.path.basename(name)).write_bytes(archive.read(name))
    (folder / "qubic").chmod(0o755)
    return folder


@pytest.mark.network
@pytest.mark.skipif(sys.platform != "linux", reason="the program is for Linux")
def test_qubic(tools):
    found = make_estimator("recipe:qubic", 3, program=str(tools / "qubic")).fit(ordered()).solution_
    assert 1 <= len(found) <= 3
    assert set(found[0].rows) <= set(range(15))
    assert set(found[0].cols) <= set(range(6))


@pytest.mark.network
@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
def test_opsm(tools):
    found = make_estimator("recipe:opsm", "auto", program=str(tools / "OPSM.jar")).fit(ordered()).solution_
    assert any(b.shape == (15, 6) and set(b.rows) == set(range(15)) for b in found)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
def test_a_script_in_r(tmp_path):
    script = tmp_path / "halves.R"
    script.write_text(
        """
a <- commandArgs(trailingOnly = TRUE)
X <- as.matrix(read.delim(a[1], row.names = 1))
set.seed(as.integer(a[4]))
rows <- kmeans(X, as.integer(a[3]), nstart = 5)$cluster
found <- sapply(split(rownames(X), rows), paste, collapse = " ")
write.csv(data.frame(bicluster = names(found), rows = found, cols = paste(colnames(X), collapse = " ")), a[2],
  row.names = FALSE, quote = FALSE)
"""
    )
    values = np.random.default_rng(1).normal(size=(20, 6)) + np.repeat([[0.0], [9.0]], 10, axis=0)
    model = make_estimator("recipe:rscript", 2, 5, program=str(script)).fit(values)
    assert {tuple(b.rows.tolist()) for b in model.solution_} == {tuple(range(10)), tuple(range(10, 20))}


@pytest.mark.skipif(shutil.which("unpast") is None, reason="needs UnPaSt on the path")
def test_unpast():
    values = np.random.default_rng(0).normal(size=(100, 40))
    values[:20, :12] += 4
    found = make_estimator("recipe:unpast", "auto", 0).fit(values).solution_
    assert set(found[0].cols) == set(range(12))
    assert set(found[0].rows) <= set(range(20))
