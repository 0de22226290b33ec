/*
 * Checks a record: the phase, the members that the phase requires, their kinds, their numbers; finds its
 * process, and the names of its hashes.
 *
 * Most records have the same kinds of members (the record's shape), so a shape that was checked without a
 * finding is not checked again.  Hashes are looked up in a direct-mapped cache before the hash table.  All
 * tables have limits; past them hashes are shown as numbers, and hosts and processes are merged.
 */
#include <stdlib.h>

#include "dftracer/dftracer.h"

/* ---- hosts and processes ---- */

void dft_numbers_free(struct dft_numbers *numbers)
{
	table64_free(&numbers->large);
	tabletext_free(&numbers->hosts);
	free(numbers->texts);
}

uint32_t dft_large_number(struct dft_numbers *numbers, uint64_t v)
{
	const uint32_t known = table64_get(&numbers->large, v), n = (uint32_t)numbers->large.used;

	if (known != TABLE_NONE)
		return known;
	return n < DFT_MAX_PROCESSES && table64_put(&numbers->large, v, n) ? n : DFT_MAX_PROCESSES;
}

uint32_t dft_host_number(struct dft_numbers *numbers, struct arena *a, struct slice host)
{
	const uint32_t known = tabletext_get(&numbers->hosts, host);

	if (known != TABLE_NONE)
		return known;
	if (numbers->nhosts == DFT_MAX_HOSTS)
		return 0;
	const bool space =
	    array_reserve(&numbers->texts, numbers->nhosts, &numbers->hosts_cap, sizeof *numbers->texts);
	const struct slice copy = arena_copy(a, host);
	if (!space || copy.p == NULL || !tabletext_put(&numbers->hosts, copy, numbers->nhosts + 1)) {
		a->failed = true;
		return 0;
	}
	numbers->texts[numbers->nhosts++] = copy;
	return numbers->nhosts;
}

static struct dft_process *add_process(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                       uint32_t host)
{
	struct dft_processes *const all = &st->sh->processes;

	if (all->n == DFT_MAX_PROCESSES) {
		dft_report_limit(st, DFT_LIMIT_PROCESSES, rec);
		return all->list[DFT_MAX_PROCESSES - 1];
	}
	if (!array_reserve(&all->list, all->n, &all->cap, sizeof(struct dft_process *)))
		return NULL;
	struct dft_process *const p = arena_zalloc(st->sh->arena, 1, sizeof *p);
	if (p == NULL)
		return NULL;
	*p = (struct dft_process){ .pid = pid, .number = all->n, .host = host, .unit = 1000 };
	all->list[all->n] = p;
	return table64_put(&all->index, dft_process_key(&st->sh->numbers, pid, host), all->n++) ? p : NULL;
}

/* Finds or adds a process.  The index has it under its host, and the first of its pid under no host too. */
static struct dft_process *find_process(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                        uint32_t host)
{
	struct dft_processes *const all = &st->sh->processes;
	const uint64_t key = dft_process_key(&st->sh->numbers, pid, host);
	uint32_t known = table64_get(&all->index, key);

	if (known != TABLE_NONE)
		return all->list[known];
	const uint64_t any = dft_process_key(&st->sh->numbers, pid, 0);
	known = host != 0 ? table64_get(&all->index, any) : TABLE_NONE;
	if (known != TABLE_NONE && all->list[known]->host == 0) {
		all->list[known]->host = host;
		return table64_put(&all->index, key, known) ? all->list[known] : NULL;
	}
	struct dft_process *const p = add_process(st, rec, pid, host);
	if (p != NULL && known == TABLE_NONE && host != 0 && !table64_put(&all->index, any, p->number))
		return NULL;
	return p;
}

/* Returns the process of a record.  host: as written; n 0: not given. */
static struct dft_process *process_of(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                      struct slice host)
{
	struct dft_shared *const sh = st->sh;
	struct dft_process *const last = sh->processes.last;

	host.n = host.n < DFT_MAX_HOST ? host.n : DFT_MAX_HOST;
	if (host.n == 0)
		return find_process(st, rec, pid, 0);
	if (last != NULL && last->pid == pid && dft_same_host(dft_host_text(&sh->numbers, last->host), host))
		return last;
	struct dft_process *const p =
	    find_process(st, rec, pid, dft_host_number(&sh->numbers, sh->arena, host));
	if (p != NULL && p->pid == pid && p->host != 0)
		sh->processes.last = p;
	return p;
}

void dft_processes_free(struct dft_processes *p)
{
	free(p->list);
	table64_free(&p->index);
	table64_free(&p->threads);
}

/* ---- hashes: reading ---- */

/* State of a name; later ones replace earlier ones. */
enum source {
	NAME_UNDEFINED, /* used, not defined */
	NAME_AHEAD,     /* defined by a record that the look-ahead pass found */
	NAME_DEFINED,   /* defined by an earlier record */
};

