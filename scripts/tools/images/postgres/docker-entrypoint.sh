#!/usr/bin/env bash
# Initialises $PGDATA when it is empty, then runs the server.
set -euo pipefail

# setting NAME DEFAULT: exports $NAME, else the content of the file $NAME_FILE, else the default
setting() {
  local file=$1_FILE
  if [ -n "${!1:-}" ] && [ -n "${!file:-}" ]; then echo "both $1 and $file are set" >&2; exit 1; fi
  if [ -n "${!file:-}" ]; then export "$1=$(<"${!file}")"; else export "$1=${!1:-$2}"; fi
  unset "$file"
}

[ "${1:0:1}" != - ] || set -- postgres "$@"
[ "$1" = postgres ] || exec "$@"

if [ "$(id -u)" = 0 ]; then
  install -d -m 700 -o postgres -g postgres "$PGDATA"
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
mkdir -p "$PGDATA"
chmod 700 "$PGDATA" 2>/dev/null || true

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  setting POSTGRES_PASSWORD ''
  setting POSTGRES_USER postgres
  setting POSTGRES_DB "$POSTGRES_USER"
  setting POSTGRES_INITDB_ARGS ''
  if [ -z "$POSTGRES_PASSWORD" ] && [ "${POSTGRES_HOST_AUTH_METHOD:-}" != trust ]; then
    echo 'Error: Database is uninitialized and superuser password is not specified (POSTGRES_PASSWORD).' >&2
    exit 1
  fi
  # shellcheck disable=SC2086
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256 $POSTGRES_INITDB_ARGS
  printf '\nhost all all all %s\n' "${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}" >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -p 5432" -w start
  sql=(psql -v ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER")
  if [ "$POSTGRES_DB" != postgres ]; then "${sql[@]}" --dbname postgres --set db="$POSTGRES_DB" <<<'CREATE DATABASE :"db";'; fi
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
      *.sh)
        echo "running $file"
        # shellcheck source=/dev/null
        if [ -x "$file" ]; then "$file"; else . "$file"; fi
        ;;
      *.sql)
        echo "running $file"
        "${sql[@]}" --dbname "$POSTGRES_DB" -f "$file"
        ;;
    esac
  done
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
unset POSTGRES_PASSWORD
exec "$@" -c listen_addresses='*'
