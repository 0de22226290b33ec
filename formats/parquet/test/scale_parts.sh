# Sourced by scale_viewers.sh and slurm_viewers.sh: 1,000 traces, and the blocks of docs/scale-out.md.
# shellcheck shell=sh
root=$(pwd)

# block WORDS: the text of the block that begins with ```WORDS.
block() {
	awk -v head="\`\`\`$1" '$0 == "```" { inside = 0 } inside { print } $0 == head { inside = 1 }' \
		"$root/docs/scale-out.md"
}

# make_ranks N: DFTracer traces in ranks/, eight ranks a host, 60 calls each; their durations are noise.
make_ranks() {
	mkdir -p ranks
	awk -v n="$1" 'BEGIN {
		seed = 1
		split("open read write", names, " ")
		for (rank = 0; rank < n; rank++) {
			file = sprintf("ranks/rank-%05d.pfw", rank)
			host = sprintf("node%d", rank / 8)
			printf "[\n{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":%d,\"tid\":%d,\"ph\":\"M\",\"args\":{\"name\":\"%s\",\"value\":77}}\n",
				rank + 1, rank + 1, host >file
			for (i = 0; i < 60; i++) {
				seed = (seed * 16807) % 2147483647
				printf "{\"id\":%d,\"name\":\"%s\",\"cat\":\"POSIX\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":%d,\"ph\":\"X\",\"args\":{\"hhash\":77,\"ret\":%d}}\n",
					i + 2, names[i % 3 + 1], rank + 1, rank + 1, 1000000 + 20000 * i, seed % 10000, i >file
			}
			printf "]\n" >file
			close(file)
		}
	}'
}

# what_must_be: the answer to the question, from the traces themselves: name, host, calls, total and p99 in ns.
what_must_be() {
	cat ranks/*.pfw | sed -n 's/.*"name":"HH".*"name":"\(node[0-9]*\)".*/host \1/p
		s/.*"name":"\([a-z]*\)","cat":"POSIX".*"dur":\([0-9]*\),.*/\1 \2/p' |
		awk '$1 == "host" { host = $2; next } { printf "%s\t%s\t%d\n", $1, host, $2 }' |
		LC_ALL=C sort -k1,1 -k2,2 -k3,3n |
		awk -F '\t' '
			function flush() {
				at = 0.99 * (n - 1)
				low = int(at)
				high = low + 1 < n ? low + 1 : low
				printf "%s\t%d\t%.0f\t%.3f\n", key, n, 1000 * sum, 1000 * (d[low] + (at - low) * (d[high] - d[low]))
			}
			key != $1 "\t" $2 { if (n > 0) flush(); key = $1 "\t" $2; n = sum = 0 }
			{ d[n++] = $3; sum += $3 }
			END { flush() }'
}