struct dft_name {
	uint64_t value;
	const char *text; /* of n bytes, in the trace's arena, as events show it; NULL: undefined */
	uint32_t n, flags;
	uint32_t uses;    /* before its definition; at most UINT32_MAX */
	uint32_t unnamed; /* uses that were shown as numbers */
	uint8_t kind, source;
	bool is_text;
	struct dft_position first_use;
};

void dft_names_free(struct dft_names *n)
{
	for (int kind = 0; kind < DFT_HASH_KINDS; kind++)
		for (int form = 0; form < DFT_HASH_FORMS; form++)
			table64_free(&n->index[kind][form]);
	free(n->names);
	free(n->texts);
	tabletext_free(&n->interned);
}

#define LANES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* Sets 0x80 in each byte of w (all ASCII) that is at least c. */
static inline uint64_t at_least(uint64_t w, char c)
{
	return w + LANES * (uint64_t)(0x80 - c);
}

/* Reads eight hexadecimal digits at once, the first in the lowest byte. */
static inline bool eight_hex_digits(uint64_t w, uint64_t *v)
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

bool dft_hash_read(const struct dft_record *rec, struct dft_token t, enum json_kind kind, struct dft_hash *h)
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

/* ---- hashes: definitions ---- */

static enum dft_hash_form form_of(struct dft_hash h)
{
	return h.text ? DFT_HASH_DIGITS : h.value > UINT16_MAX ? DFT_HASH_WIDE : DFT_HASH_NARROW;
}

/* Narrow hashes belong to a process. */
static uint64_t key_of(struct dft_shared *sh, struct dft_hash h, uint64_t pid)
{
	return h.text || h.value > UINT16_MAX ? h.value : dft_small_number(&sh->numbers, pid) << 16 | h.value;
}

/* Finds or adds the entry of a hash; new ones are undefined.  Returns NULL after reporting that there are too
 * many, or on OOM. */
static struct dft_name *find_name(struct dft_state *st, struct dft_shared *sh, const struct dft_record *rec,
                                  enum dft_hash_kind kind, struct dft_hash h, uint64_t pid)
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
	if (!array_reserve(&n->names, n->n, &n->cap, sizeof *n->names) || !table64_put(index, key, n->n)) {
		st->no_memory = true;
		return NULL;
	}
	struct dft_name *const e = &n->names[n->n++];
	*e = (struct dft_name){ .value = h.value, .kind = (uint8_t)kind, .is_text = h.text };
	return e;
}

/* Copies a text for the life of the trace; equal texts once.  p is NULL after reporting that there are too
 * many, or on OOM. */
static struct slice intern_text(struct dft_state *st, struct dft_shared *sh, const struct dft_record *rec,
                                struct slice text)
{
	struct dft_names *const n = &sh->names;
	const uint32_t known = tabletext_get(&n->interned, text);

	if (known != TABLE_NONE)
		return n->texts[known];
	if (n->ntexts == DFT_MAX_TEXTS || text.n > DFT_MAX_TEXT_BYTES - n->bytes) {
		dft_report_limit(st, DFT_LIMIT_HASHES, rec);
		return (struct slice){ NULL, 0, 0 };
	}
	const bool ok = array_reserve(&n->texts, n->ntexts, &n->texts_cap, sizeof *n->texts);
	const struct slice copy = ok ? arena_copy(sh->arena, text) : (struct slice){ NULL, 0, 0 };
	if (copy.p == NULL || !tabletext_put(&n->interned, copy, n->ntexts)) {
		st->no_memory = true;
		return (struct slice){ NULL, 0, 0 };
	}
	n->bytes += text.n;
	return n->texts[n->ntexts++] = copy;
}

static const char *const hash_records[] = { "HH", "FH", "SH" };

static void report_redefined(struct dft_state *st, const struct dft_record *rec, const struct dft_name *e,
                             struct slice text)
{
	struct quoted q, q2;

	if (!dft_shown(st, DFT_RULE_HASH_REDEFINED))
		dft_report(st, DFT_RULE_HASH_REDEFINED, rec, NULL, "not shown");
	else
		dft_report(st, DFT_RULE_HASH_REDEFINED, rec, NULL,
		           e->is_text ? "hash %s %016" PRIx64 " was %s and is redefined as %s"
		                      : "hash %s %" PRIu64 " was %s and is redefined as %s",
		           hash_records[e->kind], e->value, quoted(&q, slice_of(e->text, e->n)),
		           quoted(&q2, text));
}

void dft_name_define(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind,
                     struct dft_hash h, uint64_t pid, struct slice text)
{
	const enum source source = st->ahead ? NAME_AHEAD : NAME_DEFINED;
	struct dft_shared *const sh = st->names_owner;
	struct dft_name *const e = find_name(st, sh, rec, kind, h, pid);

