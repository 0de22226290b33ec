#include "htdump/label_map.h"

#include "htdump/finding.h"
#include "htdump/label.h"
#include "htdump/state.h"

/* Label map files: lines of category, label, number. */

static bool
bad_line(struct ht_state *st, const char *path, uint64_t line, const char *why)
{
	struct quoted q;

	finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_LABEL_MAP], 0, 0,
	            "label map %s, line %" PRIu64 ": %s", quoted(&q, slice_str(path)), line, why);
	return false;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A decimal number that is all of the text. */
static bool
parse_number(struct slice s, uint64_t *v)
{
	*v = 0;
	for (uint32_t i = 0; i < s.n; i++) {
		const unsigned digit = (unsigned)(s.p[i] - '0');
		if (digit > 9 || *v > (UINT64_MAX - digit) / 10)
			return false;
		*v = *v * 10 + digit;
	}
	return s.n > 0;
}

/* category, label, number: the label may hold blanks, so it is what stands between the first word and the
 * last. */
static bool
map_line(struct ht_state *st, struct slice line, const char *path, uint64_t number)
{
	uint32_t a = 0, b = line.n;
	uint64_t identifier;

	while (b > 0 && is_blank(line.p[b - 1]))
		b--;
	while (a < b && is_blank(line.p[a]))
		a++;
	if (a == b)
		return true;
	uint32_t last = b;
	while (last > a && !is_blank(line.p[last - 1]))
		last--;
	if (!parse_number(slice_of(line.p + last, b - last), &identifier))
		return bad_line(st, path, number, "the last word is not a 64-bit number");
	while (a < last && !is_blank(line.p[a]))
		a++;
	while (a < last && is_blank(line.p[a]))
		a++;
	while (last > a && is_blank(line.p[last - 1]))
		last--;
	if (a >= last)
		return bad_line(st, path, number, "expected a category, a label and a number");
	const struct slice label = textscan_slice(line.p + a, last - a);
	ht_label_add(st, identifier, label, HT_LABEL_MAP_FILE, NULL);
	return !st->no_memory;
}

bool
ht_label_map_read(struct ht_state *st, const char *path)
{
	struct input *const in = input_open_in(st->r->files, NULL, path);
	struct quoted q;
	uint64_t number = 0;
	bool ok = in != NULL;

	while (ok && (in->p < in->end || input_more(in))) {
		const char *nl = memchr(in->p, '\n', (size_t)(in->end - in->p));
		while (nl == NULL && in->end - in->p < HT_MAX_STRING && input_more(in))
			nl = memchr(in->p, '\n', (size_t)(in->end - in->p));
		const size_t n = (size_t)((nl != NULL ? nl : in->end) - in->p);
		number++;
		if (n > HT_MAX_STRING)
			ok = bad_line(st, path, number, "longer than 4 MiB");
		else
			ok = map_line(st, slice_of(in->p, n), path, number);
		in->p += nl != NULL ? n + 1 : n;
	}
	if (ok && in->fault != INPUT_OK && in->fault != INPUT_EMPTY) {
		finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_LABEL_MAP], 0, 0, "label map %s: %s",
		            quoted(&q, slice_str(path)), in->fault_text);
		ok = false;
	}
	input_close(in);
	return ok;
}
