/*
 * Metadata that applies to other records: names of hashes, processes and threads, time units, the clock,
 * facts of the whole trace, `start` and `end`.
 */
#include "model/value.h"

#include "dftracer/dftracer.h"

/* ---- titles of processes and threads ---- */

static uint64_t title_key(uint64_t pid, uint32_t host, const uint64_t *tid)
{
	const uint64_t process = dft_key_of(pid, host);

	return tid != NULL ? dft_key_of(*tid, process) : process;
}

static bool store_title(struct dft_titles *t, struct arena *a, uint64_t key, struct slice text)
{
	if (!array_reserve(&t->texts, t->n, &t->cap, sizeof *t->texts))
		return false;
	text = arena_copy(a, slice_of(text.p, utf8_cut(text.p, text.n, DFT_MAX_TITLE)));
	if (text.p == NULL)
		return false;
	t->texts[t->n] = textscan_slice(text.p, text.n);
	return table64_put(&t->index, key, t->n++);
}

struct slice dft_title_find(struct dft_state *st, uint64_t pid, uint32_t host, const uint64_t *tid)
{
	const struct dft_titles *const t = &st->sh->titles;
	uint32_t known = table64_get(&t->index, title_key(pid, host, tid));

	if (known == TABLE_NONE)
		known = table64_get(&t->index, title_key(pid, 0, tid));
	return known != TABLE_NONE ? t->texts[known] : SLICE_NONE;
}

/* ---- texts of metadata ---- */

static bool arg_is(const struct dft_record *rec, const struct dft_arg *a, const char *text)
{
	return a != NULL && a->kind == JSON_STRING && slice_is(dft_token_text(rec, a->value), text);
}

/* Returns the text of an argument with escapes resolved, valid until the next record. */
static struct slice arg_text(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a)
{
	const struct slice text = dft_text(rec, a->value, (enum json_kind)a->kind, &st->scratch);

	st->r->no_memory |= text.p == NULL;
	return text;
}

/* ---- metadata: facts of the whole trace ---- */

/* Adds the fact "prefix.key"; the first one of each name is retained, up to DFT_MAX_META facts. */
static void add_meta(struct dft_state *st, const struct dft_record *rec, const char *prefix, struct slice key,
                     struct slice text, bool json)
{
	struct trace *const trace = st->r->trace;

	key.n = key.n < 200 ? key.n : 200;
	const struct slice printed = ARENA_JOIN(&st->scratch, slice_str(prefix), SLICE_LIT("."), key);
	if (note_failure(&st->r->no_memory, printed.p == NULL))
		return;
	const struct slice name = textscan_slice(printed.p, printed.n);
	if (trace_meta(trace, name) != NULL)
		return;
	if (trace->nmeta >= DFT_MAX_META || text.n + name.n > DFT_MAX_META_BYTES - st->sh->meta_bytes) {
		dft_report_limit(st, DFT_LIMIT_META, rec);
		return;
	}
	st->sh->meta_bytes += text.n + name.n;
	struct value v = value_string(text);
	if (json) {
		const struct slice copy = arena_copy(&trace->arena, text);
		v = value_json(copy);
		st->r->no_memory |= copy.p == NULL;
	}
	st->r->no_memory |= !trace_add_meta(trace, name, v);
}

/* Adds the arguments of a record, with names in place of hashes. */
static void add_args_as_meta(struct dft_state *st, const char *prefix, const struct dft_record *rec,
                             const struct dft_facts *f)
{
	for (uint32_t i = 0; i < rec->nargs && !st->sh->limits_reported[DFT_LIMIT_META]; i++) {
		const struct dft_arg *const a = &rec->args[i];
		const bool json = (a->kind >= JSON_UINT && a->kind <= JSON_NUMBER) ||
		                  (a->kind >= JSON_TRUE && a->kind <= JSON_ARRAY);
		const struct slice text = arg_text(st, rec, a);
		struct slice name = SLICE_NONE;
		struct dft_hash h;
		if (dft_role_is_hash((enum dft_role)a->role) &&
		    dft_hash_read(dft_token_text(rec, a->value), (enum json_kind)a->kind, &h))
			name = dft_name_find(st, dft_hash_kind_of((enum dft_role)a->role), h, f->pid);
		const struct slice key = dft_text(rec, a->key, JSON_ESCAPED, &st->scratch);
		add_meta(st, rec, prefix, key, name.p != NULL ? name : text, json && name.p == NULL);
	}
}

/* ---- metadata: names ---- */

