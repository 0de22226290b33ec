#include "ovni/ovni.h"

#include <math.h>
#include <stdlib.h>

/*
 * clock-offsets.txt, which ovnisync writes: what is to be added to the clocks of
 * each host so that all agree.  A header line, which is ignored, then one line
 * for each host: rank, host name, median, mean and standard deviation of the
 * measurement, in ns.  The integer part of the median is used.
 *
 * The parser of ovniemu stops at a line of blanks, splits long lines, and
 * accepts nan, inf and 1e30; this one does not.
 */

#define TABLE_NAME OVNI_OFFSETS_FILE

/* What the functions that read the table work on. */
struct table {
	struct ovni_offsets *offsets;
	struct ovni_system *system;
	struct reader *r;
};

/* A line of the table. */
struct row {
	struct slice rank, host, median, mean, deviation;
};

#define REPORT(t, ...) ovni_report((t)->r, OVNI_RULE_CLOCK_OFFSETS, __VA_ARGS__)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line; n 0: there is none. */
static struct slice next_word(struct slice *line)
{
	while (line->n > 0 && is_blank(*line->p)) {
		line->p++;
		line->n--;
	}
	struct slice word = slice_of(line->p, 0);
	while (line->n > 0 && !is_blank(*line->p)) {
		line->p++;
		line->n--;
		word.n++;
	}
	return word;
}

