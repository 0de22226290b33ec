#!/bin/sh
# page_viewers.sh BIN: makes pages of real traces, of samples, of broken, empty and hostile ones, and opens them in
# Chromium: no message, no request, sorting, searching, zooming, keys, both colour schemes, axe, figures as those of
# stats and folded stacks; html-validate and ESLint check page and script.  SHOTS: folder for pictures.  Status 77: nothing was checked.
. scripts/viewers.sh
chromium=$(command -v chromium || command -v chromium-browser) || viewers_skip "page: Chromium is not installed"
viewers_npm page puppeteer-core@24 axe-core@4 html-validate@9 eslint@9 @eslint/js@9 globals@17
viewers_begin "$1" /dev/null
failed=0

# page NAME STATUS ARGUMENT...
page() {
	name=$1 expected=$2
	shift 2
	"$bin" report -q "$@" -o "$dir/$name.html" 2>/dev/null
	status=$?
	[ "$status" -eq "$expected" ] || { echo "$name: status $status, not $expected"; failed=1; }
	[ -s "$dir/$name.html" ] || { echo "$name: no page"; failed=1; return; }
	size=$(wc -c <"$dir/$name.html")
	[ "$size" -le 5000000 ] || { echo "$name: $size bytes"; failed=1; }
	[ "$(grep -o '<script' "$dir/$name.html" | wc -l)" -eq 2 ] || { echo "$name: script elements"; failed=1; }
	! grep -Eqi '(src|href|action)="?(https?:)?//' "$dir/$name.html" || { echo "$name: a link"; failed=1; }
	! grep -Eqi '<[a-z][^>]* on[a-z]+=' "$dir/$name.html" || { echo "$name: a handler"; failed=1; }
	iconv -f UTF-8 -t UTF-8 "$dir/$name.html" >/dev/null || { echo "$name: not UTF-8"; failed=1; }
	"$bin" stats -q --format json "$1" >"$dir/$name.stats" 2>/dev/null
	echo "$name" >>"$dir/pages"
}

first() {
	for file; do
		case $file in *.expect) continue ;; esac
		[ -e "$file" ] && echo "$file" && return
	done
}

for format in htdump heph dial9 dftracer ovni chrome perfetto ndjson; do
	input=$(first "$real/$format"/metrics-service.bin "$real/$format"/cm1*80-preload.pfw.gz "$real/$format"/lighthouse-trace.json.gz "$real/$format"/track_event_tracks.pftrace \
		"$real"/ovni/*/ovni "$real/$format"/*.bin.log "$real/$format"/*.htdump testdata/$format/good/* )
	[ -n "$input" ] && page "$format" 0 "$input"
done
page broken 1 testdata/htdump/bad/bad-byte-order.htdump
: >"$dir/empty.json"
page empty 2 "$dir/empty.json"
node src/page/test/hostile.mjs "$dir/hostile.json" "$dir/many.json"
printf '[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":5,"name":"a"},{"ph":"X","pid":1,"tid":1,"ts":90128000000,"dur":5,"name":"b"}]' >"$dir/days.json"
page days 0 "$dir/days.json"
span='{"ph":"X","pid":1,"tid":1,"ts":%s,"dur":%s,"name":"%s"},'
{
	printf "[$span" 0 0.1 "$(printf 'L%.0s' $(seq 200))"
	printf "$span" 100 20 "$(printf '\360\237\230\200%.0s' $(seq 60))" 120 30 next 125 5 inside
	for i in $(seq 30); do printf "$span" "$((200 + i))" "$((99 - 2 * i))" "level $i"; done
	printf '{"ph":"C","pid":1,"ts":%s,"name":"c","args":{"v":%s}},' 0 1 1 5 2 2 1000000 2
	printf "$span" 1000000 1 last | sed 's/,$/]/'
} >"$dir/names.json"
page names 0 "$dir/names.json"
page hostile 0 "$dir/hostile.json"
page many 0 "$dir/many.json"
page profile 0 testdata/chrome/good/profile.json
page sampled 0 testdata/dial9/service.bin
for name in profile sampled; do
	input=testdata/dial9/service.bin
	[ $name = sampled ] || input=testdata/chrome/good/profile.json
	for kind in cpu off-cpu alloc; do
		"$bin" convert -q --to folded --stacks $kind $input -o - >"$dir/$name.$kind"
	done
done
page samples-compared 0 testdata/dial9/service.bin --against testdata/dial9/service.bin
page compared 0 testdata/htdump/good/overlapping.htdump --against testdata/htdump/good/overlapping.htdump
page two 0 testdata/htdump/good/overlapping.htdump "$dir/hostile.json"
rm -f "$dir/two.stats" # of one trace
"$bin" validate -q --report html="$dir/validated.html" testdata/htdump/bad/bad-byte-order.htdump >/dev/null 2>&1
[ -s "$dir/validated.html" ] && echo validated >>"$dir/pages" || { echo "validate: no page"; failed=1; }
for threads in 1 7; do
	"$bin" report -q --threads $threads "$dir/hostile.json" -o "$dir/threads$threads.html"
done
cmp "$dir/threads1.html" "$dir/threads7.html" || failed=1

cat >"$dir/rules.json" <<'END'
{ "extends": ["html-validate:recommended", "html-validate:a11y"], "rules": { "no-inline-style": "error", "long-title": "off", "prefer-native-element": "off" } }
END
for name in $(cat "$dir/pages"); do
	"$modules/node_modules/.bin/html-validate" -c "$dir/rules.json" "$dir/$name.html" >"$dir/said" || { echo "$name:"; head -n 20 "$dir/said"; failed=1; }
done
cat >"$dir/eslint.config.cjs" <<END
const modules = require('path').resolve('$modules') + '/node_modules/';
module.exports = [require(modules + '@eslint/js').configs.recommended, {
	languageOptions: { sourceType: 'script', globals: require(modules + 'globals').browser },
	rules: { 'no-restricted-properties': ['error', { property: 'innerHTML' }, { property: 'outerHTML' }], 'no-eval': 'error', 'no-implied-eval': 'error', eqeqeq: 'error', 'prefer-const': ['error', { destructuring: 'all' }] },
}];
END
cp src/report/page/page.js "$dir/page.js"
(modules=$(realpath "$modules") && cd "$dir" && sed -i "s,resolve('[^']*'),resolve('$modules')," eslint.config.cjs &&
	"$modules/node_modules/.bin/eslint" -c eslint.config.cjs page.js) || failed=1
node src/page/test/page.mjs "$modules" "$chromium" "$dir" "${SHOTS-}" || failed=1
[ $failed -eq 0 ] && echo "$(wc -l <"$dir/pages") pages opened in Chromium"
exit $failed