	if (e == NULL)
		return;
	const bool same = e->text != NULL && slice_equal(slice_of(e->text, e->n), text);
	if (e->source == NAME_DEFINED && source == NAME_DEFINED && !same)
		report_redefined(st, rec, e, text);
	if (e->source > source || (e->source == NAME_AHEAD && source == NAME_AHEAD))
		return; /* of several later definitions, the nearest counts */
	e->source = (uint8_t)source;
	sh->names.hosts_defined += kind == DFT_HASH_HOST;
	const struct slice copy = same ? (struct slice){ NULL, 0, 0 } : intern_text(st, sh, rec, text);
	if (copy.p == NULL)
		return;
	e->text = copy.p;
	e->n = copy.n;
	e->flags = copy.flags;
}

/* ---- hashes: uses ---- */

struct slice dft_name_find(const struct dft_state *st, enum dft_hash_kind kind, struct dft_hash h,
                           uint64_t pid)
{
	struct dft_names *const n = &st->sh->names;
	const uint32_t i =
	    h.none ? TABLE_NONE : table64_get(&n->index[kind][form_of(h)], key_of(st->sh, h, pid));

	if (i == TABLE_NONE)
		return (struct slice){ NULL, 0, 0 };
	return (struct slice){ n->names[i].text, n->names[i].n, n->names[i].flags };
}

/* Returns the name of a hash, defined or not, and counts a use before the definition.  Returns NULL if the
 * hash means no name or there are too many. */
static const struct dft_name *use_name(struct dft_state *st, const struct dft_record *rec,
                                       enum dft_hash_kind kind, struct dft_hash h, uint64_t pid)
{
	struct dft_name *const e = h.none ? NULL : find_name(st, st->sh, rec, kind, h, pid);

	if (e == NULL || e->source == NAME_DEFINED)
		return e;
	if (e->uses == 0)
		e->first_use = dft_record_position(rec);
	e->uses += e->uses < UINT32_MAX;
	e->unnamed += e->text == NULL && st->resolve && e->unnamed < UINT32_MAX;
	return e;
}

/* Counts uses before the definition that the look-ahead pass did not resolve. */
static void count_late(struct dft_state *st, const struct dft_name *e)
{
	struct finding_tally *const t = &st->tallies[DFT_HASHES_LATE].found;
	const struct dft_position *const at = &e->first_use;

	if (e->unnamed == 0)
		return;
	if (t->count == 0 || at->offset < t->offset)
		*t = (struct finding_tally){ t->count, at->offset, at->line, at->column, at->record, 0, 0 };
	t->count += e->unnamed;
}

/* Reports undefined hashes as one finding, at the first use of any. */
void dft_names_finish(struct dft_state *st)
{
	const struct dft_name *first = NULL;
	uint64_t uses = 0, hashes = 0;
	char value[24];

	for (uint32_t i = 0; i < st->sh->names.n; i++) {
		struct dft_name *const e = &st->sh->names.names[i];
		if (e->uses > 0 && e->source == NAME_DEFINED) {
			count_late(st, e);
		} else if (e->uses > 0) {
			hashes++;
			uses += e->uses;
			if (first == NULL || e->first_use.offset < first->first_use.offset)
				first = e;
		}
		e->uses = e->unnamed = 0; /* the next input counts again */
	}
	if (first == NULL)
		return;
	snprintf(value, sizeof value, first->is_text ? "%016" PRIx64 : "%" PRIu64, first->value);
	dft_report_at(st, DFT_RULE_HASH_UNDEFINED, first->first_use,
	              "no %s record defines the hash %s; %" PRIu64 " use%s of %" PRIu64 " such hash%s in all",
	              hash_records[first->kind], value, uses, uses == 1 ? "" : "s", hashes,
	              hashes == 1 ? "" : "es");
}

/* ---- hashes of a record ---- */

/* Looks up a hash in any form.  Returns NULL if it has no name and cannot get one. */
static const struct dft_name *look_up(struct dft_state *st, const struct dft_record *rec,
                                      const struct dft_arg *a, uint64_t pid)
{
	struct dft_hash h;
	struct quoted q;

	if (!dft_hash_read(rec, a->value, (enum json_kind)a->kind, &h)) {
		if (a->role != DFT_ROLE_CWD) /* cwd may also be the path itself */
			dft_report(st, DFT_RULE_BAD_HASH, rec, rec->p + a->value.at,
			           "%s is %s, expected an integer of 64 bits or 16 hexadecimal digits",
			           st->keys.keys[a->number].text.p,
			           quoted(&q, dft_token_text(rec, a->value)));
		return NULL;
	}
	if (h.text && !h.none)
		dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_record_position(rec),
		              dft_token_text(rec, a->value));
	return use_name(st, rec, dft_hash_kind_of((enum dft_role)a->role), h, pid);
}

