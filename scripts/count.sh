#!/bin/sh
# count.sh: lines and files of the tree, as a table.  Production is what tracetool is linked from; tests are *_test.c and what
# only they include; aids are the other files of test/ folders.  Generated files, documents and test data are not counted.
set -u
list() {
	find src formats \( -name '*.c' -o -name '*.h' -o -name '*.def' \) -type f | LC_ALL=C sort
}
row() {
	files=$(cat)
	if [ -z "$files" ]; then n=0; lines=0; else
		n=$(echo "$files" | wc -l)
		# shellcheck disable=SC2086 # a list of files without blanks
		lines=$(cat $files | wc -l)
	fi
	printf '%-24s %6d files %8d lines\n' "$1" "$n" "$lines"
}
list | grep -v '/test/' | row production
list | grep -v '/test/' | grep '\.h$' | row '  of these, headers'
list | grep '/test/' | grep '_test\(_util\)\?\.[ch]$' | row tests
list | grep '/test/' | grep -v '_test\(_util\)\?\.[ch]$' | row 'aids of tests'
find src formats -name '*.test' | row 'tests of commands, text'
find formats -path '*/test/samples/*' -type f | row 'samples, text'
echo
echo 'production by folder'
for folder in src/* src/run/* formats/*; do
	[ -d "$folder" ] && [ "$folder" != src/test ] && [ "$folder" != src/run/test ] || continue
	list | grep "^$folder/" | grep -v '/test/' | row "  $folder"
done
echo
# Folders with more entries than a reader takes in at once.
for folder in src formats $(find src formats -type d); do
	n=$(ls "$folder" | wc -l)
	[ "$n" -le 20 ] || echo "$folder has $n entries, more than 20"
done | sort -u
