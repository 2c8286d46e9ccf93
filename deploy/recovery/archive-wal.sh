#!/bin/sh
# Stores a WAL file in the archive, compressed, with its checksum. In postgresql.conf:
#   archive_mode = on
#   archive_timeout = 50s, which leaves ten seconds of a minute for the copy
#   archive_command = '/opt/mintmark/deploy/recovery/archive-wal.sh "%p" /var/backups/mintmark'
# PostgreSQL tries again until it exits with 0. A file is complete and on disk before it has its name, and is never overwritten.
set -eu
umask 077
file=$1 archive=$2/wal name=$(basename "$1")
mkdir -p "$archive"
new=$archive/.$name.$$
trap 'rm -f "$new"' EXIT
gzip -n -c "$file" > "$new"
sum=$(sha256sum < "$new")
if [ -e "$archive/$name.gz" ]; then
  # After a crash, PostgreSQL may archive the same file again.
  [ "$(sha256sum < "$archive/$name.gz")" = "$sum" ] || { echo "archive-wal: the archive has another $name" >&2; exit 1; }
fi
echo "${sum%% *}" > "$new.sum"
sync "$new" "$new.sum"
mv "$new.sum" "$archive/$name.gz.sha256"
mv "$new" "$archive/$name.gz"
sync "$archive"
