#include "cmd/align_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd/say.h"
#include "pipeline/join.h"

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
take_file(struct align_line *l, FILE *f)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	bool ok = true;

	while (ok && (n = getline(&line, &cap, f)) >= 0) {
		l->number++;
		ok = take_line(l, line, (size_t)n - (n > 0 && line[n - 1] == '\n'));
	}
	free(line);
	if (ok && ferror(f)) {
		struct shown_path shown;
		say("%s: cannot read it: %s", show_path(&shown, l->path), strerror(errno));
		l->options->status = STATUS_UNREADABLE;
	}
	return ok && !ferror(f);
}

bool
align_file(const char *path, struct join *j, struct options *o)
{
	struct align_line l = { .path = path, .options = o, .join = j, .told = calloc(j->n, 1) };
	FILE *const f = fopen(path, "re");
	struct shown_path shown;
	bool ok = l.told != NULL && f != NULL;

	if (l.told == NULL) {
		options_no_memory(o);
	} else if (f == NULL) {
		say("%s: cannot read it: %s", show_path(&shown, path), strerror(errno));
		o->status = STATUS_UNREADABLE;
	}
	ok = ok && take_file(&l, f);
	for (size_t i = 0; ok && i < j->n; i++)
		if (!l.told[i]) {
			struct shown_path input;
			say("%s: no offset of %s", show_path(&shown, path),
			    show_path(&input, j->parts[i].path));
			o->status = STATUS_USAGE;
			ok = false;
		}
	if (f != NULL)
		fclose(f);
	free(l.told);
	return ok;
}
