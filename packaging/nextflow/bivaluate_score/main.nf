process BIVALUATE_SCORE {
    tag "$meta.id"
    label 'process_single'
    conda "${moduleDir}/environment.yml"

    input:
    tuple val(meta), path(matrix), path(solutions)

    output:
    tuple val(meta), path("*.scores.csv"), emit: scores
    tuple val(meta), path("*.report.html"), emit: report
    tuple val(meta), path("*_mqc.json"), emit: multiqc
    path "versions.yml", emit: versions

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    bivaluate score ${matrix} ${solutions} --csv ${prefix}.scores.csv --report ${prefix}.report.html --mqc ${prefix}_mqc.json ${args}
    echo "\\"${task.process}\\":\\n    bivaluate: \$(bivaluate --version | cut -d' ' -f2)" > versions.yml
    """
}
