from .gene_sets import GeneSets as GeneSets
from .gene_sets import load_yeast_ontology as load_yeast_ontology
from .gene_sets import read_annotations as read_annotations
from .gene_sets import read_gmt as read_gmt
from .hypergeometric import Enrichment as Enrichment
from .hypergeometric import enrich as enrich
