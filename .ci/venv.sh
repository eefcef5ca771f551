#!/bin/sh
# Make the virtual environment and install exactly what is locked. One clear line for each thing that can be missing.
set -eu
python=$1 venv=$2 locked=$3

fail() {
    echo "error: $*" >&2
    exit 1
}

command -v "$python" >/dev/null || fail "Python is not installed: install python3 (3.11 or newer), or set PYTHON="
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" --version) is too old: mrtr_web needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    fail "Python's venv module is missing: on Debian or Ubuntu run 'apt-get install python3-venv'"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
echo "installing what $locked lists"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$locked" 2>"$venv/pip.log" ||
    { tail -n 3 "$venv/pip.log" >&2; fail "the packages could not be installed: is there a network? (details: $venv/pip.log)"; }
