process BIVALUATE_SCORE {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine == 'singularity' && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/bivaluate:0.2.0--pyhdfd78af_0' :
        'biocontainers/bivaluate:0.2.0--pyhdfd78af_0' }"

    input:
    tuple val(meta), path(matrix), path(solutions)

    output:
    tuple val(meta), path("*.scores.csv"), emit: scores
    tuple val(meta), path("*.report.html"), emit: report
    tuple val(meta), path("*_mqc.json"), emit: multiqc
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    bivaluate score ${matrix} ${solutions} --csv ${prefix}.scores.csv --report ${prefix}.report.html --mqc ${prefix}_mqc.json ${args}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        bivaluate: \$(bivaluate --version | cut -d' ' -f2)
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.scores.csv ${prefix}.report.html ${prefix}_mqc.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        bivaluate: \$(bivaluate --version | cut -d' ' -f2)
    END_VERSIONS
    """
}
