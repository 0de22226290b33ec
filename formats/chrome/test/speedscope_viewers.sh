#!/bin/sh
# speedscope_viewers.sh BIN [INPUT...]: opens Chrome JSON in the page of the package speedscope: it adds up the
# calls of one name and equal arguments.  Without inputs: some good samples and real traces.  NODE_DIR: where the packages
# are, or are put.  Status 77: they cannot be had, nothing was checked.
. scripts/viewers.sh
here=$(dirname "$0")
if [ $# -eq 1 ]; then
	for input in testdata/heph/good/mixed.bin.log testdata/htdump/good/thread-ids.htdump \
		../shared/traces/htdump/two-threads.htdump ../shared/traces/heph/no-arrays.bin.log; do
		[ -e "$input" ] && set -- "$@" "$input"
	done
fi
viewers_begin "$@"
viewers_npm chrome speedscope puppeteer-core
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
	viewers_skip "chrome: no chromium to open the page of speedscope"

n=0
while read -r input; do
	n=$((n + 1))
	"$bin" convert --quiet --rebase --to chrome "$input" -o "$dir/$n.json" >/dev/null 2>&1
	[ -s "$dir/$n.json" ] && echo "$dir/$n.json"
done <"$dir/inputs" >"$dir/list"
node "$here/speedscope_viewers.mjs" "$modules" "$dir/list" "$chromium"
