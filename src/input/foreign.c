/* Recognises files of other programs, which are often next to traces, by their first bytes: an input that is
 * no trace is refused with their name and with what shows them. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/match.h"
#include "input/open.h"

#define TEXT_LINE 2048  /* bytes that are searched for a text */
#define ZERO_BYTES 512U /* a block of a disk */
/* clang-format off */
#define BYTES(at, bytes, ...) { at, bytes, sizeof(bytes) - 1, { __VA_ARGS__ } }
#define TEXT(begin, text, ...) { begin, text, { __VA_ARGS__ } }
/* clang-format on */
#define OLD_CPU_PROFILE                                                                                      \
	"a CPU profile of V8 as a tree", "Speedscope shows it; profiles with a list of nodes are read"

struct signature {
	size_t at;
	const char *bytes;
	size_t n;
	struct input_foreign is;
};

static const struct signature archives[] = {
	BYTES(0, "7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and name the traces that were in it"),
	BYTES(0, "PK\3\4", "a zip archive", "unpack it and name the traces that were in it"),
	BYTES(0, "Rar!\x1a\7", "a RAR archive", "unpack it and name the traces that were in it"),
	BYTES(257, "ustar", "a tar archive",
	      "archives are read from files named .tar, .tar.gz, .tar.zst or .tar.xz"),
};

