#!/bin/sh
# readme.sh BIN README: the tables of README name each format that tracetool knows.
set -u
bad=0
for format in $("$1" formats --json | sed -n 's/.*"name": *"\([a-z0-9-]*\)".*/\1/p'); do
	grep -q "^| .*\`$format\`" "$2" && continue
	echo "$2: no table names the format $format"
	bad=1
done
exit $bad