static void define_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                        enum dft_hash_kind kind)
{
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_NAME);
	const struct dft_arg *value = dft_arg_of(rec, DFT_ROLE_VALUE);
	struct dft_hash h;
	struct quoted q;

	if (value == NULL)
		value = dft_arg_of(rec, DFT_ROLE_HASH); /* as written on one day of September 2024 */
	if (name == NULL || value == NULL) {
		dft_report(st, DFT_RULE_MISSING_FIELD, dft_record_position(rec),
		           "args.%s is missing from the hash record", name == NULL ? "name" : "value");
		return;
	}
	if (!json_is_string((enum json_kind)name->kind)) {
		dft_report(st, DFT_RULE_FIELD_TYPE, dft_token_position(rec, name->value),
		           "args.name of the hash record is %s, expected a string",
		           quoted(&q, dft_token_text(rec, name->value)));
		return;
	}
	if (!dft_hash_read(dft_token_text(rec, value->value), (enum json_kind)value->kind, &h)) {
		dft_report(st, DFT_RULE_BAD_HASH, dft_token_position(rec, value->value),
		           "args.value is %s, expected an integer of 64 bits or 16 hexadecimal digits",
		           quoted(&q, dft_token_text(rec, value->value)));
		return;
	}
	if (h.none)
		return;
	if (h.text)
		dft_tally_record(st, DFT_HASHES_AS_TEXT, rec, dft_token_text(rec, value->value));
	dft_name_define(st, rec, kind, h, f->pid, arg_text(st, rec, name));
}

/* Names the process of the record, or its thread. */
static void add_title(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                      bool thread, struct slice text)
{
	struct dft_shared *const sh = st->names_owner;
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH);
	struct slice host = hash != NULL ? dft_host_hash(rec, hash) : SLICE_NONE;

	if (!f->has_pid || (thread && !f->has_tid) || (!st->ahead && !st->resolve))
		return;
	if (!st->ahead && !input_can_reopen(st->r->in) && f->process->track != NULL)
		dft_tally_record(st, DFT_HASHES_LATE, rec, text);
	if (sh->titles.n == DFT_MAX_TITLES) {
		dft_report_limit(st, DFT_LIMIT_TITLES, rec);
		return;
	}
	if (text.n > DFT_MAX_TITLE)
		dft_report_limit(st, DFT_LIMIT_TITLE, rec);
	host.n = host.n < DFT_MAX_HOST ? host.n : DFT_MAX_HOST;
	const uint32_t number = host.n > 0 ? dft_host_number(&sh->hosts, sh->arena, host) : 0;
	sh->processes.hostless |= number == 0;
	st->r->no_memory |=
	    !store_title(&sh->titles, sh->arena, title_key(f->pid, number, thread ? &f->tid : NULL), text);
}

static void name_rank(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	const struct dft_arg *const value = dft_arg_of(rec, DFT_ROLE_VALUE);

	if (value == NULL || !arg_is(rec, dft_arg_of(rec, DFT_ROLE_NAME), "rank"))
		return;
	const struct slice rank = dft_token_text(rec, value->value);
	const struct slice text =
	    arena_printf(&st->scratch, "Rank %.*s", (int)(rank.n < 20 ? rank.n : 20), rank.p);
	st->r->no_memory |= text.p == NULL;
	add_title(st, rec, f, false, text);
}

static void name_track(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                       bool thread)
{
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_NAME);

	if (name != NULL && json_is_string((enum json_kind)name->kind) && name->value.n > 0)
		add_title(st, rec, f, thread, arg_text(st, rec, name));
}

/* ---- metadata: time units ---- */

static const struct {
	const char *name;
	uint64_t ns;
} units[] = { { "NS", 1 }, { "US", 1000 }, { "MS", 1000000 }, { "SEC", 1000000000 } };

uint64_t dft_time_unit(struct slice name)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (slice_is(name, units[i].name))
			return units[i].ns;
	return 0;
}

struct slice dft_unit_of_cfg(struct slice cfg)
{
	static const char key[] = "\"time_metric\":\"";
	const size_t n = sizeof key - 1;
	const char *p = cfg.p, *const end = cfg.p + cfg.n;

	while ((p = memchr(p, '"', (size_t)(end - p))) != NULL && (size_t)(end - p) > n &&
	       memcmp(p, key, n) != 0)
		p++;
	if (p == NULL || (size_t)(end - p) <= n)
		return SLICE_NONE;
	const char *const to = memchr(p + n, '"', (size_t)(end - p) - n);
	return slice_of(p + n, to != NULL ? (size_t)(to - p) - n : 0);
}

static const char *unit_name(uint64_t ns)
{
	size_t i = 0;

	while (units[i].ns != ns)
		i++;
	return units[i].name;
}

