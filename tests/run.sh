#!/usr/bin/env bash
# All checks and all tests on a machine that has Python 3.10 or newer and a package manager:
#   bash tests/run.sh [--only-install | --only-checks | pytest arguments]
# Installs what they need: a virtual environment (.venv; REDISSON_DQ_VENV: another place), a Redis server, Prometheus, a
# C compiler, a headless Chromium, a JDK 17 or newer and Maven. Stops at the first failure. With arguments for pytest, such as a file,
# it runs only those tests, without the checks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/lib.sh

# Hundreds of processes of the tests import the same modules. Each would compile them anew.
unset PYTHONDONTWRITEBYTECODE

step() {
  printf '\n=== %s ===\n' "$1"
  shift
  "$@"
}

install_everything() {
  ensure_venv
  pip_install 'pip>=25.1' # the first that knows dependency groups
  pip_install -e '.[embedded,cli]' --group dev
  have redis-server || install_redis_server
  have redis-server || die "redis-server is still not on PATH"
  have promtool || install_prometheus
  have promtool || die "promtool is still not on PATH"
  have cc || install_packages "a C compiler, for the clock of simulated worlds" apt="gcc libc6-dev" dnf="gcc" apk="gcc musl-dev"
  have_chromium || install_chromium
  have_chromium || die "there is still no Chromium; set REDISSON_DQ_CHROMIUM to its path"
  ensure_java
}

echo "=== what the tests need ==="
install_everything
export PATH="$VENV/bin:$PATH" VIRTUAL_ENV="$VENV"
case ${1:-} in
  "" | --only-*) ;;
  *) exec python -m pytest "$@" ;;
esac
python --version
redis-server --version
mvn --version | sed -n '1p;/^Java version/p'

if [ "${1:-}" = --only-install ]; then exit; fi

# Beside the checks the tests are compiled, which each process of the run would do for itself. What cannot be collected,
# the run tells.
if [ "${1:-}" != --only-checks ]; then
  python -m pytest --collect-only -qq -p no:cacheprovider >/dev/null 2>&1 &
  compiled=$!
fi

# The pages are built beside the other checks. Their output comes last.
pages_say=$(mktemp)
trap 'rm -f "$pages_say"' EXIT
python -m sphinx -EW -q -c docs . build/docs >"$pages_say" 2>&1 &
pages=$!
build_pages() {
  local rc=0
  wait "$pages" || rc=$?
  cat "$pages_say"
  return "$rc"
}

step "ruff check" ruff check .
step "ruff format" ruff format --check .
step "mypy" mypy
step "generated code" python .ci/unasync.py --check
step "docs" build_pages

if [ "${1:-}" = --only-checks ]; then exit; fi

wait "$compiled" || true

may_fail=12

# Most tests wait, some compute: five processes, each with servers and JVMs of its own, keep two cores busy. They
# take the files in the order of tests/conftest.py.
# A test that hangs ends its process after a time, and another process goes on (tests/by_file.py).
run_tests() {
  python -m pytest -n 5 --dist loadfile --no-loadscope-reorder --max-worker-restart "$may_fail"
}

# What failed among the others runs once more alone, as CPython's own tests do. A few tests at most: a busy machine makes
# no more of them fail. The summary names them, and what fails twice fails the run.
run_alone() {
  local failed
  failed=$(python -c 'import json; print(len(json.load(open(".pytest_cache/v/cache/lastfailed"))))')
  [ "$failed" -le "$may_fail" ] || die "$failed tests failed"
  printf '\n=== %s failed beside the others, and run again alone ===\n' "$failed"
  python -m pytest --last-failed
}

rm -f .pytest_cache/v/cache/lastfailed
rc=0
step "pytest" run_tests || rc=$?
case $rc in
  0) ;;
  1) run_alone ;; # some tests failed, and all have run
  *) exit "$rc" ;;
esac
