#!/bin/sh
# Includes point one way, and the engine names no format.  Prints what breaks this; status 1 then.
set -u
status=0

# rule FOLDER ALLOWED...: files of src/FOLDER include only headers of these folders (and their own).
rule() {
	folder=$1
	shift
	allowed="$folder"
	for a; do
		allowed="$allowed|$a"
	done
	found=$(grep -nE '^#include "[a-z]+/' src/"$folder"/*.[ch] 2>/dev/null | grep -v '_test\.[ch]:' |
		grep -vE "#include \"($allowed)/" || true)
	if [ -n "$found" ]; then
		echo "src/$folder may include only: $allowed"
		echo "$found"
		status=1
	fi
}

rule base
rule input base
rule output base
rule event base input
rule check base input output
rule vocab base input event check
rule format base input output event check vocab
rule pipeline base input output event check format vocab
rule stats base input output event check format vocab pipeline
rule cmd base input output event check format vocab pipeline stats
rule testing base
rule bench base format testing
rule fuzz base input output event check format vocab pipeline stats testing

# format_rule WHAT FILES ALLOWED...: of formats/X these files include only their own headers and what the patterns allow.
format_rule() {
	what=$1
	files=$2
	shift 2
	allowed=$(printf '|%s' "$@")
	for file in $files; do
		name=${file#formats/}
		found=$(grep -nE '^#include "' "$file" | grep -vE "#include \"(${name%%/*}/$allowed)" || true)
		if [ -n "$found" ]; then
			echo "$file: $what may include only its own headers and these: $*"
			echo "$found"
			status=1
		fi
	done
}

# A format sees format.h, base/ and output/text.h.  What only aids tests, benchmarks and fuzzing (the Makefile lists the
# names) shares nothing with the readers, so that the one can check the other.
aids='_(aids|build|samples[a-z0-9_]*|testdata|bench|oracle)\.[ch]'
all=$(find formats -name '*.[ch]' | sort | grep -v '_test\.[ch]$')
format_rule "a format" "$(echo "$all" | grep -vE "$aids\$")" base/ 'format/format\.h"' 'output/text\.h"'
found=$(grep -nE '^#include "' $(echo "$all" | grep -E "$aids\$") /dev/null |
	grep -vE "#include \"(testing/.*|[a-z0-9_/]*$aids)\"" || true)
if [ -n "$found" ]; then
	echo "what aids tests of a format may include only its like and testing/:"
	echo "$found"
	status=1
fi
# shellcheck disable=SC2046 # a list of files
found=$(grep -nE "^#include \".*$aids\"" $(echo "$all" | grep -vE "$aids\$") /dev/null || true)
if [ -n "$found" ]; then
	echo "a format may not include what only aids tests:"
	echo "$found"
	status=1
fi

# The engine names no format: not in code, whatever comments and help texts say.
names=$(sed -n 's/^FORMAT(\([a-z0-9_]*\)).*/\1/p' formats/formats.def | paste -sd'|')
found=$(grep -nE "(^|[^a-z0-9_])($names)(_|[^a-z0-9_]|$)" src/*.[ch] src/*/*.[ch] | grep -v '_test\.[ch]:' |
	grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*|//)' | grep -vE '/\*.*\*/[[:space:]]*$' || true)
if [ -n "$found" ]; then
	echo "the engine names a format:"
	echo "$found"
	status=1
fi
exit $status