static void set_unit(struct dft_state *st, const struct dft_record *rec, struct dft_process *p,
                     const struct dft_arg *value)
{
	const struct slice name = dft_token_text(rec, value->value);
	const uint64_t unit = value->kind == JSON_STRING ? dft_time_unit(name) : 0;
	struct quoted q;

	if (unit == 0)
		dft_report(st, DFT_RULE_TIME_UNIT, dft_token_position(rec, value->value),
		           "time_metric is %s, expected US, NS, MS or SEC; times are still read in %s",
		           quoted(&q, name), unit_name(p->unit));
	else if ((p->unit_given || p->calls > 0) && unit != p->unit)
		dft_report(st, DFT_RULE_TIME_UNIT, dft_token_position(rec, value->value),
		           "time_metric is %s after records in %s; used from here on", quoted(&q, name),
		           unit_name(p->unit));
	if (unit != 0) {
		p->unit = unit;
		p->unit_given = true;
	}
}

/* ---- metadata: the clock of tracetool's files ---- */

/* The writer of this format retains the times of another trace, which need not be since 1970, and states
 * their clock in facts, from `tool` on (see put_facts() in write/write.c).  They apply to all records of the
 * input, those before them too. */

/* Reports a clock whose epoch is not that of the trace. */
static void end_clock(struct dft_state *st)
{
	const struct dft_clock *const c = &st->clock;
	const uint64_t first = st->r->trace->epoch_ns;

	if (c->has_epoch && !c->used && !epochs_agree(c->epoch_ns, first))
		dft_report(st, DFT_RULE_CLOCK, c->at,
		           "time 0 is %" PRIu64 " ns after 1970 here, but %" PRIu64
		           " ns in facts before; the first is used",
		           c->epoch_ns, first);
}

static void begin_clock(struct dft_state *st, const struct dft_record *rec)
{
	struct trace *const trace = st->r->trace;

	end_clock(st);
	if (!st->clock.stated) {
		trace_change(trace);
		trace->clock = "unknown";
		trace->epoch_known = false;
	}
	st->clock = (struct dft_clock){ .stated = true, .named = st->clock.named };
	st->clock.at = dft_record_position(rec);
}

/* A time that was subtracted from all times is added to the epoch of the clock before. */
static void set_epoch(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *value,
                      bool rebased)
{
	const struct slice s = dft_token_text(rec, value->value);
	struct trace *const trace = st->r->trace;
	struct dft_clock *const c = &st->clock;
	bool *const known = rebased ? &c->is_rebased : &c->has_epoch;
	struct quoted q;
	uint64_t ns;

	if ((value->kind != JSON_UINT && value->kind != JSON_INT && value->kind != JSON_STRING) ||
	    !(rebased ? json_integer(s, &ns) : json_digits_any(s.p, s.n, &ns))) {
		dft_report(st, DFT_RULE_CLOCK, dft_token_position(rec, value->value),
		           "%s is %s, expected a number of ns", rebased ? "rebased_by_ns" : "epoch_ns",
		           quoted(&q, s));
		return;
	}
	c->epoch_ns += *known ? 0 : ns; /* wraps as in the writer */
	*known = true;
	c->used |= c->has_epoch && !trace->epoch_known;
	if (!c->used)
		return;
	trace_change(trace);
	trace->epoch_known = true;
	trace->epoch_ns = c->epoch_ns;
}

static void apply_clock(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *name,
                        const struct dft_arg *value)
{
	if (arg_is(rec, name, "tool") && trace_tool_is_own(dft_token_text(rec, value->value)))
		begin_clock(st, rec);
	else if (!st->clock.stated)
		return;
	else if (arg_is(rec, name, "clock"))
		st->clock.named = st->clock.named || trace_name_clock(st->r->trace, arg_text(st, rec, value));
	else if (arg_is(rec, name, "epoch_ns") || arg_is(rec, name, "rebased_by_ns"))
		set_epoch(st, rec, value, arg_is(rec, name, "rebased_by_ns"));
}

/* ---- metadata: facts that users add ---- */

static void apply_custom(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_NAME);
	const struct dft_arg *const value = dft_arg_of(rec, DFT_ROLE_VALUE);

	if (name == NULL || value == NULL)
		return;
	if (arg_is(rec, name, "time_metric") && f->process != NULL)
		set_unit(st, rec, f->process, value);
	apply_clock(st, rec, name, value);
	if ((st->r->want & WANT_TIMES) == 0)
		return;
	const struct slice key = arg_text(st, rec, name);
	add_meta(st, rec, "CM", key, arg_text(st, rec, value), false);
}

/* ---- metadata: start and end ---- */

static void apply_start(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	struct dft_process *const p = f->process;

	if (p != NULL) {
		p->started = true;
		p->starts++;
		p->start = dft_first_position(rec);
	}
	if ((st->r->want & WANT_TIMES) != 0)
		add_args_as_meta(st, "start", rec, f);
}

