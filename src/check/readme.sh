#!/bin/sh
# readme.sh BIN README: prints README with the last column of its table of formats as `formats --matrix` has it: how many
# kinds of loss there are from each format that can be read.
set -u
"$1" formats --matrix | awk '
	NR == FNR && FNR == 1 {
		for (i = 2; i <= NF; i++)
			head = head (i > 2 ? ", " : "") $i
		next
	}
	NR == FNR {
		for (i = 2; i <= NF; i++)
			row[$1] = row[$1] (i > 2 ? " " : "") $i
		next
	}
	/^\| format \| files / { inside = 1; print "| format | files | what it shows | kinds of loss from " head " |"; next }
	inside && /^\|---/ { print "|---|---|---|---|"; next }
	inside && /^\| `/ {
		split($0, part, " [|] ")
		split($0, quoted, "`")
		sub(/ \|$/, "", part[3])
		print part[1] " | " part[2] " | " part[3] " | " row[quoted[2]] " |"
		next
	}
	{ inside = 0; print }' - "$2"
