from bivaluate.judge.leanings import LEANINGS
from bivaluate.measures.registry import METRICS


def test_leanings_are_those_of_registered_measures():
    assert LEANINGS.keys() <= METRICS.keys()
    for key in ("asr", "avg_ve"):
        assert LEANINGS[key].to == "large"
    for key in ("nve_cov", "nsr", "cc"):
        assert LEANINGS[key].to == "small"
    for leaning in LEANINGS.values():
        assert leaning.to == "neither" or f"leans to {leaning.to} K" in leaning.sentence
