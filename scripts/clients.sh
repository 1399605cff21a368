#!/usr/bin/env bash
# Builds the client packages into a folder, the npm package by the TypeScript of node_modules and the wheel by pip, which takes flit_core from PyPI
# unless `PIP_NO_BUILD_ISOLATION=0` names the one that `PYTHON` (default: python3) has.
#
#   scripts/clients.sh FOLDER [npm|python]
set -euo pipefail
{ (($# == 1 || $# == 2)) && [[ $1 != -* ]]; } || { sed -n '2,5s/^#\( \|$\)//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT

npm_package() {
  cp -r clients/npm LICENSE "$staging/"
  mv "$staging/LICENSE" "$staging/npm/"
  node node_modules/typescript/bin/tsc --project clients/npm --outDir "$staging/npm/dist"
  npm pack --silent --pack-destination "$out" "$staging/npm" >/dev/null
}

python_package() {
  "${PYTHON:-python3}" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" clients/python
}

case ${2:-} in
  npm | python) "${2}_package" ;;
  '') npm_package && python_package ;;
  *) printf 'clients.sh: npm or python, not %s\n' "$2" >&2; exit 2 ;;
esac
ls "$out"/signalbox[-_]client-*
