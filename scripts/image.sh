#!/usr/bin/env bash
# Builds the container image with docker, podman or buildah: the first of these that works on this machine.
#
#   scripts/image.sh [OPTION]… [NAME:TAG]    default: signalbox:<version of package.json>
#
#   --platforms              prints which of linux/amd64 and linux/arm64 this machine can build for, and ends
#   --platform LIST          builds for these platforms, separated by commas; default: this machine's
#   --archive FILE           writes the image of all platforms as an OCI archive
#   --push                   pushes the image of all platforms to the registry in NAME
#
# The environment variable NODE_IMAGE names the base image; docker.io/library/node@sha256:… makes the build repeatable.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# By sed: a machine that builds images may have no Node.
field() { sed -n "s/^  \"$1\": \"\(.*\)\",\$/\1/p" package.json; }
version=$(field version)
home=$(field homepage)
base=${NODE_IMAGE:-$(sed -n 's/^ARG NODE_IMAGE=//p' Dockerfile)}

# `docker info` fails where the client has no daemon.
if docker buildx version >/dev/null 2>&1 && docker info >/dev/null 2>&1; then builder=buildx
elif docker info >/dev/null 2>&1; then builder=docker
elif command -v podman >/dev/null; then builder=podman
elif command -v buildah >/dev/null; then builder=buildah
else
  echo 'docker, podman or buildah is needed to build an image' >&2
  exit 1
fi

# Another processor's platform needs an emulator, which binfmt_misc registers with the kernel.
platforms() {
  local known
  known=linux/$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
  if [ "$builder" = buildx ]; then known+=" $(docker buildx inspect --bootstrap | sed -n 's/^Platforms: *//p')"; fi
  if [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then known+=' linux/arm64'; fi
  if [ -e /proc/sys/fs/binfmt_misc/qemu-x86_64 ]; then known+=' linux/amd64'; fi
  local each possible=()
  for each in linux/amd64 linux/arm64; do
    if [[ " ${known//,/ } " == *" $each"[\ \*]* ]]; then possible+=("$each"); fi
  done
  (IFS=,; echo "${possible[*]}")
}

tag='' platform='' archive='' push=''
while (($# > 0)); do
  case $1 in
    --platforms) platforms; exit ;;
    --platform) platform=$2; shift ;;
    --archive) archive=$2; shift ;;
    --push) push=yes ;;
    -*) sed -n '2,11s/^#\( \|$\)//p' "$0" >&2; exit 2 ;;
    *) tag=$1 ;;
  esac
  shift
done
tag=${tag:-signalbox:$version}

# An image of changes that are not committed belongs to no commit.
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
if [ -n "$(git status --porcelain 2>/dev/null)" ]; then revision+=-dirty; fi

label() { options+=(--label "org.opencontainers.image.$1=$2"); }
options=(--build-arg "NODE_IMAGE=$base")
label version "$version"
label revision "$revision"
# The time of the commit, so that the same sources have the same label.
label created "$(git log -1 --format=%cI 2>/dev/null || date -u +%FT%TZ)"
label source "$home"
label url "$home"
label documentation "$home/blob/main/docs/README.md"
label base.name "${base%@*}"
if [[ $base == *@* ]]; then label base.digest "${base#*@}"; fi
if [ -n "$platform" ]; then options+=(--platform "$platform"); fi

# manifest PROGRAM: writes or pushes the image of all platforms
manifest() {
  if [ -n "$archive" ]; then "$1" manifest push --all "$tag" "oci-archive:$archive"; fi
  if [ -n "$push" ]; then "$1" manifest push --all "$tag" "docker://$tag"; fi
}

case $builder in
  docker) docker build "${options[@]}" --tag "$tag" . ;;
  buildx)
    if [ -n "$archive" ]; then docker buildx build "${options[@]}" --tag "$tag" --sbom=true --provenance=true --output "type=oci,dest=$archive" .; fi
    if [ -n "$push" ]; then docker buildx build "${options[@]}" --tag "$tag" --sbom=true --provenance=true --push .; fi
    if [ -z "$archive$push" ]; then docker buildx build "${options[@]}" --tag "$tag" --load .; fi
    ;;
  *)
    # A container or a small virtual machine often has no stronger isolation.
    if [ "$builder" = buildah ]; then options+=(--isolation chroot --layers); fi
    if [ -z "$archive$push" ]; then "$builder" build "${options[@]}" --tag "$tag" .; exit; fi
    # An existing manifest of that name would keep its platforms beside the new ones.
    "$builder" manifest rm "$tag" >/dev/null 2>&1 || "$builder" rmi "$tag" >/dev/null 2>&1 || true
    "$builder" build "${options[@]}" --manifest "$tag" .
    manifest "$builder"
    ;;
esac
