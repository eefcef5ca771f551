#!/bin/sh
# Browser tests drive Debian's chromium, and CI also runs docs/deploy/nginx.conf. As root on Debian what is missing is
# installed; elsewhere the line to run is printed.
set -eu
wanted=
command -v chromium >/dev/null || wanted=chromium
[ "${CI:-}" != true ] || command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || wanted="$wanted nginx-light"
[ -n "$wanted" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing for the tests: $wanted"
    apt-get update -qq
    # RUNLEVEL=1: nothing that is installed here is started. The names are to be split.
    # shellcheck disable=SC2086
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $wanted >/dev/null
    exit 0
fi
echo "not installed, so the tests that need it are skipped: $wanted. To run them: apt-get install $wanted" >&2
[ "${CI:-}" = true ] && exit 1
exit 0
