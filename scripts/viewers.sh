# Sourced by formats/*/*_viewers.sh BIN [INPUT...], from the root of the tree.
# Sets: bin; dir, a folder that goes away; $dir/inputs, what to convert, a path a line: all good samples and real traces
# (but Chrome JSON of other producers, whose ids of arrows are not joined as Perfetto joins them, and Perfetto's own, which make check-judge compares), unless INPUTs are given.  A script ends with status 77 if nothing can be checked.
# shellcheck shell=sh disable=SC2034 # who sources it uses them
set -u
real=../shared/traces

# viewers_inputs [INPUT...]: into $dir/inputs
viewers_inputs() {
	if [ $# -gt 0 ]; then
		printf '%s\n' "$@"
	else
		find testdata/*/good -type f ! -name '*.expect' ! -path 'testdata/ovni/*' ! -path 'testdata/perfetto/*' \
			! -path testdata/chrome/good/order.json 2>/dev/null
		find testdata/ovni/good -mindepth 1 -maxdepth 1 ! -name '*.expect' 2>/dev/null
		find $real -type f ! -name '*.md' ! -name 'EXPECTED.json' ! -path '*/ovni*' ! -path '*/chrome/*' \
			! -path '*/perfetto/*' 2>/dev/null
		find $real/ovni -mindepth 2 -maxdepth 2 -type d 2>/dev/null
		[ -d $real ] || echo "skipped: no real traces at $real" >&2
	fi | sort >"$dir/inputs"
}

# viewers_begin BIN [INPUT...]
viewers_begin() {
	bin=$1
	shift
	dir=$(mktemp -d) || exit 2
	trap 'rm -rf "$dir"' EXIT INT TERM
	viewers_inputs "$@"
}

# viewers_skip WHY: nothing can be checked.
viewers_skip() {
	echo "skipped: $1"
	exit 77
}

# viewers_npm WHAT PACKAGE...: the packages are below $modules/node_modules.  NODE_DIR: where they are, or are put.
viewers_npm() {
	what=$1
	shift
	modules=${NODE_DIR:-build/viewers}
	command -v node >/dev/null && command -v npm >/dev/null || viewers_skip "$what: node and npm are not installed"
	missing=
	for package in "$@"; do
		[ -d "$modules/node_modules/${package%@[0-9]*}" ] || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	mkdir -p "$modules"
	# shellcheck disable=SC2086 # a list
	timeout 120 npm install --silent --no-audit --no-fund --prefix "$modules" $missing >/dev/null 2>&1 ||
		viewers_skip "$what: the npm packages cannot be had:$missing"
}
