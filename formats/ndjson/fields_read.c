/*
 * Reads the fields of a line: `args`, an object, with the types that its JSON does not show in `types`; or
 * `pairs`, a list.  Names are compared with each other up to FEW, then found in a table, so the time is
 * linear.
 */
#include "ndjson/ndjson.h"

#define FEW 16

struct reading {
	struct ndjson_reading *st;
	const struct ndjson_target *to;
	const struct ndjson_entry *entry; /* the class; NULL: none */
	uint32_t n;                       /* fields in the batch after b->nfields */
	struct tabletext seen;            /* with more than FEW: name -> number of its latest duplicate */
};

/* ---- declared types ---- */

static bool expectable(unsigned type)
{
	return type >= VALUE_U8 && type <= VALUE_BYTES;
}

bool ndjson_index_types(struct ndjson_entry *entry)
{
	const struct class *const c = entry->cls;

	if (c->nfields <= FEW)
		return true;
	for (uint32_t i = c->nfields; i-- > 0;) /* the first of equal names counts */
		if (!tabletext_put(&entry->types, c->fields[i].name, c->fields[i].value))
			return false;
	return true;
}

static unsigned expected_type(struct reading *g, struct slice name)
{
	const struct class *const c = g->entry != NULL ? g->entry->cls : NULL;
	unsigned type = VALUE_NONE;

	if (c == NULL || c->nfields == 0)
		return VALUE_NONE;
	if (c->nfields > FEW) {
		const uint32_t found = tabletext_get(&g->entry->types, name);
		type = found != TABLE_NONE ? found : VALUE_NONE;
		return expectable(type) ? type : VALUE_NONE;
	}
	for (uint32_t i = 0; i < c->nfields; i++)
		if (slice_equal(c->fields[i].name, name)) {
			type = c->fields[i].value;
			break;
		}
	return expectable(type) ? type : VALUE_NONE;
}

/* ---- names ---- */

static const struct field *read_so_far(const struct reading *g)
{
	const struct batch *const b = g->to->b;

	return b->fields != NULL ? b->fields + b->nfields : NULL;
}

/* Adds a name to the table, which begins with the first FEW names. */
static bool add_name(struct reading *g, struct slice name)
{
	const struct field *const f = read_so_far(g);

	if (g->n < FEW)
		return true;
	for (uint32_t i = 0; g->n == FEW && i < FEW; i++)
		if (!tabletext_put(&g->seen, f[i].name, 1))
			return false;
	return tabletext_put(&g->seen, name, 1);
}

static bool has_name(const struct reading *g, struct slice name)
{
	const struct field *const f = read_so_far(g);

	if (g->n > FEW)
		return tabletext_get(&g->seen, name) != TABLE_NONE;
	for (uint32_t i = 0; i < g->n; i++)
		if (slice_equal(f[i].name, name))
			return true;
	return false;
}

/* Appends a number to a name so that no field has it. */
static struct slice make_unique(struct reading *g, struct slice name)
{
	const uint32_t before = g->n > FEW ? tabletext_get(&g->seen, name) : 1;

	for (uint32_t k = before;;) {
		const struct slice s =
		    arena_printf(g->to->arena, "%.*s (%" PRIu32 ")", (int)name.n, name.p, ++k);
		if (s.p == NULL)
			return s;
		if (has_name(g, s))
			continue;
		if (g->n > FEW)
			tabletext_put(&g->seen, name, k); /* the key exists: nothing is allocated */
		return textscan_slice(s.p, s.n);
	}
}

/* ---- fields ---- */

static void report_fault(struct reading *g, struct slice name, const struct ndjson_fault *fault)
{
	struct quoted q;

	ndjson_report(g->st, fault->range ? NDJSON_RULE_OUT_OF_RANGE : NDJSON_RULE_BAD_VALUE, fault->at,
	              "field %s: %s; left out", quoted(&q, name), fault->why);
}

/* Appends a field, whose name and value stay valid as long as the batch. */
static bool add_field(struct reading *g, struct slice name, const struct value *v)
{
	if (!add_name(g, name))
		g->st->no_memory = true;
	struct field *const f = g->st->no_memory ? NULL : batch_fields(g->to->b, g->n + 1);
	if (f == NULL) {
		g->st->no_memory = true;
		return false;
	}
	f[g->n++] = (struct field){ name, *v };
	return true;
}

static bool is_full(struct reading *g, const char *at)
{
	if (g->n < NDJSON_MAX_FIELDS)
		return false;
	ndjson_report(g->st, NDJSON_RULE_LIMIT, at, "more than %d fields", NDJSON_MAX_FIELDS);
	return true;
}

/* ---- an object ---- */

/* Cursor over `types`, which usually has the order of the fields; a table finds the others.  Keys are
 * compared with their escapes. */
struct type_cursor {
	const struct ndjson_pairs *types;
	uint32_t next, used;
	struct tabletext others; /* name -> position in types; created when needed */
};

