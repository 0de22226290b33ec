#include "cmd/align_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd/say.h"
#include "input/input_whole.h"
#include "run/adjust/join.h"

#define ALIGN_MOST (16 << 20) /* bytes of the file */

struct align_line {
	const char *path; /* of the file */
	unsigned number;  /* from 1 */
	struct options *options;
	struct join *join;
	uint8_t *told; /* by part */
};

static bool
mistake(const struct align_line *l, const char *what, struct slice s)
{
	struct shown_path shown_file, shown;
	char text[200];

	snprintf(text, sizeof text, "%.*s", (int)(s.n < 150 ? s.n : 150), s.p);
	say("%s:%u: %s %s", show_path(&shown_file, l->path), l->number, what, show_path(&shown, text));
	l->options->status = STATUS_USAGE;
	return false;
}

static bool
offset_of(struct slice s, int64_t *ns)
{
	const bool negative = s.n > 0 && s.p[0] == '-', sign = negative || (s.n > 0 && s.p[0] == '+');
	uint64_t v;

	if (!units_time(slice_of(s.p + sign, s.n - sign), &v) || v > INT64_MAX)
		return false;
	*ns = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A line without its end. */
static bool
take_line(struct align_line *l, const char *p, size_t n)
{
	while (n > 0 && (is_blank(p[n - 1]) || p[n - 1] == '\r'))
		n--;
	for (; n > 0 && is_blank(*p); n--)
		p++;
	if (n == 0 || *p == '#')
		return true;
	size_t word = 0;
	while (word < n && !is_blank(p[word]))
		word++;
	size_t at = word;
	while (at < n && is_blank(p[at]))
		at++;
	const struct slice offset = slice_of(p, word), name = slice_of(p + at, n - at);
	int64_t ns;
	if (!offset_of(offset, &ns))
		return mistake(l, "there must be an offset such as 12.5ms, not", offset);
	for (size_t i = 0; i < l->join->n; i++)
		if (slice_equal(slice_str(l->join->parts[i].path), name)) {
			l->join->parts[i].later = ns;
			l->told[i] = 1;
			return true;
		}
	return mistake(l, "none of the inputs is named", name);
}

static bool
take_lines(struct align_line *l, const char *p, const char *end)
{
	bool ok = true;

	while (ok && p < end) {
		const char *const nl = memchr(p, '\n', (size_t)(end - p));
		const size_t n = (size_t)((nl != NULL ? nl : end) - p);
		l->number++;
		ok = take_line(l, p, n);
		p += n + (nl != NULL);
	}
	return ok;
}

/* false after a message. */
static bool
read_file(struct align_line *l, struct input_whole *w)
{
	struct shown_path shown;

	if (input_read_whole(w, l->path, ALIGN_MOST))
		return true;
	if (w->no_memory)
		options_no_memory(l->options);
	else if (w->too_large)
		say("%s: is larger than %d MiB", show_path(&shown, l->path), ALIGN_MOST >> 20);
	else
		say("%s: cannot read it: %s", show_path(&shown, l->path), w->why);
	l->options->status = STATUS_UNREADABLE;
	return false;
}

bool
align_file(const char *path, struct join *j, struct options *o)
{
	struct align_line l = { .path = path, .options = o, .join = j, .told = calloc(j->n, 1) };
	struct input_whole w = { .p = NULL };
	struct shown_path shown;

	if (l.told == NULL)
		options_no_memory(o);
	bool ok = l.told != NULL && read_file(&l, &w) && take_lines(&l, w.p, w.p + w.n);
	for (size_t i = 0; ok && i < j->n; i++)
		if (!l.told[i]) {
			struct shown_path input;
			say("%s: no offset of %s", show_path(&shown, path),
			    show_path(&input, j->parts[i].path));
			o->status = STATUS_USAGE;
			ok = false;
		}
	free(w.p);
	free(l.told);
	return ok;
}
