#!/bin/sh
# matrix.sh BIN: every good sample and real trace, converted to every format that can be read, with --verify: the output
# is read back, and nothing differs but what its losses declare.  Times before 0, which some formats cannot have, are rebased.
# Prints what differs.
set -u
bin=$1
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT INT TERM
formats=$("$bin" formats | awk '$2 == "read" && $3 == "write" { print $1 }')
[ -n "$formats" ] || { echo "no format can be read and written"; exit 1; }

inputs() {
	find testdata/*/good -type f ! -name '*.expect' ! -path 'testdata/ovni/*' 2>/dev/null
	find testdata/ovni/good -mindepth 1 -maxdepth 1 2>/dev/null
	find ../shared/traces -type f ! -name '*.md' ! -name '*.json' ! -path '*/ovni*' 2>/dev/null
	find ../shared/traces/ovni -mindepth 2 -maxdepth 2 -type d 2>/dev/null
}

# convert FORMAT INPUT [OPTION]
convert() {
	rm -rf "$dir/out"
	"$bin" convert -q --verify --keep-partial --to "$1" "$2" "$dir/out" ${3-} >/dev/null 2>"$dir/err"
}

inputs | sort >"$dir/inputs"
count=0
bad=0
while read -r input; do
	for format in $formats; do
		convert "$format" "$input"
		status=$?
		if [ $status -eq 3 ] && grep -q 'use --rebase$' "$dir/err"; then
			convert "$format" "$input" --rebase
			status=$?
		fi
		count=$((count + 1))
		# 1: findings in the input; 2 with an output: part of it could not be read
		if [ $status -gt 1 ] && { [ $status -ne 2 ] || [ ! -e "$dir/out" ]; }; then
			bad=$((bad + 1))
			echo "$input to $format: status $status"
			head -n 5 "$dir/err"
		fi
	done
done <"$dir/inputs"
echo "$count conversions verified, $bad of them with differences that no loss declares"
[ "$bad" -eq 0 ]
