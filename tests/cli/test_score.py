"""`bivaluate score` and `bivaluate metrics`, typed as a newcomer would."""

import csv
import json

import numpy as np
import pytest

from bivaluate import Biclustering, evaluate, read_matrix
from bivaluate.chance.evidence import selection
from bivaluate.cli.main import COMMANDS
from bivaluate.measures.external import EXTERNAL
from bivaluate.registry import METRICS, RECORDS


def test_help_lists_every_command(run):
    shown = run("--help")
    assert shown.code == 0
    for name in COMMANDS:
        assert name in shown.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches(run, name):
    shown = run(name, "--help")
    assert shown.code == 0
    assert "bivaluate " + name in shown.out


def test_no_arguments_show_help(run):
    assert "Usage" in run().out + run().err


def test_version(run):
    assert run("--version").out.startswith("bivaluate 0.")


def test_unknown_command(run):
    shown = run("scroe")
    assert shown.code == 2
    assert "Did you mean 'score'?" in shown.err


def test_solution_table(run, example):
    shown = run("score", "matrix.csv", "solution.json", "two.json")
    assert shown.code == 0
    at = next(i for i, line in enumerate(shown.out.splitlines()) if line.startswith("solution  "))
    header, first, second = shown.out.splitlines()[at : at + 3]
    assert header.split() == ["solution", "K", "evidence↑", "NVE_cov↓", "NVE↓", "AvgVE↓", "ASR↓", "NSR↓", "CR↑", "CC↑"]
    first, second = sorted((first, second))
    assert second.split()[0] == "two"
    assert first.split()[:2] + first.split()[3:8] == ["solution", "3", "1.091", "0.9343", "0.6003", "1.256", "0.5626"]
    assert "73.3 %" in first
    assert "B3 has two columns, which VE cannot judge." in shown.out


def test_the_matrix_is_looked_at_once_for_several_solutions(run, example, monkeypatch):
    looked, look = [], selection.first_sums
    monkeypatch.setattr(selection, "first_sums", lambda *given: looked.append(1) or look(*given))
    assert run("score", "matrix.csv", "solution.json", "two.json").code == 0
    assert looked == [1]


def test_brackets_in_names_are_no_markup(run, example, tmp_path):
    (tmp_path / "las[seed=1].json").write_bytes((tmp_path / "two.json").read_bytes())
    shown = run("score", "matrix.csv", "las[seed=1].json", "--csv", "table[red].csv")
    assert shown.out.splitlines()[1].split()[0] == "las[seed=1]:"
    assert "wrote table[red].csv" in shown.err
    assert "las[seed=1]" in run("score", "matrix.csv", "las[seed=1].json", "--biclusters").out


def test_sorting(run, example):
    shown = run("score", "matrix.csv", "solution.json", "two.json", "--sort", "coverage")
    assert shown.out.splitlines()[1].startswith("solution")
    assert run("score", "matrix.csv", "solution.json", "--sort", "ve").code == 2
    by_evidence = run("score", "matrix.csv", "solution.json", "two.json", "--sort", "evidence")
    assert by_evidence.out == run("score", "matrix.csv", "solution.json", "two.json").out
    assert "Did you mean 'nve'?" in run("score", "matrix.csv", "solution.json", "--sort", "nev").err


def test_sorting_by_a_measure_computes_it(run, example):
    shown = run("score", "matrix.csv", "two.json", "solution.json", "--metrics", "nve", "--sort", "coverage")
    at = next(i for i, line in enumerate(shown.out.splitlines()) if line.startswith("solution  "))
    lines = [line.split() for line in shown.out.splitlines()[at : at + 3]]
    assert [line[0] for line in lines] == ["solution", "solution", "two"]
    assert lines[0] == ["solution", "NVE↓", "CR↑"]
    shown = run("score", "matrix.csv", "solution.json", "--biclusters", "--sort", "vet")
    assert shown.code == 0
    assert METRICS["vet"].symbol in shown.out


