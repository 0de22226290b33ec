#include <stdlib.h>

#include "dftracer/dftracer_state.h"

/*
 * Names behind hashes.  Hashes are cut from the MD5 of the text: 16 bits in one
 * dialect, 64 bits as a number or as sixteen digits in others.  The wide ones
 * mean the same in every process, so one definition serves all; the narrow
 * ones collide, and belong to the process that defined them.
 */

void
dft_names_free(struct dft_names *n)
{
	free(n->names);
	free(n->slots);
	free(n->texts);
	tabletext_free(&n->known);
	*n = (struct dft_names){ .names = NULL };
}

/* ---- what a token says ---- */

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

/* Which process a hash belongs to; 0: all. */
static uint64_t
scope_of(struct dft_hash h, uint64_t pid)
{
	return h.text || h.value > UINT16_MAX ? 0 : pid;
}

static uint64_t
hash_of(const struct dft_names *n, enum dft_hash_kind kind, struct dft_hash h, uint64_t scope)
{
	return hash_u64(h.value ^ scope << 17 ^ (uint64_t)kind << 62 ^ (uint64_t)h.text << 61, n->seed);
}

/* The name's number; UINT32_MAX: it is not there, and *slot is where it belongs. */
static uint32_t
find(const struct dft_names *n, enum dft_hash_kind kind, struct dft_hash h, uint64_t scope, size_t *slot)
{
	if (n->slots == NULL)
		return UINT32_MAX;
	for (*slot = hash_of(n, kind, h, scope) & n->mask; n->slots[*slot] != 0;
	     *slot = (*slot + 1) & n->mask) {
		const struct dft_name *const e = &n->names[n->slots[*slot] - 1];
		if (e->value == h.value && e->scope == scope && e->kind == kind && e->is_text == h.text)
			return n->slots[*slot] - 1;
	}
	return UINT32_MAX;
}

static bool
grow(struct dft_names *n)
{
	n->seed = n->cap == 0 ? hash_seed() : n->seed;
	const uint32_t cap = n->cap == 0 ? 256 : n->cap * 2;
	struct dft_name *const names = realloc(n->names, cap * sizeof *names);
	size_t slot;

	if (names == NULL)
		return false;
	n->names = names;
	uint32_t *const slots = calloc((size_t)cap * 2, sizeof *slots);
	if (slots == NULL)
		return false;
	free(n->slots);
	n->slots = slots;
	n->mask = (size_t)cap * 2 - 1;
	n->cap = cap;
	for (uint32_t i = 0; i < n->n; i++) {
		const struct dft_name *const e = &n->names[i];
		find(n, (enum dft_hash_kind)e->kind, (struct dft_hash){ e->value, e->is_text, false },
		     e->scope, &slot);
		n->slots[slot] = i + 1;
	}
	return true;
}

/* The entry, new ones are undefined.  NULL: too many, or *no_memory. */
static struct dft_name *
entry(struct dft_names *n, enum dft_hash_kind kind, struct dft_hash h, uint64_t scope, bool *no_memory)
{
	size_t slot;
	const uint32_t known = find(n, kind, h, scope, &slot);

	*no_memory = false;
	if (known != UINT32_MAX)
		return &n->names[known];
	if (n->n == DFT_MAX_HASHES)
		return NULL;
	if (n->n == n->cap) {
		*no_memory = !grow(n);
		if (*no_memory)
			return NULL;
		find(n, kind, h, scope, &slot);
	}
	struct dft_name *const e = &n->names[n->n];
	*e = (struct dft_name){ .value = h.value, .scope = scope, .kind = (uint8_t)kind, .is_text = h.text };
	n->slots[slot] = ++n->n;
	return e;
}

/* A copy that lives with the table, equal texts once.  p NULL: too many, or *no_memory. */
static struct slice
intern(struct dft_shared *sh, struct slice text, bool *no_memory)
{
	struct dft_names *const n = &sh->names;
	const uint32_t known = tabletext_get(&n->known, text);

	*no_memory = false;
	if (known != TABLE_NONE)
		return n->texts[known];
	if (n->ntexts == DFT_MAX_TEXTS || text.n > DFT_MAX_TEXT_BYTES - n->bytes)
		return (struct slice){ NULL, 0, 0 };
	if (!array_room(&n->texts, n->ntexts, &n->texts_cap, sizeof *n->texts)) {
		*no_memory = true;
		return (struct slice){ NULL, 0, 0 };
	}
	const struct slice copy = arena_copy(sh->arena, text);
	*no_memory = copy.p == NULL || !tabletext_put(&n->known, copy, n->ntexts);
	if (*no_memory)
		return (struct slice){ NULL, 0, 0 };
	n->bytes += text.n;
	return n->texts[n->ntexts++] = copy;
}