/* Looks up a hash, in the cache first. */
static inline const struct dft_name *look_up_cached(struct dft_state *st, const struct dft_record *rec,
                                                    const struct dft_arg *a, uint64_t pid)
{
	struct dft_names *const n = &st->sh->names;
	struct dft_recent_hash key;

	if ((!rec->clean && (a->kind != JSON_STRING || a->value.n != DFT_HEX_DIGITS)) ||
	    !dft_recent_key(rec, a, pid, &key))
		return look_up(st, rec, a, pid);
	struct dft_recent_hash *const recent = dft_recent_slot(n, &key);
	if (dft_recent_matches(recent, &key)) {
		if ((key.form & DFT_RECENT_NUMBER) == 0)
			dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_record_position(rec),
			              dft_token_text(rec, a->value));
		return &n->names[recent->name - 1];
	}
	const struct dft_name *const e = look_up(st, rec, a, pid);
	if (e != NULL && e->source == NAME_DEFINED) {
		*recent = key;
		recent->name = (uint32_t)(e - n->names) + 1;
	}
	return e;
}

/* Returns whether an earlier record defines the hash. */
static bool check_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a,
                       uint64_t pid, struct slice *name)
{
	const struct dft_name *const e = look_up_cached(st, rec, a, pid);

	*name = e != NULL ? (struct slice){ e->text, e->n, e->flags } : (struct slice){ NULL, 0, 0 };
	return e != NULL && e->source == NAME_DEFINED;
}

/* Uses the name that is cached in the process, if the process was found by this very hash. */
static void check_host_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a,
                            const struct dft_facts *f, struct slice *name)
{
	struct dft_process *const p = f->process;
	const bool same = p != NULL && p == st->sh->processes.last;

	if (same && p->host_name.p != NULL && p->host_known == st->sh->names.hosts_defined) {
		if (a->kind == JSON_STRING)
			dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_record_position(rec),
			              dft_token_text(rec, a->value));
		*name = p->host_name;
	} else if (check_hash(st, rec, a, f->pid, name) && same) {
		p->host_known = st->sh->names.hosts_defined;
		p->host_name = *name;
	}
}

/* Looks up the hashes of a record. */
static void check_hashes(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	struct slice ignored;

	/* the host hash of metadata of later versions is no use: the defining record has one too */
	if (f->phase == DFT_PHASE_METADATA)
		return;
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[__builtin_ctzll(left)];
		struct slice *const name = f->nnames < DFT_NAMES ? &f->names[f->nnames++] : &ignored;
		if (a->role == DFT_ROLE_HHASH)
			check_host_hash(st, rec, a, f, name);
		else
			check_hash(st, rec, a, f->pid, name);
	}
	if ((rec->special[DFT_ROLE_HOSTNAME] | rec->special[DFT_ROLE_FNAME]) != 0)
		dft_tally_add(st, DFT_NAMES_AS_TEXT, dft_record_position(rec), slice_of(NULL, 0));
}

/* ---- reports ---- */

static const char *const kind_names[] = {
	[JSON_ABSENT] = "absent",
	[JSON_UINT] = "an integer",
	[JSON_INT] = "a negative integer",
	[JSON_NUMBER] = "a number with a fraction",
	[JSON_STRING] = "a string",
	[JSON_ESCAPED] = "a string",
	[JSON_BAD_STRING] = "a string",
	[JSON_TRUE] = "true",
	[JSON_FALSE] = "false",
	[JSON_NULL] = "null",
	[JSON_OBJECT] = "an object",
	[JSON_ARRAY] = "an array",
	[JSON_NOT_FINITE] = "not a finite number",
	[JSON_BAD_WORD] = "not a JSON value",
	[JSON_BAD_NESTED] = "invalid JSON",
};

static const char *top_at(const struct dft_record *rec, enum dft_top which)
{
	return rec->p + rec->top[which].at;
}

static void report_type(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                        const char *wanted)
{
	const enum json_kind kind = dft_top_kind(rec, which);
	struct quoted q;

	dft_report(st, DFT_RULE_FIELD_TYPE, rec, top_at(rec, which), "%s is %s (%s), expected %s",
	           dft_top_names[which], kind_names[kind], quoted(&q, dft_top_text(rec, which)), wanted);
}

/* ---- the phase ---- */

static enum dft_phase phase_of_letter(char c)
{
	switch (c) {
	case 'X':
	case 'x':
		return DFT_PHASE_COMPLETE;
	case 'M':
	case 'm':
	case 'H':
	case 'h':
		return DFT_PHASE_METADATA;
	case 'C':
	case 'c':
		return DFT_PHASE_COUNTER;
	case 'A':
	case 'a':
		return DFT_PHASE_AGGREGATE;
	case 'B':
		return DFT_PHASE_BEGIN;
	case 'E':
		return DFT_PHASE_END;
	case 'i':
	case 'I':
		return DFT_PHASE_INSTANT;
	default:
		return DFT_PHASE_NONE;
	}
}

