#!/bin/sh
# No line of a C file or a list is longer than 110 columns; a tab ends at a multiple of 8.  Prints those that are;
# status 1 then.
set -u
find src formats -name '*.[ch]' -o -name '*.def' | sort | LC_ALL=C xargs awk '
	{
		gsub(/[\200-\277]/, "") # UTF-8: one column a character
		n = split($0, parts, "\t")
		columns = 0
		for (i = 1; i < n; i++)
			columns = (int((columns + length(parts[i])) / 8) + 1) * 8
		columns += length(parts[n])
		if (columns > 110) {
			print FILENAME ":" FNR ": " columns " columns"
			wide = 1
		}
	}
	END { exit wide }'