def test_bicluster_table_is_worst_first(run, example):
    shown = run("score", "matrix.csv", "solution.json", "--biclusters")
    names = [line.split()[0] for line in shown.out.splitlines() if line.startswith("B")]
    assert names == ["B3", "B1", "B2"]
    assert "not supported" in shown.out
    assert "too small to judge" in shown.out


def test_biclusters_are_sorted_by_their_evidence(run, example):
    shown = run("score", "example:", "example:", "--biclusters")
    names = [line.split()[0] for line in shown.out.splitlines() if line.startswith("B")]
    assert names == ["B5", "B4", "B3", "B2", "B1"]
    first = run("score", "example:", "example:", "--biclusters", "--metrics", "nve_k").out.splitlines()[2]
    assert first.startswith("B1")


def test_json(run, example):
    (document,) = json.loads(run("score", "matrix.csv", "solution.json", "--json").out)
    assert document["name"] == "solution"
    assert document["scores"]["nve"] == pytest.approx(0.934293, abs=1e-6)
    assert [b["bicluster"] for b in document["biclusters"]] == ["B1", "B2", "B3"]
    assert document["findings"]


def test_csv(run, example):
    shown = run("score", "matrix.csv", "solution.json", "two.json", "--csv", "scores.csv")
    assert "wrote scores.csv" in shown.err
    with (example / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["solution"] for row in rows] == ["solution", "two"]
    assert float(rows[0]["nve_cov"]) == pytest.approx(1.091020, abs=1e-6)
    run("score", "matrix.csv", "solution.json", "--biclusters", "--csv", "biclusters.csv")
    with (example / "biclusters.csv").open() as file:
        assert [row["bicluster"] for row in csv.DictReader(file)] == ["B1", "B2", "B3"]
    assert "cannot write" in run("score", "matrix.csv", "solution.json", "--csv", "no/folder.csv").err


def test_options_reach_the_scores(run, example):
    def nve(*options):
        return json.loads(run("score", "matrix.csv", "solution.json", "--json", *options).out)[0]

    assert nve("--score", "min_cols=3", "--score", "small=drop")["scores"]["n_biclusters"] == 2
    X, S = read_matrix(example / "matrix.csv").values, Biclustering.from_json(example / "solution.json")
    turned = evaluate(X.T, [(b.cols, b.rows) for b in S]).scores["nve"]
    assert nve("--ve-axis", "columns")["scores"]["nve"] == pytest.approx(turned, rel=1e-9)
    assert nve("--metrics", "nve,coverage")["scores"].keys() == {"nve", "coverage"}
    assert len(nve("--metrics", "all")["scores"]) == sum(m.level == "solution" for m in METRICS.values())
    assert run("score", "matrix.csv", "solution.json", "--metrics", "all").code == 0


def test_degenerate_is_said_once_and_is_not_a_failure(run, example):
    (example / "thin.json").write_text(
        json.dumps({"schema": 1, "shape": None, "biclusters": [{"rows": [0, 1], "cols": [2]}]})
    )
    shown = run("score", "matrix.csv", "thin.json")
    assert shown.code == 0
    assert "B1 has 1 column: coherence is not defined for it." in shown.out
    assert "B1: left out of the scores; --score degenerate=formula" in shown.out
    assert shown.err == ""
    assert "warning: B1 has one row or one column" in run("score", "matrix.csv", "thin.json", "--json").err
    assert "–" in shown.out
    assert run("score", "matrix.csv", "thin.json", "--score", "degenerate=formula").err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "nothing.csv", "solution.json"), "nothing.csv"),
        (("score", "matrix.csv", "nothing.json"), "nothing.json"),
        (("score", "matrix.csv"), "Missing argument"),
        (("score", "matrix.csv", "solution.json", "--transpose"), "Were rows and columns swapped?"),
        (
            ("score", "matrix.csv", "solution.json", "--score", "degenerate=zero"),
            "--score degenerate is 'zero'; allowed: 'nan', 'formula'",
        ),
        (("score", "matrix.csv", "solution.json", "--score", "min_rows=0"), "--score min_rows is 0"),
        (("score", "matrix.csv", "matrix.csv"), "matrix.csv"),
        (("score", "holes.csv", "solution.json"), "the first at row 'g1', column 'b'"),
        (("metrics", "nvee"), "Did you mean 'nve'?"),
    ],
)
def test_bad_input_exits_2_with_a_message(run, example, words, message):
    (example / "holes.csv").write_text((example / "matrix.csv").read_text().replace("g1,1.0,2.0", "g1,1.0,"))
    shown = run(*words)
    assert shown.code == 2
    assert message in shown.err
    assert not shown.out


