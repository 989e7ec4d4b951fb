"""The real data sets: where each lies in the archive, its shape, its missing cells and its checksum."""

from __future__ import annotations

from dataclasses import dataclass

ARCHIVE = "biclustlib-0.0.13-py3-none-any.whl"
ARCHIVE_REQUIREMENT = "biclustlib==0.0.13"
ARCHIVE_SHA256 = "862795ccf30338336b9f6e95c205ef20e0381f1c3c592977eed6be11e3c79dc6"
ARCHIVE_BYTES = 19325473
FOLDER = "biclustlib/datasets/data/"
TAVAZOIE_GENES = (
    "yeast_tavazoie/genes_yeast_tavazoie.txt",
    "20bac410511fd295771a6b074706f1532d04f14e7361c7060f8b535c9d10e379",
)


@dataclass(frozen=True)
class Group:
    """Data sets that were published together."""

    key: str
    title: str
    reference: str
    doi: str


@dataclass(frozen=True)
class RealDataset:
    """One matrix: `name` as `load` takes it, `sha256` of its file in the archive."""

    name: str
    group: str
    shape: tuple[int, int]
    missing: int
    member: str
    sha256: str

    @property
    def reference(self) -> str:
        """Who published it, with its DOI."""
        group = GROUPS[self.group]
        return f"{group.reference} doi:{group.doi}"

    @property
    def source(self) -> str:
        """Where the file comes from."""
        return f"PyPI {ARCHIVE_REQUIREMENT}, {FOLDER}{self.member}"


GROUPS = {
    group.key: group
    for group in (
        Group(
            "yeast",
            "17 time series of Saccharomyces cerevisiae",
            "Jaskowiak, Campello, Costa (2013). Proximity measures for clustering gene expression microarray data: "
            "a validation methodology and a comparative analysis. IEEE/ACM TCBB 10(4), 845-857.",
            "10.1109/TCBB.2013.9",
        ),
        Group(
            "tavazoie",
            "Yeast cell cycle as Cheng and Church used it",
            "Tavazoie et al. (1999). Systematic determination of genetic network architecture. Nature Genetics 22, "
            "281-285; prepared by Cheng, Church (2000). Biclustering of expression data. ISMB 8, 93-103.",
            "10.1038/10343",
        ),
        Group(
            "prelic",
            "Yeast stress response and Arabidopsis thaliana",
            "Prelić et al. (2006). A systematic comparison and evaluation of biclustering methods for gene "
            "expression data. Bioinformatics 22(9), 1122-1129.",
            "10.1093/bioinformatics/btl060",
        ),
        Group(
            "cancer",
            "35 human cancer data sets; columns are labelled with their class",
            "de Souto et al. (2008). Clustering cancer gene expression data: a comparative study. "
            "BMC Bioinformatics 9, 497.",
            "10.1186/1471-2105-9-497",
        ),
    )
}

ALIASES = {"yeast:08_25mm_DTT": "yeast:08_25mM_DTT", "yeast:14_N2_depletion": "yeast:14_nitrogen_depletion"}