/* ---- definitions ---- */

static const char *const kind_names[] = { "HH", "FH", "SH" };

static void
say_redefined(struct dft_state *st, const struct dft_record *rec, const struct dft_name *e, struct slice text)
{
	struct quoted q, q2;

	if (!dft_shown(st, DFT_RULE_HASH_REDEFINED))
		dft_find(st, DFT_RULE_HASH_REDEFINED, rec, NULL, "not shown");
	else
		dft_find(st, DFT_RULE_HASH_REDEFINED, rec, NULL,
		         e->is_text ? "hash %s %016" PRIx64 " was %s, from here on it is %s"
		                    : "hash %s %" PRIu64 " was %s, from here on it is %s",
		         kind_names[e->kind], e->value, quoted(&q, slice_of(e->text, e->n)),
		         quoted(&q2, text));
}

bool
dft_name_define(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind,
                struct dft_hash h, uint64_t pid, struct slice text, enum dft_source source)
{
	struct dft_names *const n = &st->names_to->names;
	bool no_memory;
	struct dft_name *const e = entry(n, kind, h, scope_of(h, pid), &no_memory);

	if (e == NULL) {
		if (!no_memory)
			dft_limit(st, DFT_LIMIT_HASHES, rec);
		return !no_memory;
	}
	const bool same = e->text != NULL && slice_equal(slice_of(e->text, e->n), text);
	if (e->source == DFT_MET && source == DFT_MET && !same)
		say_redefined(st, rec, e, text);
	if (e->source > source || (e->source == DFT_AHEAD && source == DFT_AHEAD))
		return true; /* of several that come later, the nearest */
	e->source = (uint8_t)source;
	st->names_to->hosts_defined += kind == DFT_HASH_HOST;
	if (same)
		return true;
	const struct slice copy = intern(st->names_to, text, &no_memory);
	if (copy.p == NULL) {
		if (!no_memory)
			dft_limit(st, DFT_LIMIT_HASHES, rec);
		return !no_memory;
	}
	e->text = copy.p;
	e->n = copy.n;
	e->flags = copy.flags;
	return true;
}

/* ---- uses ---- */

struct slice
dft_name_look(const struct dft_state *st, enum dft_hash_kind kind, struct dft_hash h, uint64_t pid)
{
	size_t slot;
	const uint32_t i = h.none ? UINT32_MAX : find(&st->sh->names, kind, h, scope_of(h, pid), &slot);

	if (i == UINT32_MAX)
		return (struct slice){ NULL, 0, 0 };
	const struct dft_name *const e = &st->sh->names.names[i];
	return (struct slice){ e->text, e->n, e->flags };
}

/* The name of a hash that is used, defined or not; a use without a definition is remembered.  NULL: none, or
 * too many. */
static const struct dft_name *
use_name(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind, struct dft_hash h,
         uint64_t pid)
{
	bool no_memory;

	if (h.none)
		return NULL;
	struct dft_name *const e = entry(&st->sh->names, kind, h, scope_of(h, pid), &no_memory);
	if (e == NULL) { /* without memory it stays a number, as beyond the limit */
		dft_limit(st, DFT_LIMIT_HASHES, rec);
		return NULL;
	}
	if (e->source == DFT_MET)
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
	const struct dft_place was = st->tallies[DFT_HASHES_LATE].first;
	const uint64_t count = st->tallies[DFT_HASHES_LATE].count;

	if (e->unnamed == 0)
		return;
	dft_tally_add(st, DFT_HASHES_LATE, e->first_use, slice_of(NULL, 0));
	st->tallies[DFT_HASHES_LATE].count = count + e->unnamed;
	if (count == 0 || e->first_use.offset < was.offset)
		st->tallies[DFT_HASHES_LATE].first = e->first_use;
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
	dft_find_at(st, DFT_RULE_HASH_UNDEFINED, first->first_use,
	            "no %s record defines the hash %s; %" PRIu64 " uses of %" PRIu64 " such hash%s in all",
	            kind_names[first->kind], value, uses, hashes, hashes == 1 ? "" : "es");
}

