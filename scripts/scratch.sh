#!/bin/sh
# scratch.sh COMMAND...: runs the command with a new folder as TMPDIR, and removes it afterwards.  The folder is in TMPDIR if that is
# set; else in /dev/shm (faster than a disk), if that is not mounted noexec and has 2 GiB free; else in /tmp.
set -u
dir=
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ -z "${TMPDIR:-}" ] && [ "${room:-0}" -ge 2097152 ] && dir=$(mktemp -d /dev/shm/tt-XXXXXX 2>/dev/null); then
	printf '#!/bin/sh\n' >"$dir/probe"
	chmod 700 "$dir/probe"
	"$dir/probe" 2>/dev/null || { rm -rf "$dir"; dir=; }
	rm -f "$dir/probe"
fi
[ -n "$dir" ] || dir=$(mktemp -d "${TMPDIR:-/tmp}/tt-XXXXXX") || exit 2
chmod 755 "$dir" # for tests that drop root privileges
TMPDIR=$dir "$@"
