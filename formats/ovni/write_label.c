#include "base/utf8.h"
#include "ovni/write.h"

/* Names as labels of marks: a number for each name. */

#define OTHER "(other)"
#define NONE "(none)"

bool
ovw_clean_name(struct text *t, struct slice name)
{
	const uint32_t n = (uint32_t)utf8_cut(name.p, name.n, OVNI_MARK_TEXT - 1);
	bool changed = n < name.n || n == 0;

	text_clear(t);
	if (n == 0)
		text_str(t, NONE);
	for (uint32_t i = 0; i < n; i++) {
		if (name.p[i] == '\0')
			text_char(t, '?');
		else
			text_char(t, name.p[i]);
		changed |= name.p[i] == '\0';
	}
	return changed || !utf8_valid(name.p, n);
}

/* Bytes that it takes as JSON. */
static size_t
json_size(struct text *t, struct slice name)
{
	const size_t before = t->n;

	text_json_quoted(t, name);
	const size_t n = t->n - before;
	t->n = before;
	return n + 24; /* the value, and what stands between */
}

/* The value of a new label; 0: there is no room, or text.failed. */
static int64_t
add_label(struct ovw_state *st, enum ovw_type type, struct slice name, bool last, struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;
	const bool changed = ovw_clean_name(&m->scratch, name);
	const struct slice text = arena_copy(&st->arena, slice_of(m->scratch.p, m->scratch.n));
	const struct slice key = changed ? arena_copy(&st->arena, name) : text;

	if (m->scratch.failed || text.p == NULL || key.p == NULL) {
		chunk->text.failed = true;
		return 0;
	}
	const size_t json = json_size(&m->scratch, text);
	const uint64_t room = (uint64_t)OVW_LABELS_OF_STREAM * m->nstreams;
	if (!last &&
	    (m->nlabels + OVW_LABELLED >= OVW_MOST_LABELS || m->label_text + text.n > OVW_MOST_LABEL_TEXT ||
	     m->label_json + json + 1024 * (uint64_t)m->nstreams > room))
		return 0;
	if (!array_room(&m->labels, m->nlabels, &m->labels_cap, sizeof *m->labels) ||
	    !tabletext_put(&m->names[type], key, m->nlabels)) {
		chunk->text.failed = true;
		return 0;
	}
	m->label_text += text.n;
	m->label_json += (uint32_t)json;
	m->labels[m->nlabels++] = (struct ovw_label){ text.p, type, changed };
	return m->nlabels;
}

int64_t
ovw_label_of(struct ovw_state *st, enum ovw_type type, struct slice name, uint64_t offset,
             struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;
	uint32_t known = tabletext_get(&m->names[type], name);
	const int64_t value =
	    known != TABLE_NONE ? (int64_t)known + 1 : add_label(st, type, name, false, chunk);

	if (value != 0 && m->labels[value - 1].changed)
		ovw_lose(chunk, OVW_NAME_CHANGED, offset);
	if (value != 0 || chunk->text.failed)
		return value;
	ovw_lose(chunk, OVW_NAMES_FULL, offset);
	known = tabletext_get(&m->names[type], SLICE_LIT(OTHER));
	return known != TABLE_NONE ? known + 1 : add_label(st, type, SLICE_LIT(OTHER), true, chunk);
}

uint32_t
ovw_counter_type(struct ovw_state *st, struct slice title, uint64_t offset, struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;
	const uint32_t known = tabletext_get(&m->title_of, title);

	if (known != TABLE_NONE)
		return known;
	if (m->ntitles == OVNI_MARK_TYPES - OVW_COUNTERS) {
		ovw_lose(chunk, OVW_TYPES_FULL, offset);
		return OVNI_MARK_TYPES;
	}
	const struct slice key = arena_copy(&st->arena, title); /* title may lie in scratch */
	const bool changed = key.p != NULL && ovw_clean_name(&m->scratch, key);
	const struct slice text = arena_copy(&st->arena, slice_of(m->scratch.p, m->scratch.n));
	if (key.p == NULL || text.p == NULL || !tabletext_put(&m->title_of, key, OVW_COUNTERS + m->ntitles)) {
		chunk->text.failed = true;
		return OVNI_MARK_TYPES;
	}
	if (changed)
		ovw_lose(chunk, OVW_NAME_CHANGED, offset);
	m->titles[m->ntitles] = text;
	return OVW_COUNTERS + m->ntitles++;
}
