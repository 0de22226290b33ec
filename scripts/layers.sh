#!/bin/sh
# Includes point one way, only formats/ names formats, and only src/base uses extensions of the compiler and of the C library.  Prints what breaks this; status 1 then.
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

# files FOLDER: its C files, but for tests and what aids them.
files() {
	find "$1" -name '*.[ch]' ! -path '*/test/*' | sort
}

# aids FOLDER: what aids its tests.
aids() {
	find "$1" -path '*/test/*' -name '*.[ch]' ! -name '*_test.[ch]' ! -name '*_test_util.h' | sort
}

# rule FOLDER ALLOWED...: files of src/FOLDER include only headers of these folders (and their own), and none of tests.
rule() {
	allowed=$(printf '%s/|' "$@")
	only "src/$1 may include only: $*" "$(files "src/$1")" "${allowed%|}" '[a-z0-9_/]*/test/'
}

rule base
rule input base
rule output base
rule json base output
rule model base input json
rule check base input output
rule report base input json output check
rule yaml base input check
rule vocab base input output model check yaml
rule format base input output json model check vocab
rule out base json output model format
rule run base input json output model check format vocab
rule stats base input json output model check yaml format vocab run
rule page base output json model check format run stats
rule policy base json input output model check report yaml format run stats
rule compare base json input output model check format vocab run out
rule cli base json input output model check report format vocab run compare stats policy
rule cmd base input json output model check report format vocab run out compare stats page policy cli

only "what is counted does not depend on comparisons" "$(files src/stats | grep -v ^src/stats/change/)" '.*' 'yaml/|stats/change/'

# Stages of a run.  The order is: sort, meaning and nest, each by itself; read; choose and adjust; then what puts the stages
# together, src/run/pipeline.h, which none of them includes; write asks that for batches.
# stage FOLDER [FOLDER]...: files of src/run/FOLDER include of src/run/ only the job, the contract of a stage, losses, and
# headers of these folders (and their own).
stage() {
	below=$(printf 'run/%s/|' "$@")
	only "src/run/$1 may include of src/run/ only: job.h stage.h engine_losses.h and $*" "$(files "src/run/$1")" \
		"base/|input/|json/|output/|model/|check/|format/|vocab/|run/(job|stage|engine_losses)\.h\"|${below%|}"
}

stage sort
stage meaning
stage nest
stage read
stage choose read sort
stage adjust read
only "src/run/write may include of src/run/ only: pipeline.h read nest" "$(files src/run/write)" \
	'base/|input/|json/|output/|model/|check/|format/|vocab/|run/pipeline\.h"|run/(read|nest|write)/'
only "what is below all stages may include only stage.h of src/run/" "src/run/job.h src/run/stage.h src/run/engine_losses.h" \
	'base/|model/|check/|format/|run/(stage\.h|engine_losses\.def)"'

found=$(find src formats -name '*.[ch]' ! -path '*/test/*' -exec grep -Hn '"run/private\.h"' {} + | grep -v '^src/run/[a-z_]*\.c:' || true)
if [ -n "$found" ]; then
	echo "only src/run/*.c may include run/private.h"
	echo "$found"
	status=1
fi

# What is in src/test: programs and aids of tests.
test_rule() {
	allowed=$(printf 'test/%s/|' "$1")$(shift; printf '%s/|' "$@")
	only "src/test/$1 may include only: $*" "$(aids "src/test/$1")" "${allowed%|}"
}

test_rule support base
test_rule bench base format test/support
test_rule faults base output format test/support
test_rule fuzz base input output model check yaml format vocab run compare stats policy test/support

# A format sees format.h and the headers below, base/, json/, out/, output/text*.h, and its own folder.  Aids of its tests share
# nothing with it, so that the one can check the other.
below='base/|json/|out/|format/(cpu_profile|format|fields_json|recover)\.h"|input/unpack\.h"|model/(call_stack|event_traits|number|trace_origin|value)\.h"|output/text[a-z0-9_]*\.h"'
for dir in formats/*/; do
	name=$(basename "$dir")
	only "$dir may include only its own headers, base/, json/, out/, format/format.h, format/cpu_profile.h, format/fields_json.h, format/recover.h, input/unpack.h, model/call_stack.h, model/event_traits.h, model/number.h, model/trace_origin.h, model/value.h and output/text*.h" "$(files "$dir")" \
		"$name/|$below" "$name/test/"
	only "aids of $name may include only others of it, base/ and test/support/" "$(aids "$dir")" "$name/test/|base/|test/support/"
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

# A subfolder of a format sees its own headers, those below formats, and those headers and lists of the format that lie
# below it: that do not include its own.
for dir in formats/*/*/; do
	[ -d "$dir" ] && [ "$(basename "$dir")" != test ] || continue
	dir=${dir%/}
	name=$(basename "$(dirname "$dir")")
	files=$(ls "$dir"/*.[ch])
	found=$(grep -nE '^#include "' $files /dev/null |
		grep -vE "#include \"($name/([a-z0-9_]+/)?[a-z0-9_]+\.(h|def)\"|$below)" || true)
	if [ -n "$found" ]; then
		echo "$dir may include only its own headers, those of $name below it, and those that a format sees"
		echo "$found"
		status=1
	fi
	for h in $(sed -n "s|^#include \"\($name/[a-z0-9_/]*\.h\)\"|formats/\1|p" $files | grep -v "^$dir/" | sort -u); do
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
# Three kinds of report are named like formats.
reports='^src/(report/[a-z]+|cli/reports|cmd/validate)\.[ch]:.*ndjson|^src/cmd/(stats|compare|info)\.c:.*text.json.csv.md|^src/cmd/compare\.c:.*"folded"'
# shellcheck disable=SC2046
found=$(grep -HnE "$names" $(files src) | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*|//)' | sed 's|/\*.*\*/||' |
	grep -E "$names" | grep -vE "$reports" || true)
if [ -n "$found" ]; then
	echo "src/ names a format:"
	echo "$found"
	status=1
fi

# shellcheck disable=SC2046
found=$(grep -HnE '__attribute__|__builtin_|__int128|_GNU_SOURCE|_DEFAULT_SOURCE' $(files src | grep -v '^src/base/') $(files formats) || true)
if [ -n "$found" ]; then
	echo "extensions of the compiler have names in src/base/compiler.h, those of the C library in other headers of src/base:"
	echo "$found"
	status=1
fi
exit $status
