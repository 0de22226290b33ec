#!/bin/sh
# viewers.sh BIN [INPUT...]: reads what traces are converted to with DuckDB, hyparquet and parquet-wasm (npm), and
# compares with stats, and with the CSV of the same trace.  Without inputs: all good samples and real traces.  Status 77:
# the programs cannot be had, nothing was checked.
. scripts/viewers.sh
viewers_begin "$@"
viewers_npm parquet @duckdb/node-api hyparquet hyparquet-compressors parquet-wasm apache-arrow

n=0
while read -r input; do
	n=$((n + 1))
	"$bin" convert "$input" "$dir/$n.parquet" >/dev/null 2>"$dir/said"
	[ -s "$dir/$n.parquet" ] || continue
	grep -q 'parquet/time-too-large' "$dir/said" && continue # stats has the true times
	"$bin" convert --quiet "$input" "$dir/$n.csv" >/dev/null 2>&1
	"$bin" convert --quiet "$input" "$dir/$n.parquet.d" >/dev/null 2>&1
	"$bin" stats --quiet --format json "$input" >"$dir/$n.json" 2>/dev/null
	printf '%s\t%s\n' "$dir/$n" "$input"
done <"$dir/inputs" >"$dir/list"
node "$(dirname "$0")/viewers.mjs" "$modules" "$dir/list"
