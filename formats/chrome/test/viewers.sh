#!/bin/sh
# viewers.sh BIN [INPUT...]: loads what traces are converted to with Perfetto's own importer, and compares.
# Without inputs: all good samples and real traces.  PERFETTO names the importer: perfetto FILE says on status 0 that
# there are no import errors, perfetto FILE SQL prints rows.  Status 77: it is not there, nothing was checked.
. scripts/viewers.sh
perfetto=${PERFETTO:-../shared/tools/perfetto}
[ -x "$perfetto" ] || viewers_skip "no importer at $perfetto (set PERFETTO)"
viewers_begin "$@"

# How many lines of the output are of these phases.
lines() {
	grep -c "\"ph\":\"[$1]\"" "$dir/out.json"
}

query() {
	"$perfetto" "$dir/out.json" "$1" 2>/dev/null
}

# differs WHAT GOT EXPECTED
differs() {
	[ "$2" = "$3" ] && return 1
	echo "$input: $1: $2 in the importer, $3 in the file"
}

# The importer has times of 63 bits: what ends later is an error there.
ends_too_late() {
	"$bin" info -q "$input" 2>/dev/null |
		awk '/^times:/ && $4 >= 9223372036854775807 { late = 1 } END { exit !late }'
}

failed=0
count=0
without=0
late=0
check() {
	ends_too_late && { late=$((late + 1)); return; }
	rm -f "$dir/out.json"
	"$bin" convert --quiet "$input" "$dir/out.json" >/dev/null 2>&1
	[ -s "$dir/out.json" ] || { without=$((without + 1)); return; }
	count=$((count + 1))
	if ! "$perfetto" "$dir/out.json" >"$dir/said" 2>&1; then
		echo "$input:"
		cat "$dir/said"
		failed=1
	fi
	# every event arrives; no row of the viewer is without a name
	set -- $(query "select (select count(*) from slice) || ' ' || (select count(*) from flow) || ' ' ||
		(select count(*) from thread_track join thread using (utid) where thread.name is null) || ' ' ||
		(select count(*) from thread_track join thread using (utid) join process using (upid)
			where process.name is null)" | tr -d '"')
	[ $# -eq 4 ] || { echo "$input: the importer gives no rows"; failed=1; return; }
	differs slices "$1" "$(lines Xib)" && failed=1
	differs arrows "$2" "$(lines tf)" && failed=1
	differs "threads without a name" "$3" 0 && failed=1
	differs "processes without a name" "$4" 0 && failed=1
}

# The parts of a directory hold the slices of the whole, and all have names.
check_parts() {
	whole=$(query "select count(*) from slice" | tr -d '"' | tail -n 1)
	rm -rf "$dir/out.json.d"
	"$bin" convert --quiet --part-size 2000 "$input" "$dir/out.json.d" >/dev/null 2>&1 || return
	sum=0
	for part in "$dir"/out.json.d/part-*.json; do
		set -- $("$perfetto" "$part" "select (select count(*) from slice) || ' ' || (select count(*) from
			thread_track join thread using (utid) where thread.name is null)" 2>/dev/null | tr -d '"' | tail -n 1)
		[ $# -eq 2 ] && [ "$2" -eq 0 ] || { echo "$input: $part: no slices, or threads without a name"; failed=1; return; }
		sum=$((sum + $1))
	done
	parts=$((parts + 1))
	differs "slices of all parts" "$sum" "$whole" && failed=1
}

parts=0
while read -r input; do
	check
	case $input in
	testdata/heph/good/mixed* | testdata/htdump/good/thread-ids* | testdata/dftracer/good/sound.pfw) check_parts ;;
	esac
done <"$dir/inputs"
[ "$parts" -gt 0 ] && echo "$parts directories of parts loaded"
echo "$count outputs loaded, $without inputs give none, $late end later than the importer can hold"
[ "$count" -gt 0 ] && exit $failed
exit 1
