"""The methods text: formulas, citations, and a paragraph ready to paste."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bivaluate.measures.registry import METRICS

BICLUSTER_KEYS = ("msr", "ve", "nve_k")


@dataclass(frozen=True)
class Formula:
    """One formula, as MathML for the page and as LaTeX to paste."""

    mathml: str
    latex: str


def _sub(base: str, index: str) -> str:
    return f"<msub>{_i(base)}<mrow>{index}</mrow></msub>"


def _i(text: str) -> str:
    return f"<mi>{text}</mi>"


def _o(text: str) -> str:
    return f"<mo>{text}</mo>"


def _frac(top: str, bottom: str) -> str:
    return f"<mfrac><mrow>{top}</mrow><mrow>{bottom}</mrow></mfrac>"


def _sum(below: str) -> str:
    return f"<munder><mo>∑</mo><mrow>{below}</mrow></munder>"


_IJ = _i("i") + _i("j")
_CELLS = _o("|") + _i("I") + _o("|") + _o("|") + _i("J") + _o("|")
_EACH = _i("i") + _o("∈") + _i("I") + _o(",") + _i("j") + _o("∈") + _i("J")
_NEAREST = f"<munder><mo>min</mo><mrow>{_i('l')}{_o('≠')}{_i('k')}</mrow></munder>"
_OF_K = _o("(") + _sub("B", _i("k")) + _o(")")
_OF_KL = _o("(") + _sub("B", _i("k") + _i("l")) + _o(")")
_MEAN_K = _frac("<mn>1</mn>", _i("K")) + _sum(_i("k"))
_HAT_B = f"<msub><mover>{_i('b')}{_o('^')}</mover><mrow>{_IJ}</mrow></msub>"
_HAT_P = f"<msub><mover>{_i('p')}{_o('^')}</mover><mrow>{_i('j')}</mrow></msub>"
_RESIDUE = (
    _sub("a", _IJ)
    + _o("−")
    + _sub("a", _i("i") + _i("J"))
    + _o("−")
    + _sub("a", _i("I") + _i("j"))
    + _o("+")
    + _sub("a", _i("I") + _i("J"))
)

FORMULAS = {
    "msr": Formula(
        _i("MSR")
        + _o("=")
        + _frac("<mn>1</mn>", _CELLS)
        + _sum(_EACH)
        + f"<msup><mrow>{_o('(')}{_RESIDUE}{_o(')')}</mrow><mn>2</mn></msup>",
        r"\mathrm{MSR}(B)=\frac{1}{|I||J|}\sum_{i\in I,\,j\in J}\left(a_{ij}-a_{iJ}-a_{Ij}+a_{IJ}\right)^2",
    ),
    "ve": Formula(
        _i("VE") + _o("=") + _frac("<mn>1</mn>", _CELLS) + _sum(_EACH) + _o("|") + _HAT_B + _o("−") + _HAT_P + _o("|"),
        r"\mathrm{VE}(B)=\frac{1}{|I||J|}\sum_{i\in I,\,j\in J}\left|\hat b_{ij}-\hat p_j\right|,"
        r"\quad p_j=\frac{1}{|I|}\sum_{i\in I}b_{ij}",
    ),
    "nve_k": Formula(
        _sub("NVE", _i("k")) + _o("=") + _frac(_i("VE") + _OF_K, _NEAREST + _i("VE") + _OF_KL),
        r"\mathrm{NVE}_k=\frac{\mathrm{VE}(B_k)}{\min_{l\neq k}\mathrm{VE}(B_{kl})},"
        r"\quad B_{kl}=(I_k\cup I_l,\,J_k\cup J_l)",
    ),
    "asr": Formula(
        _i("ASR") + _o("=") + _MEAN_K + _i("MSR") + _OF_K, r"\mathrm{ASR}=\frac{1}{K}\sum_k\mathrm{MSR}(B_k)"
    ),
    "avg_ve": Formula(
        _i("AvgVE") + _o("=") + _MEAN_K + _i("VE") + _OF_K, r"\mathrm{AvgVE}=\frac{1}{K}\sum_k\mathrm{VE}(B_k)"
    ),
    "nsr": Formula(
        _i("NSR") + _o("=") + _frac(_sum(_i("k")) + _i("MSR") + _OF_K, _sum(_i("k")) + _NEAREST + _i("MSR") + _OF_KL),
        r"\mathrm{NSR}=\frac{\sum_k\mathrm{MSR}(B_k)}{\sum_k\min_{l\neq k}\mathrm{MSR}(B_{kl})}",
    ),
    "nve": Formula(
        _i("NVE") + _o("=") + _frac(_sum(_i("k")) + _i("VE") + _OF_K, _sum(_i("k")) + _NEAREST + _i("VE") + _OF_KL),
        r"\mathrm{NVE}=\frac{\sum_k\mathrm{VE}(B_k)}{\sum_k\min_{l\neq k}\mathrm{VE}(B_{kl})}",
    ),
    "nve_cov": Formula(
        _sub("NVE", _i("cov")) + _o("=") + _frac(_i("NVE"), f"<msqrt>{_i('CR')}</msqrt>"),
        r"\mathrm{NVE}_{\mathrm{cov}}=\frac{\mathrm{NVE}}{(\mathrm{CR}+\varepsilon)^{1/2}}",
    ),
    "coverage": Formula(
        _i("CR")
        + _o("=")
        + _frac(_o("|") + _o("⋃") + _sub("I", _i("k")) + _o("×") + _sub("J", _i("k")) + _o("|"), _i("n") + _i("m")),
        r"\mathrm{CR}=\frac{\left|\bigcup_k I_k\times J_k\right|}{nm}",
    ),
}


@dataclass(frozen=True)
class Method:
    """One measure as the methods section shows it."""

    key: str
    symbol: str
    name: str
    summary: str
    direction: str
    mathml: str
    reference: str


def describe_methods(keys: Sequence[str]) -> list[Method]:
    """Return the measures to explain: those present and, of one bicluster, those behind them."""
    wanted = [key for key in BICLUSTER_KEYS if key in METRICS] + [
        key for key in keys if key in METRICS and (METRICS[key].direction != "none")
    ]
    return [
        Method(
            key,
            METRICS[key].symbol,
            METRICS[key].name,
            METRICS[key].summary,
            {"low": "low is better", "high": "high is better"}.get(METRICS[key].direction, ""),
            FORMULAS[key].mathml if key in FORMULAS else "",
            METRICS[key].reference,
        )
        for key in wanted
    ]


def references(methods: Sequence[Method]) -> list[str]:
    """Return the distinct references of the measures, in order."""
    return list(dict.fromkeys(method.reference for method in methods if method.reference))


def methods_text(methods: Sequence[Method], version: str, rerun: str = "") -> str:
    """Return a paragraph with formulas in LaTeX and numbered citations, ready to paste.

    >>> print(methods_text(describe_methods(["coverage"]), "0.1.0").splitlines()[0])
    Biclustering solutions were scored with bivaluate 0.1.0.
    """
    cited = references(methods)
    lines = [f"Biclustering solutions were scored with bivaluate {version}.", ""]
    for method in methods:
        mark = f" [{cited.index(method.reference) + 1}]" if method.reference else ""
        name = method.name if method.name == method.symbol else f"{method.name} ({method.symbol})"
        formula = f" ${FORMULAS[method.key].latex}$" if method.key in FORMULAS else ""
        better = f"; {method.direction}" if method.direction else ""
        lines.append(f"- {name[0].upper()}{name[1:]}{mark}: {method.summary.rstrip('.')}{better}.{formula}")
    lines += [
        "",
        "Rows are standardised over the columns of their bicluster (population standard deviation). Biclusters of "
        "one row or one column have no defined coherence and leave the scores unless stated otherwise.",
    ]
    if rerun:
        lines += ["", f"Command: {rerun}"]
    lines += ["", *(f"[{i + 1}] {reference}" for i, reference in enumerate(cited))]
    return "\n".join(lines).rstrip() + "\n"
