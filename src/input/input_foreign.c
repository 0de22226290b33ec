#include "input/input_foreign.h"

#include <stdbool.h>
#include <string.h>

/* Files that people have beside their traces, or that a trace was packed into. */

#define BYTES(s) s, sizeof(s) - 1

static const struct signature {
	size_t at;
	const char *bytes;
	size_t n;
	struct input_foreign is;
} signatures[] = {
	{ 0, BYTES("\x04\x22\x4d\x18"), { "LZ4-compressed data", "unpack it first (lz4 -d)" } },
	{ 0, BYTES("\x02\x21\x4c\x18"), { "LZ4-compressed data", "unpack it first (lz4 -d)" } },
	{ 0, BYTES("BZh"), { "bzip2-compressed data", "unpack it first (bzip2 -d)" } },
	{ 0, BYTES("LZIP"), { "lzip-compressed data", "unpack it first (lzip -d)" } },
	{ 0, BYTES("\x1f\x9d"), { "data of compress", "unpack it first (uncompress)" } },
	{ 0,
	  BYTES("7z\xbc\xaf\x27\x1c"),
	  { "a 7z archive", "unpack it and name the traces that were in it" } },
	{ 0, BYTES("PK\3\4"), { "a zip archive", "unpack it and name the traces that were in it" } },
	{ 0, BYTES("PK\5\6"), { "an empty zip archive", "there is nothing to read in it" } },
	{ 0, BYTES("Rar!\x1a\7"), { "a RAR archive", "unpack it and name the traces that were in it" } },
	{ 257,
	  BYTES("ustar"),
	  { "a tar archive", "name it .tar (.tar.gz, .tar.zst, .tar.xz), and it is read" } },
	{ 0,
	  BYTES("\x7f"
	        "ELF"),
	  { "an ELF program, library or core dump", "name the trace that the program wrote" } },
	{ 0, BYTES("PERFILE2"), { "a perf.data file of Linux perf", "perf script prints it" } },
	{ 0, BYTES("\xc1\x1f\xfc\xc1"), { "a stream in the Common Trace Format", "babeltrace2 reads it" } },
	{ 0, BYTES("\xc1\xfc\x1f\xc1"), { "a stream in the Common Trace Format", "babeltrace2 reads it" } },
	{ 0, BYTES("\x57\x1d\xd1\x75"), { "metadata of the Common Trace Format", "babeltrace2 reads it" } },
	{ 0, BYTES("/* CTF"), { "metadata of the Common Trace Format", "babeltrace2 reads it" } },
	{ 0, BYTES("SQLite format 3\0"), { "an SQLite database", "sqlite3 reads it" } },
	{ 0, BYTES("#Paraver"), { "a Paraver trace", "wxparaver reads it" } },
	{ 0, BYTES("PAR1"), { "a Parquet file", "it holds tables, no trace" } },
	{ 0, BYTES("\x89HDF\r\n\x1a\n"), { "an HDF5 file", "h5dump prints it" } },
	{ 0, BYTES("\xd4\xc3\xb2\xa1"), { "a capture of network packets", "tcpdump -r prints it" } },
	{ 0, BYTES("\x0a\x0d\x0d\x0a"), { "a capture of network packets", "tcpdump -r prints it" } },
	{ 0,
	  BYTES("kind,ts_ns,"),
	  { "a CSV table of events", "tracetool writes these, but does not read them" } },
	{ 0,
	  BYTES("kind\tts_ns\t"),
	  { "a table of events", "tracetool writes these, but does not read them" } },
	{ 0, BYTES("%PDF-"), { "a PDF document", "name a trace" } },
	{ 0, BYTES("<!DOCTYPE"), { "an HTML page", "the download of a trace may have failed" } },
	{ 0, BYTES("<!doctype"), { "an HTML page", "the download of a trace may have failed" } },
	{ 0, BYTES("<html"), { "an HTML page", "the download of a trace may have failed" } },
	{ 0, BYTES("<?xml"), { "an XML document", "name a trace" } },
};

/* JSON begins with a bracket, and with what may follow it. */
static bool
looks_like_json(const char *p, const char *end)
{
	static const char blanks[] = " \t\r\n";

	while (p < end && *p != '\0' && strchr(blanks, *p) != NULL)
		p++;
	if (p == end || (*p != '{' && *p != '['))
		return false;
	const bool object = *p++ == '{';
	while (p < end && *p != '\0' && strchr(blanks, *p) != NULL)
		p++;
	return p == end || (*p != '\0' && strchr(object ? "\"}" : "\"{[]-0123456789tfn", *p) != NULL);
}

/* A message of protobuf: field 1 is a packet (bytes), and what is in it begins with a field of a packet
 * again. Packets begin with few of their fields; behind the first there is another, or the end. */
static bool
looks_like_packets(const char *p, size_t n)
{
	const unsigned char *const b = (const unsigned char *)p;
	size_t at = 1, length = 0;

	if (n < 4 || b[0] != 0x0a)
		return false;
	for (unsigned shift = 0; at < n && shift < 28; shift += 7) {
		length |= (size_t)(b[at] & 0x7f) << shift;
		if ((b[at++] & 0x80) == 0)
			break;
	}
	if (length == 0 || (b[at - 1] & 0x80) != 0 || at >= n)
		return false;
	/* the key of the packet's first field: a number (0), or bytes (2) */
	if ((b[at] & 7) != 0 && (b[at] & 7) != 2)
		return false;
	return length == n - at || (length < n - at && b[at + length] == 0x0a);
}

const struct input_foreign *
input_foreign_find(const char *p, size_t n)
{
	static const struct input_foreign json = {
		"JSON, but not a trace (it has no traceEvents)",
		"if it belongs to the trace of a folder, name the folder"
	};

	static const struct input_foreign packets = {
		"a Perfetto trace", "tracetool writes these, but does not read them (trace_processor does)"
	};

	for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
		const struct signature *const s = &signatures[i];
		if (n >= s->n && s->at <= n - s->n && memcmp(p + s->at, s->bytes, s->n) == 0)
			return &s->is;
	}
	if (looks_like_json(p, p + n))
		return &json;
	return looks_like_packets(p, n) ? &packets : NULL;
}