# name, group, rows, columns, missing cells, file, SHA-256 of the file
_TABLE = """
yeast:01_alpha_factor yeast 1099 18 0 yeast_benchmark/01_alpha_factor.csv 6140908aaa8bcaa94541a62b044c3188f7b074cfdf72e102e02370351037e0cb
yeast:02_cdc_15 yeast 1086 24 0 yeast_benchmark/02_cdc_15.csv 8bfde13661738957cb9ed978bc0198961c092f5b10c27502f74a1704ae14b621
yeast:03_cdc_28 yeast 1044 17 0 yeast_benchmark/03_cdc_28.csv c5d1ecb699af7fe31baddc39f19de73b56b1237599ba2699d83b657f1da7107a
yeast:04_elutriation yeast 935 14 0 yeast_benchmark/04_elutriation.csv e1e9f894a47afcfc17036b44c48e4c23356c787e1d729ebb5e73e6c88ea13d53
yeast:05_1mM_menadione yeast 1050 9 0 yeast_benchmark/05_1mM_menadione.csv 279701ac1ae3a8bafca6afcebb585c32e00eecc583322ca03242b140bf5a9f92
yeast:06_1M_sorbitol yeast 1030 7 0 yeast_benchmark/06_1M_sorbitol.csv dd7f8db37da3d8995ad56a1b4dc4680bc70614be1ee7ae9857e4a24b7b9d9344
yeast:07_15mM_diamide yeast 1038 8 0 yeast_benchmark/07_15mM_diamide.csv 5fbf745b5c77e79080ddc330dcc2d1e11c1e0973c55e099ab35c03d2ccd6f644
yeast:08_25mM_DTT yeast 991 8 0 yeast_benchmark/08_25mM_DTT.csv 4ea3db3a301c7917521b5f1284a641b04ccef899460c865f91acfaa8c456759f
yeast:09_constant_32nM_H2O2 yeast 976 10 0 yeast_benchmark/09_constant_32nM_H2O2.csv 8017f18d893f8013c3c2618bf4d6ec0b79d324923b305e5d67e7626d09b27f9f
yeast:10_diauxic_shift yeast 1016 7 0 yeast_benchmark/10_diauxic_shift.csv 66ce832e67bd79ed286988000d3445b048a614164842983c40dac1b544fbb5cc
yeast:11_complete_DTT yeast 962 7 0 yeast_benchmark/11_complete_DTT.csv 3c1538014e882b68d599a24b3eb214f984646903e8b74286fe9fd431b31dff33
yeast:12_heat_shock_1 yeast 988 8 0 yeast_benchmark/12_heat_shock_1.csv c5b715c036ef7deba8e93029337dccdad60e12d360f7d26c0b7da38093490eb7
yeast:13_heat_shock_2 yeast 999 7 0 yeast_benchmark/13_heat_shock_2.csv c624b5975808cf21affcbea8e51aad051ca5fa37477131b679ea55ede596c6f5
yeast:14_nitrogen_depletion yeast 1011 10 0 yeast_benchmark/14_nitrogen_depletion.csv e8ab4c994891215c980d665b2ec95ef9722ecac9d67f6e0360e5c43cc1098583
yeast:15_YPD_1 yeast 1011 12 0 yeast_benchmark/15_YPD_1.csv 74ea91989775d908fb66b397ece92a046d96b93bdbbd3dd1e84d881455788779
yeast:16_YPD_2 yeast 1022 10 0 yeast_benchmark/16_YPD_2.csv bea4e9956593d6d2e6105d8c2a44ce4f4703a4aef83b69d58cb866a08ede6d8f
yeast:17_yeast_sporulation yeast 1006 7 0 yeast_benchmark/17_yeast_sporulation.csv 043784c7ae9ddec52bdc35bd5e0d7a9a53a58da84bf5fbb3d7534a0556af08f3
tavazoie tavazoie 2884 17 34 yeast_tavazoie/yeast_tavazoie.txt 8be03510d772f20d97c81b973e11314a3637de43dd56f4ad945c1464aaeb9b75
prelic_yeast prelic 2993 173 0 prelic/yeast.txt fc2815e9218b1ffe472fb4b1219cb7a2bed14d6e732722b6d0371af6c956bda7
prelic_arabidopsis prelic 734 69 0 prelic/arabidopsis.txt 00bd231ce448667d2b6ad9335aca7bdf38fffe94e4df5f771751753b2eab1c38
cancer:alizadeh-2000-v1 cancer 1095 42 0 cancer_benchmark/alizadeh-2000-v1_database.txt 5cc46a1e9fc9bdba21dc6b26793fd1ff87120d19d166e4edd7a111b3120ea8d0
cancer:alizadeh-2000-v2 cancer 2093 62 0 cancer_benchmark/alizadeh-2000-v2_database.txt 95d09fabc2b933b84f2aa6d451fae02303875e6cd0dc9c32bd53f34bbfac32a8
cancer:alizadeh-2000-v3 cancer 2093 62 0 cancer_benchmark/alizadeh-2000-v3_database.txt fcf519699e42ee943cb3c301ca21e11b2fca238120af475b0158c48b05a0ae5e
cancer:armstrong-2002-v1 cancer 1081 72 0 cancer_benchmark/armstrong-2002-v1_database.txt 45adf03b0997f8e75f2ae81bd1619012bde25f5788ece187435823e9f26586e8
cancer:armstrong-2002-v2 cancer 2194 72 0 cancer_benchmark/armstrong-2002-v2_database.txt 93a9c5222f05c110b804f8eff03eff36ac33e6635f1d8f02e535223ad9edd25e
cancer:bhattacharjee-2001 cancer 1543 203 0 cancer_benchmark/bhattacharjee-2001_database.txt 6a3e1028c841aa451fa85f8f730f565a99b23632d40df06b5d84c6defdfd15be
cancer:bittner-2000 cancer 2201 38 0 cancer_benchmark/bittner-2000_database.txt bfbc9f8babb6ca577540430f5db41623294796278786eb963cc4d8ec652f669b
cancer:bredel-2005 cancer 1739 50 0 cancer_benchmark/bredel-2005_database.txt a01e2dc6eb57bd493ec6945f5f6cfcdea81aa590aafd2e568a844032fc944c8c
cancer:chen-2002 cancer 85 179 0 cancer_benchmark/chen-2002_database.txt 0baac5620207df6555a2794fc2a84d526ae16944a31f5c6f58bcd1ee6629364e
cancer:chowdary-2006 cancer 182 104 0 cancer_benchmark/chowdary-2006_database.txt 8e43cb58fec77ddeb55260586ffd410227f6b1ad254f96656775442e9f96b182
cancer:dyrskjot-2003 cancer 1203 40 0 cancer_benchmark/dyrskjot-2003_database.txt 54f80ae0169b47043fb67e3463ac3abb0e9f9f3ce83636fe6704604cccdb4bb0
cancer:garber-2001 cancer 4553 66 0 cancer_benchmark/garber-2001_database.txt c1212d1f8e0782c09ceb3e5f998956c81970129e7b1fac0b4e68d2e175466cf9
cancer:golub-1999-v1 cancer 1868 72 0 cancer_benchmark/golub-1999-v1_database.txt 85d67a95a7257915bdf46a9478ca0b1f1fc4820a5d52751a1d6b6b7b9943c2ae
cancer:golub-1999-v2 cancer 1868 72 0 cancer_benchmark/golub-1999-v2_database.txt b6d0bb8947dbf72804e3c1759db178044956b9c7a6011a2ed605cb6379cad1bc
cancer:gordon-2002 cancer 1626 181 0 cancer_benchmark/gordon-2002_database.txt c08bae65a60daac23754d382b3e534e6a254be46bb1d58db97cc419acb970c68
cancer:khan-2001 cancer 1069 83 0 cancer_benchmark/khan-2001_database.txt 7971be654c8aa036d2a2d259d658c708212013315b64535cd8e74f9ffc2a82c7
cancer:laiho-2007 cancer 2202 37 0 cancer_benchmark/laiho-2007_database.txt 17a2fca1031fd09209594c0166fed38444725e8d327e6f57bd2199a6b5fc2a59
cancer:lapointe-2004-v1 cancer 1625 69 0 cancer_benchmark/lapointe-2004-v1_database.txt c9e7dfb060f5114c520e102588fc05576abaa1ec3f6a18f31a8552d90371536f
cancer:lapointe-2004-v2 cancer 2496 110 0 cancer_benchmark/lapointe-2004-v2_database.txt c42f5b450baa3bd62e36291652650f3bd432ec8e33133d6620fbf4ca627b4309
cancer:liang-2005 cancer 1411 37 0 cancer_benchmark/liang-2005_database.txt 98395a50a7cfac92c1665593cfb3389889f0b20aa8229f3bf11095a3f31f2a52
cancer:nutt-2003-v1 cancer 1377 50 0 cancer_benchmark/nutt-2003-v1_database.txt 481772715d04fa4f19ab6ab4cd0efe018d3cd91c9519d4c7dde47ed8bb9c24e1
cancer:nutt-2003-v2 cancer 1070 28 0 cancer_benchmark/nutt-2003-v2_database.txt 2e81d83f2fb96e2aa292dfbfe2def956c471c037a97b85330bad295be6a7b3b2
cancer:nutt-2003-v3 cancer 1152 22 0 cancer_benchmark/nutt-2003-v3_database.txt fd66d550daba72da0927aa31c65efae5ea05c8f66e4b4fa194af7b3bdd2c9867
cancer:pomeroy-2002-v1 cancer 857 34 0 cancer_benchmark/pomeroy-2002-v1_database.txt e1bfcd4dd6a88b376f92dabfb30d9afadbb8e0229f73122ff4b2feab5c90ed82
cancer:pomeroy-2002-v2 cancer 1379 42 0 cancer_benchmark/pomeroy-2002-v2_database.txt 1124b8d3a8014f84ccb158344e1cecb7983e66ec5121da4580d003f5eac01c91
cancer:ramaswamy-2001 cancer 1363 190 0 cancer_benchmark/ramaswamy-2001_database.txt 294a364131c2a8bba74ae65e099a3d10a5f3a30fd002af18db31fb924245d364
cancer:risinger-2003 cancer 1771 42 0 cancer_benchmark/risinger-2003_database.txt c5a4ef32eea187e26b53bc993a4a4434d573f70159d5b7c3d0b0aa89c83a377d
cancer:shipp-2002-v1 cancer 798 77 0 cancer_benchmark/shipp-2002-v1_database.txt f74db9ded723ffbaefc3564e8abe0cbf73424fac377471ce0bb96be465093185
cancer:singh-2002 cancer 339 102 0 cancer_benchmark/singh-2002_database.txt 068bfba99cd71375a26dd7d916329620785540bf38b3e083ea2153694cf247c8
cancer:su-2001 cancer 1571 174 0 cancer_benchmark/su-2001_database.txt f699b05b938648f1bf2b482c8b278e45bc1b4ecb047a99a06534ef61cadd5b0a
cancer:tomlins-2006-v2 cancer 1288 92 0 cancer_benchmark/tomlins-2006-v2_database.txt 5c2063cb741c0d9740d687b3476968781d6c12ae7e3b228cd263fe4feb2b571a
cancer:tomlins-2006 cancer 2315 104 0 cancer_benchmark/tomlins-2006_database.txt a3bcb01b4f419bb514ae8ddf242410768899f3a79f237566edb006098203068d
cancer:west-2001 cancer 1198 49 0 cancer_benchmark/west-2001_database.txt 337f0c9ec3c915c6c9c95b3b12421568d292a3ce49675aebdb2169b65fa51b7d
cancer:yeoh-2002-v1 cancer 2526 248 0 cancer_benchmark/yeoh-2002-v1_database.txt 49e642c88821ec74b4e3e6eeae1ef07ff9586a8b7672f3f342f777e96b7a9ed7
cancer:yeoh-2002-v2 cancer 2526 248 0 cancer_benchmark/yeoh-2002-v2_database.txt c607dca7ddc7ad89a5525a39c1f42972bdee0193846d142a22451a2dae8bafd1
"""


def _record(line: str) -> RealDataset:
    name, group, rows, cols, missing, member, checksum = line.split()
    return RealDataset(name, group, (int(rows), int(cols)), int(missing), member, checksum)


DATASETS = {record.name: record for record in map(_record, _TABLE.strip().splitlines())}
