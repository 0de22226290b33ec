/*
 * Hosts and processes of records, and the names of their hashes.
 *
 * Hashes are looked up in a direct-mapped cache before the hash table.  All tables have limits; past them
 * hashes are shown as numbers, and hosts and processes are merged.
 */
#include <stdlib.h>

#include "dftracer/dftracer.h"

/* ---- hosts and processes ---- */

uint32_t dft_host_number(struct dft_hosts *hosts, struct arena *a, struct slice host)
{
	const uint32_t known = tabletext_get(&hosts->index, host);

	if (known != TABLE_NONE)
		return known;
	if (hosts->n == DFT_MAX_HOSTS)
		return 0;
	const bool space = array_reserve(&hosts->texts, hosts->n, &hosts->cap, sizeof *hosts->texts);
	const struct slice copy = arena_copy(a, host);
	if (note_failure(&a->failed,
	                 !space || copy.p == NULL || !tabletext_put(&hosts->index, copy, hosts->n + 1)))
		return 0;
	hosts->texts[hosts->n++] = copy;
	return hosts->n;
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
	return table64_put(&all->index, dft_key_of(pid, host), all->n++) ? p : NULL;
}

/* Finds or adds a process.  The index has it under its host; the first one of a pid also under no host. */
static struct dft_process *find_process(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                        uint32_t host)
{
	struct dft_processes *const all = &st->sh->processes;
	const uint64_t key = dft_key_of(pid, host);
	uint32_t known = table64_get(&all->index, key);

	if (known != TABLE_NONE)
		return all->list[known];
	const uint64_t any = dft_key_of(pid, 0);
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

struct dft_process *dft_process_of(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                   struct slice host)
{
	struct dft_shared *const sh = st->sh;
	struct dft_process *const last = sh->processes.last;

	host.n = host.n < DFT_MAX_HOST ? host.n : DFT_MAX_HOST;
	if (host.n == 0) {
		sh->processes.hostless = true;
		return find_process(st, rec, pid, 0);
	}
	if (last != NULL && last->pid == pid && dft_same_host(dft_host_text(&sh->hosts, last->host), host))
		return last;
	struct dft_process *const p =
	    find_process(st, rec, pid, dft_host_number(&sh->hosts, sh->arena, host));
	if (p != NULL && p->pid == pid && p->host != 0)
		sh->processes.last = p;
	return p;
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
	struct slice text; /* in the trace's arena, as events show it; p NULL: undefined */
	uint32_t uses;     /* before its definition; at most UINT32_MAX */
	uint32_t unnamed;  /* uses that were shown as numbers */
	uint8_t kind, source;
	bool is_text;
	struct finding_place first_use;
	uint32_t order; /* of its first use, among the names of the input */
};

void dft_names_free(struct dft_names *n)
{
	for (int kind = 0; kind < DFT_HASH_KINDS; kind++)
		for (int form = 0; form < DFT_HASH_FORMS; form++)
			table64_free(&n->index[kind][form]);
	free(n->names);
	tabletext_free(&n->interned);
}

bool dft_hash_read(struct slice s, enum json_kind kind, struct dft_hash *h)
{
	*h = (struct dft_hash){ .text = kind == JSON_STRING };
	if (kind == JSON_STRING && s.n == DFT_HEX_DIGITS)
		return json_hex(s, &h->value);
	h->none = slice_is(s, "0") || (kind == JSON_STRING && s.n == 0);
	if (kind == JSON_UINT)
		return json_digits_any(s.p, s.n, &h->value);
	return kind == JSON_STRING && h->none;
}

/* ---- hashes: definitions ---- */

static enum dft_hash_form form_of(struct dft_hash h)
{
	return h.text ? DFT_HASH_DIGITS : h.value > UINT16_MAX ? DFT_HASH_WIDE : DFT_HASH_NARROW;
}

/* Narrow hashes belong to a process. */
static uint64_t key_of(struct dft_hash h, uint64_t pid)
{
	return form_of(h) == DFT_HASH_NARROW ? dft_key_of(pid, h.value) : h.value;
}

/* Finds or adds the entry of a hash; new ones are undefined.  Returns NULL after reporting that there are too
 * many, or on OOM. */
static struct dft_name *find_name(struct dft_state *st, struct dft_shared *sh, const struct dft_record *rec,
                                  enum dft_hash_kind kind, struct dft_hash h, uint64_t pid)
{
	struct dft_names *const n = &sh->names;
	struct table64 *const index = &n->index[kind][form_of(h)];
	const uint64_t key = key_of(h, pid);
	const uint32_t known = table64_get(index, key);