/* Checks num_events: up to 1.0.8 the number of all records before `end`, later that of the calls among them;
 * with aggregation there are more calls than records.  A hint, useful only if a pid is of one process. */
static void check_num_events(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	const struct dft_arg *const a = dft_arg_of(rec, DFT_ROLE_NUM_EVENTS);
	const struct dft_process *const p = f->process;
	struct quoted q;
	uint64_t n;

	if (a == NULL || p->starts != 1)
		return;
	const uint64_t all = p->records - 1, calls = p->calls - 1;
	/* d1 writes wide numbers in quotes */
	const bool counts = (a->kind == JSON_UINT || a->kind == JSON_STRING) &&
	                    json_digits_any(rec->p + a->value.at, a->value.n, &n);
	if (counts && (n == all || (n <= calls + 1 && n + 1 >= calls) || (p->aggregated && n > calls)))
		return;
	if (counts)
		snprintf(q.s, sizeof q.s, "%" PRIu64, n);
	else
		quoted(&q, dft_token_text(rec, a->value));
	dft_report(st, DFT_RULE_NUM_EVENTS, dft_token_position(rec, a->value),
	           "num_events is %s, but %" PRIu64 " records of the process precede it, %" PRIu64
	           " of them not metadata",
	           q.s, all, calls);
}

/* Checks the second copy of the unit, inside args.cfg. */
static void check_end_unit(struct dft_state *st, const struct dft_record *rec, const struct dft_process *p)
{
	const struct dft_arg *const cfg = dft_arg_of(rec, DFT_ROLE_CFG);
	const struct slice name = cfg != NULL && cfg->kind == JSON_OBJECT
	                              ? dft_unit_of_cfg(dft_token_text(rec, cfg->value))
	                              : SLICE_NONE;
	struct quoted q;

	if (name.p != NULL && dft_time_unit(name) != p->unit)
		dft_report(st, DFT_RULE_TIME_UNIT, dft_byte_position(rec, name.p),
		           "cfg.time_metric is %s, but times were read in %s", quoted(&q, name),
		           unit_name(p->unit));
}

static void apply_end(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	struct dft_process *const p = f->process;

	if (p != NULL) {
		check_num_events(st, rec, f);
		check_end_unit(st, rec, p);
		p->started = false;
		p->starts = 0;
		p->records = p->calls = 0;
		p->aggregated = false;
	}
	if ((st->r->want & WANT_TIMES) != 0)
		add_args_as_meta(st, "end", rec, f);
}

/* ---- metadata: any record ---- */

static void apply_metadata(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	const enum dft_hash_kind kind = dft_top_kind(rec, DFT_NAME) == JSON_STRING
	                                    ? dft_defined_kind(dft_top_text(rec, DFT_NAME))
	                                    : DFT_HASH_KINDS;

	if (kind != DFT_HASH_KINDS)
		define_hash(st, rec, f, kind);
	else if (dft_top_is(rec, DFT_NAME, "PR"))
		name_rank(st, rec, f);
	else if (dft_top_is(rec, DFT_NAME, "process_name"))
		name_track(st, rec, f, false);
	else if (dft_top_is(rec, DFT_NAME, "thread_name"))
		name_track(st, rec, f, true);
	else if (dft_top_is(rec, DFT_NAME, "CM"))
		apply_custom(st, rec, f);
}

void dft_meta_apply(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	if (f->phase == DFT_PHASE_METADATA)
		apply_metadata(st, rec, f);
	else if (f->phase != DFT_PHASE_COMPLETE || rec->top[DFT_CAT].n != 8 ||
	         !dft_top_is(rec, DFT_CAT, "dftracer"))
		return;
	else if (dft_top_is(rec, DFT_NAME, "start"))
		apply_start(st, rec, f);
	else if (dft_top_is(rec, DFT_NAME, "end"))
		apply_end(st, rec, f);
	if (st->scratch.used > 0)
		arena_reset(&st->scratch);
}

void dft_meta_finish(struct dft_state *st)
{
	const struct dft_process *first = NULL;
	uint64_t n = 0;

	for (uint32_t i = 0; i < st->sh->processes.n; i++) {
		struct dft_process *const p = st->sh->processes.list[i];
		n += p->started;
		if (p->started && (first == NULL || p->start.offset < first->start.offset))
			first = p;
		p->started = false; /* reported once */
	}
	end_clock(st);
	if (first != NULL)
		dft_report(st, DFT_RULE_END_MISSING, first->start,
		           "process %" PRId64 " starts here and has no end record; %" PRIu64
		           " such process%s in all",
		           (int64_t)first->pid, n, n == 1 ? "" : "es");
}
