#!/bin/sh
# Runs the server as the user rabbitmq by the scripts of the release: Debian's wrapper writes log files, and a container logs to its output.
set -eu
if [ "$(id -u)" = 0 ] && [ "${1#rabbitmq}" != "$1" ]; then
  chown rabbitmq:rabbitmq /var/lib/rabbitmq
  exec setpriv --reuid rabbitmq --regid rabbitmq --init-groups "$0" "$@"
fi
if [ -n "${RABBITMQ_ERLANG_COOKIE:-}" ] && [ ! -s /var/lib/rabbitmq/.erlang.cookie ]; then
  (umask 077; printf '%s' "$RABBITMQ_ERLANG_COOKIE" >/var/lib/rabbitmq/.erlang.cookie)
fi
unset RABBITMQ_ERLANG_COOKIE
exec "$@"
