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

# A format sees format.h, base/ and output/text.h, and its own folder.
for dir in formats/*/; do
	name=$(basename "$dir")
	found=$(grep -nE '^#include "' "$dir"*.[ch] 2>/dev/null | grep -v '_test\.[ch]:' |
		grep -vE "#include \"($name/|base/|format/format\.h|output/text\.h)" || true)
	if [ -n "$found" ]; then
		echo "$dir may include only its own headers, base/, format/format.h and output/text.h"
		echo "$found"
		status=1
	fi
done

# headers FILE: the headers of formats/ that a file includes, and those that these include.
headers() {
	seen=""
	left=$(sed -n 's|^#include "\(.*/.*\)"|formats/\1|p' "$1")
	while [ -n "$left" ]; do
		next=""
		for h in $left; do
			case " $seen " in *" $h "*) continue ;; esac
			[ -f "$h" ] || continue
			seen="$seen $h"
			next="$next $(sed -n 's|^#include "\(.*/.*\)"|formats/\1|p' "$h")"
		done
		left=$(echo $next)
	done
	echo "$seen"
}

# A subfolder of a format sees its own headers, base/, format.h, and those headers of the format that lie below it:
# that do not include its own.
for dir in formats/*/*/; do
	[ -d "$dir" ] || continue
	dir=${dir%/}
	name=$(basename "$(dirname "$dir")")
	part=${dir#formats/}
	files=$(ls "$dir"/*.[ch] | grep -v '_test\.[ch]$')
	found=$(grep -nE '^#include "' $files /dev/null |
		grep -vE "#include \"($part/[a-z0-9_]+\.h|$name/[a-z0-9_]+\.h|base/.*|format/format\.h)\"" || true)
	if [ -n "$found" ]; then
		echo "$dir may include only its own headers, those of $name below it, base/ and format/format.h"
		echo "$found"
		status=1
	fi
	for h in $(sed -n "s|^#include \"\($name/[a-z0-9_]*\.h\)\"|formats/\1|p" $files | sort -u); do
		case "$(headers "$h")" in
		*" $dir/"*)
			echo "$h includes headers of $dir, which includes it"
			status=1
			;;
		esac
	done
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
