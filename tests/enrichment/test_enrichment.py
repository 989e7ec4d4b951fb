"""Gene sets, the ontology above them, and the hypergeometric test."""

import math
from itertools import combinations

import numpy as np
import pytest

from bivaluate import Biclustering, FormatError, Matrix, MatrixError, ParameterError
from bivaluate.enrichment import GeneSets, enrich, read_annotations, read_gmt
from bivaluate.enrichment.hypergeometric import describe_enrichment

OBO = """format-version: 1.2

[Term]
id: T:1
name: process ! of life

[Term]
id: T:2
name: growth
is_a: T:1 ! process

[Term]
id: T:3
name: budding
alt_id: T:33
is_a: T:2 ! growth
relationship: part_of T:4 ! bud
relationship: regulates T:5 ! not carried

[Term]
id: T:4
name: bud

[Term]
id: T:5
name: death

[Term]
id: T:6
name: gone
is_obsolete: true

[Typedef]
id: part_of
"""


def gaf(*rows):
    lines = ["!gaf-version: 2.2"]
    for symbol, qualifier, term, synonyms in rows:
        fields = ["SGD", f"S{symbol}", symbol, qualifier, term, "ref", "IDA", "", "P", "name", synonyms]
        lines.append("\t".join([*fields, "protein", "taxon:1", "20200101", "SGD", "", ""]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def ontology(tmp_path):
    (tmp_path / "t.obo").write_text(OBO)
    rows = [("AAA", "involved_in", "T:33", "Y1|a one"), ("BBB", "NOT|involved_in", "T:3", "Y2")]
    rows += [("CCC", "involved_in", "T:2", "Y3"), ("DDD", "involved_in", "T:6", "Y4")]
    (tmp_path / "t.gaf").write_text(gaf(*rows))
    return tmp_path


def labelled(names, n_cols=3):
    return Matrix(np.zeros((len(names), n_cols)), row_labels=tuple(names))


def test_annotations_go_up_is_a_and_part_of(ontology):
    sets = read_annotations(ontology / "t.gaf", ontology / "t.obo")
    assert sets.members == {
        "T:1": frozenset({"AAA", "CCC"}),
        "T:2": frozenset({"AAA", "CCC"}),
        "T:3": frozenset({"AAA"}),
        "T:4": frozenset({"AAA"}),
    }
    assert sets.titles["T:1"] == "process ! of life"
    assert sets.known_as(["Y1", "y3", "SAAA", "ccc", "Y9"]) == ["AAA", "CCC", "AAA", "CCC", None]


def test_an_ontology_with_a_circle_is_named(ontology):
    (ontology / "t.obo").write_text(OBO.replace("name: process ! of life", "name: process\nis_a: T:3"))
    with pytest.raises(FormatError, match=r"the terms form a cycle: T:1 → T:3 → T:2 → T:1"):
        read_annotations(ontology / "t.gaf", ontology / "t.obo")


def test_files_that_do_not_belong_together(ontology):
    (ontology / "t.gaf").write_text(gaf(("AAA", "", "GO:1", "")))
    with pytest.raises(FormatError, match=r"no term in common: for example GO:1 there, T:1, T:2, T:3 here"):
        read_annotations(ontology / "t.gaf", ontology / "t.obo")
    (ontology / "t.gaf").write_text("a\tb\n")
    with pytest.raises(FormatError, match=r"line 1: 2 fields separated by tabs"):
        read_annotations(ontology / "t.gaf", ontology / "t.obo")
    (ontology / "t.obo").write_text("not an ontology\n")
    with pytest.raises(FormatError, match="has no terms: it is not an ontology"):
        read_annotations(ontology / "t.gaf", ontology / "t.obo")


def test_gmt(tmp_path):
    file = tmp_path / "s.gmt"
    file.write_text("one\tfirst set\ta\tb\t\ntwo\thttps://example.org\tb,1.0\tc\n")
    sets = read_gmt(file)
    assert sets.members == {"one": frozenset("ab"), "two": frozenset("bc")}
    assert (sets.titles["one"], sets.titles["two"]) == ("first set", "two")
    file.write_text("one\tfirst set\ta\nempty\tnothing\n")
    with pytest.raises(FormatError, match=r"line 2: the set 'empty' has no genes"):
        read_gmt(file)
    file.write_text("one\t\ta\none\t\tb\n")
    with pytest.raises(FormatError, match=r"line 2: a second set is called 'one'"):
        read_gmt(file)


def test_p_is_the_share_of_choices_at_least_as_good():
    names = list("abcdefghi")
    sets = GeneSets({"s": "abcd", "t": "hi", "rest": names})
    row = next(
        t
        for t in enrich(Biclustering([([0, 1, 2, 7], [0, 1])], (9, 3)), labelled(names), sets).terms
        if t["set"] == "s"
    )
    drawn = [len(set(choice) & set("abcd")) for choice in combinations(names, 4)]
    assert row["overlap"] == 3
    assert row["p"] == pytest.approx(np.mean([n >= 3 for n in drawn]))
    assert (row["genes"], row["set_size"], row["background"]) == (4, 4, 9)


def test_q_values_and_order():
    names = [f"g{i}" for i in range(60)]
    sets = GeneSets({f"s{k}": names[5 * k : 5 * k + 5] for k in range(12)})
    found = enrich(Biclustering([(range(5), [0, 1]), (range(2, 12), [1, 2])], (60, 3)), labelled(names), sets)
    for bicluster in ("B1", "B2"):
        rows = [t for t in found.terms if t["bicluster"] == bicluster]
        p = [t["p"] for t in rows] + [1.0] * (12 - len(rows))
        q = [min(p[j] * 12 / (j + 1) for j in range(i, 12)) for i in range(len(rows))]
        assert p == sorted(p)
        assert [t["q"] for t in rows] == pytest.approx(q)
    assert found.biclusters[0]["best"] == "s0"
    assert found.scores["share_enriched"] == 1.0
    assert found.scores["distinct_sets"] == 2
    assert found.summary.startswith("2 of 2 biclusters are enriched (q ≤ 0.05), in 2 different sets; of random lists")
    assert describe_enrichment(found)[0].startswith("B1: s0 (5 of 5, q ")


def test_the_control_is_reproducible_and_near_the_level():
    rng = np.random.default_rng(5)
    names = [f"g{i}" for i in range(200)]
    sets = GeneSets({f"s{k}": rng.choice(names, 30, replace=False) for k in range(20)})
    solution = Biclustering([(rng.choice(200, 25, replace=False), [0, 1])], (200, 3))
    first, second = (enrich(solution, labelled(names), sets, n_random=400) for _ in range(2))
    assert first.scores == second.scores
    assert first.scores["share_enriched_random"] <= 0.08
    assert math.isnan(enrich(solution, labelled(names), sets, n_random=0).scores["share_enriched_random"])


def test_genes_in_columns_and_two_labels_of_one_gene():
    X = Matrix(np.zeros((2, 5)), col_labels=("a", "A1", "b", "c", "zzz"))
    sets = GeneSets({"s": "ab", "t": "abc"}, other_names={"A1": "a"})
    found = enrich(Biclustering([([0, 1], [0, 1, 2])], (2, 5)), X, sets, genes="columns", n_random=0)
    assert found.background == {"genes": 5, "annotated": 3, "sets": 2}
    assert found.biclusters[0]["genes"] == 3
    assert next(t for t in found.terms if t["set"] == "s")["genes"] == 2


def test_bad_input():
    X = labelled(["x1", "x2", "x3"])
    solution = Biclustering([([0, 1], [0, 1])], (3, 3))
    with pytest.raises(ParameterError, match=r"share no gene: a, b there, x1, x2, x3 here"):
        enrich(solution, X, GeneSets({"s": "ab"}))
    with pytest.raises(MatrixError, match="has no names of genes"):
        enrich(solution, np.zeros((3, 3)), GeneSets({"s": "ab"}))
    with pytest.raises(ParameterError, match=r"1 set without any gene: s"):
        GeneSets({"s": []})
    with pytest.raises(ParameterError, match="there are no sets"):
        GeneSets({})
    with pytest.raises(ParameterError, match="Lower min_size"):
        enrich(solution, X, GeneSets({"s": ["x1"]}))
    many = labelled([f"x{i}" for i in range(30)])
    with pytest.raises(
        ParameterError, match="1 of 30 row names is known to the gene sets: are they of the same organism"
    ):
        enrich(Biclustering([([0, 1], [0, 1])], many.shape), many, GeneSets({"s": ["x1"]}))


def test_nothing_annotated_in_a_bicluster():
    X = labelled([*"abcdefgh", "x"])
    found = enrich(Biclustering([([8], [0])], (9, 3)), X, GeneSets({"s": "abcd", "t": "efgh"}))
    assert math.isnan(found.biclusters[0]["p"])
    assert found.biclusters[0]["n_enriched"] == 0
    assert found.summary == "No bicluster is enriched in any set (q ≤ 0.05)."


def test_the_same_as_goatools(tmp_path):
    """Same ontology, annotations, genes and background: the same p and q for every term."""
    pytest.importorskip("goatools")
    import contextlib
    import io

    rng = np.random.default_rng(11)
    stanzas = ["format-version: 1.2\n"]
    for k in range(40):
        above = (
            "".join(f"is_a: GO:{p:07d} ! t\n" for p in sorted({int(rng.integers(k)) for _ in range(2)})) if k else ""
        )
        part = f"relationship: part_of GO:{int(rng.integers(k)):07d} ! t\n" if k > 3 and k % 5 == 0 else ""
        stanzas.append(f"[Term]\nid: GO:{k:07d}\nname: t{k}\nnamespace: biological_process\n{above}{part}")
    (tmp_path / "g.obo").write_text("\n".join(stanzas))
    genes = [f"G{i}" for i in range(120)]
    direct = {gene: {f"GO:{int(t):07d}" for t in rng.integers(0, 40, 3)} for gene in genes}
    (tmp_path / "g.gaf").write_text(gaf(*((g, "", t, "") for g in genes for t in sorted(direct[g]))))
    study = rng.choice(120, 30, replace=False)

    sets = read_annotations(tmp_path / "g.gaf", tmp_path / "g.obo")
    found = enrich(Biclustering([(study, [0, 1])], (120, 3)), labelled(genes), sets, min_size=1)

    with contextlib.redirect_stdout(io.StringIO()):
        from goatools.go_enrichment import GOEnrichmentStudy
        from goatools.obo_parser import GODag

        dag = GODag(str(tmp_path / "g.obo"), optional_attrs={"relationship"}, prt=None)
        study_of = GOEnrichmentStudy(
            genes,
            direct,
            dag,
            propagate_counts=True,
            relationships={"part_of"},
            methods=["fdr_bh"],
            log=None,
            alternative="greater",
        )
        judged = {r.GO: r for r in study_of.run_study([genes[i] for i in study], prt=None)}
    ours = {t["set"]: t for t in found.terms}
    assert len(ours) > 20
    for key in ours:
        assert ours[key]["overlap"] == judged[key].study_count
        assert ours[key]["set_size"] == judged[key].pop_count
        assert ours[key]["p"] == pytest.approx(judged[key].p_uncorrected, rel=1e-9)
        assert ours[key]["q"] == pytest.approx(judged[key].p_fdr_bh, rel=1e-9)
