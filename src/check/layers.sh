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
rule json base
rule input base
rule output base
rule event base input
rule check base input output
rule vocab base input event check
rule format base input output event check vocab
rule pipeline base input output event check format vocab
rule stats base input output event check format vocab pipeline
rule cmd base input output event check format vocab pipeline stats

# A format sees format.h, base/, json/ and output/text.h, and its own folder.
for dir in formats/*/; do
	name=$(basename "$dir")
	found=$(grep -nE '^#include "' "$dir"*.[ch] 2>/dev/null | grep -v '_test\.[ch]:' |
		grep -vE "#include \"($name/|base/|json/|format/format\.h|output/text\.h)" || true)
	if [ -n "$found" ]; then
		echo "$dir may include only its own headers, base/, json/, format/format.h and output/text.h"
		echo "$found"
		status=1
	fi
done

# The engine names no format: not in code, whatever comments and help texts say.
names=$(sed -n 's/^FORMAT(\([a-z0-9_]*\)).*/\1/p' formats/formats.def | paste -sd'|')
found=$(grep -nE "(^|[^a-z0-9_])($names)(_|[^a-z0-9_]|$)" src/*.[ch] src/*/*.[ch] | grep -v '_test\.[ch]:' |
	grep -vE '^src/(bench|fuzz)/' | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*|//)' | grep -vE '/\*.*\*/[[:space:]]*$' || true)
if [ -n "$found" ]; then
	echo "the engine names a format:"
	echo "$found"
	status=1
fi
exit $status
