# docker build -t bivaluate . && docker run --rm -v "$PWD:/data" bivaluate score matrix.csv solution.json
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --wheel-dir /wheels ".[all]"

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels "bivaluate[all]" && rm -r /wheels && bivaluate --version
WORKDIR /data
ENTRYPOINT ["bivaluate"]
CMD ["--help"]
