#!/bin/sh
# The reports of BIN, as programs judge them that services use: the SARIF schema and multitool (npm packages), Jenkins' idea of
# JUnit by xmllint.  What is not installed is skipped with a line.
set -u
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0

fail() {
	echo "$1"
	status=1
}

"$bin" validate --report "sarif=$dir/bad.sarif" --report "junit=$dir/bad.xml" --report "gitlab=$dir/bad.json" \
	testdata/*/bad testdata/*/good nowhere >/dev/null 2>&1
"$bin" validate --config testdata/policy/frames.yaml --baseline testdata/policy/base.json --report "sarif=$dir/policy.sarif" \
	--report "junit=$dir/policy.xml" testdata/*/good >/dev/null 2>&1
"$bin" validate --report "sarif=$dir/good.sarif" --report "junit=$dir/good.xml" --report "gitlab=$dir/good.json" \
	testdata/htdump/good/wire-little.htdump >/dev/null 2>&1 || fail "a sound trace has findings"

if command -v xmllint >/dev/null 2>&1; then
	xmllint --noout --nonet "$dir/bad.xml" "$dir/policy.xml" "$dir/good.xml" || fail "JUnit: not well-formed"
else
	echo "check-reports: no xmllint; JUnit is not checked"
fi

# NODE_PACKAGES: a folder in which npm installed @microsoft/sarif-multitool, ajv and ajv-formats.
packages=${NODE_PACKAGES:-$dir/npm}
if [ -z "${NODE_PACKAGES:-}" ] && command -v npm >/dev/null 2>&1; then
	mkdir -p "$packages"
	(cd "$packages" && npm install --silent --no-audit --no-fund @microsoft/sarif-multitool ajv ajv-formats) >/dev/null 2>&1
fi
schema=$(find "$packages/" -name sarif-2.1.0.json 2>/dev/null | head -n 1)
tool=$(find "$packages/" -path '*sarif-multitool-linux/Sarif.Multitool' 2>/dev/null | head -n 1)

if [ -n "$schema" ] && [ -d "$packages/node_modules/ajv" ]; then
	cat > "$packages/check-sarif.mjs" <<'EOF'
import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
const check = ajv.compile(JSON.parse(readFileSync(process.argv[2])));
for (const f of process.argv.slice(3)) {
	if (!check(JSON.parse(readFileSync(f)))) {
		console.log(f, ajv.errorsText(check.errors));
		process.exitCode = 1;
	}
}
EOF
	node "$packages/check-sarif.mjs" "$schema" "$dir/bad.sarif" "$dir/policy.sarif" "$dir/good.sarif" || fail "SARIF: not what the schema says"
else
	echo "check-reports: no npm packages ajv, ajv-formats, @microsoft/sarif-multitool; the SARIF schema is not checked"
fi

if [ -n "$tool" ]; then
	# its exit status says nothing
	out=$("$tool" validate --rule-kind 'Sarif;Ghas' --level 'Error;Warning' "$dir/bad.sarif" "$dir/policy.sarif" "$dir/good.sarif" 2>&1)
	echo "$out" | grep -q 'completed successfully' || fail "the SARIF multitool did not end well: $out"
	# SARIF2005 wants an address of the project on the web
	if echo "$out" | grep -E ': (error|warning) ' | grep -v SARIF2005 | head -n 5 | grep .; then
		fail "SARIF: the multitool complains"
	fi
else
	echo "check-reports: no SARIF multitool; GitHub's rules are checked by our own test alone"
fi
exit $status
