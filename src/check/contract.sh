#!/bin/sh
# How many lines of headers the author of a format has to read: at most 400 for a reader, 200 for a writer.  Counted are
# declarations and comments: not blank lines, not those of the preprocessor, and not the bodies of inline functions.  A
# header may end in parts that formats do not need, behind a line /* ---- for the engine ---- */.
set -u

# Too many lines are an error only once both sums have been below their limits.
fails=0

status=0

# lines FILE [PART]: the lines to read of a header, without the part that "---- PART ----" begins (up to the next part).
lines() {
	awk -v skip="/* ---- ${2:-for the engine} ---- */" '
		/^\/\* ---- for the engine ---- \*\/$/ { exit }
		/^\/\* ---- .* ---- \*\/$/ { skipped = $0 == skip }
		skipped || /^[ \t]*$/ || /^#/ { next }
		/^static inline/ { function_follows = 1 }
		function_follows && /^{$/ { body = 1 }
		!body { n++ }
		/;$/ && !body { function_follows = 0 }
		/^}$/ && body { body = function_follows = 0 }
		END { print n + 0 }' "$1"
}

# role WHO LIMIT OTHER FILE...: what the author of a WHO reads; of format.h all but the part OTHER.
role() {
	who=$1
	limit=$2
	other=$3
	shift 3
	sum=0
	list=
	for file; do
		n=$(lines "$file" "$other")
		sum=$((sum + n))
		list="$list $(basename "$file") $n,"
	done
	echo "the author of a $who reads $sum lines of headers:${list%,}"
	if [ "$sum" -gt "$limit" ]; then
		echo "that is $((sum - limit)) more than the limit of $limit"
		status=$fails
	fi
}

role reader 400 writing src/format/format.h src/event/event.h src/event/batch.h src/event/trace.h src/check/finding.h \
	src/input/input.h src/base/cursor.h src/base/slice.h
role writer 200 reading src/format/format.h src/format/ledger.h src/event/event.h src/event/batch.h src/event/trace.h \
	src/output/text.h src/base/slice.h
exit $status
