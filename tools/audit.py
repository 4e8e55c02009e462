"""Ask for known weaknesses of what requirements.txt pins, and fail where there are any.

Where no service can be asked, it says so in one line and does not fail: a machine without a way there can still check
all else. CI has one; AUDIT=required makes it fail.
"""

import json
import os
import subprocess
import sys
from typing import Any

SERVICES = ("pypi", "osv")


def main() -> None:
    for service in SERVICES:
        found = ask(service)
        # An index without the service answers "not found" for every package, which pip-audit takes for no weakness.
        known = [package for package in found if "skip_reason" not in package]
        if known:
            break
    else:
        print("pip-audit was left out: neither of its services (PyPI, OSV) can be reached from here.")
        sys.exit(os.environ.get("AUDIT") == "required")
    for package in found:
        if "skip_reason" in package:
            print(f"not audited: {package['name']}: {package['skip_reason']}")
    weak = [package for package in known if package["vulns"]]
    for package in weak:
        for weakness in package["vulns"]:
            fixed = ", ".join(weakness["fix_versions"]) or "nothing yet"
            print(f"{package['name']} {package['version']}: {weakness['id']}, fixed in {fixed}")
    print(f"pip-audit asked {service} about {len(known)} packages: {len(weak)} with known weaknesses.")
    sys.exit(bool(weak))


def ask(service: str) -> list[dict[str, Any]]:
    """What the service says of each package; nothing where it can't be reached."""
    options = ["--requirement=requirements.txt", "--require-hashes", "--disable-pip", "--progress-spinner=off"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pip_audit", f"--vulnerability-service={service}", "--format=json", *options],
            capture_output=True,
            text=True,
            timeout=120,
        )
        dependencies: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        return []
    return dependencies


if __name__ == "__main__":
    main()
