"""cNMF's run folder: every K, both orientations, scores before TPM, and folders that are not whole."""

import numpy as np
import pytest

from bivaluate import FormatError, Matrix, ParameterError, SolutionError, evaluate, read_solution
from bivaluate.io import read_solutions
from bivaluate.io.solutions import is_solution
from bivaluate.sweep import k_curve

GENES = tuple(f"gene{i}" for i in range(12))
CELLS = tuple(f"cell{j}" for j in range(9))
RNG = np.random.default_rng(1)
VALUES = RNG.normal(size=(12, 9))
VALUES[:5, :4] += 5
VALUES[5:9, 4:9] += 4
ORDER = [0, 4, 1, 5, 2, 6, 3, 7, 8]  # cells of one kind side by side would look like a series
X = Matrix(VALUES[:, ORDER], GENES, tuple(CELLS[j] for j in ORDER))


def write(folder, name, values, rows, cols):
    lines = ["\t" + "\t".join(cols)]
    lines += [f"{row}\t" + "\t".join(map(str, line)) for row, line in zip(rows, values, strict=True)]
    (folder / name).write_text("\n".join(lines) + "\n")


@pytest.fixture
def run(tmp_path):
    for k in (3, 2):
        usages, spectra = np.full((9, k), 0.01), np.full((k, 12), -0.5)
        usages[:4, 0], usages[4:, 1], spectra[0, :5], spectra[1, 5:9] = 2.0, 7.0, 3.0, 2.0
        if k == 3:
            usages[7:, 2], spectra[2, 9:] = 9.0, 1.0
        numbers = [str(i + 1) for i in range(k)]
        write(tmp_path, f"pbmc.usages.k_{k}.dt_0_5.consensus.txt", usages, CELLS, numbers)
        write(tmp_path, f"pbmc.gene_spectra_score.k_{k}.dt_0_5.txt", spectra, numbers, GENES)
        write(tmp_path, f"pbmc.gene_spectra_tpm.k_{k}.dt_0_5.txt", spectra * 0 + 1, numbers, GENES)
    (tmp_path / "pbmc.k_selection.png").write_bytes(b"\x89PNG")
    return tmp_path


def test_every_k_is_read(run):
    solutions = read_solutions(run, X)
    assert [(s.info["k"], len(s)) for s in solutions] == [(2, 2), (3, 3)]
    assert solutions[1].info["name"] == "pbmc K 3, dt 0.5"
    assert solutions[1].info["spectra"] == "pbmc.gene_spectra_score.k_3.dt_0_5.txt"
    assert solutions[1].info["rule"] == "mixture"
    assert solutions[1][0].rows.tolist() == [0, 1, 2, 3, 4]
    assert [X.col_label(j) for j in solutions[1][0].cols] == ["cell0", "cell1", "cell2", "cell3"]
    assert is_solution(run)


def test_the_output_folder_above_the_run(run, tmp_path_factory):
    above = tmp_path_factory.mktemp("output")
    run.rename(above / "pbmc")
    assert [s.info["k"] for s in read_solutions(above, X)] == [2, 3]


def test_cells_as_rows(run):
    turned = read_solution(run, X.T, item=1)
    assert {"cell4", "cell5", "cell6"} <= {X.col_label(j) for j in turned[1].rows}
    assert turned[1].cols.tolist() == [5, 6, 7, 8]


def test_rule_and_tpm(run):
    (run / "pbmc.gene_spectra_score.k_3.dt_0_5.txt").unlink()
    (solution,) = read_solutions(run, X, item=1, rule="top:0.25")
    assert [b.shape for b in solution] == [(3, 3), (3, 3), (3, 3)]
    assert solution.info["spectra"].startswith("pbmc.gene_spectra_tpm")
    assert solution.info["rule"] == "top:0.25"


def test_folders_that_are_not_whole(run, tmp_path_factory):
    with pytest.raises(
        ParameterError, match=r"holds 2 solutions: 0 \(pbmc K 2, dt 0.5\), .* Choose one, for example with item=0"
    ):
        read_solution(run, X)
    with pytest.raises(ParameterError, match=r"item is 7; .* 2 solutions, counted from 0"):
        read_solution(run, X, item=7)
    with pytest.raises(SolutionError, match=r"does not have|no row labels"):
        read_solution(run, Matrix(X.values), item=0)
    for path in run.glob("*gene_spectra_*.k_2.*"):
        path.unlink()
    with pytest.raises(FormatError, match=r"no spectra beside it; pbmc.gene_spectra_score.k_2.dt_0_5.txt or"):
        read_solutions(run, X)
    write(run, "pbmc.gene_spectra_tpm.k_2.dt_0_5.txt", np.ones((3, 12)), "123", GENES)
    with pytest.raises(FormatError, match=r"usages.k_2.dt_0_5.consensus.txt has 2 factors, pbmc.* has 3"):
        read_solution(run, X, item=0)
    with pytest.raises(FormatError, match=r"a folder without cNMF's tables"):
        read_solution(tmp_path_factory.mktemp("empty"), X, format="cnmf")


def test_rules_are_for_loadings(tmp_path):
    (tmp_path / "a.csv").write_text("bicluster,rows,cols\nB1,gene1 gene2,cell1\n")
    with pytest.raises(ParameterError, match=r"rule is 'mixture'; .* holds members, not loadings"):
        read_solution(tmp_path / "a.csv", X, rule="mixture")


def test_the_curve_over_k(run):
    evaluations = [evaluate(X, solution) for solution in read_solutions(run, X)[::-1]]
    curve = k_curve(evaluations, placements=3)
    assert [record["k"] for record in curve] == [2, 3]
    assert curve[0]["total_evidence"] == evaluations[1].scores["total_evidence"]
    assert all(record["total_evidence"] > record["null_total_evidence"] for record in curve)
    assert k_curve(evaluations, placements=3) == curve
    assert np.isnan(k_curve(evaluations[:1], placements=0)[0]["null_nve"])
