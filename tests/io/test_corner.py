"""A header of numbers above data: what stands in the corner tells."""

from bivaluate import read_matrix


def test_nothing_above_names_is_the_corner_of_a_header(tmp_path):
    path = tmp_path / "patients.csv"
    path.write_text(",4951,2837,4117\ng1,1.5,2.5,3.5\ng2,2.5,0.5,1\ng3,3,1,2\n")
    matrix = read_matrix(path)
    assert matrix.col_labels == ("4951", "2837", "4117")
    assert matrix.row_labels == ("g1", "g2", "g3")
    path.write_text("g0,4951,2837,4117\ng1,1.5,2.5,3.5\ng2,2.5,0.5,1\ng3,3,1,2\n")
    assert read_matrix(path).row_labels == ("g0", "g1", "g2", "g3")
