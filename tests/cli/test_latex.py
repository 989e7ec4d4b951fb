"""--latex: every table that is printed, for a paper."""


def test_the_tables_that_are_printed_are_written_with_the_best_in_bold(run, example):
    assert "wrote t.tex" in run("score", "matrix.csv", "solution.json", "two.json", "--latex", "t.tex").err
    text = (example / "t.tex").read_text()
    assert text.startswith("% needs \\usepackage{booktabs}\n\\begin{tabular}{l")
    assert text.count("\\toprule") == text.count("\\bottomrule") == 3  # one verdict each, and the measures
    assert "NVE\\_cov$\\downarrow$" in text
    rows = [line for line in text.splitlines() if line.startswith(("solution &", "two &"))][1:]
    values = [line.split(" & ")[4] for line in rows]
    assert sum("textbf" in value for value in values) == 1
    assert run("score", "matrix.csv", "solution.json", "--latex", "t.tex").code == 0  # its own kind may be replaced


def test_one_stream_and_no_table(run, example):
    assert run("algorithms", "--latex", "-").out.startswith("% needs")
    refused = run("metrics", "--json", "--latex", "t.tex")
    assert (refused.code, "--latex is given, but no table is printed here: leave out --json." in refused.err) == (
        2,
        True,
    )
    assert run("metrics", "--latex", "matrix.csv").code == 2  # not of its kind
