# Dumps the database into a new file, looks whether it can be read, and deletes all but the newest. Run by a CronJob in the image of Postgres.
set -eu
directory=${BACKUP_DIRECTORY:-/backups}
# Files that a killed run left.
rm -f "$directory"/*.part

file=$directory/$PGDATABASE-$(date -u +%Y%m%dT%H%M%SZ).dump
pg_dump --format=custom --file="$file.part"
pg_restore --list "$file.part" > "$file.list.part"
# A dump without a table is one of the wrong database.
grep -q ' TABLE DATA ' "$file.list.part"
rm "$file.list.part"
mv "$file.part" "$file"
echo "dumped to $file: $(wc -c < "$file") bytes"

# By their names, which are their times.
find "$directory" -name "$PGDATABASE-*.dump" | sort -r | tail -n "+$((BACKUP_KEEP + 1))" | while read -r old; do
  rm "$old"
  echo "deleted $old"
done
