# docker build -t bivaluate . && docker run --rm -v "$PWD:/data" bivaluate score matrix.csv solution.json
# `make lock` writes the versions it is built from.
FROM python:3.11-slim
COPY packaging/requirements.lock /src/
RUN pip install --no-cache-dir --requirement /src/requirements.lock
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN pip install --no-cache-dir hatchling && pip install --no-cache-dir --no-deps --no-build-isolation /src && rm -r /src && bivaluate --version
WORKDIR /data
ENTRYPOINT ["bivaluate"]
CMD ["--help"]