def test_metrics_lists_the_registry(run):
    shown = run("metrics").out
    for key in METRICS:
        assert key in shown
    listed = {m["key"]: m for m in json.loads(run("metrics", "--json").out)}
    assert set(listed) == {*RECORDS, *EXTERNAL}
    assert listed["nve"]["range"] == [0, None]
    assert listed["ve"]["invariances"] == sorted(METRICS["ve"].invariances)
    told = run("metrics", "spearman_asr").out
    assert "Better: high. Range: −1 to 1. Unchanged by: " in told
    assert "min_{l≠k} VE(B_kl)" in run("metrics", "nve").out
    assert run("metrics", "gain").out.startswith("gain (predictive): gain on held-out values"), "as select prints it"
    told = run("metrics", "ce").out
    assert told == run("metrics", "CE similarity").out, "as compare prints it"
    assert "Better: high. Range: 0 to 1. Unchanged by: col scale, col shift, row scale" in told


@pytest.mark.extra("anndata")
def test_write_back_into_h5ad(run, example):
    import anndata

    matrix = read_matrix(example / "matrix.csv")
    data = anndata.AnnData(matrix.values.T)
    data.obs_names, data.var_names = matrix.col_labels, matrix.row_labels
    data.write_h5ad(example / "matrix.h5ad")
    shown = run("score", "matrix.h5ad", "solution.json", "--write-back")
    assert shown.code == 0, shown.err
    again = anndata.read_h5ad(example / "matrix.h5ad")
    assert "bivaluate" in again.uns
    assert again.varm["bivaluate"].shape == (5, 3)
    assert again.obsm["bivaluate"].shape == (6, 3)
    refused = run("score", "matrix.csv", "solution.json", "--write-back")
    assert refused.code == 2
    assert "--write-back stores results in an .h5ad file" in refused.err


def test_report(run, example):
    assert run("score", "matrix.csv", "solution.json", "two.json", "--report", "page.html").code == 0
    assert "<html" in (example / "page.html").read_text(encoding="utf-8")


def test_json_holds_measures_findings_and_verdict(run, tmp_path):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(60, 20)), axis=1)
    np.save(tmp_path / "X.npy", X)
    Biclustering([(range(8), range(10)), (range(20, 30), range(20))], X.shape).to_json(tmp_path / "S.json")
    plain = json.loads(run("score", "X.npy", "S.json", "--json", "--metrics", "all").out)[0]
    assert len(plain["verdict"]["headline"].split()) <= 15
    assert {row["verdict"] for row in plain["verdict"]["biclusters"]} == {row["verdict"] for row in plain["biclusters"]}
    assert any("Neighbouring columns are correlated" in sentence for sentence in plain["findings"])
    assert {"cc", "anve", "avg_ave_centred", "mbr_max", "nve_overlap"} <= plain["scores"].keys()
    assert {"ave", "z", "acv", "sbm", "chia_karuturi", "sign_variance"} <= plain["biclusters"][0].keys()


