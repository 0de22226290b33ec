#!/bin/sh
# viewers.sh BIN [INPUT...]: reads what traces are converted to with babeltrace2, and compares with stats.
# Without inputs: all good samples and real traces.  Status 77: babeltrace2 is not there, nothing was checked.
. scripts/viewers.sh
command -v babeltrace2 >/dev/null 2>&1 ||
	viewers_skip "no babeltrace2 (sh scripts/deps.sh babeltrace2 installs it)"
viewers_begin "$@"

# From the text of babeltrace2: events, spans, their durations.  Quotes within texts have a backslash, so what is
# between the last names of the context and the first of the fields cannot stand in a text.
seen() {
	LC_ALL=C awk '{ n++ }
		/:(span|async): \{ track = [0-9]/ && match($0, /", thread = "([^"\\]|\\.)*" }, { name = "([^"\\]|\\.)*", dur = [0-9]+/) {
			d = substr($0, RSTART, RLENGTH); sub(/.* /, "", d); spans++; sum += d }
		END { printf "%d %d %.0f\n", n, spans, sum }' "$dir/text"
}

# The same from another way through the program: statistics; and the events that are written as lines.
expected() {
	"$bin" stats --format json --quiet "$input" 2>/dev/null >"$dir/stats"
	"$bin" convert --quiet --to ndjson "$input" - 2>/dev/null |
		LC_ALL=C grep -cE '^\{"kind":"(span|async|begin|end|instant|counter|flow_out|flow_in|flow_step)"' >"$dir/count"
	sed -n '/^  "spans"/,/^  "instants"/p' "$dir/stats" |
		sed -n 's/.*,"count":\([0-9]*\),"dur_ns":{"sum":\([0-9]*\),.*/\1 \2/p' |
		LC_ALL=C awk -v n="$(cat "$dir/count")" '{ spans += $1; sum += $2 }
			END { printf "%d %d %.0f\n", n, spans, sum }'
}

failed=0
count=0
without=0
check() {
	rm -rf "$dir/out.ctf"
	"$bin" convert --quiet "$input" "$dir/out.ctf" >/dev/null 2>&1
	[ -f "$dir/out.ctf/metadata" ] || { without=$((without + 1)); return; }
	count=$((count + 1))
	if ! babeltrace2 --clock-seconds "$dir/out.ctf" >"$dir/text" 2>"$dir/said" || [ -s "$dir/said" ]; then
		echo "$input: babeltrace2 says:"
		head -n 5 "$dir/said"
		failed=1
		return
	fi
	got=$(seen)
	want=$(expected)
	[ "$got" = "$want" ] && return
	echo "$input: babeltrace2 shows $got (events, spans, ns), stats says $want"
	failed=1
}

while read -r input; do
	check
done <"$dir/inputs"
echo "$count outputs read by babeltrace2, $without inputs give none"
[ "$count" -gt 0 ] && exit $failed
exit 1
