#!/usr/bin/env bash
# Installs each distribution in a clean environment of each Python, and uses what was installed:
#   bash tests/smoke.sh dist/* -- python3.10 python3.13
# Needs no server: a value goes through the default codec, a queue's keys are named, the command answers.
set -euo pipefail

distributions=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  distributions+=("$(cd "$(dirname "$1")" && pwd)/$(basename "$1")")
  shift
done
[ $# -gt 1 ] && [ ${#distributions[@]} -gt 0 ] || { echo "usage: $0 DISTRIBUTION... -- PYTHON..." >&2; exit 2; }
shift

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "$@"; do
  for distribution in "${distributions[@]}"; do
    rm -rf "$folder/venv"
    "$python" -m venv "$folder/venv"
    "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$distribution"
    (
      # Away from the source tree, so that only what was installed is found.
      cd "$folder"
      venv/bin/python - <<'PYTHON'
import redisson_dq
import redisson_dq.aio.worker
import redisson_dq.worker
from redisson_dq.codecs import Kryo5Codec

assert Kryo5Codec().decode(Kryo5Codec().encode(["order-42", 1, None])) == ["order-42", 1, None]
client = redisson_dq.Client(__import__("redis").Redis())
assert client.blocking_queue("orders", transfer=False).keys.timeout == "redisson_delay_queue_timeout:{orders}"
client.close()
PYTHON
      venv/bin/redisson-dq --help >/dev/null
    )
    echo "$("$python" --version): $(basename "$distribution") installs and works"
  done
done
