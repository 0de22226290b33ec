#!/bin/sh
# same.sh OLD NEW [EVERY]: two builds of tracetool do the same: output files, standard output, messages and status of all
# commands and output formats, over testdata/ and the real traces (or each EVERY-th of them), byte for byte.  Prints what differs, and
# how many comparisons there were; status 1 if any differs.  Differences that are meant are listed in the commit that makes them.
set -u
old=$(realpath "$1") new=$(realpath "$2") every=${3:-1}
traces=${TRACES:-../shared/traces}
work=$(mktemp -d "${TMPDIR:-/tmp}/same.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT INT TERM

inputs() {
	find testdata/*/good testdata/*/bad testdata/fuzz -type f ! -name '*.expect' 2>/dev/null
	find testdata/ovni/folders -mindepth 1 -maxdepth 1 -type d 2>/dev/null
	find testdata/dial9 testdata/dftracer -maxdepth 1 -type f 2>/dev/null
	find "$traces" -type f ! -name '*.md' ! -name 'EXPECTED*' ! -name '*.prv' ! -name '*.pcf' ! -name '*.row' 2>/dev/null
	find "$traces/ovni" -mindepth 2 -maxdepth 2 -type d 2>/dev/null
}

# Both builds work in a folder of the same name, so that what they print has the same paths.
cat >"$work/one.sh" <<'END'
work=$1 old=$2 new=$3 formats=$4 input=$5
here=$(mktemp -d "$work/job.XXXXXX")
status=0
n=0

# both ARGUMENTS...: @O is the folder of outputs.
both() {
	for side in old new; do
		eval "bin=\$$side"
		mkdir "$here/o"
		(ulimit -t 60; "$bin" $(printf '%s\n' "$@" | sed "s|@O|$here/o|")) >"$here/o/stdout" 2>"$here/o/stderr" </dev/null
		echo $? >"$here/o/status"
		mv "$here/o" "$here/$side"
	done
	n=$((n + 1))
	if ! diff -r "$here/old" "$here/new" >"$here/diff" 2>&1; then
		echo "DIFFERS: $* $(sed 3q "$here/diff" | cut -c1-300)"
		status=1
	fi
	rm -rf "$here/old" "$here/new"
}

if [ "$input" = - ]; then
	for c in '' help validate stats cat info diff convert merge recover rules explain formats vocabulary; do both $c --help; both $c --no-such-option; done
	both --version
	both rules
	both rules --json
	both explain '*'
	both formats
	both formats --json
	both formats --matrix
	both formats --matrix --json
	for f in $formats; do both vocabulary show "$f"; both formats "$f"; both explain "$f/*"; done
else
	both validate "$input"
	both validate -q --report json=@O/r.json --report sarif=@O/r.sarif --report junit=@O/r.xml --report markdown=@O/r.md \
		--report github=@O/r.txt --report gitlab=@O/r.gl "$input"
	both stats "$input"
	both stats --json "$input"
	both cat "$input"
	both cat --raw "$input"
	both cat --json "$input"
	both info "$input"
	both info --json --digest "$input"
	both recover --report json=@O/r.json "$input" @O/recovered
	for f in $formats; do both convert --to "$f" "$input" @O/out; done
	both convert --raw --to ndjson "$input" @O/out
	both convert --rebase --to chrome "$input" @O/out
	both convert --since 25% --until 75% --losses @O/l.json --to ndjson "$input" @O/out
	both diff "$input" "$input"
fi
rm -rf "$here"
echo "$n" >>"$work/counts"
exit $status
END
formats=$("$old" formats | awk '$2 == "write" || $3 == "write" { print $1 }' | tr '\n' ' ')
[ -n "$formats" ] || { echo "no format can be written"; exit 2; }
{ echo -; inputs | LC_ALL=C sort | awk "NR % $every == 0"; } >"$work/inputs"
xargs -P "$(nproc)" -I INPUT sh "$work/one.sh" "$work" "$old" "$new" "$formats" INPUT <"$work/inputs" || bad=1
awk -v bad="${bad:-0}" '{ n += $1 } END { print n " comparisons" (bad ? ", and not all are the same" : ", all the same"); exit bad }' "$work/counts"