static const struct signature signatures[] = {
	BYTES(0, "\x04\x22\x4d\x18", "LZ4-compressed data", "unpack it first (lz4 -d)"),
	BYTES(0, "\x02\x21\x4c\x18", "LZ4-compressed data", "unpack it first (lz4 -d)"),
	/* one layer of these is unpacked before */
	BYTES(0, "\x1f\x8b\x08", "compressed twice, by gzip within", "unpack it once (gzip -d)"),
	BYTES(0, "\x28\xb5\x2f\xfd", "compressed twice, by zstd within", "unpack it once (zstd -d)"),
	BYTES(0, "\xfd\x37zXZ\0", "compressed twice, by xz within", "unpack it once (xz -d)"),
	BYTES(0, "BZh", "bzip2-compressed data", "unpack it first (bzip2 -d)"),
	BYTES(0, "LZIP", "lzip-compressed data", "unpack it first (lzip -d)"),
	BYTES(0, "\x1f\x9d", "data of compress", "unpack it first (uncompress)"),
	BYTES(0, "PK\5\6", "an empty zip archive", "there is nothing to read in it"),
	BYTES(0,
	      "\x7f"
	      "ELF",
	      "an ELF program, library or core dump", "name the trace that the program wrote"),
	BYTES(0, "PERFILE2", "a perf.data file of Linux perf", "perf script prints it"),
	BYTES(0, "go 1.", "an execution trace of Go", "go tool trace shows it"),
	BYTES(0, "v8-version,", "a log of V8", "node --prof-process prints it"),
	BYTES(0, "gmon", "a profile of gprof", "gprof prints it"),
	BYTES(0, "Nettrace", "a trace of .NET",
	      "dotnet-trace convert --format Chromium makes one that is read"),
	BYTES(0, "FLR\0", "a recording of Java Flight Recorder", "jfr print prints it"),
	BYTES(0, "hdrb", "an event log of GHC", "ghc-events show prints it"),
	BYTES(0, "\x17\x08\x44tracing", "a trace.dat file of trace-cmd", "trace-cmd report prints it"),
	BYTES(0, "Ftrace!\0", "data of uftrace", "uftrace replay prints it"),
	BYTES(0, "\x10\0\x04\x46\x78\x54\x16\0", "a trace of Fuchsia", "fx traceutil converts it"),
	BYTES(0, "# callgrind format", "a profile of callgrind", "callgrind_annotate prints it"),
	BYTES(0, "version: 1\ncreator: xdebug", "a profile of Xdebug", "kcachegrind shows it"),
	BYTES(0, "\x5e\x97\xca\xfd", "a capture of Sysprof", "sysprof shows it"),
	BYTES(0, "sample.interval=", "a profile of R", "summaryRprof prints it"),
	BYTES(0, "line profiling: ", "a profile of R", "summaryRprof prints it"),
	BYTES(0, "memory profiling: ", "a profile of R", "summaryRprof prints it"),
	/* a dictionary of marshal whose first key has three members */
	BYTES(0, "\xfb)\x03", "a profile of Python", "python3 -m pstats prints it"),
	BYTES(0, "{)\x03", "a profile of Python", "python3 -m pstats prints it"),
	BYTES(4, ":\x0cversion", "a profile of stackprof", "stackprof prints it"),
	BYTES(0, "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "a profile of gperftools",
	      "google-pprof prints it"),
	BYTES(2, "OTF2", "a trace in the Open Trace Format", "otf2-print prints it"),
	BYTES(0, "%EventDef", "a trace in the format of Paje", "ViTE shows it"),
	BYTES(0, "MMPD", "a profile of rustc", "crox of measureme makes a trace that is read"),
	BYTES(0, "TRACE:\n", "a trace of atrace", "the Perfetto UI shows it"),
	BYTES(0, "# tracer: ", "text of ftrace", "the Perfetto UI shows it"),
	BYTES(0, "\xc1\x1f\xfc\xc1", "a stream in the Common Trace Format", "babeltrace2 reads it"),
	BYTES(0, "\xc1\xfc\x1f\xc1", "a stream in the Common Trace Format", "babeltrace2 reads it"),
	BYTES(0, "\x57\x1d\xd1\x75", "metadata of the Common Trace Format", "babeltrace2 reads it"),
	BYTES(0, "/* CTF", "metadata of the Common Trace Format", "babeltrace2 reads it"),
	BYTES(0, "SQLite format 3\0", "an SQLite database", "sqlite3 reads it"),
	BYTES(0, "#Paraver", "a Paraver trace", "wxparaver reads it"),
	BYTES(0, "PAR1", "a Parquet file", "it holds tables, not a trace"),
	BYTES(0, "\x89HDF\r\n\x1a\n", "an HDF5 file", "h5dump prints it"),
	BYTES(0, "\xd4\xc3\xb2\xa1", "a capture of network packets", "tcpdump -r prints it"),
	BYTES(0, "\x0a\x0d\x0d\x0a", "a capture of network packets", "tcpdump -r prints it"),
	BYTES(0, "kind,ts_ns,", "a CSV table of events", "tracetool writes these, but does not read them"),
	BYTES(0, "kind\tts_ns\t", "a table of events", "tracetool writes these, but does not read them"),
	BYTES(0, "version https://git-lfs", "a pointer of Git LFS, not the file itself",
	      "git lfs pull fetches it"),
	BYTES(0, "\0\5\x16\7", "attributes that macOS keeps for another file",
	      "name that file (COPYFILE_DISABLE=1 tar leaves them out)"),
	BYTES(0, "%PDF-", "a PDF document", "name a trace"),
	BYTES(0, "<!DOCTYPE", "an HTML page", "the download of a trace may have failed"),
	BYTES(0, "<!doctype", "an HTML page", "the download of a trace may have failed"),
	BYTES(0, "<html", "an HTML page", "the download of a trace may have failed"),
	BYTES(0, "<?xml", "an XML document", "name a trace"),
};

