#!/bin/sh
# How many lines of headers the author of a format has to read: at most 420 for a reader, 275 for a writer.  Which
# headers these are, the documentation says: in a paragraph that begins with "Before you write a reader, read" (or "a
# writer").  Counted are all lines but blank ones, guards, includes, marks for clang-format, and the bodies of inline
# functions.
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

# role WHO LIMIT
role() {
	sum=0
	list=
	for file in $(headers "$1"); do
		n=$(lines "$file")
		sum=$((sum + n))
		list="$list $(basename "$file") $n,"
	done
	echo "the author of a $1 reads $sum lines of headers:${list%,}"
	if [ "$sum" -eq 0 ]; then
		echo "no paragraph in $(echo $docs) begins with \"Before you write a $1, read\" and names headers"
		status=1
	elif [ "$sum" -gt "$2" ]; then
		echo "that is $((sum - $2)) more than the limit of $2"
		status=1
	fi
}

role reader 420
role writer 275
exit $status
