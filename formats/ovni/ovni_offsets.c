#include <math.h>
#include <stdlib.h>

#include "ovni/ovni_state.h"

/*
 * clock-offsets.txt, which ovnisync writes: by how much the clock of each host
 * is to be moved so that all agree.  A first line of titles, whatever it says,
 * then one for each host: rank, host name, median, mean and standard deviation
 * of what was measured, in ns.  The whole part of the median counts.
 *
 * The emulator's own parser stops at a line of blanks, splits long lines, and
 * takes nan, inf and 1e30; none of that is copied here.
 */

/* A line of the table. */
struct row {
	struct slice rank, host, median, mean, deviation;
};

#define SAY(r, ...) ovni_say((r), OVNI_RULE_CLOCK_OFFSETS, __VA_ARGS__)

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line; n 0: there is none. */
static struct slice
next_word(struct slice *line)
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

/* A decimal number with sign, fraction and exponent as they come; its whole part if it fits 63 bits. */
static bool
whole_part(struct slice s, int64_t *whole)
{
	char text[64], *end;
	size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
	bool plain = true;
	uint64_t v = 0;

	if (s.n >= sizeof text || i == s.n || ((s.p[i] < '0' || s.p[i] > '9') && s.p[i] != '.'))
		return false;
	for (size_t k = i; k < s.n; k++) {
		if (strchr("0123456789.eE+-", s.p[k]) == NULL)
			return false;
		plain &= s.p[k] != 'e' && s.p[k] != 'E';
	}
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	const double d = strtod(text, &end);
	if (*end != '\0' || !isfinite(d))
		return false;
	if (!plain) {
		*whole = fabs(d) < 9e18 ? (int64_t)d : 0;
		return fabs(d) < 9e18;
	}
	for (; i < s.n && s.p[i] != '.'; i++) {
		if (v > (INT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	*whole = s.p[0] == '-' ? -(int64_t)v : (int64_t)v;
	return true;
}

static bool
is_rank(struct slice s)
{
	const uint32_t sign = s.n > 0 && s.p[0] == '-';

	for (uint32_t i = sign; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > sign && s.n <= 10;
}

static bool
add_host(struct reader *r, const struct row *w, int64_t offset, uint32_t line)
{
	struct ovni_shared *const sh = r->shared;
	const uint32_t known = tabletext_get(&sh->host_index, w->host);
	struct quoted q;

	if (known != TABLE_NONE) {
		SAY(r, "%s, line %" PRIu32 ": host %s again, with %" PRId64 " after %" PRId64,
		    sh->offsets_name, line, quoted(&q, w->host), offset, sh->hosts[known].offset);
		return true;
	}
	if (sh->nhosts >= OVNI_MAX_LOOMS) {
		if (!sh->limited)
			ovni_say(r, OVNI_RULE_LIMIT, "%s: more than %u hosts; the rest has no offset",
			         sh->offsets_name, OVNI_MAX_LOOMS);
		sh->limited = true;
		return true;
	}
	const struct slice name = arena_copy(&sh->text, w->host);
	if (name.p == NULL || !array_room(&sh->hosts, sh->nhosts, &sh->hosts_cap, sizeof *sh->hosts) ||
	    !tabletext_put(&sh->host_index, name, sh->nhosts))
		return false;
	sh->hosts[sh->nhosts++] = (struct ovni_host){ .name = name, .offset = offset };
	return true;
}

/* false: no memory. */
static bool
read_row(struct reader *r, struct slice line, uint32_t n)
{
	const struct ovni_shared *const sh = r->shared;
	struct row w = { .rank = next_word(&line) };
	int64_t offset = 0, other;
	struct quoted q;

	if (w.rank.n == 0)
		return true;
	w.host = next_word(&line);
	w.median = next_word(&line);
	w.mean = next_word(&line);
	w.deviation = next_word(&line);
	if (w.deviation.n == 0)
		SAY(r, "%s, line %" PRIu32 " has fewer than 5 fields", sh->offsets_name, n);
	else if (!is_rank(w.rank))
		SAY(r, "%s, line %" PRIu32 ": the rank %s is no integer", sh->offsets_name, n,
		    quoted(&q, w.rank));
	else if (!whole_part(w.median, &offset))
		SAY(r, "%s, line %" PRIu32 ": the median %s is no number of ns", sh->offsets_name, n,
		    quoted(&q, w.median));
	else if (!whole_part(w.mean, &other) || !whole_part(w.deviation, &other))
		SAY(r, "%s, line %" PRIu32 ": the mean %s or the deviation behind it is no number",
		    sh->offsets_name, n, quoted(&q, w.mean));
	else
		return add_host(r, &w, offset, n);
	return true;
}

static bool
read_table(struct reader *r, struct slice text)
{
	const struct ovni_shared *const sh = r->shared;
	const char *p = text.p, *const end = text.p + text.n;
	uint32_t n = 0, rows = 0;

	/* what ovnisync -d writes: offsets over time, a column for each host */
	if (text.n >= 9 && memcmp(p, "wallclock", 9) == 0) {
		SAY(r, "%s is a table of the drift mode of ovnisync, which has no offset for a whole trace",
		    sh->offsets_name);
		return true;
	}
	while (p < end) {
		const char *const nl = memchr(p, '\n', (size_t)(end - p)), *const stop =
		                                                               nl != NULL ? nl : end;
		struct slice line = slice_of(p, (size_t)(stop - p)), rest = line;
		n++;
		rows += n > 1 && next_word(&rest).n > 0;
		if (n > 1 && !read_row(r, line, n))
			return false;
		p = nl != NULL ? nl + 1 : end;
	}
	if (rows == 0)
		SAY(r, "%s has no row of a host behind the titles", sh->offsets_name);
	return true;
}

/* `must`: the user named it. */
static bool
read_file(struct reader *r, const char *path, bool must)
{
	struct ovni_shared *const sh = r->shared;
	struct input *const in = input_open(path);
	bool ok = true;

	if (in == NULL)
		return false;
	if (in->fault != INPUT_OK && in->fault != INPUT_EMPTY) {
		if (must || in->fault != INPUT_MISSING) {
			SAY(r, "%s: %s", sh->offsets_name, in->fault_text);
			ok = !must;
		}
	} else if (input_need(in, OVNI_MAX_OFFSETS + 1)) {
		SAY(r, "%s has more than %u bytes and was not read", sh->offsets_name, OVNI_MAX_OFFSETS);
	} else {
		sh->offsets_read = true;
		ok = read_table(r, slice_of(in->p, (size_t)(in->end - in->p)));
	}
	input_close(in);
	return ok;
}

bool
ovni_open_trace(struct reader *r)
{
	static const char name[] = "clock-offsets.txt";
	struct ovni_shared *const sh = r->shared;
	const char *const named = option_find(r->options, "clock-offsets"), *const path =
	                                                                        r->findings != NULL
	                                                                            ? r->findings->path
	                                                                            : NULL;

	sh->rules_state = ovni_wants_state(r->options);
	sh->offsets_named = named != NULL;
	snprintf(sh->offsets_name, sizeof sh->offsets_name, "%s",
	         named != NULL ? "the file of --clock-offsets" : name);
	if (named != NULL)
		return read_file(r, named, true);
	if (!r->in_folder || path == NULL)
		return true;
	const size_t n = strlen(path);
	char *const file = malloc(n + 1 + sizeof name);
	if (file == NULL)
		return false;
	memcpy(file, path, n);
	file[n] = '/';
	memcpy(file + n + 1, name, sizeof name);
	const bool ok = read_file(r, file, false);
	free(file);
	return ok;
}

/* The host of a loom is its name up to the first dot. */
static struct slice
host_of(struct slice loom)
{
	const char *const dot = loom.n > 0 ? memchr(loom.p, '.', loom.n) : NULL;

	return slice_of(loom.p, dot != NULL ? (size_t)(dot - loom.p) : loom.n);
}

int64_t
ovni_offset_of(struct ovni_shared *sh, struct slice loom)
{
	const uint32_t known =
	    loom.p != NULL && sh->nhosts > 0 ? tabletext_get(&sh->host_index, host_of(loom)) : TABLE_NONE;

	if (known == TABLE_NONE)
		return 0;
	sh->hosts[known].used = true;
	return sh->hosts[known].offset;
}

void
ovni_check_offsets(struct reader *r)
{
	const struct ovni_shared *const sh = r->shared;
	struct quoted q, q2;

	for (uint32_t i = 0; i < sh->nhosts; i++)
		if (!sh->hosts[i].used)
			ovni_say(r, sh->offsets_named ? OVNI_RULE_CLOCK_HOST : OVNI_RULE_CLOCK_OFFSETS,
			         "%s: no loom has the host %s", sh->offsets_name,
			         quoted(&q, sh->hosts[i].name));
	if (sh->offsets_read || sh->nlooms == 0)
		return;
	for (uint32_t i = 1; i < sh->nlooms; i++)
		if (!slice_equal(host_of(sh->looms[i].name), host_of(sh->looms[0].name))) {
			ovni_say(r, OVNI_RULE_NO_CLOCK_OFFSETS,
			         "looms %s and %s are of different hosts, and there is no clock-offsets.txt",
			         quoted(&q, sh->looms[0].name), quoted(&q2, sh->looms[i].name));
			break;
		}
}