static enum dft_phase phase_of_digit(char c)
{
	static const enum dft_phase phases[] = { DFT_PHASE_COMPLETE, DFT_PHASE_COUNTER, DFT_PHASE_AGGREGATE,
		                                 DFT_PHASE_METADATA };

	return c >= '1' && c <= '4' ? phases[c - '1'] : DFT_PHASE_NONE;
}

bool dft_is_metadata(const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_PH);
	const char c = rec->top[DFT_PH].n == 1 && kind != JSON_ABSENT ? *top_at(rec, DFT_PH) : '\0';

	return c != '\0' &&
	       (kind == JSON_UINT ? phase_of_digit(c) : phase_of_letter(c)) == DFT_PHASE_METADATA;
}

/* Guesses the phase of a record without a valid ph. */
static enum dft_phase guess_phase(const struct dft_record *rec)
{
	if (dft_top_kind(rec, DFT_TS) != JSON_ABSENT)
		return dft_top_kind(rec, DFT_DUR) != JSON_ABSENT ? DFT_PHASE_COMPLETE : DFT_PHASE_INSTANT;
	return DFT_PHASE_NONE;
}

static enum dft_phase report_phase(struct dft_state *st, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_PH);
	const enum dft_phase guess = guess_phase(rec);
	static const char *const effects[] = { [DFT_PHASE_NONE] = "record retained, but not as an event",
		                               [DFT_PHASE_COMPLETE] =
		                                   "read as a complete event, as it has ts and dur",
		                               [DFT_PHASE_INSTANT] = "read as an instant, as it has ts" };
	struct quoted q;

	if (kind == JSON_ABSENT)
		dft_report(st, DFT_RULE_MISSING_FIELD, rec, NULL, "ph is missing; %s", effects[guess]);
	else if (kind != JSON_UINT && !json_is_string(kind))
		report_type(st, rec, DFT_PH, "a letter");
	else
		dft_report(st, DFT_RULE_UNKNOWN_PHASE, rec, top_at(rec, DFT_PH), "ph is %s; %s",
		           quoted(&q, dft_top_text(rec, DFT_PH)), effects[guess]);
	return guess;
}

/* Tracers count calls in dft_cnt; the aggregator of later utilities writes dur as sum, avg, min, max. */
static bool is_aggregate(const struct dft_record *rec)
{
	const struct dft_arg *const dur = dft_arg_of(rec, DFT_ROLE_DURATION);

	return rec->special[DFT_ROLE_COUNT_OF_CALLS] != 0 || (dur != NULL && dur->kind == JSON_OBJECT);
}

static enum dft_phase check_phase(struct dft_state *st, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_PH);
	const bool one = rec->top[DFT_PH].n == 1 && (kind == JSON_STRING || kind == JSON_UINT);
	const char c = one ? *top_at(rec, DFT_PH) : '\0';
	const struct slice text = slice_of(rec->p + rec->top[DFT_PH].at, one);

	if (kind == JSON_STRING && c == 'X')
		return DFT_PHASE_COMPLETE;
	if (kind == JSON_STRING && c == 'M')
		return DFT_PHASE_METADATA;
	enum dft_phase phase = !one                ? DFT_PHASE_NONE
	                       : kind == JSON_UINT ? phase_of_digit(c)
	                                           : phase_of_letter(c);
	if (phase == DFT_PHASE_NONE || phase >= DFT_PHASE_BEGIN) {
		if (phase == DFT_PHASE_NONE)
			return report_phase(st, rec);
		struct quoted q;
		dft_report(st, DFT_RULE_UNKNOWN_PHASE, rec, top_at(rec, DFT_PH),
		           "ph is %s, which is of Chrome's format and not of DFTracer's", quoted(&q, text));
		return phase;
	}
	if (kind == JSON_UINT || (c >= 'a' && c <= 'z'))
		dft_tally_add(st, DFT_PHASE_FORMS, dft_record_position(rec), text);
	if (phase == DFT_PHASE_COUNTER || phase == DFT_PHASE_AGGREGATE || c == 'H')
		dft_tally_add(st, DFT_LATER_PHASES, dft_record_position(rec), text);
	if (phase == DFT_PHASE_COUNTER && is_aggregate(rec)) /* 2.x wrote both as C */
		phase = DFT_PHASE_AGGREGATE;
	return phase;
}

/* ---- numbers ---- */

static bool is_quoted_number(const struct dft_record *rec, enum dft_top which)
{
	const struct slice s = dft_top_text(rec, which);
	uint32_t i = s.n > 1 && *s.p == '-';

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return s.n > 0 && i == s.n;
}