	if (known != TABLE_NONE)
		return &n->names[known];
	if (n->n == DFT_MAX_HASHES) {
		dft_report_limit(st, DFT_LIMIT_HASHES, rec);
		return NULL;
	}
	if (note_failure(&st->r->no_memory, !array_reserve(&n->names, n->n, &n->cap, sizeof *n->names) ||
	                                        !table64_put(index, key, n->n)))
		return NULL;
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
	const char *const known = tabletext_key(&n->interned, text);

	if (known != NULL)
		return (struct slice){ known, text.n, text.flags | SLICE_STAYS };
	if (n->interned.used == DFT_MAX_TEXTS || text.n > DFT_MAX_TEXT_BYTES - n->bytes) {
		dft_report_limit(st, DFT_LIMIT_HASHES, rec);
		return SLICE_NONE;
	}
	const struct slice copy = arena_copy(sh->arena, text);
	if (note_failure(&st->r->no_memory, copy.p == NULL || !tabletext_put(&n->interned, copy, 0)))
		return SLICE_NONE;
	n->bytes += text.n;
	return (struct slice){ copy.p, copy.n, copy.flags | SLICE_STAYS };
}

const char *const dft_hash_records[DFT_HASH_KINDS] = { "HH", "FH", "SH" };

enum dft_hash_kind dft_defined_kind(struct slice name)
{
	unsigned kind = 0;

	while (kind < DFT_HASH_KINDS && !slice_is(name, dft_hash_records[kind]))
		kind++;
	return (enum dft_hash_kind)kind;
}

static void report_redefined(struct dft_state *st, const struct dft_record *rec, const struct dft_name *e,
                             struct slice text)
{
	struct quoted q, q2;

	st->sh->names.redefined = true;
	if (!dft_shown(st, DFT_RULE_HASH_REDEFINED))
		dft_report(st, DFT_RULE_HASH_REDEFINED, dft_record_position(rec), "not shown");
	else
		dft_report(st, DFT_RULE_HASH_REDEFINED, dft_record_position(rec),
		           e->is_text ? "hash %s %016" PRIx64 " was %s and is redefined as %s"
		                      : "hash %s %" PRIu64 " was %s and is redefined as %s",
		           dft_hash_records[e->kind], e->value, quoted(&q, e->text), quoted(&q2, text));
}

void dft_name_define(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind,
                     struct dft_hash h, uint64_t pid, struct slice text)
{
	const enum source source = st->ahead ? NAME_AHEAD : NAME_DEFINED;
	struct dft_shared *const sh = st->names_owner;
	struct dft_name *const e = find_name(st, sh, rec, kind, h, pid);

	if (e == NULL)
		return;
	const bool same = e->text.p != NULL && slice_equal(e->text, text);
	if (e->source == NAME_DEFINED && source == NAME_DEFINED && !same)
		report_redefined(st, rec, e, text);
	if (e->source > source || (e->source == NAME_AHEAD && source == NAME_AHEAD))
		return; /* of several later definitions, the nearest counts */
	e->source = (uint8_t)source;
	sh->names.hosts_defined += kind == DFT_HASH_HOST;
	const struct slice copy = same ? SLICE_NONE : intern_text(st, sh, rec, text);
	if (copy.p != NULL)
		e->text = copy;
}

/* ---- hashes: uses ---- */

struct slice dft_name_find(const struct dft_state *st, enum dft_hash_kind kind, struct dft_hash h,
                           uint64_t pid)
{
	struct dft_names *const n = &st->sh->names;
	const uint32_t i = h.none ? TABLE_NONE : table64_get(&n->index[kind][form_of(h)], key_of(h, pid));

	return i != TABLE_NONE ? n->names[i].text : SLICE_NONE;
}

/* Returns the name of a hash, defined or not, and counts a use before the definition.  Returns NULL if the
 * hash is 0 or empty, or there are too many. */
static const struct dft_name *use_name(struct dft_state *st, const struct dft_record *rec,
                                       enum dft_hash_kind kind, struct dft_hash h, uint64_t pid)
{
	struct dft_name *const e = h.none ? NULL : find_name(st, st->sh, rec, kind, h, pid);

	if (e == NULL || e->source == NAME_DEFINED)
		return e;
	if (e->uses == 0) {
		e->first_use = dft_first_position(rec);
		e->order = st->sh->names.nused++;
	}
	e->uses += e->uses < UINT32_MAX;
	e->unnamed += e->text.p == NULL && st->resolve && e->unnamed < UINT32_MAX;
	return e;
}

/* Counts uses before the definition that the look-ahead pass did not resolve. */
static void count_late(struct dft_state *st, const struct dft_name *e)
{
	struct finding_tally *const t = &st->tallies[DFT_HASHES_LATE].of;

	if (e->unnamed > 0 && (t->count == 0 || e->first_use.offset < t->at.offset))
		t->at = e->first_use;
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
			/* a record may use several: not the order of the list, which earlier inputs change */
			if (first == NULL || e->order < first->order)
				first = e;
		}
		e->uses = e->unnamed = 0; /* the next input counts again */
	}
	st->sh->names.nused = 0;
	if (first == NULL)
		return;
	snprintf(value, sizeof value, first->is_text ? "%016" PRIx64 : "%" PRIu64, first->value);
	dft_report(st, DFT_RULE_HASH_UNDEFINED, first->first_use,
	           "no %s record defines the hash %s; %" PRIu64 " use%s of %" PRIu64 " such hash%s in all",
	           dft_hash_records[first->kind], value, uses, uses == 1 ? "" : "s", hashes,
	           hashes == 1 ? "" : "es");
}

