#include <stdlib.h>

#include "htdump/htdump_state.h"

/*
 * Names of integer labels.  They come from HT_StringMappingEvent, which may
 * stand after the first use, and from a label map file.  When a label has no
 * name yet and the input can be read twice, one quiet pass over the whole
 * input collects the names that come later.
 */

/* Room for one more label of n bytes; false when the bounds are reached (then it stays a number, and is
 * counted).  Names that were replaced take room too, and an empty one is not for nothing. */
static bool
room_for(const struct ht_mappings *m, uint32_t n)
{
	return m->n < HT_MAX_MAPPINGS && m->bytes <= HT_MAX_LABEL_BYTES &&
	       n + HT_TEXT_COST <= HT_MAX_LABEL_BYTES - m->bytes;
}

static void
destroy_texts(struct shared_memory *m)
{
	struct ht_texts *const texts = (struct ht_texts *)m; /* its first member */

	arena_free(&texts->arena);
	free(texts);
}

void
ht_mappings_free(struct ht_mappings *m)
{
	table64_free(&m->index);
	free(m->labels);
	shared_memory_drop(m->texts != NULL ? &m->texts->shared : NULL);
}

/* p is NULL: no memory. */
static struct slice
copy_text(struct ht_mappings *m, struct slice text)
{
	if (m->texts == NULL) {
		m->texts = calloc(1, sizeof *m->texts);
		if (m->texts == NULL)
			return (struct slice){ NULL, 0, 0 };
		shared_memory_init(&m->texts->shared, destroy_texts);
	}
	return arena_copy(&m->texts->arena, text);
}

static enum ht_outcome
append(struct ht_mappings *m, uint64_t identifier, struct ht_label label)
{
	if (!array_room(&m->labels, m->n, &m->cap, sizeof *m->labels))
		return HT_NO_MEMORY;
	m->labels[m->n] = label;
	return table64_put(&m->index, identifier, m->n++) ? HT_DONE : HT_NO_MEMORY;
}

static bool
share(struct ht_state *st, const struct ht_label *label)
{
	return definitions_put(&st->r->trace->definitions, st->mappings.table, DEFINITIONS_WHOLE_TRACE,
	                       label->identifier, 0, value_string(label->text));
}

enum ht_outcome
ht_mapping_add(struct ht_state *st, uint64_t identifier, struct slice text, enum ht_label_source source,
               const struct ht_record *rec)
{
	struct ht_mappings *const m = &st->mappings;
	const uint32_t known = table64_get(&m->index, identifier);
	struct ht_label *const old = known != TABLE_NONE ? &m->labels[known] : NULL;
	struct quoted q, q2;

	if (old != NULL && source <= old->source && source != HT_LABEL_MET)
		return HT_DONE;
	if (old != NULL && slice_equal(old->text, text)) {
		old->source = source;
		return HT_DONE;
	}
	if (old != NULL && old->source == HT_LABEL_MET &&
	    !finding_is_shown(st->r->findings, &ht_rules[HT_RULE_MAPPING_CHANGED]))
		ht_find(st, HT_RULE_MAPPING_CHANGED, rec, "not shown");
	else if (old != NULL && old->source == HT_LABEL_MET)
		ht_find(st, HT_RULE_MAPPING_CHANGED, rec, "label %" PRIu64 " was %s, from here on it is %s",
		        identifier, quoted(&q, old->text), quoted(&q2, text));
	if (!room_for(m, text.n))
		return HT_DONE;
	const struct ht_label label = { copy_text(m, text), identifier, source };
	if (label.text.p == NULL || (m->shared && !share(st, &label)))
		return HT_NO_MEMORY;
	m->bytes += text.n + HT_TEXT_COST;
	if (old == NULL)
		return append(m, identifier, label);
	*old = label;
	return HT_DONE;
}

/* Collects the mappings of the whole input by a pass of its own, at most once. */
static enum ht_outcome
look_ahead(struct ht_state *st)
{
	if (st->looked_ahead)
		return HT_DONE;
	st->looked_ahead = true;
	switch (reader_look_ahead(st->r)) {
	case LOOK_AHEAD_DONE:
		break;
	case LOOK_AHEAD_ONE_PASS:
		st->one_pass = true; /* labels that are named later stay numbers, and are counted */
		break;
	case LOOK_AHEAD_NO_MEMORY:
		return HT_NO_MEMORY;
	}
	return HT_DONE;
}

bool
ht_mappings_share(struct ht_state *st, uint8_t table)
{
	struct ht_mappings *const m = &st->mappings;

	if (m->shared)
		return true;
	if (look_ahead(st) != HT_DONE)
		return false;
	m->shared = true;
	m->table = table;
	for (uint32_t i = 0; i < m->n; i++)
		if (!share(st, &m->labels[i]))
			return false;
	return true;
}

enum ht_outcome
ht_mapping_find(struct ht_state *st, uint64_t identifier, const struct ht_record *rec, struct slice *text)
{
	struct ht_mappings *const m = &st->mappings;
	uint32_t known = table64_get(&m->index, identifier);

	if (known == TABLE_NONE && look_ahead(st) != HT_DONE)
		return HT_NO_MEMORY;
	if (known == TABLE_NONE)
		known = table64_get(&m->index, identifier);
	*text = known != TABLE_NONE ? m->labels[known].text : (struct slice){ NULL, 0, 0 };
	if (known == TABLE_NONE)
		finding_tally_add(&st->unresolved, rec->offset, rec->ordinal, identifier, 0);
	return HT_DONE;
}

/* ---- label map files ---- */

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
		return bad_line(st, path, number, "the last word is no number of 64 bits");
	while (a < last && !is_blank(line.p[a]))
		a++;
	while (a < last && is_blank(line.p[a]))
		a++;
	while (last > a && is_blank(line.p[last - 1]))
		last--;
	if (a >= last)
		return bad_line(st, path, number, "expected a category, a label and a number");
	const struct slice label = textscan_slice(line.p + a, last - a);
	return ht_mapping_add(st, identifier, label, HT_LABEL_MAP_FILE, NULL) == HT_DONE;
}

bool
ht_label_map_read(struct ht_state *st, const char *path)
{
	struct input *const in = input_open(path);
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