static void report_range(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                         const char *why)
{
	struct quoted q;

	dft_report(st, DFT_RULE_NUMBER_RANGE, rec, rec->p + rec->top[which].at, "%s %s %s",
	           dft_top_names[which], quoted(&q, dft_top_text(rec, which)), why);
}

static bool unusual_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                           bool may_be_negative, uint64_t *v)
{
	const enum json_kind kind = dft_top_kind(rec, which);
	struct dft_token t = rec->top[which];

	if (json_is_string(kind) && !is_quoted_number(rec, which)) {
		report_type(st, rec, which, "an integer");
		return false;
	}
	if (kind != JSON_UINT && kind != JSON_INT && !json_is_string(kind))
		return false;
	const bool minus = rec->p[t.at] == '-';
	if (minus)
		t = (struct dft_token){ t.at + 1, t.n - 1 };
	if (!dft_digits(rec, t, v) || (minus && *v > (uint64_t)1 << 63)) {
		report_range(st, rec, which, "does not fit 64 bits");
		return false;
	}
	if (minus && !may_be_negative && *v > 0) {
		report_range(st, rec, which, "must not be negative");
		return false;
	}
	if (minus)
		*v = -*v;
	return true;
}

static __attribute__((noinline)) bool long_number(struct dft_state *st, const struct dft_record *rec,
                                                  enum dft_top which, bool may_be_negative, uint64_t *v)
{
	if (dft_top_kind(rec, which) == JSON_UINT && rec->top[which].n < 20)
		return dft_digits(rec, rec->top[which], v);
	return unusual_number(st, rec, which, may_be_negative, v);
}

/* Reads an integer, quoted or not.  Returns false for other values and after reporting a range. */
static inline bool whole_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                                bool may_be_negative, uint64_t *v)
{
	const struct dft_token t = rec->top[which];

	if (dft_top_kind(rec, which) != JSON_UINT || !json_few_digits(t.at, t.n))
		return long_number(st, rec, which, may_be_negative, v);
	*v = json_last_digits(rec->p + t.at + t.n, t.n);
	return true;
}

/* Reads up to nine digits of a fraction, in units of 10^-9. */
static uint32_t read_fraction(const char *p, uint32_t n)
{
	uint32_t v = 0;

	for (uint32_t i = 0; i < 9; i++)
		v = v * 10 + (i < n ? (uint32_t)(p[i] - '0') : 0);
	return v;
}

/* Reads a time with a fraction, to the nanosecond.  No tracer writes such times; other tools do. */
static bool fractional_time(const struct dft_record *rec, enum dft_top which, uint64_t unit, uint64_t *ns)
{
	const struct slice s = dft_top_text(rec, which);
	const char *const dot = memchr(s.p, '.', s.n);
	const uint32_t before = dot != NULL ? (uint32_t)(dot - s.p) : 0;
	uint64_t whole;

	if (dot == NULL || memchr(s.p, 'e', s.n) != NULL || memchr(s.p, 'E', s.n) != NULL ||
	    !json_digits_any(s.p, before, &whole))
		return false;
	const uint64_t more = (uint64_t)read_fraction(dot + 1, s.n - before - 1) * unit / 1000000000;
	if (whole > (UINT64_MAX - more) / unit)
		return false;
	*ns = whole * unit + more;
	return true;
}

static inline bool time_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                               uint64_t unit, uint64_t *ns)
{
	uint64_t v;

	if (dft_top_kind(rec, which) == JSON_NUMBER)
		return fractional_time(rec, which, unit, ns);
	if (!whole_number(st, rec, which, false, &v))
		return false;
	if (v > UINT64_MAX / unit) {
		report_range(st, rec, which, "is more nanoseconds than fit 64 bits");
		return false;
	}
	*ns = v * unit;
	return true;
}

static void check_times(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	const uint64_t unit = f->process != NULL ? f->process->unit : 1000;

	f->has_ts = time_number(st, rec, DFT_TS, unit, &f->ts);
	f->has_dur = time_number(st, rec, DFT_DUR, unit, &f->dur);
	if (f->has_ts && f->has_dur && f->dur > UINT64_MAX - f->ts) {
		report_range(st, rec, DFT_DUR,
		             "plus ts is more nanoseconds than fit 64 bits; shortened to fit");
		f->dur = UINT64_MAX - f->ts;
	}
}

static struct slice host_of(struct dft_state *st, const struct dft_record *rec)
{
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH);
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_HOSTNAME);
	const struct dft_arg *const a = hash != NULL ? hash : name;

	if (a == NULL || a->kind > JSON_BAD_STRING)
		return slice_of(NULL, 0);
	const struct slice s = dft_token_text(rec, a->value);
	if (a->kind != JSON_ESCAPED)
		return s;
	arena_reset(&st->scratch);
	return json_unescape(&st->scratch, s);
}

