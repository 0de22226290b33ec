#include <inttypes.h>
#include <stdio.h>

#include "model/trace_origin.h"
#include "ndjson/state.h"

/* The lines that are no events: the trace, its tracks and classes, the end. */

/* ---- the trace ---- */

/* What is known of it; the last line has the last word. */
static void
put_facts(struct text *t, const struct trace_facts *facts)
{
	ndjson_member(t, "format", slice_str(facts->format));
	if (facts->dialect[0] != '\0')
		ndjson_member(t, "dialect", slice_str(facts->dialect));
	if (facts->byte_order != NULL)
		ndjson_member(t, "byte_order", slice_str(facts->byte_order));
	ndjson_member(t, "clock", slice_str(facts->clock));
	if (facts->record_id != NULL)
		ndjson_member(t, "record_id", slice_str(facts->record_id));
}

static struct trace_facts
facts_of(const struct trace *t)
{
	return (struct trace_facts){ t->format, t->dialect, t->byte_order, t->clock, t->record_id };
}

void
ndjson_put_trace(struct text *t, const struct writer *w)
{
	const struct trace_origin *const origin = w->trace->origin;
	struct trace_facts facts = origin != NULL ? origin->first : facts_of(w->trace);
	if (origin == NULL)
		facts.dialect = ""; /* known at the end: later records, or inputs, may be of another */
	const bool rebased = w->rebased || (origin != NULL && origin->rebased);

	text_printf(t, "{\"type\":\"trace\",\"version\":%d", NDJSON_VERSION);
	ndjson_member(t, "tool", slice_str(w->tool));
	ndjson_member(t, "mode", slice_str(w->raw ? "raw" : "interpreted"));
	text_printf(t, ",\"rebased\":%s", rebased ? "true" : "false");
	put_facts(t, &facts);
	text_str(t, "}\n");
}

/* ---- tracks ---- */

/* The nearest number of its thread, or of its process. */
static const struct track *
numbered(const struct track *k, enum track_kind kind)
{
	while (k != NULL && (k->kind != kind || !k->has_id))
		k = k->parent;
	return k;
}

bool
ndjson_declare_track(struct ndjson_state *st, struct track *k)
{
	struct ndjson_track *const d = arena_zalloc(&st->arena, 1, sizeof *d);
	const struct track *const process = numbered(k, TRACK_PROCESS), *const thread =
	                                                                    numbered(k, TRACK_THREAD);
	int n;

	if (d == NULL)
		return false;
	n = snprintf(d->text, sizeof d->text, ",\"track_index\":%" PRIu32, k->index);
	if (process != NULL)
		n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"pid\":%" PRIu64, process->id);
	if (thread != NULL)
		n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"tid\":%" PRIu64, thread->id);
	n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"offset\":");
	d->n = (uint8_t)n;
	k->declared = d;
	return true;
}

void
ndjson_put_track(struct text *t, const struct track *k)
{
	text_str(t, "{\"type\":\"track\"");
	ndjson_member_u64(t, "index", k->index);
	ndjson_member(t, "kind", slice_str(k->kind == TRACK_PROCESS ? "process" : "thread"));
	const bool escaped = ndjson_member(t, "name", k->name);
	if (k->has_id)
		ndjson_member_u64(t, "id", k->id);
	if (k->parent != NULL)
		ndjson_member_u64(t, "parent", k->parent->index);
	if (k->lane > 0)
		ndjson_member_u64(t, "lane", k->lane);
	if (k->is_child)
		text_str(t, ",\"child\":true");
	ndjson_escaped(t, (const char *const[]){ "name" }, &escaped, 1);
	text_str(t, "}\n");
}

/* ---- classes ---- */

static void
put_class_field(struct text *t, const struct class_field *f)
{
	static const char *const names[] = { "name", "type" };
	bool escaped[2];

	text_str(t, "{\"name\":");
	escaped[0] = ndjson_string(t, f->name);
	escaped[1] = ndjson_member(t, "type", f->type);
	if (f->value != VALUE_NONE) {
		text_str(t, ",\"value\":\"");
		ndjson_kind_word(t, f->value);
		text_char(t, '"');
	}
	if (f->size > 0)
		ndjson_member_u64(t, "size", f->size);
	if (f->unit != NULL)
		ndjson_member(t, "unit", slice_str(f->unit));
	ndjson_escaped(t, names, escaped, 2);
	text_char(t, '}');
}

static void
put_class(struct text *t, const struct class *c)
{
	static const char *const names[] = { "name", "category" };
	bool escaped[2];

	text_str(t, "{\"type\":\"class\"");
	ndjson_member_u64(t, "index", c->index);
	escaped[0] = ndjson_member(t, "name", c->name);
	escaped[1] = ndjson_member(t, "category", c->category);
	ndjson_escaped(t, names, escaped, 2);
	for (uint32_t i = 0; i < c->nfields; i++) {
		text_str(t, i > 0 ? "," : ",\"fields\":[");
		put_class_field(t, &c->fields[i]);
	}
	text_str(t, c->nfields > 0 ? "]}\n" : "}\n");
}

