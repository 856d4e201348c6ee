#!/usr/bin/env bash
# Builds the wheel and the sdist into a folder: bash .ci/build.sh dist
# The same commit gives the same bytes: times in the archives are that of the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
python -m build --outdir "$1"
