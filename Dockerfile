# Build the wheel, then install it alone: the image has no compiler, no tests and no source tree.
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY constraints.txt /tmp/constraints.txt
COPY --from=build /wheels /tmp/wheels
RUN python -m pip install --no-cache-dir -c /tmp/constraints.txt "$(ls /tmp/wheels/littlestone-*.whl)[serve,fleet]" \
    && rm -r /tmp/wheels /tmp/constraints.txt \
    && mkdir /data /tokens \
    && chown 65534:65534 /data /tokens \
    && chmod 700 /data

# Prometheus runs as the same user, so that it can read its token in /tokens.
USER 65534:65534
VOLUME ["/data", "/tokens"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8000/health', timeout=2)"]
ENTRYPOINT ["littlestone"]
CMD ["serve", "--store", "/data/runs", "--token-file", "/data/tokens", "--tokens-to", "/tokens", "--host", "0.0.0.0", "--name", "service", "--log", "json"]
