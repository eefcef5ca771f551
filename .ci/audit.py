"""Known vulnerabilities in what is locked: fails naming them; warns in one line where they cannot be looked up.

pip-audit ends well where its database knows none of the packages, as behind a mirror: here that is a warning, too.
"""

import json
import subprocess  # pip-audit, without a shell  # nosec B404
import sys
from typing import Any

LONGEST = 60
"""Seconds for all files together."""
AWAY = "the database of vulnerabilities is out of reach"
OUT_OF_REACH = ("ConnectionError", "Could not connect", "Timeout", "ProxyError", "SSLError", "ServiceError")
"""How pip-audit ends where that is so."""


def main(arguments: list[str]) -> int:
    """`arguments`: lock files, and options of pip-audit."""
    files = [each for each in arguments if each.endswith(".txt")]
    options = [each for each in arguments if each not in files]
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    command += ["--disable-pip", "--require-hashes", *options]
    for name in files:
        command += ["-r", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)  # nosec B603
    except subprocess.TimeoutExpired:
        return _warn(AWAY)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:
        if any(sign in done.stderr for sign in OUT_OF_REACH):
            return _warn(AWAY)
        print("error: pip-audit could not work with the lock files", file=sys.stderr)
        return 1
    return _judge(packages)


def _judge(packages: list[dict[str, Any]]) -> int:
    bad = [(each["name"], each["version"], found["id"]) for each in packages for found in each.get("vulns", [])]
    for name, version, ident in sorted(set(bad)):
        print(f"vulnerable: {name} {version}: {ident}", file=sys.stderr)
    unknown = {each["name"] for each in packages if "skip_reason" in each}
    if unknown:
        _warn(f"the database does not know {len(unknown)} of {len({each['name'] for each in packages})} packages")
    return 1 if bad else 0


def _warn(why: str) -> int:
    print(f"warning: locked packages were not audited: {why}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