static const struct json_token *find_type(struct reading *g, struct type_cursor *s, struct slice name)
{
	const struct ndjson_pairs *const t = s->types;

	if (s->used == t->n)
		return NULL;
	if (s->next < t->n && slice_equal(t->list[s->next].name, name)) {
		s->used++;
		return &t->list[s->next++].value;
	}
	if (s->others.slots == NULL)
		for (uint32_t i = t->n; i-- > 0;)
			g->st->no_memory |= !tabletext_put(&s->others, t->list[i].name, i);
	const uint32_t i = tabletext_get(&s->others, name);
	if (i == TABLE_NONE)
		return NULL;
	s->next = i + 1;
	s->used++;
	return &t->list[i].value;
}

static bool read_member(struct reading *g, struct type_cursor *s, const struct ndjson_pair *pair)
{
	const struct json_token key = { pair->name.p - 1, pair->name.p + pair->name.n + 1, pair->name_kind };
	const struct json_token *const type = find_type(g, s, pair->name);
	const struct slice name = ndjson_string_of(g->to, &key);
	struct ndjson_fault fault = { .why = NULL };
	struct value v;

	if (name.p == NULL || g->st->no_memory) {
		g->st->no_memory = true;
		return false;
	}
	if (has_name(g, name)) {
		ndjson_report(g->st, NDJSON_RULE_DUPLICATE_MEMBER, key.p, "the name stands in fields twice");
		return true;
	}
	if (is_full(g, key.p))
		return false;
	if (type == NULL)
		v = ndjson_read_value(g->st, g->to, &pair->value, expected_type(g, name), &fault);
	else if (json_is_string(type->kind))
		v = ndjson_read_typed(g->st, g->to, &pair->value, json_token_text(type), &fault);
	else
		fault = (struct ndjson_fault){ .at = type->p, .why = "its type is no text" };
	if (fault.why == NULL)
		return add_field(g, name, &v);
	report_fault(g, name, &fault);
	return true;
}

static void read_object(struct reading *g)
{
	const struct ndjson_pairs *const fields = &g->st->line.args;
	struct type_cursor s = { .types = &g->st->line.types };

	for (uint32_t i = 0; i < fields->n && !g->st->no_memory; i++)
		if (!read_member(g, &s, &fields->list[i]))
			break;
	if (s.used < s.types->n && g->n < NDJSON_MAX_FIELDS)
		ndjson_report(g->st, NDJSON_RULE_BAD_VALUE, g->st->line.of[NDJSON_M_TYPES].p,
		              "%" PRIu32 " types are said of fields that are not there", s.types->n - s.used);
	tabletext_free(&s.others);
}

/* ---- a list of pairs ---- */

/* Splits the list [p, e).  Returns false if it has not two values. */
static bool split_pair(const char *p, const char *e, struct json_token to[2])
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	unsigned n = 0;

	if (*p != '[')
		return false;
	struct json_walk w = json_walk(&x, p, e);
	while (json_walk_next(&w)) {
		if (n == 2)
			return false;
		to[n++] = w.value;
	}
	return w.p != NULL && n == 2;
}

static bool read_pair(struct reading *g, const char *p, const char *e)
{
	struct ndjson_fault fault = { .why = NULL };
	struct json_token two[2];
	struct slice name = slice_of("", 0);
	struct value v = { .type = VALUE_NONE };

	if (!split_pair(p, e, two)) {
		fault = (struct ndjson_fault){ .at = p, .why = "it is no list of a name and a value" };
	} else {
		const struct value n = ndjson_read_value(g->st, g->to, &two[0], VALUE_NONE, &fault);
		name = n.type == VALUE_STRING ? value_text(&n) : name;
		if (fault.why == NULL && n.type != VALUE_STRING)
			fault = (struct ndjson_fault){ .at = p, .why = "its name is no text" };
	}
	if (fault.why == NULL)
		v = ndjson_read_value(g->st, g->to, &two[1], VALUE_NONE, &fault);
	if (g->st->no_memory || is_full(g, p))
		return false;
	if (fault.why != NULL) {
		report_fault(g, name, &fault);
		return true;
	}
	if (has_name(g, name) && (name = make_unique(g, name)).p == NULL) {
		g->st->no_memory = true;
		return false;
	}
	return add_field(g, name, &v);
}

static void read_pairs(struct reading *g)
{
	const struct json_token *const t = &g->st->line.of[NDJSON_M_PAIRS];
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	struct json_walk w = json_walk(&x, t->p, t->end);

	while (json_walk_next(&w))
		if (!read_pair(g, w.value.p, w.value.end))
			return;
}

uint32_t ndjson_read_fields(struct ndjson_reading *st, const struct ndjson_target *to,
                            const struct ndjson_entry *entry)
{
	const struct ndjson_line *const line = &st->line;
	struct reading g = { .st = st, .to = to, .entry = entry };

	if (ndjson_has(line, NDJSON_M_ARGS) && ndjson_has(line, NDJSON_M_PAIRS))
		ndjson_report(st, NDJSON_RULE_BAD_VALUE, line->of[NDJSON_M_PAIRS].p,
		              "a line has args or pairs, not both; pairs are left out");
	if (ndjson_has(line, NDJSON_M_ARGS))
		read_object(&g);
	else if (ndjson_has(line, NDJSON_M_PAIRS))
		read_pairs(&g);
	tabletext_free(&g.seen);
	return g.n;
}