/* Texts of other programs: how they begin, ignoring blanks, and a text in their first TEXT_LINE bytes. */
static const struct text_signature {
	const char *begin, *text;
	struct input_foreign is;
} text_signatures[] = {
	TEXT("{\"version\":", "\"type\":\"context-options\"", "a trace of Playwright",
	     "playwright show-trace shows it"),
	TEXT("[{\"name\":", "\"startTime\":", "a trace of Next.js",
	     "trace-to-event-format.mjs of its repository makes one that is read"),
	TEXT("{\"meta\":{", "", "JSON, perhaps a profile of Firefox", "profiler.firefox.com shows these"),
	TEXT("{\"libs\":[{\"", "", "a profile of Firefox", "profiler.firefox.com shows it"),
	TEXT("{\"", "file-format-schema.json\"", "a profile of Speedscope",
	     "tracetool writes these, but does not read them"),
	TEXT("{\"exporter\":\"", "\"activeProfileIndex\":", "a profile of Speedscope",
	     "tracetool writes these, but does not read them"),
	TEXT("{\"head\":{\"callFrame\":", "", "a heap profile of V8",
	     "the Memory panel of DevTools shows these"),
	TEXT("{\"snapshot\":{\"meta\":", "", "a heap snapshot of V8",
	     "the Memory panel of DevTools shows these"),
	TEXT("{\"head\":{\"functionName\":", "", OLD_CPU_PROFILE),
	TEXT("{\"typeId\":\"CPU\",", "\"head\":{", OLD_CPU_PROFILE),
	TEXT("{\"code\":[{\"name\":", "", "a log of V8, preprocessed", "Speedscope shows it"),
	TEXT("{\"resourceSpans\":", "", "spans of OpenTelemetry", "Jaeger shows these"),
	TEXT("{\"data\":[{\"traceID\":", "", "a trace of Jaeger", "Jaeger shows it"),
	TEXT("[{\"traceId\":", "", "a trace of Zipkin", "Zipkin shows it"),
	TEXT("{\"recording\":{\"events\":[", "", "events of Java Flight Recorder",
	     "JDK Mission Control shows the recording"),
	TEXT("{\"linux-perf-json-version\":", "", "samples of Linux perf",
	     "the Perfetto UI shows what perf script prints"),
	TEXT("{\"version\":1.2,\"mode\":\"", "", "a profile of stackprof", "stackprof prints its dump"),
	TEXT("{\"constants\":{\"activeFieldTrialGroups\":", "", "a log of the network of Chromium",
	     "netlog-viewer.appspot.com shows it"),
	TEXT("v1", "\nX ", "a recording of heaptrack", "heaptrack_print prints it"),
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool begins_with(const char *p, const char *end, const char *text)
{
	for (; *text != '\0' && p < end; p++) {
		if (*p == *text)
			text++;
		else if (!is_blank(*p))
			return false;
	}
	return *text == '\0';
}

/* Whether the bytes begin with a bracket and a byte that may follow it in JSON. */
static bool looks_like_json(const char *p, size_t n)
{
	const char *const end = p + n;

	while (p < end && is_blank(*p))
		p++;
	if (p == end || (*p != '{' && *p != '['))
		return false;
	const bool object = *p++ == '{';
	while (p < end && is_blank(*p))
		p++;
	if (p < end && (*p == '\0' || strchr(object ? "\"}" : "\"{[]-0123456789tfn", *p) == NULL))
		return false;
	/* a number ends as one of JSON: "[0.004s]" begins a line of a log */
	while (p < end && *p != '\0' && strchr("-+.eE0123456789", *p) != NULL)
		p++;
	return p == end || (*p != '\0' && strchr("\"{}[],tfn \t\r\n", *p) != NULL);
}

/* Whether the bytes begin with a Perfetto packet: field 1 of a protobuf message, whose bytes begin with
 * another field, followed by another packet or the end. */
static bool looks_like_packets(const char *p, size_t n)
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

/* Whether the first lines are a stack of names and a number each, and one has two frames or more. */
static bool looks_like_stacks(const char *p, size_t n)
{
	enum { LINES = 8 };
	bool has_frames = false;
	const char *end;

	for (int i = 0; i < LINES && n > 0 && (end = memchr(p, '\n', n)) != NULL; i++) {
		const char *digits = end;
		while (digits > p && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		if (digits == end || digits - p < 2 || digits[-1] != ' ' || *p == ' ' || *p == ';')
			return false;
		has_frames |= memchr(p, ';', (size_t)(digits - p)) != NULL;
		n -= (size_t)(end + 1 - p);
		p = end + 1;
	}
	return has_frames;
}

/* Whether the bytes begin with the type of the samples, or of the periods, of a profile of pprof, whose texts
 * are the first two.  Go states numbers before: time, duration and period. */
static bool looks_like_pprof(const char *p, size_t n)
{
	static const char type[] = "\x04\x08\x01\x10\x02";
	const char *const end = p + n;

	while (p < end && (*p == '\x48' || *p == '\x50' || *p == '\x60')) {
		do
			p++;
		while (p < end && (*p & 0x80) != 0);
		if (p < end)
			p++;
	}
	return end - p > (ptrdiff_t)sizeof type && memcmp(p + 1, type, sizeof type - 1) == 0;
}

/* Whether the first line has a time, "12.345678: ", that is not its first word. */
static bool looks_like_perf_script(const char *p, size_t n)
{
	static const char digits[] = "0123456789";
	const char *const end = memchr(p, '\n', n < TEXT_LINE ? n : TEXT_LINE);
	bool has_word = false;

	for (const char *at = p; end != NULL && at < end; at++) {
		const size_t whole = strspn(at, digits);
		if (has_word && is_blank(at[-1]) && whole > 0 && at[whole] == '.' &&
		    strspn(at + whole + 1, digits) == 6 && at[whole + 7] == ':' && at[whole + 8] == ' ')
			return true;
		has_word |= !is_blank(*at);
	}
	return false;
}

/* Whether the first block holds zeros only.  A HawkTracer dump may begin with 40 of them. */
static bool looks_unwritten(const char *p, size_t n)
{
	return n > 0 && *p == '\0' && memcmp(p, p + 1, (n < ZERO_BYTES ? n : ZERO_BYTES) - 1) == 0;
}

static const struct input_foreign *find_signature(const struct signature *list, size_t length, const char *p,
                                                  size_t n)
{
	for (size_t i = 0; i < length; i++) {
		const struct signature *const s = &list[i];
		if (n >= s->n && s->at <= n - s->n && memcmp(p + s->at, s->bytes, s->n) == 0)
			return &s->is;
	}
	return NULL;
}

const struct input_foreign *input_foreign_archive(const char *p, size_t n)
{
	return find_signature(archives, COUNT_OF(archives), p, n);
}

const struct input_foreign *input_foreign_find(const char *p, size_t n)
{
	static const struct {
		bool (*looks)(const char *p, size_t n);
		struct input_foreign is;
	} shapes[] = {
		{ looks_unwritten,
		  { "zero bytes", "its data was never written, or is missing in this copy" } },
		{ looks_like_pprof, { "a profile of pprof", "pprof shows it" } },
		{ looks_like_perf_script, { "text of perf script or ftrace", "the Perfetto UI shows it" } },
		{ looks_like_json,
		  { "JSON, but not a trace (it has no traceEvents)",
		    "if it belongs to the trace of a directory, name the directory" } },
		{ looks_like_stacks,
		  { "collapsed stacks of a flame graph", "tracetool writes these, but does not read them" } },
		{ looks_like_packets,
		  { "protocol buffers, but no packet is recognised as that of a Perfetto trace",
		    "--from FORMAT reads them as one" } },
	};

	const struct input_foreign *found = input_foreign_archive(p, n);
	if (found == NULL)
		found = find_signature(signatures, COUNT_OF(signatures), p, n);
	if (found != NULL)
		return found;
	for (size_t i = 0; i < COUNT_OF(text_signatures); i++) {
		const struct text_signature *const s = &text_signatures[i];
		const struct slice head = slice_of(p, n < TEXT_LINE ? n : TEXT_LINE),
		                   text = slice_str(s->text);
		if (begins_with(p, p + n, s->begin) && (text.n == 0 || slice_contains(head, text)))
			return &s->is;
	}
	for (size_t i = 0; i < COUNT_OF(shapes); i++)
		if (shapes[i].looks(p, n))
			return &shapes[i].is;
	return NULL;
}