def test_the_sentence_on_k_is_that_of_the_page(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(90, 40))
    blocks = [(range(20 * k, 20 * k + 20), range(10 * k, 10 * k + 10)) for k in range(4)]
    for rows, cols in blocks:
        X[np.ix_(rows, cols)] += 3
    np.savetxt(tmp_path / "x.csv", X, delimiter=",")
    for k in (2, 3, 6):
        members = [*blocks, (range(5), range(30, 40)), (range(60, 65), range(5))][:k]
        Biclustering(members, X.shape, info={"k": k, "name": f"run K {k}"}).to_json(tmp_path / f"k{k}.json")
    done = run("score", "x.csv", "k2.json", "k3.json", "k6.json", "--report", "page.html")
    assert done.code == 0, done.err
    said = "run K 6: about 4 biclusters are supported; refit with K = 4."
    assert f"\n{said} Up to K = 3 every bicluster is supported, with" in done.out
    assert f'<h1 id="verdict-title">{said}</h1>' in (tmp_path / "page.html").read_text().replace("\u00a0", " ")


def test_every_k_of_a_run(run, tmp_path):
    rows, cols = ["g1", "g2", "g3", "g4", "g5"], ["c1", "c2", "c3", "c4"]
    text = ",".join(["", *cols]) + "\n"
    text += "".join(
        f"{g}," + ",".join(str((3 * i + j * j) % 7 + 0.5 * (i < 3)) for j in range(4)) + "\n"
        for i, g in enumerate(rows)
    )
    (tmp_path / "x.csv").write_text(text)
    (tmp_path / "out").mkdir()
    for k in (1, 2):
        names = "\t" + "\t".join(str(n + 1) for n in range(k)) + "\n"
        usages = "".join(
            f"{c}\t" + "\t".join(str(9 if j % k == n and j < 3 else 1) for n in range(k)) + "\n"
            for j, c in enumerate(cols)
        )
        spectra = "".join(
            f"{n + 1}\t" + "\t".join(str(9 if n <= i < n + 3 else 0) for i in range(5)) + "\n" for n in range(k)
        )
        (tmp_path / "out" / f"a.usages.k_{k}.consensus.txt").write_text(names + usages)
        (tmp_path / "out" / f"a.gene_spectra_tpm.k_{k}.txt").write_text("\t" + "\t".join(rows) + "\n" + spectra)
    done = run("score", "x.csv", "out", "--rule", "top:0.6")
    assert done.code == 0, done.err
    assert "a K 1" in done.out
    assert "by K; at random: same sizes and overlaps, mean of 5 placements" in done.out
    done = run("score", "x.csv", "out", "--rule", "top:0.6", "--json", "--csv", "k.csv")
    (first, second) = json.loads(done.out)
    assert (first["at_random"]["k"], second["at_random"]["k"]) == (1, 2)
    assert "null_total_evidence" in (tmp_path / "k.csv").read_text().splitlines()[0]
    done = run("score", "x.csv", "out", "--item", "1", "--rule", "sd:0.5", "--json")
    assert [found["solution"]["info"]["rule"] for found in json.loads(done.out)] == ["sd:0.5"]
    done = run("score", "x.csv", "out", "--rule", "top:5")
    assert done.code == 2
    assert "--rule is 'top:5'; allowed: 'mixture', 'top:0.1'" in done.err


@pytest.mark.parametrize("fault", ["a missing value far down", "a file cut short"])
def test_bad_rows_far_down_are_named_and_nothing_is_half_written(run, tmp_path, fault):
    X = np.random.default_rng(0).normal(size=(150_000, 30)).astype(np.float32)
    X[140_000, 7] = np.nan
    np.save(tmp_path / "x.npy", X)
    Biclustering([(range(150_000), range(5, 12)), (range(90), range(9))], X.shape).to_json(tmp_path / "s.json")
    words = "1 missing value (NaN), the first at row 140000, column 7"
    if fault == "a file cut short":
        whole = (tmp_path / "x.npy").read_bytes()
        (tmp_path / "x.npy").write_bytes(whole[:-70_000])
        words = "is truncated: shape (150000, 30) of float32 needs"
    shown = run(
        "score", "x.npy", "s.json", "--csv", "t.csv", "--report", "r.html", "--mqc", "a_mqc.json", "--memory", "16M"
    )
    assert shown.code == 2
    assert words in shown.err.replace("\n", " ")
    assert not [path for path in tmp_path.iterdir() if path.name not in ("x.npy", "s.json")]


