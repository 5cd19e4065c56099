# An image of dowse. Without arguments a container serves /project over HTTP; with arguments it runs them as dowse does.
# `docker build --build-arg extras=[lance] .` adds what an organisation's place needs.
FROM python:3.12-slim AS build
ARG extras=""
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/dowse
RUN /opt/dowse/bin/pip install --no-cache-dir --disable-pip-version-check ".${extras}"

FROM python:3.12-slim
COPY --from=build /opt/dowse /opt/dowse
RUN useradd --create-home --uid 10001 dowse && install --directory --owner=dowse --group=dowse /home/dowse/index
USER dowse
ENV PATH="/opt/dowse/bin:$PATH" DOWSE_HOME=/home/dowse/index
VOLUME ["/home/dowse/index"]
EXPOSE 8321
HEALTHCHECK --interval=10s CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8321/health')"]
ENTRYPOINT ["dowse"]
CMD ["serve", "/project", "--http", "0.0.0.0:8321", "--allow-remote"]
