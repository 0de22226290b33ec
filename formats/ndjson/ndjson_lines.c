#include <inttypes.h>
#include <stdio.h>

#include "ndjson/ndjson_state.h"

/* The lines that are no events: the trace, its tracks and classes, the end. */

/* ---- the trace ---- */

/* What is known of it; the last line has the last word. */
static void
put_facts(struct text *t, const struct trace *trace)
{
	ndjson_member(t, "format", slice_str(trace->format));
	if (trace->dialect[0] != '\0')
		ndjson_member(t, "dialect", slice_str(trace->dialect));
	if (trace->byte_order != NULL)
		ndjson_member(t, "byte_order", slice_str(trace->byte_order));
	ndjson_member(t, "clock", slice_str(trace->clock));
}

void
ndjson_put_trace(struct text *t, const struct writer *w)
{
	text_printf(t, "{\"type\":\"trace\",\"version\":%d", NDJSON_VERSION);
	ndjson_member(t, "tool", slice_str(w->tool));
	ndjson_member(t, "mode", slice_str(w->raw ? "raw" : "interpreted"));
	text_printf(t, ",\"rebased\":%s", w->rebased ? "true" : "false");
	put_facts(t, w->trace);
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
	n = snprintf(d->text, sizeof d->text, ",\"track\":%" PRIu32, k->index);
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
	text_str(&t, "\",\"class\":");
	text_u64(&t, c->index);
	d->escaped = ndjson_member(&t, "category", c->category);
	d->text = copy_text(st, &t);
	text_free(&t);
	c->declared = d;
	return d->line.p != NULL && d->text.p != NULL && note_types(d, c);
}

/* ---- the end ---- */

static void
put_losses(struct text *t, const struct ledger *lost)
{
	text_str(t, ",\"losses\":{");
	for (size_t i = 0; i < lost->n; i++)
		text_printf(t, "%s\"%s\":%" PRIu64, i > 0 ? "," : "", lost->rows[i].loss->id,
		            lost->rows[i].count);
	text_char(t, '}');
}

void
ndjson_put_end(struct chunk *c, const struct writer *w)
{
	const struct trace *const trace = w->trace;
	struct text *const t = &c->text;
	struct ndjson_shapes shapes;

	text_str(t, "{\"type\":\"trace_end\"");
	ndjson_member_u64(t, "records", trace->records);
	ndjson_member_u64(t, "events", trace->events);
	put_facts(t, trace);
	if (trace->epoch_known)
		ndjson_member_u64(t, "epoch_ns", trace->epoch_ns);
	if (w->rebased)
		ndjson_member_u64(t, "rebased_by_ns", w->rebased_by);
	put_losses(t, w->total);
	ndjson_shapes_init(&shapes);
	ndjson_fields(&shapes, 0, NULL, trace->meta, trace->nmeta, 0, c);
	text_str(t, "}\n");
}
