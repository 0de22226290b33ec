#!/bin/sh
# threads.sh BIN [EVERY]: checks that convert, top, stats, info, validate and merge give the same bytes, findings and status for 1, 2 and 7 threads, for
# every sample and real trace (or every EVERY-th) and every output format.  Prints differences, and reports of ThreadSanitizer.
set -u
bin=$1
every=${2:-1}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT INT TERM
formats=$("$bin" formats | awk '$2 == "write" || $3 == "write" { print $1 }')
[ -n "$formats" ] || { echo "no format can be written"; exit 1; }

inputs() {
	find testdata/*/good testdata/*/bad testdata/fuzz -type f ! -name '*.expect' ! -path '*/bad/*.json' 2>/dev/null
	find testdata/ovni -mindepth 2 -maxdepth 2 -type d 2>/dev/null
	find ../shared/traces -type f ! -name '*.md' ! -name '*.json' ! -name '*.prv' ! -name '*.pcf' ! -name '*.row' 2>/dev/null
	find ../shared/traces/ovni -mindepth 2 -maxdepth 2 -type d 2>/dev/null
}

# one INPUT FORMAT THREADS: into $dir/THREADS.out, a file or a directory, and .err
one() {
	rm -rf "$dir/out" "$dir/$3.out"
	case $2 in
	top) "$bin" top --threads "$3" "$1" >"$dir/out" 2>"$dir/$3.err" ;;
	policy) "$bin" validate --config testdata/policy/gate.yaml --threads "$3" "$1" >"$dir/out" 2>"$dir/$3.err" ;;
	stats) "$bin" stats --threads "$3" --format json "$1" >"$dir/out" 2>"$dir/$3.err" ;;
	*) "$bin" convert --keep-partial --threads "$3" --to "$2" "$1" "$dir/out" >/dev/null 2>"$dir/$3.err" ;;
	esac
	echo "status $?" >>"$dir/$3.err"
	[ -e "$dir/out" ] || : >"$dir/out"
	mv "$dir/out" "$dir/$3.out"
}

inputs | sort | awk "NR % $every == 0" >"$dir/inputs"
count=0
while read -r input; do
	for format in $formats top policy stats; do
		for n in 1 2 7; do
			one "$input" "$format" $n
			if grep -q 'ThreadSanitizer' "$dir/$n.err"; then
				echo "$input to $format, $n threads:"
				cat "$dir/$n.err"
				exit 1
			fi
			if ! diff -rq "$dir/1.out" "$dir/$n.out" >/dev/null || ! cmp -s "$dir/1.err" "$dir/$n.err"; then
				echo "$input to $format: the output for $n threads differs from one thread"
				diff "$dir/1.err" "$dir/$n.err"
				exit 1
			fi
		done
		count=$((count + 1))
	done
	! grep -qx 'status 0' "$dir/1.err" || echo "$input" >>"$dir/good"
done <"$dir/inputs"
[ "$count" -gt 0 ] || { echo "there are no inputs"; exit 1; }
# Both sides of a diff in parallel: each input and the one after it.
while read -r input && read -r other <&3; do
	for n in 1 2; do
		"$bin" diff --threads "$n" "$input" "$other" >"$dir/$n.out" 2>"$dir/$n.err"
		echo "status $?" >>"$dir/$n.err"
	done
	if grep -q 'ThreadSanitizer' "$dir/2.err" || ! cmp -s "$dir/1.out" "$dir/2.out" || ! cmp -s "$dir/1.err" "$dir/2.err"; then
		echo "diff of $input and $other: a race, or the output for 2 threads differs from one thread"
		cat "$dir/2.err"
		exit 1
	fi
	count=$((count + 1))
done <"$dir/inputs" 3<<EOF
$(sed 1d "$dir/inputs")
EOF
# Several traces in parallel: reports and messages are in the order of the traces.
for command in stats info 'stats --format json' validate 'merge --align start --to chrome -o -'; do
	inputs=$dir/inputs
	[ "${command%% *}" != merge ] || inputs=$dir/good
	for n in 1 2 7; do
		# shellcheck disable=SC2086
		xargs "$bin" $command --threads "$n" <"$inputs" >"$dir/$n.out" 2>"$dir/$n.err"
		echo "status $?" >>"$dir/$n.err"
		if grep -q 'ThreadSanitizer' "$dir/$n.err"; then
			cat "$dir/$n.err"
			exit 1
		fi
		if ! cmp -s "$dir/1.out" "$dir/$n.out" || ! cmp -s "$dir/1.err" "$dir/$n.err"; then
			echo "$command of all inputs: the output for $n threads differs from one thread"
			exit 1
		fi
	done
	count=$((count + 1))
done
echo "$count conversions and counts are the same for 1, 2 and 7 threads"
