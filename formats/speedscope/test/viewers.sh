#!/bin/sh
# viewers.sh BIN [INPUT...]: converts traces to speedscope profiles, checks them with the schema of the package
# speedscope, and opens some in its page.  Without inputs: all good samples and real traces.  NODE_DIR: folder of the
# packages, which are installed there.  Status 77: they are not available, and nothing was checked.
. scripts/viewers.sh
here=$(dirname "$0")
viewers_begin "$@"
viewers_npm speedscope speedscope ajv puppeteer-core

n=0
while read -r input; do
	n=$((n + 1))
	"$bin" convert --quiet --rebase "$input" -o "$dir/$n.speedscope.json" >/dev/null 2>&1
	[ -s "$dir/$n.speedscope.json" ] && echo "$dir/$n.speedscope.json"
done <"$dir/inputs" >"$dir/list"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$chromium" ] && [ -d "$modules/node_modules/puppeteer-core" ] ||
	{ chromium=; echo "skipped: speedscope: no chromium, profiles are not opened in the page"; }
# shellcheck disable=SC2086 # empty: no argument
node "$here/viewers.mjs" "$modules" "$dir/list" $chromium
