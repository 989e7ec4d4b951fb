"""The words of the product: the page, ``bivaluate metrics --glossary`` and docs/glossary.md print them."""

GLOSSARY = (
    ("bicluster", "Some rows and some columns of a matrix that belong together: a gene program, a module, a co-cluster, a topic."),
    ("solution", "All biclusters that one run of one tool found in one matrix."),
    ("fit", "One algorithm run on one matrix with one K and one seed."),
    ("K", "Number of biclusters: requested from an algorithm, found by it, and of those supported."),
    ("evidence", "How much better a bicluster's pattern explains its values than noise does, in nats (natural log units; 3 nats "
     "are odds of 20 to 1), after the freedom to choose its rows and columns is allowed for."),
    ("weak, clear, strong", "How strong evidence is: weak below 3, clear below 10, strong below 50, then very strong."),
    ("total, raw evidence", "Evidence of all supported biclusters together; and before the choice of rows and columns is allowed for."),
    ("supported", "Evidence is above 0: a search in pure noise of this size does not find blocks this good."),
    ("not supported", "Evidence is not above 0: a search in pure noise finds blocks this good. That is no proof of noise."),
    ("too small to judge", "No block of this size could be supported in this matrix, however clear it looks. Judge it by what else you know."),
    ("redundant with B2", "B2 accounts for it: they share most of their cells, or one bicluster explains both as well as two."),
    ("distinct", "Not redundant with any other bicluster of the solution."),
    ("pattern", "Shifted mean (all values higher or lower), row levels (each row at its own level), column profile (one profile for "
     "all rows), additive (profile plus level), scaled profile (each row its own multiple), same order (rows rank the columns alike)."),
    ("inside, elsewhere", "Mean of the bicluster's values, and of the same rows on the other columns."),
    ("coverage, CR, CC", "CR is the share of the matrix that lies in a bicluster, supported coverage that of the supported ones; CC weighs "
     "the cells by how coherent and how separate their bicluster is."),
    ("VE, NVE, MSR …", "Measures of coherence from the literature, low is better. They compare profiles across columns, so a block that "
     "is merely higher looks incoherent to them. AvgVE and ASR are means over biclusters, NVE and NSR compare with mergers."),
    ("merger", "Two biclusters put together: the rows of both and the columns of both. NVE compares a bicluster with its nearest merger."),
    ("surrogate", "A copy of the matrix without structure, on which the same search is run to see what chance gives."),
    ("as good", "Other K whose evidence is within 5 % of the best one's."),
    ("confirmed", "In other data, the rows of a bicluster vary together more than equally active rows do (q up to 0.05)."),
    ("held-out cells", "Cells hidden from an algorithm and predicted from its biclusters: a second opinion on a choice."),
    ("stability", "How reproducible the biclusters are under subsampling of rows and columns; chance gives 0."),
)  # fmt: skip
