"""--latex: every table that is printed, for a paper."""


def test_the_tables_that_are_printed_are_written_with_the_best_in_bold(run, example):
    assert "wrote t.tex" in run("score", "matrix.csv", "solution.json", "two.json", "--latex", "t.tex").err
    text = (example / "t.tex").read_text()
    assert text.startswith("% needs \\usepackage{booktabs}\n\\begin{tabular}{l")
    assert text.count("\\toprule") == text.count("\\bottomrule") == 3  # one verdict each, and the measures
    assert "NVE\\_cov$\\downarrow$" in text
    assert text.count("\nsolution & verdict & evidence & rows") == text.count("\ntwo & verdict & evidence & rows") == 1
    rows = [line for line in text.split("toprule")[-1].splitlines() if line.startswith(("solution &", "two &"))][1:]
    values = [line.split(" & ")[4] for line in rows]
    assert sum("textbf" in value for value in values) == 1
    assert run("score", "matrix.csv", "solution.json", "--latex", "t.tex").code == 0  # its own kind may be replaced


def test_measures_of_ones_own_stand_in_the_table_of_biclusters_which_do_not_vie(run, example, monkeypatch):
    (example / "mine.py").write_text("def spread(block):\n    return float(block.max() - block.min())\n")
    monkeypatch.syspath_prepend(example)
    words = ("score", "matrix.csv", "solution.json", "--measure", "mine:spread", "--latex", "t.tex")
    shown = run(*words)
    assert [line.split()[-1] for line in shown.out.splitlines() if line.startswith("B")] == ["7", "5", "5"]
    table = (example / "t.tex").read_text().split("bottomrule")[0]
    assert table.count("spread$\\uparrow$") == 1
    assert "textbf" not in table
    alone = run(*words, "--metrics", "nve").out.splitlines()
    assert [line.split() for line in alone if line.startswith("B")] == [["B1", "7"], ["B2", "5"], ["B3", "5"]]
    worst_first = run(*words, "--biclusters", "--sort", "spread").out.splitlines()
    assert [line.split()[0] for line in worst_first if line.startswith("B")] == ["B3", "B2", "B1"]


def test_one_stream_and_no_table(run, example):
    assert run("algorithms", "--latex", "-").out.startswith("% needs")
    refused = run("metrics", "--json", "--latex", "t.tex")
    assert (refused.code, "--latex is given, but no table is printed here: leave out --json." in refused.err) == (
        2,
        True,
    )
    assert run("metrics", "--latex", "matrix.csv").code == 2  # not of its kind
