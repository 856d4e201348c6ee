#!/usr/bin/env bash
# All checks and all tests on a machine that has Python 3.10 or newer and a package manager:
#   bash tests/run.sh [pytest arguments]
# Installs what they need: a virtual environment (.venv; REDISSON_DQ_VENV: another place), a Redis server, a JDK
# 17 or newer and Maven. Stops at the first failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/lib.sh

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
  ensure_java
}

echo "=== what the tests need ==="
install_everything
export PATH="$VENV/bin:$PATH" VIRTUAL_ENV="$VENV"
python --version
redis-server --version
mvn --version | sed -n '1p;/^Java version/p'

step "ruff check" ruff check .
step "ruff format" ruff format --check .
step "mypy" mypy
step "generated code" python .ci/unasync.py --check
step "docs" python -m sphinx -EW -q -c docs . build/docs
# Most tests wait, some compute: three processes, each with servers and JVMs of its own, keep two cores busy.
step "pytest" python -m pytest -n 3 --dist loadfile "$@"