static void check_process(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	struct dft_process *p;

	f->has_pid = whole_number(st, rec, DFT_PID, true, &f->pid);
	f->negative_pid = f->has_pid && rec->p[rec->top[DFT_PID].at] == '-';
	f->has_tid = whole_number(st, rec, DFT_TID, true, &f->tid);
	f->process = NULL;
	if (!f->has_pid)
		return;
	p = f->process = process_of(st, rec, f->pid, host_of(st, rec));
	if (p == NULL) {
		st->no_memory = true;
		return;
	}
	p->records++;
	p->calls += f->phase != DFT_PHASE_METADATA;
	p->aggregated |= f->phase == DFT_PHASE_AGGREGATE;
}

/* Ids count the records of a process. */
static void check_id(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	if (f->phase >= DFT_PHASE_BEGIN)
		return; /* Chrome's ids are those of flows and of spans */
	if (json_is_string(dft_top_kind(rec, DFT_ID)) && !is_quoted_number(rec, DFT_ID)) {
		dft_tally_add(st, DFT_TEXT_IDS, dft_record_position(rec), dft_top_text(rec, DFT_ID));
		return;
	}
	f->has_id = whole_number(st, rec, DFT_ID, false, &f->id);
	if (!f->has_id || f->process == NULL)
		return;
	if (f->id < (uint64_t)1 << 44 && idset_add(&st->sh->ids, dft_id_base(f->process) + f->id))
		dft_tally_add(st, DFT_IDS_REPEATED, dft_record_position(rec), dft_top_text(rec, DFT_ID));
}

/* ---- members ---- */

#define BIT(which) (1u << (which))

static const unsigned required[] = {
	[DFT_PHASE_NONE] = BIT(DFT_NAME),
	[DFT_PHASE_COMPLETE] =
	    BIT(DFT_NAME) | BIT(DFT_CAT) | BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_TS) | BIT(DFT_DUR),
	[DFT_PHASE_METADATA] = BIT(DFT_NAME),
	[DFT_PHASE_COUNTER] = BIT(DFT_NAME) | BIT(DFT_TS),
	[DFT_PHASE_AGGREGATE] = BIT(DFT_NAME) | BIT(DFT_TS),
	[DFT_PHASE_BEGIN] = BIT(DFT_NAME) | BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_TS),
	[DFT_PHASE_END] = BIT(DFT_NAME) | BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_TS),
	[DFT_PHASE_INSTANT] = BIT(DFT_NAME) | BIT(DFT_TS),
};

#define NUMBERS (BIT(DFT_ID) | BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_TS) | BIT(DFT_DUR))

/* Members of metadata in the samples of the specification; some dialects leave them out. */
#define METADATA_HAS (BIT(DFT_CAT) | BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_ARGS))

static unsigned present_members(const struct dft_record *rec)
{
	unsigned bits = 0;

	for (int i = 0; i < DFT_TOPS; i++)
		bits |= dft_top_kind(rec, (enum dft_top)i) != JSON_ABSENT ? BIT(i) : 0;
	return bits;
}

static void report_missing(struct dft_state *st, const struct dft_record *rec, enum dft_phase phase)
{
	const unsigned missing = required[phase] & ~present_members(rec);
	static const char *const kinds[] = { "record",  "complete event", "metadata event",
		                             "counter", "aggregate",      "begin",
		                             "end",     "instant" };

	for (int i = 0; i < DFT_TOPS; i++)
		if ((missing & BIT(i)) != 0)
			dft_report(st, DFT_RULE_MISSING_FIELD, rec, NULL, "%s is missing from the %s",
			           dft_top_names[i], kinds[phase]);
}

static void check_kind(struct dft_state *st, const struct dft_record *rec, enum dft_top which)
{
	const enum json_kind kind = dft_top_kind(rec, which);

	if (kind == JSON_ABSENT)
		return;
	if (which == DFT_NAME || which == DFT_CAT) {
		if (!json_is_string(kind))
			report_type(st, rec, which, "a string");
	} else if (which == DFT_ARGS) {
		if (kind != JSON_OBJECT)
			report_type(st, rec, which, "an object");
	} else if (which != DFT_PH) { /* check_phase() checks ph, whole_number() numbers in quotes */
		if (kind != JSON_UINT && kind != JSON_INT && (which == DFT_TYPE || !json_is_string(kind)))
			report_type(st, rec, which, "an integer");
	}
}