/* ---- the hashes of a record ---- */

/* By any look of it.  NULL: it has no name, and cannot get one. */
static const struct dft_name *
look_up(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a, uint64_t pid)
{
	struct dft_hash h;
	struct quoted q;

	if (!dft_hash_read(rec, a->value, (enum json_kind)a->kind, &h)) {
		if (a->plan != DFT_MEANS_CWD) /* which may as well be the path itself */
			dft_find(st, DFT_RULE_BAD_HASH, rec, rec->p + a->value.at,
			         "%s is %s, neither a number of 64 bits nor 16 hexadecimal digits",
			         st->keys.keys[a->number].text, quoted(&q, dft_token_text(rec, a->value)));
		return NULL;
	}
	if (h.text && !h.none)
		dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_place_of(rec), dft_token_text(rec, a->value));
	return use_name(st, rec, dft_hash_kind_of((enum dft_plan)a->plan), h, pid);
}

/* The same for sixteen digits; what was defined is kept at hand. */
static inline const struct dft_name *
look_up_digits(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a, uint64_t pid)
{
	struct dft_names *const n = &st->sh->names;
	const char *const p = rec->p + a->value.at;
	const uint64_t high = load_u64(p, false), low = load_u64(p + 8, false);
	const uint8_t kind = (uint8_t)dft_hash_kind_of((enum dft_plan)a->plan);
	const uint64_t mix = (high ^ low * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0x94d049bb133111eb);
	struct dft_digits16 *const recent = &n->recent[(mix >> 32) % DFT_RECENT_HASHES];

	if (recent->high == high && recent->low == low && recent->kind == kind && recent->name != 0) {
		dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_place_of(rec), dft_token_text(rec, a->value));
		return &n->names[recent->name - 1];
	}
	const struct dft_name *const e = look_up(st, rec, a, pid);
	if (e != NULL && e->source == DFT_MET)
		*recent = (struct dft_digits16){ high, low, (uint32_t)(e - n->names) + 1, kind };
	return e;
}

/* True if a record before this one defines it. */
static bool
check_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a, uint64_t pid,
           struct slice *name)
{
	const bool digits = a->kind == JSON_STRING && a->value.n == DFT_HEX_DIGITS;
	const struct dft_name *const e = digits ? look_up_digits(st, rec, a, pid) : look_up(st, rec, a, pid);

	*name = e != NULL ? (struct slice){ e->text, e->n, e->flags } : (struct slice){ NULL, 0, 0 };
	return e != NULL && e->source == DFT_MET;
}

/* The process that was found by this very hash knows what it stands for. */
static void
check_host_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a,
                const struct dft_facts *f, struct slice *name)
{
	struct dft_process *const p = f->process;
	const bool same = p != NULL && p == st->sh->last;

	if (same && p->host_name.p != NULL && p->host_known == st->sh->hosts_defined) {
		st->tallies[DFT_HASHES_AS_TEXT].count += a->kind == JSON_STRING;
		*name = p->host_name;
	} else if (check_hash(st, rec, a, f->pid, name) && same) {
		p->host_known = st->sh->hosts_defined;
		p->host_name = *name;
	}
}

void
dft_check_hashes(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	struct slice name;

	/* metadata of later versions name their host by a hash too: no use, the record that defines it does
	 * so itself */
	if (f->phase == DFT_PHASE_METADATA)
		return;
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[__builtin_ctzll(left)];
		if (a->plan == DFT_MEANS_HHASH)
			check_host_hash(st, rec, a, f, &name);
		else
			check_hash(st, rec, a, f->pid, &name);
		if (f->nnames < DFT_NAMES)
			f->names[f->nnames++] = name;
	}
	if ((rec->special[DFT_MEANS_HOSTNAME] | rec->special[DFT_MEANS_FNAME]) != 0)
		dft_tally_add(st, DFT_NAMES_AS_TEXT, dft_place_of(rec), slice_of(NULL, 0));
}
