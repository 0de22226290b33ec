/*
 * Properties of a class that its vocabulary states and consumers of its events need: spans that are waiting,
 * fields that count bytes, the field with the call stack.  The line of the class has them as members; the
 * reader makes a plan of them.
 */
#include "base/match.h"
#include "ndjson/ndjson.h"

#define MAX_ENTRIES 16U /* of `bytes`, as in a vocabulary */
#define MAX_NAMED 256U  /* patterns of an entry: long names of events are compared with all of them */

static const char *const stack_kinds[] = {
	[PLAN_STACK_ANY] = "",
	[PLAN_STACK_CPU] = "cpu",
	[PLAN_STACK_OFF_CPU] = "off-cpu",
	[PLAN_STACK_ALLOC] = "alloc",
};

#define STACK_KINDS (sizeof stack_kinds / sizeof *stack_kinds)

/* ---- writing ---- */

static void put_texts(struct text *t, const struct slice *texts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		text_char(t, i > 0 ? ',' : '[');
		ndjson_string(t, texts[i]);
	}
	text_char(t, ']');
}

void ndjson_put_properties(struct text *t, const struct plan *m)
{
	if (m->waiting)
		text_str(t, ",\"waiting\":true");
	if (m->stack.p != NULL) {
		text_str(t, ",\"stack\":");
		ndjson_string(t, m->stack);
		if (m->stack_of != PLAN_STACK_ANY)
			text_printf(t, ",\"stack_of\":\"%s\"", stack_kinds[m->stack_of]);
	}
	for (uint32_t i = 0; i < m->nbytes; i++) {
		text_str(t, i > 0 ? ",{" : ",\"bytes\":[{");
		if (m->bytes[i].nnamed > 0) {
			text_str(t, "\"named\":");
			put_texts(t, m->bytes[i].named, m->bytes[i].nnamed);
			text_char(t, ',');
		}
		text_str(t, "\"field\":");
		put_texts(t, m->bytes[i].field, m->bytes[i].nfields);
		text_str(t, i + 1 < m->nbytes ? "}" : "}]");
	}
}

/* ---- reading ---- */

/* Appends the texts of an array, copied into the arena of the trace.  Returns false for other values, more
 * than max texts, and on OOM. */
static bool read_texts(struct ndjson_reading *st, const struct json_token *t, uint32_t max, struct slice *to,
                       uint32_t *n)
{
	const struct ndjson_target target = { .arena = &st->r->trace->arena, .copy = true };

	if (t->kind != JSON_ARRAY)
		return false;
	struct json_walk w = json_walk_again(t);
	while (json_walk_next(&w)) {
		if (*n == max || !json_is_string(w.value.kind))
			return false;
		to[*n] = ndjson_string_of(&target, &w.value);
		st->r->no_memory |= to[*n].p == NULL;
		if (to[(*n)++].p == NULL)
			return false;
	}
	return true;
}

static bool read_entry(struct ndjson_reading *st, const struct json_token *t, struct plan_bytes *to)
{
	struct slice named[MAX_NAMED];
	uint32_t nfields = 0;
	bool ok = t->kind == JSON_OBJECT;

	if (!ok)
		return false;
	struct json_walk w = json_walk_again(t);
	while (ok && json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key);
		if (slice_is(key, "named"))
			ok = read_texts(st, &w.value, MAX_NAMED, named, &to->nnamed);
		else if (slice_is(key, "field"))
			ok = read_texts(st, &w.value, 2, to->field, &nfields);
	}
	for (uint32_t i = 0; i < to->nnamed; i++)
		ok &= glob_is_linear(named[i]);
	to->nfields = (uint8_t)nfields;
	if (!ok || nfields == 0 || to->nnamed == 0)
		return ok && nfields > 0;
	struct slice *const kept = arena_alloc(&st->r->trace->arena, to->nnamed * sizeof *kept);
	if (note_failure(&st->r->no_memory, kept == NULL))
		return false;
	memcpy(kept, named, to->nnamed * sizeof *kept);
	to->named = kept;
	return true;
}

static bool read_bytes(struct ndjson_reading *st, const struct json_token *t, struct plan *m)
{
	struct plan_bytes *const list = arena_zalloc(&st->r->trace->arena, MAX_ENTRIES, sizeof *list);
	struct json_walk w = json_walk_again(t);

	if (note_failure(&st->r->no_memory, list == NULL))
		return false;
	m->bytes = list;
	while (json_walk_next(&w))
		if (m->nbytes == MAX_ENTRIES || !read_entry(st, &w.value, &list[m->nbytes++]))
			return false;
	return true;
}

static void read_stack(struct ndjson_reading *st, struct plan *m)
{
	const struct ndjson_target to = { .arena = &st->r->trace->arena, .copy = true };
	const struct json_token *const of = &st->line.of[NDJSON_M_STACK_OF];
	size_t kind = 0;

	m->stack = ndjson_string_of(&to, &st->line.of[NDJSON_M_STACK]);
	st->r->no_memory |= m->stack.p == NULL;
	if (!ndjson_has(&st->line, NDJSON_M_STACK_OF))
		return;
	while (kind < STACK_KINDS && !slice_is(json_token_text(of), stack_kinds[kind]))
		kind++;
	if (kind == STACK_KINDS || kind == PLAN_STACK_ANY)
		ndjson_report(st, NDJSON_RULE_BAD_VALUE, of->p, "stack_of is none of cpu, off-cpu and alloc");
	else
		m->stack_of = (uint8_t)kind;
}

bool ndjson_read_properties(struct ndjson_reading *st, struct class *like)
{
	const struct ndjson_line *const line = &st->line;
	const struct json_token *const bytes = &line->of[NDJSON_M_BYTES];

	if (!ndjson_has(line, NDJSON_M_WAITING) && !ndjson_has(line, NDJSON_M_STACK) &&
	    !ndjson_has(line, NDJSON_M_BYTES))
		return true;
	struct plan *const m = arena_zalloc(&st->r->trace->arena, 1, sizeof *m);
	if (note_failure(&st->r->no_memory, m == NULL))
		return false;
	m->waiting = ndjson_has(line, NDJSON_M_WAITING);
	if (ndjson_has(line, NDJSON_M_STACK))
		read_stack(st, m);
	if (ndjson_has(line, NDJSON_M_BYTES) && !read_bytes(st, bytes, m)) {
		m->nbytes = 0;
		if (!st->r->no_memory)
			ndjson_report(st, NDJSON_RULE_BAD_VALUE, bytes->p,
			              "bytes is a list of at most %u objects with field, one or two names, "
			              "and named, at most %u patterns",
			              MAX_ENTRIES, MAX_NAMED);
	}
	like->plan = m;
	like->reader_applies = true;
	/* recovery reads the line again without its faults */
	return !st->r->no_memory && (st->faults == NULL || st->faults->n == 0);
}
