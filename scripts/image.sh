#!/usr/bin/env bash
# Builds the container image with docker, podman or buildah, whichever this machine has.
#
#   scripts/image.sh [NAME:TAG]      default: signalbox:<version of package.json>
#
# NODE_IMAGE in the environment is the base, docker.io/library/node@sha256:… for a build that can be repeated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
tag=${1:-signalbox:$version}
options=(
  --build-arg "VERSION=$version"
  --build-arg "REVISION=$(git rev-parse HEAD 2>/dev/null || echo unknown)"
  --tag "$tag"
)
if [ -n "${NODE_IMAGE:-}" ]; then options+=(--build-arg "NODE_IMAGE=$NODE_IMAGE"); fi

# A client without its daemon builds nothing.
if docker info >/dev/null 2>&1; then
  docker build "${options[@]}" .
elif command -v podman >/dev/null; then
  podman build "${options[@]}" .
elif command -v buildah >/dev/null; then
  # Within a container or a small virtual machine there is often nothing stronger.
  buildah build --isolation chroot --layers "${options[@]}" .
else
  echo 'docker, podman or buildah is needed to build an image' >&2
  exit 1
fi
