#!/bin/sh
# viewers.sh BIN [INPUT...]: reads converted traces with check.py, and compares them with the NDJSON output, and
# ovni traces with the output of ovni's emulator.  Without inputs: all good samples and real traces.  Status 77:
# there is no python3, and nothing was checked.
. scripts/viewers.sh
command -v python3 >/dev/null 2>&1 || viewers_skip "no python3"
viewers_begin "$@"

failed=0
count=0
without=0
check() {
	rm -rf "$dir/out.paraver"
	"$bin" convert --quiet "$input" "$dir/out.paraver" >/dev/null 2>&1
	[ -f "$dir/out.paraver/trace.prv" ] || { without=$((without + 1)); return; }
	"$bin" convert --quiet --to ndjson "$input" - 2>/dev/null >"$dir/lines"
	count=$((count + 1))
	python3 formats/paraver/test/check.py "$dir/out.paraver" "$dir/lines" >"$dir/said" 2>&1 && return
	echo "$input: $(head -c 2000 "$dir/said")"
	failed=1
}

# Compares the intervals of threads with the emulator's, if its output of the trace is available.
emulated=0
compare_emulated() {
	packed=../shared/traces/ovni-paraver/${input##*/}.tar.gz
	[ -f "$packed" ] || return
	mkdir -p "$dir/emulated"
	tar -xzf "$packed" -C "$dir/emulated" || { failed=1; return; }
	emulated=$((emulated + 1))
	python3 formats/paraver/test/check.py --emulated "$dir/out.paraver" "$dir/emulated" >"$dir/said" 2>&1 && return
	echo "$input: $(head -c 2000 "$dir/said")"
	failed=1
}

while read -r input; do
	check
	case $input in
	*/traces/ovni/good/*) compare_emulated ;;
	esac
done <"$dir/inputs"
echo "$count outputs read, $without inputs give none; $emulated compared with the emulator of ovni"
[ "$count" -gt 0 ] && exit $failed
exit 1
