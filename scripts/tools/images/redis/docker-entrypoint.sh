#!/bin/sh
# Runs redis-server as the user redis; arguments that are options or a file are those of redis-server.
set -eu
case $1 in
  -* | *.conf) set -- redis-server "$@" ;;
esac
if [ "$1" != redis-server ]; then exec "$@"; fi
if [ "$(id -u)" = 0 ]; then exec setpriv --reuid redis --regid redis --init-groups "$0" "$@"; fi
exec "$@" --protected-mode no
