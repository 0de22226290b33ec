#!/bin/sh
# scale_viewers.sh BIN: what docs/scale-out.md says, over 1,000 traces: converts them, one process for each, stopped and
# started again, and asks DuckDB its question.  Status 77: node or DuckDB cannot be had, nothing was checked.
. scripts/viewers.sh
viewers_begin "$1" /dev/null
viewers_npm parquet @duckdb/node-api
. formats/parquet/test/scale_parts.sh
modules=$(cd "$modules" && pwd)
mkdir "$dir/bin" && cp "$bin" "$dir/bin/tracetool" || exit 2
PATH=$dir/bin:$PATH
cd "$dir" || exit 2
failed=0
wrong() {
	echo "scale-out: $*"
	failed=1
}

ranks=1000
make_ranks $ranks
block "sh jobs" >jobs.sh
block "sh xargs" >convert.sh
block "sh missing" >missing.sh
block "sql duckdb" >question.sql
[ -s jobs.sh ] && [ -s convert.sh ] && [ -s missing.sh ] && [ -s question.sql ] || wrong "a block of the page is missing"
sh jobs.sh
[ "$(wc -l <jobs.txt)" -eq $ranks ] || wrong "jobs.txt has not $ranks lines"

# Stopped on the way: what has its name is whole.
timeout 300 sh convert.sh 2>/dev/null &
run=$!
while [ "$(ls parts | wc -l)" -lt 100 ] && kill -0 $run 2>/dev/null; do
	sleep 0.05
done
kill $run 2>/dev/null
wait $run 2>/dev/null
stopped=-1
while [ "$stopped" -ne "$(ls -A parts | wc -l)" ]; do # those that were told to end may take a moment
	stopped=$(ls -A parts | wc -l)
	sleep 1
done
stopped=$(ls parts | wc -l)
for part in parts/*.parquet; do
	[ ! -e "$part" ] || [ "$(head -c 4 "$part")$(tail -c 4 "$part")" = PAR1PAR1 ] || wrong "$part is not whole"
done
[ "$(sh missing.sh | wc -l)" -eq $((ranks - stopped)) ] || wrong "the missing parts are not those that are not there"

# Started again: the rest is made, what was there stays.
ls -i parts >before
sh convert.sh || wrong "the conversion failed"
ls -i parts >after
[ "$(ls parts | wc -l)" -eq $ranks ] || wrong "there are $(ls parts | wc -l) parts"
[ -z "$(sh missing.sh)" ] || wrong "parts are missing"
[ "$(sort before after | uniq -d | wc -l)" -eq "$stopped" ] || wrong "a part was made again"
[ -z "$(ls -A parts | grep -v '^part-')" ] || wrong "something was left behind"

# The answer.
node "$root/formats/parquet/test/query.mjs" "$modules" question.sql >got || wrong "DuckDB fails"
awk -F '\t' '{ printf "%s\t%s\t%d\t%.0f\t%.3f\n", $1, $2, $3, $4, $5 }' got | LC_ALL=C sort >got.sorted
what_must_be | LC_ALL=C sort >expected
[ -s expected ] && cmp -s expected got.sorted ||
	wrong "DuckDB says otherwise: $(diff expected got.sorted | head -n 4)"

if command -v parallel >/dev/null 2>&1; then
	head -n 40 jobs.txt >some && sed 's|parts/|again/|' some >jobs.txt
	mkdir again
	block "sh parallel" >parallel.sh
	sh parallel.sh || wrong "GNU parallel fails"
	[ "$(ls again | wc -l)" -eq 40 ] || wrong "GNU parallel made $(ls again | wc -l) parts"
	cmp -s parts/part-00017.parquet again/part-00017.parquet || wrong "GNU parallel made another part"
else
	echo "skipped: scale-out: no GNU parallel"
fi
echo "scale-out: $(wc -l <got) answers over $ranks files; $stopped of them were there before the second run"
exit $failed
