#!/bin/sh
# The manual pages (its operands) are well-formed, and nothing in them is too wide for a terminal of 80 columns: whatever
# mandoc or groff says about one of them is an error.
set -u

bad=0
for page; do
	said=$(mandoc -T lint -W warning "$page"; mandoc -T utf8 -O width=78 "$page" 2>&1 >/dev/null)
	said="$said$(groff -mdoc -ww -Tutf8 -rLL=80n "$page" 2>&1 >/dev/null)"
	[ -z "$said" ] && continue
	printf '%s: %s\n' "$page" "$said"
	bad=1
done
exit $bad
