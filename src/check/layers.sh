#!/bin/sh
# Includes point one way, and only formats/ names formats.  Prints what breaks this; status 1 then.
set -u
status=0

# only MESSAGE FILES ALLOWED [EXCEPT]: these files include only headers that match ALLOWED (and lists that lie in no
# folder), and none that match EXCEPT.
only() {
	# shellcheck disable=SC2086 # a list of files
	found=$(grep -HnE '^#include "' $2 /dev/null | grep -E -v "#include \"($3|[a-z_]*\.def\")" || true)
	if [ -n "${4-}" ]; then
		# shellcheck disable=SC2086
		found=$(echo "$found"; grep -HnE "^#include \"($4)" $2 /dev/null || true)
	fi
	if [ -n "$found" ]; then
		echo "$1"
		echo "$found"
		status=1
	fi
}

# files FOLDER: its C files but for tests.
files() {
	find "$1" -name '*.[ch]' ! -name '*_test.[ch]' | sort
}

# rule FOLDER ALLOWED...: files of src/FOLDER include only headers of these folders (and their own).
rule() {
	allowed=$(printf '%s/|' "$@")
	only "src/$1 may include only: $*" "$(files "src/$1")" "${allowed%|}"
}

rule base
rule json base
rule input base
rule output base
rule event base input
rule check base input output
rule yaml base input check
rule vocab base input event check yaml
rule format base input output event check vocab
rule pipeline base input json output event check format vocab
rule stats base input output event check format vocab pipeline
rule policy base json input output event check yaml format pipeline stats
rule compare base json input output event check format vocab pipeline
rule cmd base json input output event check format vocab pipeline compare stats policy
rule testing base
rule bench base format testing
rule faults base output format testing
rule fuzz base input output event check yaml format vocab pipeline compare stats testing

# A format sees format.h, fields_json.h, recover.h, call_stack.h, event_traits.h, trace_origin.h, value_map.h, base/, json/, output/text*.h, and its own folder.  What aids its tests, benchmarks and fuzzing (by
# name, see the Makefile) shares nothing with it, so that the one can check the other.
aid='[a-z0-9_/]*_(aids|build|samples[a-z0-9_]*|testdata|bench|oracle)\.[ch]'
for dir in formats/*/; do
	name=$(basename "$dir")
	own=$(files "$dir" | grep -vE "$aid\$")
	aids=$(files "$dir" | grep -E "$aid\$")
	only "$dir may include only its own headers (but for aids), base/, json/, format/format.h, format/fields_json.h, format/recover.h, event/call_stack.h, event/event_traits.h, event/trace_origin.h, event/value_map.h and output/text*.h" "$own" \
		"$name/|base/|json/|format/(format|fields_json|recover)\.h\"|event/(call_stack|event_traits|trace_origin|value_map)\.h\"|output/text[a-z0-9_]*\.h\"" "$aid\""
	only "aids of $name may include only others of it, base/ and testing/" "$aids" "$name/$aid\"|base/|testing/"
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

# Nothing below src/ names a format: not in code, whatever comments and tests say.
names="(^|[^a-z0-9_])($(sed -n 's/^FORMAT(\([a-z0-9_]*\)).*/\1/p' formats/formats.def | paste -sd'|'))(_|[^a-z0-9_]|\$)"
# A kind of report has the name of one.
reports='^src/(check/report_[a-z]+|cmd/reports|cmd/validate)\.[ch]:.*ndjson'
# shellcheck disable=SC2046
found=$(grep -HnE "$names" $(files src) | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*|//)' | sed 's|/\*.*\*/||' |
	grep -E "$names" | grep -vE "$reports" || true)
if [ -n "$found" ]; then
	echo "src/ names a format:"
	echo "$found"
	status=1
fi
exit $status
