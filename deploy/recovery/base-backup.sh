#!/bin/sh
# Makes a base backup beside the archived WAL files and removes what is older than the last KEEP (7) of them. Run it daily, as postgres:
#   deploy/recovery/base-backup.sh /var/backups/mintmark [arguments of pg_basebackup, such as -h /run/postgresql]
set -eu
umask 077
archive=$1 name=$(date -u +%Y%m%dT%H%M%SZ)
shift
mkdir -p "$archive/base"
new=$archive/base/.$name
trap 'rm -rf "$new"' EXIT
"${PG_BIN:+$PG_BIN/}pg_basebackup" -D "$new" -X none -c fast --manifest-checksums=SHA256 --no-password "$@"
sync -f "$new"
mv "$new" "$archive/base/$name"
date -u +%Y-%m-%dT%H:%M:%SZ > "$archive/base/$name.finished"
ls -1 "$archive/base" | grep -E '^[0-9TZ]+$' | sort -r | tail -n +$((${KEEP:-7} + 1)) | while read -r old; do
  rm -rf "$archive/base/$old" "$archive/base/$old.finished"
done
oldest=$(ls -1 "$archive/base" | grep -E '^[0-9TZ]+$' | sort | head -n 1)
first=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$archive/base/$oldest/backup_label")
for file in "$archive"/wal/*.gz; do
  # Names of WAL files sort by age after their timeline.
  number=$(basename "$file" .gz | cut -c 9-24)
  if [ "${#number}" = 16 ] && [ "$number" \< "$(echo "$first" | cut -c 9-24)" ]; then rm -f "$file" "$file.sha256"; fi
done
