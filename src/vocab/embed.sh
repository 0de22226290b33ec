#!/bin/sh
# Makes C of schemas/*.yaml: sh embed.sh FILE... writes it to standard output.
set -eu
echo '/* Made by src/vocab/embed.sh; not to be edited. */'
echo '#include "vocab/private.h"'
n=0
for file; do
	echo
	echo "static const unsigned char text_$n[] = {"
	od -An -v -tu1 "$file" | sed 's/[0-9][0-9]*/&,/g'
	echo '	0 };'
	n=$((n + 1))
done
echo
echo 'const struct vocab_schema vocab_schemas[] = {'
n=0
for file; do
	name=$(basename "$file" .yaml)
	echo "	{ \"$name\", text_$n, sizeof text_$n - 1 },"
	n=$((n + 1))
done
echo '	{ NULL, NULL, 0 }'
echo '};'
