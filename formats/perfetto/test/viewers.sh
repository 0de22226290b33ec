#!/bin/sh
# What tracetool writes for Perfetto, opened by Perfetto's own importer and by protoc.  Prints what differs from the
# Chrome JSON of the same trace; status 1 then, 77 if neither is there.  usage: perfetto_viewers.sh BIN [INPUT...]
# PERFETTO: a program that loads a trace (status 1: import errors) and answers SQL: PERFETTO TRACE [SQL]...
. scripts/viewers.sh
viewers_begin "$@"
importer=${PERFETTO:-../shared/tools/perfetto}
status=0
traces=0

say() {
	echo "$*"
	status=1
}

# Arguments that the JSON says otherwise: empty ones vanish there, true ids are added, and the number of a record stands
# beside the arguments.
args="select count(*) from args join slice using (arg_set_id) where (key like 'debug.%' or key like 'args.%')
	and key not like '%true_tid%' and replace(replace(key, 'debug.', ''), 'args.', '')
	not in ('id', 'event_id', 'stream_counter') and coalesce(display_value, 'null') not in ('[]', '{}', 'null')"
name="replace(name, '[No name]', '')" # as the JSON's importer calls what has an empty name
category="replace(coalesce(category, ''), 'no category', '')" # as the JSON calls that of events without one
# Of spans with the same times the later one is around the earlier one in Perfetto's format, and inside in the importer
# of JSON: their depths are summed.
ask() {
	"$importer" "$1" \
		"select 'slices', count(*), sum(dur) from slice" \
		"select 'names', $name n, $category c, count(*), sum(dur) from slice group by 2, 3 order by 2, 3" \
		"select 'depths', n, sum(depth) from (select min($name) over (partition by track_id, ts, dur) n, depth
			from slice where dur > 0) group by 2 order by 2" \
		"select 'counters', count(*), sum(value) from counter" \
		"select 'flows', a.name, b.name, count(*) from flow f join slice a on a.id = f.slice_out
			join slice b on b.id = f.slice_in group by 2, 3 order by 2, 3" \
		"select 'processes', name, count(*) from process where upid > 0 group by 2 order by 2" \
		"select 'arguments', ($args)"
}

import() {
	# information too: events of tracks that are not there, and arrows that do not bind, are counted as nothing else
	"$importer" "$dir/a.pftrace" > "$dir/errors" || say "$1: $(cat "$dir/errors")"
	"$importer" "$dir/a.json" > "$dir/errors" || { echo "$1: the JSON has import errors, not compared"; return; }
	ask "$dir/a.pftrace" > "$dir/got"
	ask "$dir/a.json" > "$dir/expected"
	diff "$dir/expected" "$dir/got" > "$dir/diff" || say "$1: not as the JSON says: $(head -n 10 "$dir/diff")"
}

# Fields that the excerpt does not know are shown as numbers.
decode() {
	protoc --proto_path=formats/perfetto/test --decode=Trace perfetto.proto < "$dir/a.pftrace" > "$dir/text" ||
		say "$1: protoc does not decode it"
	if grep -Eq '^ *[0-9]+(:| \{)' "$dir/text"; then
		say "$1: fields that the schema does not know"
	fi
}

has_importer=no
has_protoc=no
if [ -x "$importer" ]; then has_importer=yes; else echo "skipped: no importer of Perfetto ($importer)"; fi
if command -v protoc > /dev/null; then has_protoc=yes; else echo "skipped: no protoc (protobuf-compiler)"; fi
[ $has_importer$has_protoc != nono ] || exit 77
while read -r trace; do
	case $trace in
	*max-integers* | */ovni/bad/* | */ovni/state/*) continue ;;
	esac
	"$bin" convert -f --quiet "$trace" "$dir/a.pftrace" 2> /dev/null
	[ $? -le 1 ] && [ -s "$dir/a.pftrace" ] || continue
	"$bin" convert -f --quiet "$trace" "$dir/a.json" 2> /dev/null
	traces=$((traces + 1))
	[ $has_importer = no ] || import "$trace"
	[ $has_protoc = no ] || decode "$trace"
	rm -f "$dir/a.pftrace" "$dir/a.json"
done <"$dir/inputs"
[ $traces -gt 0 ] || say "no traces were converted"
echo "perfetto: $traces traces"
exit $status
