"""Build the image, bring compose.yaml up under another name, and look at what its containers may do and how they end.

    python tools/deployment/try_out.py [--base IMAGE] [--stand-ins] [build options...]

It needs Docker with compose, ports 18080 and 18443, and removes what it made. Where images can't be pulled, --base
names one with Python that is there already (debootstrap and `docker import` make one), and --stand-ins builds
PostgreSQL and Caddy on it; what that leaves unseen is the real images. Further options go to `docker build`, as do
`--network host` and `--secret ...`.
"""

import argparse
import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent.parent
HOST, HTTP, HTTPS = "sandboxicon.test", 18080, 18443
# In the shell that both images have: a connection to a public address.
OUT = ("bash", "-c", "timeout 5 bash -c '</dev/tcp/1.1.1.1/443'")
STAY = ("database", "web", "front")

failed: list[str] = []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="")
    parser.add_argument("--stand-ins", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave it running at the end")
    options, build = parser.parse_known_args()
    os.chdir(CHECKOUT)
    os.environ |= {
        "DOCKER_BUILDKIT": "1",
        "COMPOSE_PROJECT_NAME": "sandboxicon-trial",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "DATABASE_PASSWORD": secrets.token_hex(16),
        "SITE_HOST": HOST,
        "TLS": "internal",
        "HTTP_PORT": str(HTTP),
        "HTTPS_PORT": str(HTTPS),
    }
    base = ["--build-arg", f"BASE={options.base}"] if options.base else []
    docker("build", "--tag", "sandboxicon", *base, *build, ".", show=True)
    if options.stand_ins:
        for name, variable in (("postgres", "POSTGRES_IMAGE"), ("caddy", "CADDY_IMAGE")):
            os.environ[variable] = f"{name}-stand-in"
            file = f"tools/deployment/{name}.stand-in"
            docker("build", "-t", f"{name}-stand-in", "-f", file, *base, *build, "tools/deployment", show=True)
    try:
        begun = time.monotonic()
        compose("up", "--detach", "--wait", "--wait-timeout", "300", show=True)
        print(f"up in {time.monotonic() - begun:.0f} s")
        for name in STAY:
            what_it_may_do(name)
        what_it_reaches()
        the_steps()
        the_site()
        slow_clients()
        the_log()
        the_end()
    finally:
        if not options.keep:
            compose("down", "--volumes", "--timeout", "20")
    print(f"{len(failed)} failed" if failed else "all is as it should be")
    sys.exit(bool(failed))


def what_it_may_do(name: str) -> None:
    """A service that stays: its user, its capabilities, its filter, its root, its limits."""
    status = dict(line.split(":\t", 1) for line in within(name, "cat", "/proc/1/status").splitlines() if ":\t" in line)
    check(f"{name} is not root", "0" not in status["Uid"].split())
    check(f"{name} has no capability", int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0)
    check(f"{name} can gain none", status["NoNewPrivs"] == "1")
    check(f"{name} runs in a seccomp filter", status["Seccomp"] == "2")
    mounts = [line.split() for line in within(name, "cat", "/proc/mounts").splitlines()]
    root = next(mount for mount in mounts if mount[1] == "/")
    check(f"{name} cannot write its root", "ro" in root[3].split(","))
    tmp = next(mount for mount in mounts if mount[1] == "/tmp")  # noqa: S108
    check(f"{name} cannot run what it writes to /tmp", "noexec" in tmp[3].split(","))
    host = inspect(name)["HostConfig"]
    check(f"{name} has limits", bool(host["Memory"] and host["PidsLimit"] and host["NanoCpus"]))
    check(f"{name} is not privileged and mounts no socket", not host["Privileged"] and "docker.sock" not in str(host))


def what_it_reaches() -> None:
    """The networks: nothing leads out of the inner ones, and the front does not see the database."""
    for name in ("web", "database"):
        networks = inspect(name)["NetworkSettings"]["Networks"]
        check(f"{name} is in inner networks alone", all(inspect_network(network)["Internal"] for network in networks))
        check(f"{name} has no way out", not attempt(name, *OUT))
    check("the front does not know the database", not attempt("front", "getent", "hosts", "database"))
    check("the front knows the site", attempt("front", "getent", "hosts", "web"))
    check("the site's files are not its own", not attempt("web", "touch", "/srv/sandboxicon/manage.py"))


def the_steps() -> None:
    """Migrations and content are steps of their own, and say so when there is nothing left to do."""
    for name in ("migrate", "content", "certificates-owner"):
        state = inspect(name)["State"]
        check(f"the step {name} ended well", state["Status"] == "exited" and state["ExitCode"] == 0)
    check("migrating again finds nothing", "No migrations to apply" in compose("run", "--rm", "-T", "migrate"))
    check("loading again changes nothing", "0 created, 0 updated" in compose("run", "--rm", "-T", "content"))


def the_site() -> None:
    """What a reader gets at the front, and what a guesser does."""
    for name in ("database", "web"):
        check(f"{name} is healthy", inspect(name)["State"]["Health"]["Status"] == "healthy")
    status, headers, body = ask("/")
    check("the front page comes over TLS", status == 200 and b"wordmark" in body)
    check("with HSTS", headers.get("Strict-Transport-Security", "").startswith("max-age=31536000"))
    check("and the site is ready", ask("/readyz")[0] == 200)
    plain = http.client.HTTPConnection("127.0.0.1", HTTP, timeout=10)
    plain.request("GET", "/ladder/", headers={"Host": HOST})
    answer = plain.getresponse()
    check("plain HTTP leads to TLS", answer.getheader("Location") == f"https://{HOST}/ladder/")
    check("another host's name gets nothing of ours", b"wordmark" not in ask("/", host="evil.example")[2])
    guesses = []
    for number in range(6):
        form = ask("/admin/login/")
        cookie = form[1].get("Set-Cookie", "").split(";")[0]
        token = form[2].decode().split('csrfmiddlewaretoken" value="')[1].split('"')[0]
        guess = f"csrfmiddlewaretoken={token}&username=ada&password=wrong{number}&next=/admin/"
        forged = {"X-Forwarded-For": f"198.51.100.{number}", "Cookie": cookie, "Referer": f"https://{HOST}/admin/"}
        guesses.append(ask("/admin/login/", guess, **forged)[0])
    check("the cookie is bound to this host", cookie.startswith("__Host-"))
    check("a forged address does not help a guesser", guesses == [200] * 4 + [429] * 2)


def slow_clients() -> None:
    """Two hundred clients that send a letter now and then, and a reader who wants a page."""
    slow = []
    for _ in range(200):
        client = tls(socket.create_connection(("127.0.0.1", HTTPS), 10))
        client.sendall(f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Slow: ".encode())
        slow.append(client)
    times = []
    for _ in range(10):
        for client in slow:
            try:
                client.sendall(b"a")
            except OSError:
                pass
        begun = time.monotonic()
        check("a page comes past 200 slow clients", ask("/")[0] == 200)
        times.append(time.monotonic() - begun)
    print(f"   the slowest page took {max(times):.2f} s")
    for client in slow:
        client.close()


def the_log() -> None:
    """A line of JSON for each event, nothing else, and nobody's address or name in it."""
    lines = docker("logs", container("web")).splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    check(
        "the log has a line for each request",
        any(event.get("path") == "/ladder/" or "path" in event for event in events),
    )
    check("with the number of the request", all("request_id" in event for event in events if "path" in event))
    check("and nobody's address or name", not any("198.51.100" in line or "ada" in line for line in lines))


def the_end() -> None:
    """A stop is heard, and the data is there after it."""
    for name in ("web", "database", "front"):
        begun = time.monotonic()
        compose("stop", name)
        took, code = time.monotonic() - begun, inspect(name)["State"]["ExitCode"]
        check(f"{name} ended by itself in {took:.1f} s, with {code}", took < 15 and code == 0)
    compose("up", "--detach", "--wait", "--wait-timeout", "300")
    check("all is there after a stop and a start", ask("/primitives/firecracker/")[0] == 200)


# ---- how to ask ----


def check(what: str, holds: bool) -> None:
    print(f"{'ok    ' if holds else 'FAILED'} {what}", flush=True)
    if not holds:
        failed.append(what)


def docker(*arguments: str, show: bool = False) -> str:
    done = subprocess.run(
        ["docker", *arguments],
        text=True,
        stdout=None if show else subprocess.PIPE,
        stderr=None if show else subprocess.STDOUT,
    )
    if done.returncode:
        sys.exit(f"docker {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout or ''}")
    return done.stdout or ""


def compose(*arguments: str, show: bool = False) -> str:
    return docker("compose", *arguments, show=show)


def container(name: str) -> str:
    return compose("ps", "--all", "--quiet", name).strip()


def inspect(name: str) -> Any:
    return json.loads(docker("inspect", container(name)))[0]


def inspect_network(name: str) -> Any:
    return json.loads(docker("network", "inspect", name))[0]


def within(name: str, *command: str) -> str:
    return docker("exec", container(name), *command)


def attempt(name: str, *command: str) -> bool:
    return subprocess.run(["docker", "exec", container(name), *command], capture_output=True).returncode == 0


def tls(plain: socket.socket, host: str = HOST) -> ssl.SSLSocket:
    context = ssl._create_unverified_context()  # noqa: S323 (the certificate of a trial is nobody's)
    return context.wrap_socket(plain, server_hostname=host)


def ask(path: str, body: str = "", host: str = HOST, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(host, 443, timeout=30)
    try:
        connection.sock = tls(socket.create_connection(("127.0.0.1", HTTPS), 10), host)
    except OSError:
        return 0, {}, b""
    form = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
    connection.request("POST" if body else "GET", path, body or None, {"Host": host, **form, **headers})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


if __name__ == "__main__":
    main()
