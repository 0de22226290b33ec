#!/bin/sh
# fuzz.sh FOLDER SECONDS JOBS FORMAT...: runs FOLDER/fuzz_FORMAT that long for each format, some at a time, on its stored inputs.
# FUZZ_ARGS: further arguments.  What is new is kept in FOLDER/corpus-FORMAT, what breaks a promise in FOLDER/broken-FORMAT-*.  Status 1 if there is any.
set -eu
folder=$1 seconds=$2 jobs=$3
shift 3

# one FORMAT: its output is shown when it fails.
if [ "$1" = --one ]; then
	format=$2
	mkdir -p "$folder/corpus-$format"
	set --
	case $format in
		policy | table) beside=testdata/policy ;;
		vocabulary) beside=schemas ;;
		*) beside= ;;
	esac
	for dir in "testdata/fuzz/$format" "testdata/$format/good" "testdata/$format/bad" "$beside"; do
		[ -d "$dir" ] && set -- "$@" "$dir"
	done
	# shellcheck disable=SC2086 # a list of arguments
	if "$folder/fuzz_$format" ${FUZZ_ARGS:-} "-max_total_time=$seconds" -timeout=60 -rss_limit_mb=4096 \
		"-artifact_prefix=$folder/broken-$format-" "$folder/corpus-$format" "$@" >"$folder/log-$format" 2>&1; then
		echo "  FUZZ $format: $(grep '^Done' "$folder/log-$format")"
	else
		tail -n 60 "$folder/log-$format"
		echo "fuzzing $format failed; the input is $folder/broken-$format-*, the log $folder/log-$format"
		exit 1
	fi
	exit 0
fi
printf '%s\n' "$@" | xargs -P "$jobs" -I FORMAT sh "$0" "$folder" "$seconds" 1 --one FORMAT
