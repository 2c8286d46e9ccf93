#!/bin/sh
# Takes a WAL file out of the archive for a restore and verifies it. As restore_command:
#   restore_command = '/opt/mintmark/deploy/recovery/restore-wal.sh "%f" "%p" /var/backups/mintmark'
# Exit code 1 tells PostgreSQL that the archive does not have the file; above 125 it stops instead of restoring less than there is.
set -eu
name=$1 target=$2 stored=$3/wal/$1.gz
if [ ! -e "$stored" ]; then
  echo "restore-wal: $name is missing from the archive" >&2
  exit 1
fi
corrupt() { echo "restore-wal: $name is corrupt in the archive: $1" >&2; exit 200; }
[ -e "$stored.sha256" ] || corrupt 'it has no checksum'
[ "$(sha256sum < "$stored" | cut -d ' ' -f 1)" = "$(cat "$stored.sha256")" ] || corrupt 'its checksum differs'
gzip -d -c "$stored" > "$target" || corrupt 'it cannot be unpacked'
