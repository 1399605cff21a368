#!/usr/bin/env bash
# Makes a release of the version in package.json, in dist/<version>/: both charts, both client packages, the documentation's site, the image for every
# platform that this machine can build for, the bill of materials, the release notes and SHA-256 checksums. Dates CHANGELOG.md, keeps the charts for the tests of upgrades, commits and tags.
# Nothing leaves this machine without --push.
#
#   scripts/release.sh [OPTION]…
#
#   --dry-run          does everything in a clone that is deleted afterwards, and pushes nothing
#   --push REGISTRY    pushes image and charts afterwards: REGISTRY/signalbox:<version>, oci://REGISTRY/charts
#   --skip-image       makes no image
#   --date YYYY-MM-DD  the date in CHANGELOG.md; default: today
#
# The environment variable NODE_IMAGE names the image's base by digest, see docs/security.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { printf 'release.sh: %s\n' "$*" >&2; exit 1; }
warn() { printf 'warning: %s\n' "$*" >&2; }

dry_run='' registry='' image=yes date=$(date -u +%F)
while (($# > 0)); do
  case $1 in
    --dry-run) dry_run=yes ;;
    --push) registry=${2:-}; [ -n "$registry" ] || fail '--push needs a registry'; shift ;;
    --skip-image) image='' ;;
    --date) date=${2:-}; [[ $date =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || fail '--date is YYYY-MM-DD'; shift ;;
    *) sed -n '2,14s/^#\( \|$\)//p' "$0" >&2; exit 2 ;;
  esac
  shift
done

version=$(node -p 'require("./package.json").version')
address=$(node -p 'require("./package.json").homepage')
charts=(signalbox signalbox-operator)

# versions: prints each file that holds a version, and the version
versions() {
  # shellcheck disable=SC2016 # Node expands it.
  node -p '`package-lock.json ${require("./package-lock.json").version}`'
  local chart
  for chart in charts/*/; do sed -nE "s|^( *)(version\|appVersion): \"?([^\"]*)\"?$|${chart}Chart.yaml \3|p" "${chart}Chart.yaml"; done
  sed -nE 's|^  "version": "(.*)",$|clients/npm/package.json \1|p' clients/npm/package.json
  sed -nE 's|^version = "(.*)"$|clients/python/pyproject.toml \1|p' clients/python/pyproject.toml
}

check() {
  local program differing
  for program in helm npm "${PYTHON:-python3}" sha256sum; do command -v "$program" >/dev/null || fail "$program is needed"; done
  [ -z "$(git status --porcelain)" ] || fail 'the working tree has changes: commit them first'
  if git rev-parse --verify --quiet "refs/tags/v$version" >/dev/null; then fail "the tag v$version is there already: raise the version"; fi
  differing=$(versions | awk -v version="$version" '$2 != version')
  [ -z "$differing" ] || fail "package.json is $version, which differs from:"$'\n'"$differing"
  if [ -n "$image" ]; then platforms=$(scripts/image.sh --platforms) || fail 'no image can be built here: --skip-image makes everything else'; fi
  [[ $address != *.test/* ]] || warn "$address is an example: set the project's address in package.json and the charts"
  [ -z "$image" ] || [[ ${NODE_IMAGE:-} == *@sha256:* ]] || warn 'the base of the image is named by tag: NODE_IMAGE=…@sha256:… names it by digest'
  local named
  named=$(sed -n '/^image:/,/^[^ ]/{s/^  registry: //p;s/^  repository: //p}' charts/signalbox/values.yaml | paste -sd/)
  if [ -n "$registry" ] && [ "$named" != "$registry/signalbox" ]; then warn "the charts install $named unless image.registry and image.repository say otherwise"; fi
}

# package CHART: packages a copy with the changes of this version, and with the library in place of the link to it
package() {
  cp -rL "charts/$1" "$staging/"
  {
    sed '/^annotations:$/q' "charts/$1/Chart.yaml"
    echo '  artifacthub.io/changes: |'
    node scripts/changelog.ts changes "$version" | sed 's/^/    /'
    sed '1,/^annotations:$/d' "charts/$1/Chart.yaml"
  } >"$staging/$1/Chart.yaml"
  helm package "$staging/$1" --destination "$out" >/dev/null
  cp "$out/$1-$version.tgz" test/charts/fixtures/
}

# site: packs the site in a folder of the version, beside the list of all versions; unpacked over the sites of other versions it leads to them
site() {
  mkdir "$staging/site"
  npm run --silent docs -- "$staging/site/$version" >/dev/null
  # The newest first; 1.0.0-rc.1 is older than 1.0.0.
  git -c versionsort.suffix=- tag --list 'v*' --sort=-version:refname | sed 's/^v\(.*\)$/"\1"/' | paste -sd, | sed 's/.*/[&]/' >"$staging/site/versions.json"
  tar --create --gzip --file "$out/signalbox-site-$version.tar.gz" --directory "$staging/site" "$version" versions.json
}

table() {
  local file
  printf '%-40s %12s  %s\n' "$out" bytes SHA-256
  for file in "$out"/*; do printf '%-40s %12s  %s\n' "${file##*/}" "$(wc -c <"$file")" "$(sha256sum "$file" | cut -c1-16)…"; done
  if [ -n "$image" ]; then echo "image for $platforms"; else echo 'image not built'; fi
  echo "commit $(git rev-parse --short HEAD), tag v$version"
}

push() {
  local chart
  if [ -n "$image" ]; then scripts/image.sh --platform "$platforms" --push "$registry/signalbox:$version"; fi
  for chart in "${charts[@]}"; do helm push "$out/$chart-$version.tgz" "oci://$registry/charts"; done
}

# make: makes the release in a clone, so that a failure changes nothing here
make() {
  local key value chart
  git clone --quiet . "$staging/clone"
  for key in user.name user.email; do if value=$(git config "$key"); then git -C "$staging/clone" config "$key" "$value"; fi; done
  cd "$staging/clone"
  ln -s "$root/node_modules" .
  mkdir -p "$out" test/charts/fixtures
  node scripts/changelog.ts date "$version" "$date"
  for chart in "${charts[@]}"; do package "$chart"; done
  scripts/clients.sh "$out"
  npm run --silent sbom >"$out/signalbox-$version.cdx.json"
  node scripts/changelog.ts notes "$version" >"$out/notes.md"
  git add CHANGELOG.md test/charts/fixtures
  git commit --quiet --message "release: $version"
  # After the commit, since the image names it as its revision.
  if [ -n "$image" ]; then scripts/image.sh --platform "$platforms" --archive "$out/signalbox-$version.oci.tar" "localhost/signalbox:$version" >&2; fi
  git tag --annotate "v$version" --message "Signalbox $version"
  site
  (cd "$out" && sha256sum -- * >"$staging/SHA256SUMS" && mv "$staging/SHA256SUMS" .)
  table
}

check
out=dist/$version
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
root=$PWD
make
if [ -n "$dry_run" ]; then
  if [ -n "$registry" ]; then echo "would push $registry/signalbox:$version and oci://$registry/charts"; fi
  echo 'dry run: deleted'
  exit
fi
cd "$root"
git fetch --quiet "$staging/clone" HEAD tag "v$version"
git merge --quiet --ff-only "v$version"
rm -rf "$out"
mkdir -p dist
mv "$staging/clone/$out" dist/
if [ -n "$registry" ]; then push; else echo 'next: git push --follow-tags; image and charts go to a registry with --push, packages with npm publish and twine upload, the site to its server'; fi
