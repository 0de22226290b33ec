#!/bin/sh
# speedscope_viewers.sh BIN [INPUT...]: converts to speedscope profiles, checks them against the schema of the package
# speedscope, and opens some in its page.  Without inputs: all good samples and real traces.  NODE_DIR: where the packages
# are, or are put.  Status 77: they cannot be had, nothing was checked.
set -u
bin=$1
shift
modules=${NODE_DIR:-build/viewers}
here=$(dirname "$0")
skip() {
	echo "skipped: $1"
	exit 77
}
command -v node >/dev/null && command -v npm >/dev/null || skip "speedscope: node and npm are not installed"
if [ ! -d "$modules/node_modules/speedscope" ] || [ ! -d "$modules/node_modules/ajv" ]; then
	mkdir -p "$modules"
	timeout 40 npm install --silent --no-audit --no-fund --prefix "$modules" speedscope ajv puppeteer-core \
		>/dev/null 2>&1 || skip "speedscope: the npm package cannot be had"
fi
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT INT TERM

if [ $# -gt 0 ]; then
	printf '%s\n' "$@"
else
	find ../shared/traces/htdump ../shared/traces/heph ../shared/traces/dial9 ../shared/traces/dftracer -type f 2>/dev/null | sort
	find ../shared/traces/ovni -mindepth 2 -maxdepth 2 -type d 2>/dev/null | sort
	find testdata/*/good -type f ! -name '*.expect' | sort
fi >"$dir/inputs"
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
node "$here/speedscope_viewers.mjs" "$modules" "$dir/list" $chromium
