#!/usr/bin/env bash
# Writes the chart's README.md from the comments of values.yaml and README.md.gotmpl, with helm-docs (https://github.com/norwoodj/helm-docs).
#
#   scripts/chart-readme.sh            writes it
#   scripts/chart-readme.sh --check    says whether it is current, and has a comment of every value
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

generate() {
  helm-docs --chart-search-root charts --sort-values-order file --log-level error "$@"
}

if [ "${1:-}" = --check ]; then
  if ! generate --dry-run | diff -u charts/signalbox/README.md -; then
    echo 'charts/signalbox/README.md is out of date, run scripts/chart-readme.sh' >&2
    exit 1
  fi
  if grep '^| .* | *|$' charts/signalbox/README.md; then
    echo 'these values have no comment in charts/signalbox/values.yaml' >&2
    exit 1
  fi
else
  generate
fi
