#include <stdio.h>

#include "dial9/write.h"

/* Schema frames: see dial9_made.h. */

#define MOST_CATEGORY 10000U /* bytes; escaped they are three times as many */
#define MOST_CLASS 30000U
#define MOST_NAME 65000U /* of a field, before what is put behind it */

static void
put_field(struct text *t, const char *name, unsigned type)
{
	d9w_text16(t, slice_str(name));
	text_char(t, (char)type);
}

static void
put_head(struct text *t, uint32_t id, struct slice name, bool timed, uint32_t nfields)
{
	text_char(t, D9_TAG_SCHEMA);
	d9w_number(t, id, 2);
	d9w_text16(t, name);
	text_char(t, (char)timed);
	d9w_number(t, nfields, 2);
}

void
d9w_prologue(struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	text_add(t, D9_MAGIC, D9_MAGIC_SIZE);
	text_char(t, D9_VERSION);
	put_head(t, D9W_ID_TRACK, SLICE_LIT(D9_MADE_TRACK), false, 5);
	put_field(t, "track", D9_VARINT);
	put_field(t, "parent", D9_VARINT | D9_OPTIONAL);
	put_field(t, "kind", D9_STRING);
	put_field(t, "id", D9_VARINT | D9_OPTIONAL);
	put_field(t, "name", D9_STRING);
	put_head(t, D9W_ID_FACTS, SLICE_LIT("SegmentMetadataEvent"), false, 1);
	put_field(t, "entries", D9_STRING_MAP);
	put_head(t, D9W_ID_CLOCK, SLICE_LIT("ClockSyncEvent"), true, 2);
	put_field(t, "realtime_ns", D9_VARINT);
	put_field(t, "tracetool.clock", D9_BOOL);
}

/* ---- names ---- */

static void
put_category(struct text *t, struct slice s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (s.p[i] == '%')
			text_str(t, "%25");
		else if (s.p[i] == ':')
			text_str(t, "%3a");
		else
			text_char(t, s.p[i]);
}

/* The name of the schema, in scratch. */
static struct slice
schema_name(struct d9w_state *st, struct d9w_layout *l)
{
	const struct slice category = l->other ? SLICE_LIT("tracetool") : l->cls->category;
	const struct slice cls = l->other ? SLICE_LIT("other") : l->cls->name;
	struct text *const t = &st->scratch;

	text_clear(t);
	l->bad_name |= d9w_clean(t, category, MOST_CATEGORY);
	const struct slice clean = arena_copy(&st->arena, slice_of(t->p, t->n));
	if (clean.p == NULL)
		t->failed = true;
	text_clear(t);
	text_printf(t, D9_MADE_PREFIX "%s:", d9_made_kinds[l->kind]);
	if (clean.p != NULL)
		put_category(t, clean);
	text_char(t, ':');
	l->bad_name |= d9w_clean(t, cls, MOST_CLASS);
	return slice_of(t->p, t->failed ? 0 : t->n);
}

/* The name of a member without its word, in scratch: unique among those before it. */
static struct slice
member_name(struct d9w_state *st, struct d9w_layout *l, uint32_t i, struct tabletext *taken)
{
	struct text *const t = &st->scratch;

	text_clear(t);
	l->bad_name |= d9w_clean(t, l->members[i].name, MOST_NAME);
	const struct slice plain = arena_copy(&st->arena, slice_of(t->p, t->failed ? 0 : t->n));
	struct slice name = plain;
	uint32_t nth = plain.p != NULL ? tabletext_get(taken, plain) : TABLE_NONE;
	for (bool is_taken = nth != TABLE_NONE; is_taken && name.p != NULL;) {
		name = arena_printf(&st->arena, "%.*s (%u)", (int)plain.n, plain.p, ++nth);
		is_taken = name.p != NULL && tabletext_get(taken, name) != TABLE_NONE;
		l->renamed = true;
	}
	if (plain.p == NULL || name.p == NULL || !tabletext_put(taken, plain, nth != TABLE_NONE ? nth : 1) ||
	    (name.p != plain.p && !tabletext_put(taken, name, 1)))
		t->failed = true;
	return name;
}

static void
put_member(struct d9w_state *st, struct d9w_layout *l, uint32_t i, struct tabletext *taken,
           struct chunk *chunk)
{
	const struct d9w_member *const m = &l->members[i];
	const struct slice name = member_name(st, l, i, taken);
	struct text *const t = &st->scratch;
	uint32_t n;

	if (t->failed || name.p == NULL)
		return;
	text_clear(t);
	text_slice(t, name);
	if (m->word != D9_MADE_PLAIN || d9_made_word_of(name, &n) != D9_MADE_WORDS)
		text_printf(t, ":%s", d9_made_words[m->word]);
	d9w_text16(&chunk->text, slice_of(t->p, t->n));
	text_char(&chunk->text, (char)m->wire);
}

/* ---- fields before the arguments ---- */

static bool
is_there(enum d9_made_kind kind, int hidden)
{
	const bool span = kind == D9_MADE_SPAN || kind == D9_MADE_ASYNC;
	const bool arrow = d9_made_is_arrow(kind);

	return hidden == 1 ? span : hidden == 2 ? arrow : true;
}

static uint32_t
put_hidden(const struct d9w_layout *l, struct text *t)
{
	uint32_t n = 0;

	for (int i = 0; i < D9_MADE_FIELDS; i++) {
		if (!is_there((enum d9_made_kind)l->kind, i))
			continue;
		n++;
		if (t != NULL)
			put_field(t, d9_made_hidden[i], i == D9_MADE_FIELDS - 1 ? l->name_wire : D9_VARINT);
	}
	return n;
}

void
d9w_describe(struct d9w_state *st, struct d9w_layout *l, struct chunk *chunk)
{
	struct tabletext taken = { .slots = NULL };

	put_head(&chunk->text, l->id, schema_name(st, l), true, put_hidden(l, NULL) + l->nmembers);
	(void)put_hidden(l, &chunk->text);
	for (int i = 0; i < D9_MADE_FIELDS; i++)
		if (!tabletext_put(&taken, slice_str(d9_made_hidden[i]), 1))
			st->scratch.failed = true;
	for (uint32_t i = 0; i < l->nmembers && !st->scratch.failed; i++)
		put_member(st, l, i, &taken, chunk);
	tabletext_free(&taken);
	chunk->text.failed |= st->scratch.failed;
}