def test_the_headline_is_said_once(run, tmp_path):
    np.savetxt(tmp_path / "noise.csv", np.random.default_rng(0).normal(size=(60, 20)), delimiter=",")
    Biclustering([(range(10), range(6)), (range(20, 35), range(8, 15))], (60, 20)).to_json(tmp_path / "s.json")
    Biclustering([], (60, 20)).to_json(tmp_path / "empty.json")
    assert run("score", "noise.csv", "s.json").out.count("Neither bicluster is supported.") == 1
    assert run("score", "noise.csv", "empty.json").out.count("The solution has no biclusters.") == 1
    both = run("score", "noise.csv", "s.json", "empty.json").out
    assert "Nothing is supported; s comes nearest." in both


@pytest.mark.parametrize("more", [[], ["--biclusters"]])
def test_a_sentence_that_names_a_bicluster_belongs_to_its_solution(run, tmp_path, more):
    walk = np.cumsum(np.random.default_rng(0).normal(size=(40, 12)), axis=1)
    np.savetxt(tmp_path / "m.csv", walk, delimiter=",")
    for name, shift in (("first", 0), ("second", 20)):  # other biclusters of the same names
        pairs = [(range(shift, shift + 8), range(6)), (range(shift + 9, shift + 15), [3, 7])]
        Biclustering(pairs, walk.shape).to_json(tmp_path / f"{name}.json")
    done = run("score", "m.csv", "first.json", "second.json", "--report", "page.html", *more)
    assert done.code == 0, done.err
    own, _, common = done.out.partition("All solutions")
    assert own.count("• B2 has two columns") == 2
    assert "B2" not in common
    assert "Neighbouring columns are correlated" in common
    assert "Neighbouring columns are correlated" not in own
    page = (tmp_path / "page.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert page.count(">B2 has two columns") == 2  # on top for the solution shown there, and in the other one's detail


@pytest.mark.parametrize(
    ("words", "remark"),
    [
        (["--score", "min_rows=3"], "B2 is smaller than the minimum size, and counted all the same; pass --score small=drop to leave it out."),
        (["--score", "min_cols=5"], "B1, B2 and B3 are smaller than the minimum size, and counted all the same"),
        (["--score", "min_rows=3", "--score", "small=drop"], "B2 left out: smaller than the minimum size."),
    ],
)  # fmt: skip
def test_biclusters_smaller_than_asked_for_are_named(run, example, words, remark):
    done = run("score", "matrix.csv", "solution.json", *words)
    assert done.code == 0, done.err
    assert f"• {remark}" in done.out


def test_measures_of_single_biclusters_alone_are_printed_for_each(run, tmp_path):
    assert run("example").code == 0
    plain, asked = run("score", "expression.csv", "solution.json", "--metrics", "ve"), ("--metrics", "ve", "-b")
    assert plain.out == run("score", "expression.csv", "solution.json", *asked).out
    assert all(f"B{k}" in plain.out for k in range(1, 6))


def test_the_folder_of_a_sweep_is_not_taken_for_a_solution(run, tmp_path):
    (tmp_path / "RUN").mkdir()
    for name in ("plan.toml", "results.csv"):
        (tmp_path / "RUN" / name).write_text("")
    shown = run("score", "example:", "RUN")
    assert shown.code == 2
    assert "RUN is the folder of a sweep: `bivaluate select RUN` chooses a solution" in shown.err
