# Puts the newest dump, or RESTORE_FILE, in the place of all schemas that it has, or of RESTORE_SCHEMAS: in one transaction, so that it is
# done whole or not at all. Run as the administrator while no service of these schemas runs. The roles must be there; the migrate Job makes them.
set -eu
export PGOPTIONS='-c client_min_messages=warning'
directory=${BACKUP_DIRECTORY:-/backups}
file=${RESTORE_FILE:-$(find "$directory" -name '*.dump' | sort | tail -n 1)}
[ -n "$file" ] || { echo "there is no dump in $directory" >&2; exit 1; }
wanted=$(echo ${RESTORE_SCHEMAS:-} | tr ' ,' '||')

# A service connects as the role of its schema.
connected=$(psql -Atqc "select string_agg(distinct application_name, ', ') from pg_stat_activity
  where datname = current_database() and application_name like 'signalbox-%' and usename ~ '^(${wanted:-.*})\$'")
[ -z "$connected" ] || { echo "still connected, and to be stopped first: $connected" >&2; exit 1; }

# Without a process substitution, which not every sh has
list=$(mktemp /tmp/list.XXXXXX)
trap 'rm -f "$list"' EXIT
pg_restore --list "$file" > "$list"
if [ -n "$wanted" ]; then
  grep -E "^[0-9]+; [0-9]+ [0-9]+ [A-Z ]+ (- (SCHEMA )?)?($wanted) " "$list" > "$list.wanted" || true
  mv "$list.wanted" "$list"
fi
schemas=$(sed -n 's/^[0-9]*; [0-9]* [0-9]* SCHEMA - \([a-z_]*\) .*/\1/p' "$list")
[ -n "$schemas" ] || { echo "$file has no schema ${RESTORE_SCHEMAS:-}" >&2; exit 1; }
echo "restoring $file:" $schemas

# Whole schemas, since --clean leaves what the dump does not know, such as the partitions of later months. psql ends a transaction that is
# cut off with a rollback; a dump that cannot be read to its end must not be committed.
{
  echo 'begin;'
  for schema in $schemas; do echo "drop schema if exists $schema cascade;"; done
  if pg_restore --use-list "$list" --file=- "$file"; then echo 'commit;'; else echo "do \$\$ begin raise exception 'the dump cannot be read to its end'; end \$\$;"; fi
} | psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 > /dev/null
psql --quiet --command 'analyze'
echo "restored $file"
