#!/usr/bin/env bash
# Writes the charts' README.md from the comments of values.yaml and README.md.gotmpl, with helm-docs (https://github.com/norwoodj/helm-docs).
#
#   scripts/chart-readme.sh            writes them
#   scripts/chart-readme.sh --check    fails where one is out of date or a value has no comment
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The library chart has no values.
charts=(charts/signalbox charts/signalbox-operator)

generate() {
  helm-docs --chart-search-root "$1" --template-files ../values-tables.gotmpl,README.md.gotmpl --sort-values-order file --log-level error "${@:2}"
}

check() {
  if ! generate "$1" --dry-run | diff -u "$1/README.md" -; then
    echo "$1/README.md is out of date, run scripts/chart-readme.sh" >&2
    return 1
  fi
  if grep '^| .* | *|$' "$1/README.md"; then
    echo "these values have no comment in $1/values.yaml" >&2
    return 1
  fi
}

for chart in "${charts[@]}"; do
  if [ "${1:-}" = --check ]; then check "$chart"; else generate "$chart"; fi
done
