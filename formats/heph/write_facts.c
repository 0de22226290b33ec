#include "heph/own.h"
#include "heph/write.h"

/* What is known of the whole trace: options at its beginning and at its end. */

static void
put_word(struct hpw_packet *k, const char *name, const char *value)
{
	if (value != NULL && *value != '\0')
		hpw_text_attribute(k, name, slice_str(value));
}

void
hpw_first_facts(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	struct hpw_packet k = hpw_begin_option(st, chunk, HEPH_OWN_TRACE, 0);

	hpw_number_attribute(&k, "version", HEPH_OWN_VERSION);
	put_word(&k, "tool", w->tool);
	put_word(&k, "format", w->trace->format);
	put_word(&k, "dialect", w->trace->dialect);
	put_word(&k, "byte_order", w->trace->byte_order);
	put_word(&k, "clock", w->trace->clock);
	hpw_finish(&k);
}

static void
put_fact(struct hpw_state *st, struct chunk *chunk, const char *word, struct slice name,
         const struct value *v)
{
	struct hpw_packet k = hpw_begin_option(st, chunk, HEPH_OWN_FACT, 0);
	struct arena a = { 0 };
	const struct slice named =
	    arena_printf(&a, "%s%.*s", word, (int)(name.n < HPW_MOST_TEXT ? name.n : HPW_MOST_TEXT), name.p);

	chunk->text.failed |= named.p == NULL;
	if (named.p != NULL)
		hpw_field(&k, named, v);
	hpw_types(&k);
	hpw_finish(&k);
	arena_free(&a);
}

/* The epoch is known for sure at the end only; it counts for the whole trace wherever it stands. */
static void
put_epoch(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	const uint64_t epoch = w->trace->epoch_ns + (w->rebased ? w->rebased_by : 0);

	if (!w->trace->epoch_known)
		return;
	if (epoch < w->trace->epoch_ns || st->latest > UINT64_MAX - epoch) {
		ledger_add(&chunk->ledger, &hpw_losses[HPW_EPOCH], 0, 1);
		return;
	}
	struct hpw_packet k = hpw_begin_option(st, chunk, "epoch", 0);
	hpw_number(&k, epoch, 8);
	hpw_finish(&k);
}

void
hpw_last_facts(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	const struct trace *const trace = w->trace;

	put_epoch(st, w, chunk);
	if (w->rebased) {
		const struct value by = { .type = VALUE_U64, .u64 = w->rebased_by };
		put_fact(st, chunk, "", SLICE_LIT("rebased_by_ns"), &by);
	}
	for (uint32_t i = 0; i < trace->nmeta; i++)
		put_fact(st, chunk, HEPH_OWN_FACT_PREFIX, trace->meta[i].name, &trace->meta[i].value);
	for (size_t i = 0; i < w->total->n; i++) {
		const struct value count = { .type = VALUE_U64, .u64 = w->total->rows[i].count };
		put_fact(st, chunk, "losses.", slice_str(w->total->rows[i].loss->id), &count);
	}
}