/* ---- hashes of a record ---- */

/* Looks up a hash in any form.  Returns NULL if it has no name and cannot get one. */
static const struct dft_name *look_up(struct dft_state *st, const struct dft_record *rec,
                                      const struct dft_arg *a, uint64_t pid)
{
	struct dft_hash h;
	struct quoted q;

	if (!dft_hash_read(dft_token_text(rec, a->value), (enum json_kind)a->kind, &h)) {
		if (a->role != DFT_ROLE_CWD) /* cwd may also be the path itself */
			dft_report(st, DFT_RULE_BAD_HASH, dft_token_position(rec, a->value),
			           "%s is %s, expected an integer of 64 bits or 16 hexadecimal digits",
			           st->keys.keys[a->number].text.p,
			           quoted(&q, dft_token_text(rec, a->value)));
		return NULL;
	}
	if (h.text && !h.none)
		dft_tally_record(st, DFT_HASHES_AS_TEXT, rec, dft_token_text(rec, a->value));
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
			dft_tally_record(st, DFT_HASHES_AS_TEXT, rec, dft_token_text(rec, a->value));
		return &n->names[recent->name - 1];
	}
	const struct dft_name *const e = look_up(st, rec, a, pid);
	if (e != NULL && e->source == NAME_DEFINED) {
		*recent = key;
		recent->name = (uint32_t)(e - n->names) + 1;
	}
	return e;
}

/* Whether an earlier record defines the hash. */
static bool check_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a,
                       uint64_t pid, struct slice *name)
{
	const struct dft_name *const e = look_up_cached(st, rec, a, pid);

	*name = e != NULL ? e->text : SLICE_NONE;
	return e != NULL && e->source == NAME_DEFINED;
}

/* Uses the name that is cached in the process, if the process was found by this hash: one of another form is
 * none, and finds the process by its pid. */
static void check_host_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a,
                            const struct dft_facts *f, struct slice *name)
{
	struct dft_process *const p = f->process;
	const bool same = p != NULL && p == st->sh->processes.last && dft_can_be_hash(rec, a);

	if (same && p->host_name.p != NULL && p->host_known == st->sh->names.hosts_defined) {
		if (a->kind == JSON_STRING)
			dft_tally_record(st, DFT_HASHES_AS_TEXT, rec, dft_token_text(rec, a->value));
		*name = p->host_name;
	} else if (check_hash(st, rec, a, f->pid, name) && same) {
		p->host_known = st->sh->names.hosts_defined;
		p->host_name = *name;
	}
}

void dft_check_hashes(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	struct slice ignored;

	/* the host hash in metadata of later versions is not a use: the defining record has one, too */
	if (f->phase == DFT_PHASE_METADATA)
		return;
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[low_bit(left)];
		struct slice *const name = f->nnames < DFT_NAMES ? &f->names[f->nnames++] : &ignored;
		if (a->role == DFT_ROLE_HHASH)
			check_host_hash(st, rec, a, f, name);
		else
			check_hash(st, rec, a, f->pid, name);
	}
	if ((rec->special[DFT_ROLE_HOSTNAME] | rec->special[DFT_ROLE_FNAME]) != 0)
		dft_tally_record(st, DFT_NAMES_AS_TEXT, rec, SLICE_NONE);
}

/* ---- inputs read apart ---- */

enum claim_kind {
	CLAIM_PROCESS,
	CLAIM_PID,
	CLAIM_THREADS,
	CLAIM_TITLES,
	CLAIM_HASH,
	CLAIM_NARROW,
	CLAIM_TEXT,
	CLAIM_CLASS,
	CLAIM_META,
};

/* An undefined hash is claimed, too: another input may define it. */
static bool claim_hash(const struct dft_name *e, enum dft_hash_kind kind, struct dft_hash h, struct claims *c)
{
	const uint64_t text =
	    e != NULL && e->source != NAME_UNDEFINED ? hash_bytes(e->text.p, e->text.n, hash_seed()) | 1 : 0;

	if (form_of(h) == DFT_HASH_NARROW)
		return true; /* of a process, which is not in other inputs */
	return claims_put(c, CLAIM_HASH, hash_u64(h.value, (uint64_t)kind << 1 | h.text), text, 0);
}

