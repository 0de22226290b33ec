#include "dftracer/hash.h"

#include <stdlib.h>

#include "dftracer/report.h"

void
dft_names_free(struct dft_names *n)
{
	for (int kind = 0; kind < DFT_HASH_KINDS; kind++)
		for (int form = 0; form < DFT_HASH_FORMS; form++)
			table64_free(&n->index[kind][form]);
	free(n->names);
	free(n->texts);
	tabletext_free(&n->known);
}

/* ---- tokens as hashes ---- */

#define LANES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* 0x80 in each byte of w (all ASCII) that is at least c. */
static inline uint64_t
at_least(uint64_t w, char c)
{
	return w + LANES * (uint64_t)(0x80 - c);
}

/* Eight hexadecimal digits, the first in the lowest byte; false: they are not. */
static inline bool
eight_hex_digits(uint64_t w, uint64_t *v)
{
	const uint64_t small = w | LANES * 0x20;
	const uint64_t digit = at_least(w, '0') & ~at_least(w, '9' + 1),
	               letter = at_least(small, 'a') & ~at_least(small, 'f' + 1);

	if ((w & HIGHS) != 0 || ((digit | letter) & HIGHS) != HIGHS)
		return false;
	w = (w & LANES * 0x0f) + (w >> 6 & LANES) * 9;
	w = (w << 4 | w >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	w = (w << 8 | w >> 16) & UINT64_C(0x0000ffff0000ffff);
	*v = (w << 16 | w >> 32) & UINT64_C(0xffffffff);
	return true;
}

bool
dft_hash_read(const struct dft_record *rec, struct dft_token t, enum json_kind kind, struct dft_hash *h)
{
	const char *const p = rec->p + t.at;
	uint64_t high, low;

	*h = (struct dft_hash){ .text = kind == JSON_STRING };
	if (kind == JSON_STRING && t.n == DFT_HEX_DIGITS) {
		if (!eight_hex_digits(load_u64(p, false), &high) ||
		    !eight_hex_digits(load_u64(p + 8, false), &low))
			return false;
		h->value = high << 32 | low;
		return true;
	}
	h->none = (t.n == 1 && *p == '0') || (kind == JSON_STRING && t.n == 0);
	if (kind == JSON_UINT)
		return dft_digits(rec, t, &h->value);
	return kind == JSON_STRING && h->none;
}

/* ---- the table ---- */

static enum dft_hash_form
form_of(struct dft_hash h)
{
	return h.text ? DFT_HASH_DIGITS : h.value > UINT16_MAX ? DFT_HASH_WIDE : DFT_HASH_NARROW;
}

/* Narrow ones are those of a process. */
static uint64_t
key_of(struct dft_shared *sh, struct dft_hash h, uint64_t pid)
{
	return h.text || h.value > UINT16_MAX ? h.value : dft_small_number(&sh->who, pid) << 16 | h.value;
}

/* The entry; new ones are undefined.  NULL: too many, which is reported, or no memory. */
static struct dft_name *
entry(struct dft_state *st, struct dft_shared *sh, const struct dft_record *rec, enum dft_hash_kind kind,
      struct dft_hash h, uint64_t pid)
{
	struct dft_names *const n = &sh->names;
	struct table64 *const index = &n->index[kind][form_of(h)];
	const uint64_t key = key_of(sh, h, pid);
	const uint32_t known = table64_get(index, key);

	if (known != TABLE_NONE)
		return &n->names[known];
	if (n->n == DFT_MAX_HASHES) {
		dft_report_limit(st, DFT_LIMIT_HASHES, rec);
		return NULL;
	}
	if (!array_room(&n->names, n->n, &n->cap, sizeof *n->names) || !table64_put(index, key, n->n)) {
		st->no_memory = true;
		return NULL;
	}
	struct dft_name *const e = &n->names[n->n++];
	*e = (struct dft_name){ .value = h.value, .kind = (uint8_t)kind, .is_text = h.text };
	return e;
}

/* A copy that lives as long as the trace, equal texts once.  p NULL: too many, which is reported, or no
 * memory. */
static struct slice
intern(struct dft_state *st, struct dft_shared *sh, const struct dft_record *rec, struct slice text)
{
	struct dft_names *const n = &sh->names;
	const uint32_t known = tabletext_get(&n->known, text);

	if (known != TABLE_NONE)
		return n->texts[known];
	if (n->ntexts == DFT_MAX_TEXTS || text.n > DFT_MAX_TEXT_BYTES - n->bytes) {
		dft_report_limit(st, DFT_LIMIT_HASHES, rec);
		return (struct slice){ NULL, 0, 0 };
	}
	const bool room = array_room(&n->texts, n->ntexts, &n->texts_cap, sizeof *n->texts);
	const struct slice copy = room ? arena_copy(sh->arena, text) : (struct slice){ NULL, 0, 0 };
	if (copy.p == NULL || !tabletext_put(&n->known, copy, n->ntexts)) {
		st->no_memory = true;
		return (struct slice){ NULL, 0, 0 };
	}
	n->bytes += text.n;
	return n->texts[n->ntexts++] = copy;
}

/* ---- definitions ---- */

static const char *const kind_names[] = { "HH", "FH", "SH" };

static void
report_redefined(struct dft_state *st, const struct dft_record *rec, const struct dft_name *e,
                 struct slice text)
{
	struct quoted q, q2;

	if (!dft_shown(st, DFT_RULE_HASH_REDEFINED))
		dft_report(st, DFT_RULE_HASH_REDEFINED, rec, NULL, "not shown");
	else
		dft_report(st, DFT_RULE_HASH_REDEFINED, rec, NULL,
		           e->is_text ? "hash %s %016" PRIx64 " was %s and is redefined as %s"
		                      : "hash %s %" PRIu64 " was %s and is redefined as %s",
		           kind_names[e->kind], e->value, quoted(&q, slice_of(e->text, e->n)),
		           quoted(&q2, text));
}

void
dft_name_define(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind,
                struct dft_hash h, uint64_t pid, struct slice text, enum dft_source source)
{
	struct dft_shared *const sh = st->names_to;
	struct dft_name *const e = entry(st, sh, rec, kind, h, pid);

	if (e == NULL)
		return;
	const bool same = e->text != NULL && slice_equal(slice_of(e->text, e->n), text);
	if (e->source == DFT_MET && source == DFT_MET && !same)
		report_redefined(st, rec, e, text);
	if (e->source > source || (e->source == DFT_AHEAD && source == DFT_AHEAD))
		return; /* of several that come later, the nearest */
	e->source = (uint8_t)source;
	sh->names.hosts_defined += kind == DFT_HASH_HOST;
	const struct slice copy = same ? (struct slice){ NULL, 0, 0 } : intern(st, sh, rec, text);
	if (copy.p == NULL)
		return;
	e->text = copy.p;
	e->n = copy.n;
	e->flags = copy.flags;
}

/* ---- uses ---- */

struct slice
dft_name_look(const struct dft_state *st, enum dft_hash_kind kind, struct dft_hash h, uint64_t pid)
{
	struct dft_names *const n = &st->sh->names;
	const uint32_t i =
	    h.none ? TABLE_NONE : table64_get(&n->index[kind][form_of(h)], key_of(st->sh, h, pid));

	if (i == TABLE_NONE)
		return (struct slice){ NULL, 0, 0 };
	return (struct slice){ n->names[i].text, n->names[i].n, n->names[i].flags };
}

const struct dft_name *
dft_name_use(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind, struct dft_hash h,
             uint64_t pid)
{
	struct dft_name *const e = h.none ? NULL : entry(st, st->sh, rec, kind, h, pid);

	if (e == NULL || e->source == DFT_MET)
		return e;
	if (e->uses == 0)
		e->first_use = dft_place_of(rec);
	e->uses += e->uses < UINT32_MAX;
	e->unnamed += e->text == NULL && st->resolve && e->unnamed < UINT32_MAX;
	return e;
}

/* Uses before the definition that could not be looked up ahead. */
static void
count_late(struct dft_state *st, const struct dft_name *e)
{
	struct finding_tally *const t = &st->tallies[DFT_HASHES_LATE].met;
	const struct dft_place *const at = &e->first_use;

	if (e->unnamed == 0)
		return;
	if (t->count == 0 || at->offset < t->offset)
		*t = (struct finding_tally){ t->count, at->offset, at->line, at->column, at->record, 0, 0 };
	t->count += e->unnamed;
}

/* Those that are undefined at the end, as one finding at the first use of all. */
void
dft_names_finish(struct dft_state *st)
{
	const struct dft_name *first = NULL;
	uint64_t uses = 0, hashes = 0;
	char value[24];

	for (uint32_t i = 0; i < st->sh->names.n; i++) {
		struct dft_name *const e = &st->sh->names.names[i];
		if (e->uses > 0 && e->source == DFT_MET) {
			count_late(st, e);
		} else if (e->uses > 0) {
			hashes++;
			uses += e->uses;
			if (first == NULL || e->first_use.offset < first->first_use.offset)
				first = e;
		}
		e->uses = e->unnamed = 0; /* those of the next input are counted anew */
	}
	if (first == NULL)
		return;
	snprintf(value, sizeof value, first->is_text ? "%016" PRIx64 : "%" PRIu64, first->value);
	dft_report_at(st, DFT_RULE_HASH_UNDEFINED, first->first_use,
	              "no %s record defines the hash %s; %" PRIu64 " use%s of %" PRIu64 " such hash%s in all",
	              kind_names[first->kind], value, uses, uses == 1 ? "" : "s", hashes,
	              hashes == 1 ? "" : "es");
}