/* Of fields of one name the first counts. */
static bool
note_types(struct ndjson_class *d, const struct class *c)
{
	for (uint32_t i = c->nfields; i-- > 0;) {
		const struct class_field *const f = &c->fields[i];
		const unsigned type = ndjson_expectable(f->value) ? f->value : VALUE_NONE;
		if (!tabletext_put(&d->types, f->name, type))
			return false;
	}
	return true;
}

static struct slice
copy_text(struct ndjson_state *st, const struct text *t)
{
	return t->failed ? slice_of(NULL, 0) : arena_copy(&st->arena, slice_of(t->p, t->n));
}

bool
ndjson_declare_class(struct ndjson_state *st, struct class *c)
{
	struct ndjson_class *const d = arena_zalloc(&st->arena, 1, sizeof *d);
	struct text t = { .p = NULL };

	if (d == NULL)
		return false;
	d->next = st->classes;
	st->classes = d;
	put_class(&t, c);
	d->line = copy_text(st, &t);
	text_clear(&t);
	text_str(&t, "\",\"class_index\":");
	text_u64(&t, c->index);
	d->escaped = ndjson_member(&t, "category", c->category);
	d->text = copy_text(st, &t);
	text_free(&t);
	c->declared = d;
	return d->line.p != NULL && d->text.p != NULL && note_types(d, c);
}

/* ---- the end ---- */

static void
put_loss(struct text *t, struct slice id, uint64_t count, bool *any)
{
	text_str(t, *any ? ",\"" : "\"");
	text_json_chars(t, id);
	text_printf(t, "\":%" PRIu64, count);
	*any = true;
}

/* How many of it were lost before the input was written. */
static uint64_t
lost_before(const struct trace_origin *origin, const char *id)
{
	for (uint32_t i = 0; origin != NULL && i < origin->nlosses; i++)
		if (slice_is(origin->losses[i].id, id))
			return origin->losses[i].count;
	return 0;
}

static bool
is_lost(const struct ledger *lost, struct slice id)
{
	for (size_t i = 0; i < lost->n; i++)
		if (slice_is(id, lost->rows[i].loss->id))
			return true;
	return false;
}

static void
put_losses(struct text *t, const struct ledger *lost, const struct trace_origin *origin)
{
	bool any = false;

	text_str(t, ",\"losses\":{");
	for (uint32_t i = 0; origin != NULL && i < origin->nlosses; i++)
		if (!is_lost(lost, origin->losses[i].id))
			put_loss(t, origin->losses[i].id, origin->losses[i].count, &any);
	for (size_t i = 0; i < lost->n; i++) {
		const char *const id = lost->rows[i].loss->id;
		const uint64_t before = lost_before(origin, id), n = lost->rows[i].count;
		put_loss(t, slice_str(id), n <= UINT64_MAX - before ? n + before : UINT64_MAX, &any);
	}
	text_char(t, '}');
}

/* Of a trace that was rebased before it was written, the epoch is that of its clock then. */
static void
put_clock(struct text *t, const struct writer *w, const struct trace_origin *origin)
{
	const uint64_t before = origin != NULL && origin->rebased ? origin->rebased_by : 0;

	if (w->trace->epoch_known)
		ndjson_member_u64(t, "epoch_ns", w->trace->epoch_ns - before);
	if (w->rebased || (origin != NULL && origin->rebased))
		ndjson_member_u64(t, "rebased_by_ns", before + (w->rebased ? w->rebased_by : 0));
}

void
ndjson_put_end(struct chunk *c, const struct writer *w)
{
	const struct trace *const trace = w->trace;
	const struct trace_origin *const origin =
	    trace->origin != NULL && trace->origin->last.format != NULL ? trace->origin : NULL;
	const struct trace_facts facts = origin != NULL ? origin->last : facts_of(trace);
	struct text *const t = &c->text;
	struct ndjson_shapes shapes;

	text_str(t, "{\"type\":\"trace_end\"");
	ndjson_member_u64(t, "records", origin != NULL ? origin->records : trace->records);
	ndjson_member_u64(t, "events", origin != NULL ? origin->events : trace->events);
	put_facts(t, &facts);
	put_clock(t, w, trace->origin);
	put_losses(t, w->total, origin);
	ndjson_shapes_init(&shapes);
	ndjson_fields(&shapes, 0, NULL, trace->meta, trace->nmeta, 0, c);
	text_str(t, "}\n");
}