/* Claims the hash that a host may be, in each form in which its name is looked up. */
static bool claim_host(const struct dft_names *n, struct slice host, struct claims *c)
{
	static const enum json_kind forms[] = { JSON_STRING, JSON_UINT };
	bool ok = true;

	for (int i = 0; ok && host.n > 0 && i < 2; i++) {
		struct dft_hash h;
		if (!dft_hash_read(host, forms[i], &h) || h.none)
			continue;
		const uint32_t known = table64_get(&n->index[DFT_HASH_HOST][form_of(h)], key_of(h, 0));
		ok = claim_hash(known != TABLE_NONE ? &n->names[known] : NULL, DFT_HASH_HOST, h, c);
	}
	return ok;
}

/* The pid alone identifies a process if records or titles without a host, or narrow hashes, belong to it. */
static bool claim_processes(const struct dft_shared *sh, struct claims *c)
{
	uint64_t narrow = 0;
	bool ok = true;

	for (int kind = 0; kind < DFT_HASH_KINDS; kind++)
		narrow += sh->names.index[kind][DFT_HASH_NARROW].used;
	const bool by_pid = sh->processes.hostless || narrow > 0;
	for (uint32_t i = 0; ok && i < sh->processes.n; i++) {
		const struct dft_process *const p = sh->processes.list[i];
		const bool alone = by_pid || p->host == 0;
		const struct slice host = p->host != 0 ? dft_host_text(&sh->hosts, p->host) : SLICE_NONE;
		const uint64_t key = hash_bytes(host.p, host.n, hash_u64(p->pid, hash_seed()));
		ok = claims_put(c, CLAIM_PID, p->pid, alone ? c->input : 0, 0) &&
		     claims_put(c, CLAIM_PROCESS, key, c->input, 0) && claim_host(&sh->names, host, c);
	}
	return ok && !sh->limits_reported[DFT_LIMIT_TITLE] &&
	       claims_put(c, CLAIM_NARROW, c->input, 0, narrow) &&
	       claims_put(c, CLAIM_THREADS, c->input, 0, sh->processes.threads.used) &&
	       claims_put(c, CLAIM_TITLES, c->input, 0, sh->titles.n);
}

static bool claim_hashes(const struct dft_names *n, struct claims *c)
{
	bool ok = !n->redefined;

	for (uint32_t i = 0; ok && i < n->n; i++) {
		const struct dft_name *const e = &n->names[i];
		ok = claim_hash(e, (enum dft_hash_kind)e->kind,
		                (struct dft_hash){ .value = e->value, .text = e->is_text }, c);
	}
	const struct tabletext_entry *const texts = tabletext_entries(&n->interned);
	for (size_t i = 0; ok && i < n->interned.used; i++)
		ok =
		    claims_put(c, CLAIM_TEXT, hash_bytes(texts[i].p, texts[i].n, hash_seed()), 0, texts[i].n);
	return ok;
}

bool dft_claims(const void *shared, const struct trace *trace, struct claims *c)
{
	const struct dft_shared *const sh = shared;
	bool ok = !sh->entangled && claim_processes(sh, c) && claim_hashes(&sh->names, c);

	for (int i = 0; i < DFT_LIMITS; i++)
		ok = ok && !sh->limits_reported[i];
	for (uint32_t i = 0; ok && i < trace->nclasses; i++) {
		const struct slice name = trace->classes[i]->name;
		ok = claims_put(c, CLAIM_CLASS, hash_bytes(name.p, name.n, hash_seed()), 0, name.n);
	}
	for (uint32_t i = 0; ok && i < trace->nmeta; i++) {
		const struct field *const f = &trace->meta[i];
		ok = claims_put(c, CLAIM_META, hash_bytes(f->name.p, f->name.n, hash_seed()), 0,
		                f->name.n + f->value.count);
	}
	return ok && c->keys[CLAIM_PROCESS] <= DFT_MAX_PROCESSES &&
	       c->weights[CLAIM_THREADS] <= DFT_MAX_THREADS && c->weights[CLAIM_TITLES] <= DFT_MAX_TITLES &&
	       c->keys[CLAIM_HASH] + c->weights[CLAIM_NARROW] <= DFT_MAX_HASHES &&
	       c->keys[CLAIM_TEXT] <= DFT_MAX_TEXTS && c->weights[CLAIM_TEXT] <= DFT_MAX_TEXT_BYTES &&
	       c->keys[CLAIM_CLASS] <= DFT_MAX_CLASSES && c->weights[CLAIM_CLASS] <= DFT_MAX_CLASS_BYTES &&
	       c->keys[CLAIM_META] <= DFT_MAX_META && c->weights[CLAIM_META] <= DFT_MAX_META_BYTES;
}
