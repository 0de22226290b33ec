#!/bin/sh
# How many lines of headers the author of a format has to read: at most 420 for a reader, 275 for a writer; and the lines
# of the three contracts among them, reader.h, writer.h and copier.h: at most 250 together.  Which headers a role reads,
# the documentation says: in a paragraph that begins with "Before you write a reader, read" (or "a writer").  Counted are
# all lines but blank ones, guards, includes, marks for clang-format, and the bodies of inline functions.
set -u
status=0
docs=$(ls README.md docs/*.md 2>/dev/null)

# headers WHO: the files that its paragraph names.
headers() {
	# shellcheck disable=SC2086 # a list of files
	awk -v start="Before you write a $1, read" '
		FNR == 1 || /^$/ { inside = 0 }
		index($0, start) { inside = 1 }
		inside' $docs | grep -o 'src/[a-z_/]*\.h' | sort -u
}

# lines FILE: how many there are to read.
lines() {
	awk '
		/^[ \t]*$/ { next }
		/^#/ && (!/^#[ \t]*define/ || /_H$/) { next }
		/^\/\* clang-format (on|off) \*\/$/ { next }
		/^static inline/ { function_follows = 1 }
		function_follows && /^{$/ { body = 1 }
		!body { n++ }
		/;$/ && !body { function_follows = 0 }
		/^}$/ && body { body = function_follows = 0 }
		END { print n + 0 }' "$1"
}

# total WHAT LIMIT FILE...
total() {
	what=$1
	limit=$2
	shift 2
	sum=0
	list=
	for file; do
		n=$(lines "$file")
		sum=$((sum + n))
		list="$list $(basename "$file") $n,"
	done
	echo "$what $sum lines of headers:${list%,}"
	if [ "$sum" -gt "$limit" ]; then
		echo "that is $((sum - limit)) more than the limit of $limit"
		status=1
	fi
}

# role WHO LIMIT
role() {
	# shellcheck disable=SC2046 # a list of files
	total "the author of a $1 reads" "$2" $(headers "$1")
	if [ "$sum" -eq 0 ]; then
		echo "no paragraph in $(echo $docs) begins with \"Before you write a $1, read\" and names headers"
		status=1
	fi
}

role reader 420
role writer 275
total "the contracts have" 250 src/format/reader.h src/format/writer.h src/format/copier.h
exit $status
