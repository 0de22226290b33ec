/* Opens a path as a source: whether it may be read, is packed, or can be mapped.  Also reads whole files, and
 * recognises foreign files that are often next to traces, to give advice. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/os.h"
#include "base/numbers.h"
#include "input/private.h"

/* ---- descriptors ---- */

int input_fd_of(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0 ? STDIN_FILENO : path_fd(path);
}

bool input_is_named(const char *path)
{
	return input_fd_of(path) < 0;
}

int input_open_fd(const char *path)
{
	return open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

ssize_t input_read_fd(int fd, void *to, size_t n)
{
	for (;;) {
		const ssize_t got = read(fd, to, n);

		if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
			return got;
		if (errno != EINTR) {
			struct pollfd wait = { .fd = fd, .events = POLLIN };

			(void)poll(&wait, 1, -1);
		}
	}
}

/* ---- paths ---- */

/* Why a named file is not read; NULL: it is a regular file. */
static const char *refuse_mode(mode_t mode)
{
	if (S_ISREG(mode))
		return NULL;
	if (S_ISDIR(mode))
		return "is a directory";
	if (S_ISFIFO(mode))
		return "is a named FIFO: feed it to standard input instead (tracetool ... - < FIFO)";
	if (S_ISCHR(mode))
		return "is a character device";
	if (S_ISBLK(mode))
		return "is a block device: feed it to standard input instead (tracetool ... - < DEVICE)";
	return S_ISSOCK(mode) ? "is a socket" : "is not a regular file";
}

/* Whether it is the name that findings give to a file of an archive, "run.tar:/a". */
static bool is_of_archive(const char *path)
{
	const char *const colon = strstr(path, ":/");
	char *const archive = colon != NULL ? strndup(path, (size_t)(colon - path)) : NULL;
	struct stat st;
	const bool is = archive != NULL && input_is_archive(archive) && stat(archive, &st) == 0;

	free(archive);
	return is;
}

static bool fail_stat(struct input *in, int error)
{
	struct stat st;

	if (error == ENOENT && is_of_archive(in->path))
		return input_fail(in, INPUT_MISSING,
		                  "is a file of an archive: name the archive, or unpack it");
	if (error == ENOENT && lstat(in->path, &st) == 0 && S_ISLNK(st.st_mode))
		return input_fail(in, INPUT_MISSING, "is a link to nowhere");
	return input_fail_errno(in, "", error);
}

/* The type is checked before the file is opened: opening a FIFO or a device has effects on its other side. */
static int open_named(struct input *in, struct stat *st)
{
	const char *reason;
	int fd;

	if (stat(in->path, st) != 0) {
		(void)fail_stat(in, errno);
		return -1;
	}
	reason = refuse_mode(st->st_mode);
	if (reason == NULL) {
		/* Non-blocking, in case the file became a FIFO meanwhile. */
		fd = input_open_fd(in->path);
		if (fd < 0 || fstat(fd, st) != 0) {
			(void)fail_stat(in, errno);
			if (fd >= 0)
				(void)close(fd);
			return -1;
		}
		reason = refuse_mode(st->st_mode);
		if (reason == NULL)
			return fd;
		(void)close(fd);
	}
	(void)input_fail(in, INPUT_NOT_A_FILE, "%s", reason);
	return -1;
}

/* A descriptor that the process inherited may have nearly any type. */
static int open_given(struct input *in, int given, struct stat *st)
{
	const int fd = fcntl(given, F_DUPFD_CLOEXEC, 0);

	if (fd < 0 || fstat(fd, st) != 0)
		(void)input_fail_errno(in, given == STDIN_FILENO ? "standard input: " : "", errno);
	else if (S_ISDIR(st->st_mode))
		(void)input_fail(in, INPUT_NOT_A_FILE, "is a directory");
	else if (isatty(fd))
		(void)input_fail(in, INPUT_NOT_A_FILE, "%s is a terminal",
		                 given == STDIN_FILENO ? "standard input" : "the descriptor");
	else
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* ---- starting a source ---- */

static enum input_packing packing_of(const char *p, size_t n)
{
	if (n >= 3 && memcmp(p, "\x1f\x8b\x08", 3) == 0)
		return INPUT_GZIP;
	if (n >= 6 && memcmp(p,
	                     "\xfd"
	                     "7zXZ",
	                     6) == 0)
		return INPUT_XZ;
	/* zstd may begin with skippable frames: one of 16 magic numbers, a size, that many bytes. */
	while (n >= 8 && (load_u32(p, false) & 0xfffffff0U) == 0x184d2a50U) {
		const size_t size = load_u32(p + 4, false);

		if (size > n - 8)
			return INPUT_PLAIN;
		p += 8 + size;
		n -= 8 + size;
	}
	return n >= 4 && load_u32(p, false) == 0xfd2fb528U ? INPUT_ZSTD : INPUT_PLAIN;
}

static bool start_mapped(struct input *in, struct input_mapping *m)
{
	return in->packing == INPUT_PLAIN ? input_file_start(in, m) : input_unpack_start_mapped(in, m);
}

bool input_mapped_start(struct input *in, struct input_mapping *m)
{
	in->packing = packing_of(m->buffer.bytes, m->buffer.cap);
	return start_mapped(in, m);
}

/* Reads the first window, which is passed to the source afterwards. */
static bool probe_stream(struct input *in, int fd, struct input_buffer *b)
{
	while (b->len < INPUT_FIRST_WINDOW) {
		const ssize_t n = input_read_fd(fd, b->bytes + b->len, b->cap - b->len);

		if (n < 0 && b->len == 0)
			return input_fail_errno(in, "cannot read: ", errno);
		if (n <= 0) /* an error after some bytes occurs again after them */
			break;
		b->len += (size_t)n;
	}
	in->packing = packing_of(b->bytes, b->len);
	return true;
}

static bool start_stream(struct input *in, int fd)
{
	struct input_pool *pool = input_pool_new();
	struct input_buffer *b = pool != NULL ? input_buffer_new(pool, INPUT_BUFFER_SIZE) : NULL;

	input_widen_pipe(fd);
	if (b != NULL && probe_stream(in, fd, b))
		return in->packing == INPUT_PLAIN ? input_stream_start(in, fd, b, pool)
		                                  : input_unpack_start_stream(in, fd, b, pool);
	if (b == NULL)
		(void)input_fail(in, INPUT_SYSTEM, "out of memory");
	input_buffer_drop(b);
	input_pool_close(pool);
	(void)close(fd);
	return false;
}

/* Opens in->path for reading; -1 after a fault.  Named files that are not regular are refused, without
 * waiting for their other sides; open descriptors ("-") may have nearly any type. */
static int open_path(struct input *in, struct stat *st)
{
	const int given = input_fd_of(in->path);

	return given >= 0 ? open_given(in, given, st) : open_named(in, st);
}

/* A regular file that is read from its start is mapped; other files, and files that cannot be mapped, are
 * read.  (Files of /proc claim to have size 0.) */
static bool start_source(struct input *in, int fd, const struct stat *st)
{
	struct input_mapping *m = NULL;

	if (S_ISREG(st->st_mode) && st->st_size > 0 && (uint64_t)st->st_size <= SIZE_MAX / 2 &&
	    lseek(fd, 0, SEEK_CUR) == 0)
		m = input_map(fd, st);
	if (m == NULL) {
		if (in->files != NULL)
			input_files_unkeep(in->files, in);
		if (!start_stream(in, fd))
			return false;
		if (S_ISREG(st->st_mode) && st->st_size > 0) {
			in->source->file_size = (uint64_t)st->st_size;
			in->source->id = input_id_of(st);
			in->source->can_reopen = input_fd_of(in->path) < 0;
		}
		return true;
	}
	(void)close(fd);
	return input_mapped_start(in, m);
}

void input_prime(struct input *in)
{
	(void)input_need(in, INPUT_FIRST_WINDOW);
	if (in->p != in->end) {
		if (in->fault != INPUT_OK) {
			in->fault = INPUT_OK;
			in->fault_text[0] = '\0';
			in->last = false;
		}
	} else if (in->fault == INPUT_OK || in->fault == INPUT_TRAILING) {
		(void)input_fail(in, INPUT_EMPTY,
		                 in->packing == INPUT_PLAIN ? "is empty" : "is empty when unpacked");
	}
}

/* Only plain regular files are read in pieces. */
static void start_by_pieces(struct input *in, int fd, const struct stat *st, size_t piece)
{
	char head[64];
	const ssize_t n = pread(fd, head, sizeof head, 0);

	in->packing = n > 0 ? packing_of(head, (size_t)n) : INPUT_PLAIN;
	if (n <= 0 || in->packing != INPUT_PLAIN || !S_ISREG(st->st_mode) || st->st_size <= 0 ||
	    (uint64_t)st->st_size > SIZE_MAX / 2) {
		if (start_source(in, fd, st))
			input_prime(in);
		return;
	}
	input_pieces_start(in, fd, st, piece);
}

/* Opens the file of the path; it must be the file of an earlier pass.  Returns -1 with the fault set. */
static int open_in_run(struct input *in, struct stat *st)
{
	int fd = -1;

	if (in->files != NULL && input_files_look(in->files, in, &fd) == INPUT_FILES_FAILED)
		return -1;
	if (fd >= 0 && fstat(fd, st) != 0) {
		(void)input_fail_errno(in, "", errno);
		(void)close(fd);
		fd = -1;
	} else if (fd < 0) {
		fd = open_path(in, st);
	}
	if (fd < 0 && in->files != NULL)
		input_files_note_fault(in->files, in);
	if (fd >= 0 && in->files != NULL && !input_files_note(in->files, in, fd, st)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

static struct input *open_input(struct input_files *files, const char *path, size_t piece)
{
	struct input *in = input_new(path);
	struct stat st;

	if (in == NULL)
		return NULL;
	in->files = files;
	in->last = true;
	const int fd = open_in_run(in, &st);
	if (fd < 0)
		return in;
	in->last = false;
	if (piece > 0 && input_is_named(path))
		start_by_pieces(in, fd, &st, piece);
	else if (start_source(in, fd, &st))
		input_prime(in);
	return in;
}

struct input *input_open(const char *path)
{
	return open_input(NULL, path, 0);
}

struct input *input_open_in(struct input_files *files, const struct input_archive *a, const char *path)
{
	if (!input_archive_holds(a, path))
		return open_input(files, path, 0);
	struct input *const in = input_new(path);
	if (in == NULL)
		return NULL;
	in->files = files;
	input_archive_start(in, a);
	return in;
}

bool input_is_missing(struct input_files *files, const struct input_archive *a, const char *path)
{
	struct stat st;

	if (!input_archive_holds(a, path))
		return stat(path, &st) != 0 && input_fault_of_errno(errno) == INPUT_MISSING;
	struct input *const member = input_open_in(files, a, path);
	const bool missing = member != NULL && member->fault == INPUT_MISSING;
	input_close(member);
	return missing;
}

struct input *input_reopen(const struct input *in)
{
	if (!input_can_reopen(in))
		return NULL;
	if (in->ops->reopen != NULL)
		return in->ops->reopen(in);
	struct input_mapping *const m = in->source->mapping;
	if (m == NULL)
		return input_open_in(in->files, NULL, in->path);
	struct input *const again = input_new(in->path);
	if (again == NULL)
		return NULL;
	again->files = in->files;
	again->again = in->again;
	again->packing = in->packing;
	input_buffer_ref(&m->buffer);
	if (start_mapped(again, m))
		input_prime(again);
	return again;
}

struct input *input_open_pieces(struct input_files *files, const char *path, size_t piece)
{
	return open_input(files, path, piece);
}

/* ---- files that are no traces ---- */

#define BYTES(s) s, sizeof(s) - 1
#define TEXT_LINE 2048 /* bytes that are searched for a text */
#define OLD_CPU_PROFILE                                                                                      \
	{                                                                                                    \
		"a CPU profile of V8 as a tree",                                                             \
		    "Speedscope shows it; profiles with a list of nodes are read"                            \
	}

static const struct signature {
	size_t at;
	const char *bytes;
	size_t n;
	struct input_foreign is;
} signatures[] = {
	{ 0, BYTES("\x04\x22\x4d\x18"), { "LZ4-compressed data", "unpack it first (lz4 -d)" } },
	{ 0, BYTES("\x02\x21\x4c\x18"), { "LZ4-compressed data", "unpack it first (lz4 -d)" } },
	/* one layer of these is unpacked before */
	{ 0, BYTES("\x1f\x8b\x08"), { "compressed twice, by gzip within", "unpack it once (gzip -d)" } },
	{ 0, BYTES("\x28\xb5\x2f\xfd"), { "compressed twice, by zstd within", "unpack it once (zstd -d)" } },
	{ 0, BYTES("\xfd\x37zXZ\0"), { "compressed twice, by xz within", "unpack it once (xz -d)" } },
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
	  { "a tar archive", "archives are read from files named .tar, .tar.gz, .tar.zst or .tar.xz" } },
	{ 0,
	  BYTES("\x7f"
	        "ELF"),
	  { "an ELF program, library or core dump", "name the trace that the program wrote" } },
	{ 0, BYTES("PERFILE2"), { "a perf.data file of Linux perf", "perf script prints it" } },
	{ 0, BYTES("go 1."), { "an execution trace of Go", "go tool trace shows it" } },
	{ 0, BYTES("v8-version,"), { "a log of V8", "node --prof-process prints it" } },
	{ 0, BYTES("gmon"), { "a profile of gprof", "gprof prints it" } },
	{ 0,
	  BYTES("Nettrace"),
	  { "a trace of .NET", "dotnet-trace convert --format Chromium makes one that is read" } },
	{ 0, BYTES("FLR\0"), { "a recording of Java Flight Recorder", "jfr print prints it" } },
	{ 0, BYTES("hdrb"), { "an event log of GHC", "ghc-events show prints it" } },
	{ 0,
	  BYTES("\x17\x08\x44tracing"),
	  { "a trace.dat file of trace-cmd", "trace-cmd report prints it" } },
	{ 0, BYTES("Ftrace!\0"), { "data of uftrace", "uftrace replay prints it" } },
	{ 0, BYTES("\x10\0\x04\x46\x78\x54\x16\0"), { "a trace of Fuchsia", "fx traceutil converts it" } },
	{ 0, BYTES("# callgrind format"), { "a profile of callgrind", "callgrind_annotate prints it" } },
	{ 0, BYTES("version: 1\ncreator: xdebug"), { "a profile of Xdebug", "kcachegrind shows it" } },
	{ 0, BYTES("\x5e\x97\xca\xfd"), { "a capture of Sysprof", "sysprof shows it" } },
	{ 0, BYTES("sample.interval="), { "a profile of R", "summaryRprof prints it" } },
	{ 0, BYTES("line profiling: "), { "a profile of R", "summaryRprof prints it" } },
	{ 0, BYTES("memory profiling: "), { "a profile of R", "summaryRprof prints it" } },
	/* a dictionary of marshal whose first key has three members */
	{ 0, BYTES("\xfb)\x03"), { "a profile of Python", "python3 -m pstats prints it" } },
	{ 0, BYTES("{)\x03"), { "a profile of Python", "python3 -m pstats prints it" } },
	{ 4, BYTES(":\x0cversion"), { "a profile of stackprof", "stackprof prints it" } },
	{ 0,
	  BYTES("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
	  { "a profile of gperftools", "google-pprof prints it" } },
	{ 2, BYTES("OTF2"), { "a trace in the Open Trace Format", "otf2-print prints it" } },
	{ 0, BYTES("%EventDef"), { "a trace in the format of Paje", "ViTE shows it" } },
	{ 0, BYTES("MMPD"), { "a profile of rustc", "crox of measureme makes a trace that is read" } },
	{ 0, BYTES("TRACE:\n"), { "a trace of atrace", "the Perfetto UI shows it" } },
	{ 0, BYTES("# tracer: "), { "text of ftrace", "the Perfetto UI shows it" } },
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
	{ 0,
	  BYTES("version https://git-lfs"),
	  { "a pointer of Git LFS, not the file itself", "git lfs pull fetches it" } },
	{ 0,
	  BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
	  { "zero bytes", "its data was never written, or is missing in this copy" } },
	{ 0, BYTES("%PDF-"), { "a PDF document", "name a trace" } },
	{ 0, BYTES("<!DOCTYPE"), { "an HTML page", "the download of a trace may have failed" } },
	{ 0, BYTES("<!doctype"), { "an HTML page", "the download of a trace may have failed" } },
	{ 0, BYTES("<html"), { "an HTML page", "the download of a trace may have failed" } },
	{ 0, BYTES("<?xml"), { "an XML document", "name a trace" } },
};

/* Texts of other programs by their begin, before and in which blanks count for nothing, and a text in the
 * first TEXT_LINE bytes. */
static const struct text_signature {
	const char *begin, *text;
	struct input_foreign is;
} text_signatures[] = {
	{ "{\"version\":",
	  "\"type\":\"context-options\"",
	  { "a trace of Playwright", "playwright show-trace shows it" } },
	{ "[{\"name\":",
	  "\"startTime\":",
	  { "a trace of Next.js", "trace-to-event-format.mjs of its repository makes one that is read" } },
	{ "{\"meta\":{", "", { "JSON, perhaps a profile of Firefox", "profiler.firefox.com shows these" } },
	{ "{\"libs\":[{\"", "", { "a profile of Firefox", "profiler.firefox.com shows it" } },
	{ "{\"",
	  "file-format-schema.json\"",
	  { "a profile of Speedscope", "tracetool writes these, but does not read them" } },
	{ "{\"exporter\":\"",
	  "\"activeProfileIndex\":",
	  { "a profile of Speedscope", "tracetool writes these, but does not read them" } },
	{ "{\"head\":{\"callFrame\":",
	  "",
	  { "a heap profile of V8", "the Memory panel of DevTools shows these" } },
	{ "{\"snapshot\":{\"meta\":",
	  "",
	  { "a heap snapshot of V8", "the Memory panel of DevTools shows these" } },
	{ "{\"head\":{\"functionName\":", "", OLD_CPU_PROFILE },
	{ "{\"typeId\":\"CPU\",", "\"head\":{", OLD_CPU_PROFILE },
	{ "{\"code\":[{\"name\":", "", { "a log of V8, preprocessed", "Speedscope shows it" } },
	{ "{\"resourceSpans\":", "", { "spans of OpenTelemetry", "Jaeger shows these" } },
	{ "{\"data\":[{\"traceID\":", "", { "a trace of Jaeger", "Jaeger shows it" } },
	{ "[{\"traceId\":", "", { "a trace of Zipkin", "Zipkin shows it" } },
	{ "{\"recording\":{\"events\":[",
	  "",
	  { "events of Java Flight Recorder", "JDK Mission Control shows the recording" } },
	{ "{\"linux-perf-json-version\":",
	  "",
	  { "samples of Linux perf", "the Perfetto UI shows what perf script prints" } },
	{ "{\"version\":1.2,\"mode\":\"", "", { "a profile of stackprof", "stackprof prints its dump" } },
	{ "{\"constants\":{\"activeFieldTrialGroups\":",
	  "",
	  { "a log of the network of Chromium", "netlog-viewer.appspot.com shows it" } },
	{ "v1", "\nX ", { "a recording of heaptrack", "heaptrack_print prints it" } },
};

static bool has_text(const char *p, size_t n, const char *text)
{
	for (const size_t size = strlen(text); n >= size; p++, n--)
		if (memcmp(p, text, size) == 0)
			return true;
	return false;
}

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
	return p == end || strchr("\"{}[],tfn \t\r\n", *p) != NULL;
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

const struct input_foreign *input_foreign_find(const char *p, size_t n)
{
	static const struct {
		bool (*looks)(const char *p, size_t n);
		struct input_foreign is;
	} shapes[] = {
		{ looks_like_pprof, { "a profile of pprof", "pprof shows it" } },
		{ looks_like_perf_script, { "text of perf script or ftrace", "the Perfetto UI shows it" } },
		{ looks_like_json,
		  { "JSON, but not a trace (it has no traceEvents)",
		    "if it belongs to the trace of a directory, name the directory" } },
		{ looks_like_stacks,
		  { "collapsed stacks of a flame graph", "tracetool writes these, but does not read them" } },
		{ looks_like_packets,
		  { "protocol buffers, but no packet is recognised as that of a Perfetto trace",
		    "--from has them read as one" } },
	};

	for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
		const struct signature *const s = &signatures[i];
		if (n >= s->n && s->at <= n - s->n && memcmp(p + s->at, s->bytes, s->n) == 0)
			return &s->is;
	}
	for (size_t i = 0; i < sizeof text_signatures / sizeof text_signatures[0]; i++) {
		const struct text_signature *const s = &text_signatures[i];
		if (begins_with(p, p + n, s->begin) && has_text(p, n < TEXT_LINE ? n : TEXT_LINE, s->text))
			return &s->is;
	}
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		if (shapes[i].looks(p, n))
			return &shapes[i].is;
	return NULL;
}

/* ---- inputs that are read as a whole ---- */

enum { FIRST_SIZE = 16 << 10, SPOOL_SIZE = 256 << 10 };

/* Reads to the end, or at most one byte more than allowed. */
static bool read_to_end(struct input_whole *w, int fd, size_t max)
{
	size_t size = 0;

	while (w->n <= max) {
		if (size - w->n < 2) {
			const size_t want = size == 0 ? FIRST_SIZE : size * 2;
			char *const p = realloc(w->p, want);
			w->no_memory = p == NULL;
			if (p == NULL)
				return false;
			w->p = p;
			size = want;
		}
		const ssize_t got = input_read_fd(fd, w->p + w->n, size - w->n - 1);
		if (got < 0) {
			errno_text(w->why, sizeof w->why, errno);
			return false;
		}
		w->n += (size_t)got;
		w->p[w->n] = '\0';
		if (got == 0)
			return true;
	}
	w->too_large = true;
	return false;
}

bool input_read_whole_fd(struct input_whole *w, int fd, size_t max)
{
	*w = (struct input_whole){ .p = NULL };
	if (read_to_end(w, fd, max))
		return true;
	free(w->p);
	w->p = NULL;
	return false;
}

/* Copies the reason of a fault, without the advice for traces. */
static void set_whole_why(struct input_whole *w, const struct input *in)
{
	const char *const hint = strstr(in->fault_text, ": feed it");
	const size_t n = hint != NULL ? (size_t)(hint - in->fault_text) : sizeof w->why - 1;

	(void)snprintf(w->why, sizeof w->why, "%.*s", (int)n, in->fault_text);
}

bool input_read_whole(struct input_whole *w, const char *path, size_t max)
{
	struct input *const in = input_new(path);
	struct stat st;

	*w = (struct input_whole){ .no_memory = in == NULL };
	if (in == NULL)
		return false;
	const int fd = open_path(in, &st);
	const bool ok = fd >= 0 && input_read_whole_fd(w, fd, max);
	if (fd < 0)
		set_whole_why(w, in);
	if (fd >= 0)
		(void)close(fd);
	input_close(in);
	return ok;
}

bool input_read_unpacked(struct input_whole *w, const char *path, size_t max)
{
	struct input *const in = input_open(path);

	*w = (struct input_whole){ .no_memory = in == NULL };
	if (in == NULL)
		return false;
	while ((size_t)(in->end - in->p) <= max && !in->last && input_more(in))
		;
	w->n = (size_t)(in->end - in->p);
	w->too_large = w->n > max;
	if (in->fault != INPUT_OK && in->fault != INPUT_EMPTY) {
		set_whole_why(w, in);
	} else if (!w->too_large) {
		w->p = malloc(w->n + 1);
		w->no_memory = w->p == NULL;
	}
	if (w->p != NULL) {
		if (w->n > 0)
			memcpy(w->p, in->p, w->n);
		w->p[w->n] = '\0';
	}
	input_close(in);
	return w->p != NULL;
}

/* ---- pipes that are copied, as they are needed twice ---- */

/* Whether input_open() can read the descriptor only once. */
static bool is_consumed(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) || isatty(fd))
		return false;
	return !S_ISREG(st.st_mode) || lseek(fd, 0, SEEK_CUR) != 0;
}

/* Returns 0, or the errno of a failed read.  f->failed: a write failed. */
static int copy_input(struct spill_file *f, int fd)
{
	char *const buffer = malloc(SPOOL_SIZE);
	int why = buffer != NULL ? 0 : ENOMEM;

	while (why == 0) {
		const ssize_t n = input_read_fd(fd, buffer, SPOOL_SIZE);
		if (n < 0)
			why = errno;
		if (n <= 0 || !spill_write(f, buffer, (size_t)n))
			break;
	}
	free(buffer);
	return why;
}

static void put_reason(const char *path, int error, char *why, size_t n)
{
	char reason[128];

	errno_text(reason, sizeof reason, error);
	(void)snprintf(why, n, "%s: cannot read: %s", strcmp(path, "-") == 0 ? "standard input" : path,
	               reason);
}

bool input_spool(const char *path, const char *near, char *why, size_t n)
{
	const int fd = input_fd_of(path);
	struct spill_file f = { .fd = -1 };
	int error = 0;

	if (!is_consumed(fd))
		return true;
	if (spill_open(&f, near))
		error = copy_input(&f, fd);
	if (error == 0 && f.failed == SPILL_NOTHING && dup2(f.fd, fd) < 0)
		error = errno;
	const bool ok = error == 0 && f.failed == SPILL_NOTHING;
	if (f.failed != SPILL_NOTHING)
		spill_reason(&f, "an input that is read twice", why, n);
	else if (!ok)
		put_reason(path, error, why, n);
	spill_close(&f);
	return ok;
}
