#!/bin/sh
# Runs a command of an image built by build.ts as a container engine would: own mounts and processes, the root file system read-only, an empty
# /data, no privileges. The environment is the container's; MOUNT is a folder that it sees as /mnt, RUN_AS its user and group.
#   env -i PATH="$PATH" DATABASE_URL=... SECRET_KEY=... deploy/image/run.sh <folder>/root api
set -eu
root=$(realpath "$1")
shift
export root MOUNT="${MOUNT:-}"
run_as=${RUN_AS:-1000:1000}
if [ "$(id -u)" = 0 ]; then
  own=''
  become="setpriv --no-new-privs unshare --setgid ${run_as#*:} --setuid ${run_as%:*}"
else
  # In a user namespace, in which the mounts are allowed; the command runs in a second one, in which it is not root.
  own='--user --map-root-user'
  become="unshare --user --map-user=${run_as%:*} --map-group=${run_as#*:}"
fi
# shellcheck disable=SC2016,SC2086
exec unshare $own --mount --pid --ipc --uts --fork --kill-child sh -eu -c '
  become=$1 owner=$2
  shift 2
  mount --make-rprivate /
  mount --bind "$root" "$root"
  [ -z "$MOUNT" ] || mount --bind "$MOUNT" "$root/mnt"
  mount -o remount,bind,ro "$root"
  mount -t tmpfs -o "size=2g,mode=0700,$owner" tmpfs "$root/data"
  mount -t proc proc "$root/proc"
  mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
  for device in null zero random urandom; do
    : > "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  mount -o remount,bind,ro "$root/dev"
  folder=$root
  unset root RUN_AS MOUNT
  export PATH="/usr/local/bin:$PATH" NODE_ENV="${NODE_ENV:-production}" HOST="${HOST:-0.0.0.0}" OPERATOR_HOST="${OPERATOR_HOST:-0.0.0.0}"
  export MINTMARK_DEMO="${MINTMARK_DEMO:-0}" DATA_DIR=/data TMPDIR=/data HOME=/data
  exec $become "--root=$folder" --wd=/app node src/main.ts "$@"
' sh "$become" "$([ -n "$own" ] || echo "uid=${run_as%:*},gid=${run_as#*:}")" "$@"