/* Returns the differences between dialects (bits of enum dft_tallied), each reported once. */
static unsigned differences(const struct dft_record *rec, enum dft_phase phase)
{
	const unsigned has = present_members(rec);
	unsigned tallies = 0;

	for (int i = 0; i < DFT_TOPS; i++)
		if ((BIT(i) & NUMBERS) != 0 && json_is_string(dft_top_kind(rec, (enum dft_top)i)) &&
		    is_quoted_number(rec, (enum dft_top)i))
			tallies |= BIT(DFT_QUOTED_NUMBERS);
	if ((has & BIT(DFT_ID)) == 0)
		tallies |= BIT(DFT_NO_IDS);
	if ((has & BIT(DFT_TYPE)) != 0)
		tallies |= BIT(DFT_TYPE_FIELDS);
	if (phase == DFT_PHASE_COMPLETE && (has & BIT(DFT_ARGS)) == 0)
		tallies |= BIT(DFT_NO_ARGS);
	if (phase == DFT_PHASE_METADATA && (has & METADATA_HAS) != METADATA_HAS)
		tallies |= BIT(DFT_SPARSE_METADATA);
	return tallies;
}

static void tally_differences(struct dft_state *st, const struct dft_record *rec, unsigned tallies)
{
	for (; tallies != 0; tallies &= tallies - 1) {
		const enum dft_tallied which = (enum dft_tallied)__builtin_ctz(tallies);
		dft_tally_add(st, which, dft_record_position(rec),
		              which == DFT_TYPE_FIELDS ? SLICE_LIT("type") : slice_of(NULL, 0));
	}
}

static void check_shape(struct dft_state *st, const struct dft_record *rec, enum dft_phase phase)
{
	if ((phase == DFT_PHASE_COMPLETE && rec->shape == DFT_USUAL_COMPLETE) ||
	    (phase == DFT_PHASE_METADATA && rec->shape == DFT_USUAL_METADATA))
		return;
	const uint64_t key = rec->shape | (uint64_t)phase << 60 | (uint64_t)1 << 59; /* never 0 */
	if (key != st->valid_shape) {
		const uint64_t findings = st->findings;
		report_missing(st, rec, phase);
		for (int i = 0; i < DFT_TOPS; i++)
			check_kind(st, rec, (enum dft_top)i);
		if (st->findings != findings) {
			tally_differences(st, rec, differences(rec, phase));
			return;
		}
		st->valid_shape = key;
		st->valid_tallies = differences(rec, phase);
	}
	tally_differences(st, rec, st->valid_tallies);
}

/* ---- the record ---- */

static const struct {
	enum dft_rule rule;
	const char *message;
} flaws[DFT_FLAW_KINDS] = {
	[JSON_FLAW_NUL] = { DFT_RULE_NUL_BYTES, "NUL byte in a string; retained" },
	[JSON_FLAW_CONTROL_BYTE] = { DFT_RULE_CONTROL_BYTE, "control byte in a string; retained" },
	[JSON_FLAW_UTF8] = { DFT_RULE_INVALID_UTF8, "string is not UTF-8; bytes retained" },
	[JSON_FLAW_ESCAPE] = { DFT_RULE_BAD_ESCAPE, "invalid escape in a string; backslash retained" },
	[DFT_FLAW_UNESCAPED_QUOTE] = { DFT_RULE_UNESCAPED_QUOTE,
	                               "unescaped quote in a string; its end was found by what follows" },
	[JSON_FLAW_COMMA] = { DFT_RULE_COMMA_IN_OBJECT, "trailing comma; ignored" },
	[DFT_FLAW_STRAY_Q] = { DFT_RULE_STRAY_Q, "q after the pid; ignored" },
	[JSON_FLAW_NOT_FINITE] = { DFT_RULE_NOT_FINITE, "nan and inf are not JSON numbers; retained" },
	[JSON_FLAW_WORD] = { DFT_RULE_BAD_VALUE, "not a JSON value; retained as a string" },
	[DFT_FLAW_DUPLICATE_KEY] = { DFT_RULE_DUPLICATE_KEY,
	                             "duplicate name in an object; all values retained" },
};

static void report_flaws(struct dft_state *st, const struct dft_record *rec)
{
	for (uint32_t i = 0; i < rec->json.nflaws; i++) {
		const struct json_flaw_at *const f = &rec->json.flaws[i];
		dft_report(st, flaws[f->kind].rule, rec, f->at, "%s", flaws[f->kind].message);
	}
	if (rec->too_many)
		dft_report(st, DFT_RULE_LIMIT, rec, NULL,
		           "more than 60000 args or 16 unknown fields: the others were dropped");
}

void dft_check(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	f->has_id = false;
	f->id = f->pid = f->tid = f->ts = f->dur = 0;
	f->nnames = 0;
	if (rec->json.nflaws > 0 || rec->too_many)
		report_flaws(st, rec);
	f->phase = check_phase(st, rec);
	check_shape(st, rec, f->phase);
	if (rec->nextras > 0)
		dft_tally_add(st, DFT_EXTRA_FIELDS, dft_record_position(rec),
		              dft_token_text(rec, rec->extras[0].key));
	check_process(st, rec, f);
	check_id(st, rec, f);
	check_times(st, rec, f);
	check_hashes(st, rec, f);
}
