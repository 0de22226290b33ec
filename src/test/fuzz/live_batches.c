#include "input/test/memory_input.h"
#include "model/value.h"
#include "test/fuzz/live_batches.h"

#include <stdlib.h>

#define SEED UINT64_C(0x11fe)

uint64_t text_digest(uint64_t h, struct slice s)
{
	h = hash_u64(h ^ s.n, SEED);
	return s.n > 0 ? hash_u64(h ^ hash_bytes(s.p, s.n, SEED), SEED) : h;
}

uint64_t value_digest(uint64_t h, const struct value *v)
{
	const uint64_t n = value_entries(v);

	h = hash_u64(h ^ v->type, SEED);
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		return h;
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_JSON:
		return text_digest(h, value_text(v));
	case VALUE_LIST:
	case VALUE_MAP:
		h = hash_u64(h ^ v->element, n);
		for (uint64_t i = 0; i < n; i++)
			h = value_digest(h, &v->values[i]);
		return h;
	default:
		return hash_u64(h ^ v->u64, SEED);
	}
}

static uint64_t event_digest(uint64_t h, const struct batch *b, const struct event *e)
{
	h = hash_u64(h ^ e->ts, e->dur);
	h = hash_u64(h ^ e->offset, (uint64_t)e->phase << 8 | e->flags);
	h = text_digest(h, e->name);
	h = text_digest(text_digest(h, e->cls->name), e->cls->category);
	for (const struct track *k = e->track; k != NULL; k = k->parent)
		h = text_digest(h, k->name);
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		h = value_digest(text_digest(h, f->name), &f->value);
	}
	return h;
}

/* Hashes every byte that can be reached. */
static uint64_t batch_digest(uint64_t h, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		h = event_digest(h, b, &b->events[i]);
		if (b->bytes != NULL)
			h = text_digest(h, b->bytes[i]);
	}
	return h;
}

static struct batch *new_batch(struct live_batches *l, uint32_t cap, bool with_bytes)
{
	struct batch **const batches = realloc(l->batches, (l->n + 1) * sizeof(struct batch *));
	uint64_t *const digests = realloc(l->digests, (l->n + 1) * sizeof *digests);
	struct batch *const b = calloc(1, sizeof *b);

	if (batches == NULL || digests == NULL || b == NULL || !batch_init(b, cap, with_bytes))
		abort();
	l->batches = batches;
	l->digests = digests;
	return l->batches[l->n++] = b;
}

static void read_all(struct live_batches *l, struct source *s, uint32_t cap, bool with_bytes)
{
	while (s->status == READ_MORE) {
		struct batch *const b = new_batch(l, cap, with_bytes);
		source_next(s, b);
		l->digests[l->n - 1] = batch_digest(0, b);
	}
	l->status = s->status;
}

void live_batches_read(struct live_batches *l, const struct format *format, struct input *in, unsigned want,
                       uint32_t cap)
{
	static struct vocabularies loaded; /* loading costs more than a small input */
	const struct pipeline_job job = { .in.from = format };
	struct trace_context c;
	struct source s;

	*l = (struct live_batches){ .status = READ_NO_MEMORY };
	trace_init(&l->trace);
	trace_context_init(&c, &job, &l->trace, &loaded, want);
	if (source_begin(&s, &c, (struct source_location){ .path = "memory" }, in) && source_start(&s))
		read_all(l, &s, cap, (want & WANT_BYTES) != 0);
	source_end(&s);
	l->findings = s.findings;
	trace_context_free(&c);
}

size_t live_batches_changed(const struct live_batches *l)
{
	size_t changed = 0;

	for (size_t i = 0; i < l->n; i++)
		changed += batch_digest(0, l->batches[i]) != l->digests[i];
	return changed;
}

uint64_t live_batches_digest(const struct live_batches *l)
{
	uint64_t h = 0;

	for (size_t i = 0; i < l->n; i++)
		h = batch_digest(h, l->batches[i]);
	return h;
}

static bool same_findings(const struct findings *a, const struct findings *b)
{
	bool same = a->ncounts == b->ncounts;

	for (size_t i = 0; same && i < a->ncounts; i++)
		same = a->counts[i].rule == b->counts[i].rule && a->counts[i].count == b->counts[i].count;
	return same;
}

/* Whether records are in order, without overlap, and equal to the bytes at their offsets. */
static bool records_lie_in(const struct live_batches *l, const char *p, size_t n)
{
	uint64_t end = 0;

	for (size_t i = 0; i < l->n; i++)
		for (uint32_t k = 0; k < l->batches[i]->n; k++) {
			const uint64_t at = l->batches[i]->events[k].offset;
			const struct slice record = l->batches[i]->bytes[k];
			if (record.n == 0 && at < end)
				continue; /* packed in the record before */
			if (at < end || at > n || record.n > n - at ||
			    memcmp(p + at, record.p, record.n) != 0)
				return false;
			end = at + record.n;
		}
	return true;
}

bool live_batches_raw_agrees(const struct format *format, const char *p, size_t n)
{
	struct live_batches raw, check;

	live_batches_read(&raw, format, input_from_memory(p, n),
	                  WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES | WANT_RAW, 50);
	live_batches_read(&check, format, input_from_memory(p, n), WANT_FINDINGS, 50);
	const bool agrees = raw.status == check.status && same_findings(&raw.findings, &check.findings) &&
	                    raw.trace.events >= check.trace.events - check.trace.further &&
	                    records_lie_in(&raw, p, n);
	return live_batches_free(&check) + live_batches_free(&raw) == 0 && agrees;
}

char *live_batches_bytes(const struct live_batches *l, size_t *n)
{
	char *all = NULL;

	*n = 0;
	for (int pass = 0; pass < 2; pass++) {
		size_t at = 0;
		for (size_t i = 0; i < l->n; i++)
			for (uint32_t k = 0; k < l->batches[i]->n; k++) {
				const struct slice record = l->batches[i]->bytes[k];
				if (pass > 0)
					memcpy(all + at, record.p, record.n);
				at += record.n;
			}
		if (pass == 0 && (all = malloc(at + 1)) == NULL)
			abort();
		*n = at;
	}
	return all;
}

size_t live_batches_free(struct live_batches *l)
{
	size_t changed = 0;

	for (size_t i = 0; i < l->n; i++) {
		changed += batch_digest(0, l->batches[i]) != l->digests[i];
		batch_free(l->batches[i]);
		free(l->batches[i]);
	}
	free(l->batches);
	free(l->digests);
	findings_free(&l->findings);
	trace_free(&l->trace);
	*l = (struct live_batches){ .status = READ_NO_MEMORY };
	return changed;
}
