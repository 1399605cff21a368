# Functions that the scripts beside this file share. Builds, data and logs are kept below $SIGNALBOX_CACHE.
# shellcheck shell=bash
# shellcheck disable=SC2034 # Those scripts read tools.
set -euo pipefail
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${SIGNALBOX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/signalbox}
bin=$cache/bin
run=$cache/run
mkdir -p "$bin" "$run"
export PATH=$bin:$PATH

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# usage: prints the comment at the head of the running script
usage() { awk 'NR > 1 && !/^#/ {exit} NR > 1 {sub(/^# ?/, ""); print}' "$0"; }

# lock NAME: waits until no other process holds the lock; this script holds it until it ends.
lock() {
  exec 9>"$run/$1.lock"
  flock 9
}

# packages NAME…: installs the Debian packages that are missing
packages() {
  local name missing=()
  for name; do dpkg -s "$name" >/dev/null 2>&1 || missing+=("$name"); done
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
}

# install_packages PATTERN…: installs Debian packages without starting their services, since scripts and tests start servers of their own
install_packages() {
  [ "$(id -u)" = 0 ] || die "run as root: apt-get install $*"
  say "installing $*"
  local policy=/usr/sbin/policy-rc.d created='' status=0 attempt
  if [ ! -e "$policy" ]; then
    created=yes
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
  fi
  for attempt in 1 2 3; do
    status=0
    install_packages_once "$@" || status=$?
    ((status != 0 && attempt < 3)) || break
    sleep $((attempt * 15))
  done
  [ -z "$created" ] || rm "$policy"
  ((status == 0)) || { tail -n 20 "$run/apt.log" >&2; die "apt-get could not install $*"; }
}

install_packages_once() {
  # A new machine may be installing its own updates and hold dpkg's lock.
  local options=(-qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300) log=$run/apt.log
  export DEBIAN_FRONTEND=noninteractive
  apt-get "${options[@]}" update >"$log" 2>&1 && apt-get "${options[@]}" install --no-install-recommends "$@" </dev/null >>"$log" 2>&1
}

# start NAME COMMAND…: runs the command in the background, its output in $run/NAME.log, its process id in $run/NAME.pid
start() {
  local name=$1
  shift
  if alive "$name"; then return; fi
  setsid "$@" >"$run/$name.log" 2>&1 </dev/null 9>&- &
  echo $! >"$run/$name.pid"
}

alive() { [ -s "$run/$1.pid" ] && kill -0 "$(cat "$run/$1.pid")" 2>/dev/null; }

# stop NAME: sends SIGTERM, and SIGKILL after ten seconds
stop() {
  local pid
  if alive "$1"; then
    pid=$(cat "$run/$1.pid")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
  fi
  rm -f "$run/$1.pid"
}

# await SECONDS NAME COMMAND…: repeats the command until it succeeds; at the deadline it prints the end of $run/NAME.log and fails
await() {
  local seconds=$1 name=$2
  shift 2
  for _ in $(seq $((seconds * 5))); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  if [ -e "$run/$name.log" ]; then tail -n 15 "$run/$name.log" >&2; fi
  die "$name is not ready after $seconds s"
}