/* A decimal number, with optional sign, fraction and exponent; its integer part if it fits 63 bits. */
static bool integer_part(struct slice s, int64_t *integer)
{
	char text[64], *end;
	size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
	bool exponent = false;
	uint64_t v = 0;

	if (s.n >= sizeof text || i == s.n || ((s.p[i] < '0' || s.p[i] > '9') && s.p[i] != '.'))
		return false;
	for (size_t k = i; k < s.n; k++) {
		if (strchr("0123456789.eE+-", s.p[k]) == NULL)
			return false;
		exponent |= s.p[k] == 'e' || s.p[k] == 'E';
	}
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	const double d = strtod(text, &end);
	if (*end != '\0' || !isfinite(d))
		return false;
	if (exponent) {
		*integer = fabs(d) < 9e18 ? (int64_t)d : 0;
		return fabs(d) < 9e18;
	}
	for (; i < s.n && s.p[i] != '.'; i++) {
		if (v > (INT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	*integer = s.p[0] == '-' ? -(int64_t)v : (int64_t)v;
	return true;
}

static bool is_rank(struct slice s)
{
	const uint32_t sign = s.n > 0 && s.p[0] == '-';

	for (uint32_t i = sign; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > sign && s.n <= 10;
}

static void add_host(struct table *t, const struct row *w, int64_t offset, uint32_t line)
{
	struct ovni_offsets *const o = t->offsets;
	const uint32_t known = tabletext_get(&o->host_index, w->host);
	struct quoted q;

	if (known != TABLE_NONE) {
		REPORT(t,
		       "%s, line %" PRIu32 ": host %s occurs twice, now with %" PRId64
		       ", before with %" PRId64,
		       o->file, line, quoted(&q, w->host), offset, o->hosts[known].offset);
		return;
	}
	if (o->nhosts >= OVNI_MAX_LOOMS) {
		if (!t->system->limited)
			ovni_report(t->r, OVNI_RULE_LIMIT,
			            "%s: more than %u hosts; the others have no offset", o->file,
			            OVNI_MAX_LOOMS);
		t->system->limited = true;
		return;
	}
	const struct slice name = arena_copy(&t->system->text, w->host);
	if (name.p == NULL || !array_room(&o->hosts, o->nhosts, &o->hosts_cap, sizeof *o->hosts) ||
	    !tabletext_put(&o->host_index, name, o->nhosts))
		t->system->no_memory = true;
	else
		o->hosts[o->nhosts++] = (struct ovni_host){ .name = name, .offset = offset };
}

static void read_row(struct table *t, struct slice line, uint32_t n)
{
	const char *const file = t->offsets->file;
	struct row w = { .rank = next_word(&line) };
	int64_t offset = 0, other;
	struct quoted q;

	if (w.rank.n == 0)
		return;
	w.host = next_word(&line);
	w.median = next_word(&line);
	w.mean = next_word(&line);
	w.deviation = next_word(&line);
	if (w.deviation.n == 0)
		REPORT(t, "%s, line %" PRIu32 " has fewer than 5 fields", file, n);
	else if (!is_rank(w.rank))
		REPORT(t, "%s, line %" PRIu32 ": the rank %s is not an integer", file, n, quoted(&q, w.rank));
	else if (!integer_part(w.median, &offset))
		REPORT(t, "%s, line %" PRIu32 ": the median %s is not a number of ns", file, n,
		       quoted(&q, w.median));
	else if (!integer_part(w.mean, &other) || !integer_part(w.deviation, &other))
		REPORT(t, "%s, line %" PRIu32 ": the mean %s or the deviation after it is not a number", file,
		       n, quoted(&q, w.mean));
	else
		add_host(t, &w, offset, n);
}

static void read_table(struct table *t, struct slice text)
{
	const char *p = text.p, *const end = text.p + text.n;
	uint32_t n = 0, rows = 0;

	/* what ovnisync -d writes: offsets over time, a column for each host */
	if (text.n >= 9 && memcmp(p, "wallclock", 9) == 0) {
		REPORT(t, "%s is a table of ovnisync -d, whose offsets change with time", t->offsets->file);
		return;
	}
	while (p < end) {
		const char *const newline = memchr(p, '\n', (size_t)(end - p));
		const char *const stop = newline != NULL ? newline : end;
		const struct slice line = slice_of(p, (size_t)(stop - p));
		struct slice rest = line;
		n++;
		rows += n > 1 && next_word(&rest).n > 0;
		if (n > 1)
			read_row(t, line, n);
		p = newline != NULL ? newline + 1 : end;
	}
	if (rows == 0)
		REPORT(t, "%s has no line of a host after the header line", t->offsets->file);
}

/* false: no memory, or the file is not there and must be. */
static bool read_file(struct table *t, const char *path)
{
	struct ovni_offsets *const o = t->offsets;
	struct input *const in =
	    o->named ? input_open_in(t->r->files, NULL, path) : reader_open_beside(t->r, path);
	bool ok = true;

	if (in == NULL)
		return false;
	const enum ovni_load load = ovni_load(t->r, in, o->file, OVNI_MAX_OFFSETS);
	if (load == OVNI_LOAD_MISSING && o->named) {
		REPORT(t, "%s: %s", o->file, in->fault_text);
		ok = false;
	} else if (load == OVNI_LOAD_FAILED) {
		ok = !o->named;
	} else if (load == OVNI_LOAD_LARGE) {
		REPORT(t, "%s has more than %u bytes and was not read", o->file, OVNI_MAX_OFFSETS);
	} else if (load == OVNI_LOAD_WHOLE) {
		o->read = true;
		if ((t->r->want & WANT_FILES) != 0)
			text_add(&o->copy, in->p, (size_t)(in->end - in->p));
		t->system->no_memory |= o->copy.failed;
		read_table(t, slice_of(in->p, (size_t)(in->end - in->p)));
		ok = !t->system->no_memory;
	}
	input_close(in);
	return ok;
}

bool ovni_offsets_open(struct ovni_offsets *o, struct ovni_system *s, struct reader *r)
{
	const char *const named = option_find(r->options, "clock-offsets");
	const char *const folder = r->folder > 0 && r->findings != NULL ? r->findings->path : NULL;
	struct table t = { .offsets = o, .system = s, .r = r };

	o->named = named != NULL;
	o->file = named != NULL ? "the file of --clock-offsets" : TABLE_NAME;
	if (named != NULL)
		return read_file(&t, named);
	if (folder == NULL)
		return true;
	const size_t size = strlen(folder) + sizeof "/" TABLE_NAME;
	char *const path = malloc(size);
	if (path == NULL)
		return false;
	snprintf(path, size, "%s/" TABLE_NAME, folder);
	const bool ok = read_file(&t, path);
	free(path);
	return ok;
}

void ovni_offsets_free(struct ovni_offsets *o)
{
	free(o->hosts);
	text_free(&o->copy);
	tabletext_free(&o->host_index);
}

/* The host of a loom is its name up to the first dot. */
static struct slice host_of(struct slice loom)
{
	const char *const dot = loom.n > 0 ? memchr(loom.p, '.', loom.n) : NULL;

	return slice_of(loom.p, dot != NULL ? (size_t)(dot - loom.p) : loom.n);
}

int64_t ovni_offsets_find(struct ovni_offsets *o, struct slice loom)
{
	const uint32_t known =
	    loom.p != NULL && o->nhosts > 0 ? tabletext_get(&o->host_index, host_of(loom)) : TABLE_NONE;

	if (known == TABLE_NONE)
		return 0;
	o->hosts[known].used = true;
	return o->hosts[known].offset;
}

void ovni_offsets_check(const struct ovni_offsets *o, const struct ovni_system *s, struct reader *r)
{
	struct quoted q, q2;

	for (uint32_t i = 0; i < o->nhosts; i++)
		if (!o->hosts[i].used)
			ovni_report(r, o->named ? OVNI_RULE_CLOCK_HOST : OVNI_RULE_CLOCK_OFFSETS,
			            "%s: no loom is on the host %s", o->file, quoted(&q, o->hosts[i].name));
	if (o->read || s->nlooms == 0)
		return;
	for (uint32_t i = 1; i < s->nlooms; i++)
		if (!slice_equal(host_of(s->looms[i].name), host_of(s->looms[0].name))) {
			ovni_report(
			    r, OVNI_RULE_NO_CLOCK_OFFSETS,
			    "looms %s and %s are on different hosts, but there is no clock-offsets.txt",
			    quoted(&q, s->looms[0].name), quoted(&q2, s->looms[i].name));
			break;
		}
}
