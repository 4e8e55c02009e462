# The site as a container image. `docker build .` needs BuildKit (Docker 23, or DOCKER_BUILDKIT=1 before).
#
# BASE is an image with Python 3.11 to 3.14 and glibc. Pin a digest where you build for production:
#   docker build --build-arg BASE=python:3.13.9-slim-trixie@sha256:... .
# Behind an index or a certificate authority of your own, give pip its configuration; nothing of it stays in the image:
#   docker build --secret id=pip_conf,src=pip.conf --secret id=pip_cert,src=ca.pem .
ARG BASE=python:3.13.9-slim-trixie

FROM ${BASE} AS build
WORKDIR /srv/sandboxicon
RUN ["python3", "-m", "venv", "/opt/venv"]
COPY requirements.txt ./
RUN --mount=type=secret,id=pip_conf,target=/etc/pip.conf \
    --mount=type=secret,id=pip_cert,target=/run/secrets/pip_cert \
    ["/opt/venv/bin/python", "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:", "--requirement=requirements.txt"]
COPY . ./
# Hashed and compressed once, here. The key is needed to read the settings, signs nothing, and does not stay.
RUN ["/usr/bin/env", "SECRET_KEY=for-collectstatic-alone", "/opt/venv/bin/python", "manage.py", "collectstatic", "--no-input", "--verbosity=0"]
RUN ["/opt/venv/bin/python", "-m", "compileall", "-q", "."]

FROM ${BASE}
LABEL org.opencontainers.image.title="sandboxicon" \
      org.opencontainers.image.description="A field guide to isolation, and to what coding agents run in by default"
# All files are root's, and the site runs as somebody who owns none of them. The number is known to no other user.
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv/sandboxicon /srv/sandboxicon
WORKDIR /srv/sandboxicon
ENV PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    LOG_FORMAT=json
USER 64017:64017
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["python3", "tools/deployment/healthy.py"]
# Migrations are a step of their own: run this image with `python3 manage.py migrate` first.
CMD ["python3", "-m", "gunicorn", "--bind=0.0.0.0:8000", "--worker-tmp-dir=/dev/shm"]
