/*
 * Records as events: class, name, track, fields; and the metadata that applies to other records: names of
 * hashes, processes and threads, time units, facts of the whole trace, `start` and `end`.
 *
 * Texts point into the record unless they have escapes.  Classes and tracks are cached by the last byte of
 * the category and by tid.
 */
#include <stdlib.h>

#include "dftracer/dftracer.h"
#include "model/trace_origin.h"

/* ---- values ---- */

/* Returns the text of a token with escapes resolved, in the arena if there are any. */
static struct slice text_of(struct arena *a, const struct dft_record *rec, struct dft_token t,
                            enum json_kind kind)
{
	const struct slice raw = dft_token_text(rec, t);

	if (kind == JSON_ESCAPED || kind == JSON_BAD_STRING)
		return json_unescape(a, raw);
	/* other tokens are ASCII */
	return kind == JSON_STRING ? textscan_slice(raw.p, raw.n) : raw;
}

/* Returns an integer; its digits as JSON if it has more than 64 bits. */
static struct value integer_value(const struct dft_record *rec, struct dft_token t, bool minus)
{
	const struct dft_token digits = { t.at + minus, t.n - minus };
	uint64_t v;

	if (!dft_digits(rec, digits, &v) || (minus && v > (uint64_t)1 << 63))
		return dft_json_value(dft_token_text(rec, t));
	return minus ? (struct value){ .type = VALUE_I64, .i64 = (int64_t)-v } : value_u64(v);
}

/* Returns the nan or infinity of a JSON_NOT_FINITE token. */
static struct value not_finite_value(struct slice s)
{
	const bool sign = *s.p == '-' || *s.p == '+';
	const double v = (s.p[sign] | 0x20) == 'n' ? (double)__builtin_nan("") : (double)__builtin_inf();

	return (struct value){ .type = VALUE_F64, .f64 = *s.p == '-' && v == v ? -v : v };
}

struct value dft_value_of(const struct dft_record *rec, struct dft_token t, enum json_kind kind)
{
	const struct slice s = dft_token_text(rec, t);

	switch (kind) {
	case JSON_UINT:
	case JSON_INT:
		return integer_value(rec, t, kind == JSON_INT);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = kind == JSON_TRUE };
	case JSON_NUMBER:
	case JSON_OBJECT:
	case JSON_ARRAY:
		return dft_json_value(s);
	case JSON_NOT_FINITE:
		return not_finite_value(s);
	case JSON_ABSENT:
	case JSON_NULL:
		return (struct value){ .type = VALUE_NONE };
	default:
		return value_string(textscan_slice(s.p, s.n));
	}
}

/* ---- titles of processes and threads ---- */

void dft_titles_free(struct dft_titles *t)
{
	table64_free(&t->owners);
	table64_free(&t->index);
	free(t->texts);
}

static uint64_t title_key(uint64_t owner, const uint64_t *small_tid)
{
	return owner << 40 | (small_tid != NULL ? *small_tid + 1 : 0);
}

static bool store_title(struct dft_titles *t, struct arena *a, uint64_t process, const uint64_t *small_tid,
                        struct slice text)
{
	uint32_t owner = table64_get(&t->owners, process);

	if (owner == TABLE_NONE) {
		owner = t->nowners++;
		if (!table64_put(&t->owners, process, owner))
			return false;
	}
	if (!array_reserve(&t->texts, t->n, &t->cap, sizeof *t->texts))
		return false;
	if (text.n > DFT_MAX_TITLE)
		text = slice_of(text.p, DFT_MAX_TITLE);
	text = arena_copy(a, text);
	if (text.p == NULL)
		return false;
	t->texts[t->n] = textscan_slice(text.p, text.n);
	return table64_put(&t->index, title_key(owner, small_tid), t->n++);
}

/* Returns the title of a process or thread; p is NULL if it has none.  Titles of the host come before those
 * without a host. */
static struct slice find_title(struct dft_state *st, uint64_t pid, uint32_t host, const uint64_t *tid)
{
	struct dft_numbers *const numbers = &st->sh->numbers;
	const struct dft_titles *const t = &st->sh->titles;
	const uint64_t small = tid != NULL ? dft_small_number(numbers, *tid) : 0;

	for (int i = 0; i < 2; i++) {
		const uint32_t owner =
		    table64_get(&t->owners, dft_process_key(numbers, pid, i == 0 ? host : 0));
		const uint32_t known =
		    owner != TABLE_NONE
		        ? table64_get(&t->index, title_key(owner, tid != NULL ? &small : NULL))
		        : TABLE_NONE;
		if (known != TABLE_NONE)
			return t->texts[known];
	}
	return (struct slice){ NULL, 0, 0 };
}

/* ---- texts of metadata ---- */

static bool top_is(const struct dft_record *rec, enum dft_top which, const char *text)
{
	return dft_top_kind(rec, which) == JSON_STRING && slice_is(dft_top_text(rec, which), text);
}

static bool arg_is(const struct dft_record *rec, const struct dft_arg *a, const char *text)
{
	return a != NULL && a->kind == JSON_STRING && slice_is(dft_token_text(rec, a->value), text);
}

/* Returns the text of an argument with escapes resolved, valid until the next record. */
static struct slice arg_text(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a)
{
	const struct slice raw = dft_token_text(rec, a->value);

	if (a->kind != JSON_ESCAPED && a->kind != JSON_BAD_STRING)
		return textscan_slice(raw.p, raw.n);
	const struct slice text = json_unescape(&st->scratch, raw);
	st->no_memory |= text.p == NULL;
	return text;
}

/* ---- metadata: facts of the whole trace ---- */

static bool has_meta(const struct trace *t, struct slice name)
{
	for (uint32_t i = 0; i < t->nmeta; i++)
		if (slice_equal(t->meta[i].name, name))
			return true;
	return false;
}

/* Adds the fact "prefix.key"; the first of each name is retained, up to DFT_MAX_META. */
static void add_meta(struct dft_state *st, const char *prefix, struct slice key, struct slice text, bool json)
{
	struct trace *const trace = st->r->trace;

	key.n = key.n < 200 ? key.n : 200;
	const struct slice printed = arena_printf(&st->scratch, "%s.%.*s", prefix, (int)key.n, key.p);
	if (printed.p == NULL) {
		st->no_memory = true;
		return;
	}
	const struct slice name = textscan_slice(printed.p, printed.n);
	if (has_meta(trace, name) || trace->nmeta >= DFT_MAX_META ||
	    text.n + name.n > DFT_MAX_META_BYTES - st->sh->meta_bytes)
		return;
	st->sh->meta_bytes += text.n + name.n;
	struct value v = value_string(text);
	if (json) {
		const struct slice copy = arena_copy(&trace->arena, text);
		v = (struct value){ .type = VALUE_JSON, .count = copy.n, .p = copy.p };
		st->no_memory |= copy.p == NULL;
	}
	st->no_memory |= !trace_add_meta(trace, name, v);
}

/* Adds the arguments of a record, with names in place of hashes. */
static void add_args_as_meta(struct dft_state *st, const char *prefix, const struct dft_record *rec,
                             const struct dft_facts *f)
{
	for (uint32_t i = 0; i < rec->nargs && i < DFT_MAX_META; i++) {
		const struct dft_arg *const a = &rec->args[i];
		const bool json = (a->kind >= JSON_UINT && a->kind <= JSON_NUMBER) ||
		                  (a->kind >= JSON_TRUE && a->kind <= JSON_ARRAY);
		const struct slice text = arg_text(st, rec, a);
		struct slice name = { NULL, 0, 0 };
		struct dft_hash h;
		if (dft_role_is_hash((enum dft_role)a->role) &&
		    dft_hash_read(rec, a->value, (enum json_kind)a->kind, &h))
			name = dft_name_find(st, dft_hash_kind_of((enum dft_role)a->role), h, f->pid);
		add_meta(st, prefix, dft_token_text(rec, a->key), name.p != NULL ? name : text,
		         json && name.p == NULL);
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
		dft_report(st, DFT_RULE_MISSING_FIELD, rec, NULL, "args.%s is missing from the hash record",
		           name == NULL ? "name" : "value");
		return;
	}
	if (!json_is_string((enum json_kind)name->kind)) {
		dft_report(st, DFT_RULE_FIELD_TYPE, rec, rec->p + name->value.at,
		           "args.name of the hash record is %s, expected a string",
		           quoted(&q, dft_token_text(rec, name->value)));
		return;
	}
	if (!dft_hash_read(rec, value->value, (enum json_kind)value->kind, &h)) {
		dft_report(st, DFT_RULE_BAD_HASH, rec, rec->p + value->value.at,
		           "args.value is %s, expected an integer of 64 bits or 16 hexadecimal digits",
		           quoted(&q, dft_token_text(rec, value->value)));
		return;
	}
	if (h.none)
		return;
	if (h.text)
		dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_record_position(rec),
		              dft_token_text(rec, value->value));
	dft_name_define(st, rec, kind, h, f->pid, arg_text(st, rec, name));
}

/* Names the process of the record, or its thread. */
static void add_title(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                      bool thread, struct slice text)
{
	struct dft_shared *const sh = st->names_owner;
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH);
	struct slice host = hash != NULL ? dft_token_text(rec, hash->value) : slice_of(NULL, 0);

	if (!f->has_pid || (thread && !f->has_tid) || (!st->ahead && !st->resolve))
		return;
	if (!st->ahead && !input_can_reopen(st->r->in) && f->process->track != NULL)
		dft_tally_add(st, DFT_HASHES_LATE, dft_record_position(rec), text);
	if (sh->titles.n == DFT_MAX_TITLES) {
		dft_report_limit(st, DFT_LIMIT_TITLES, rec);
		return;
	}
	host.n = host.n < DFT_MAX_HOST ? host.n : DFT_MAX_HOST;
	const uint32_t number = host.n > 0 ? dft_host_number(&sh->numbers, sh->arena, host) : 0;
	const uint64_t small = thread ? dft_small_number(&sh->numbers, f->tid) : 0;
	if (!store_title(&sh->titles, sh->arena, dft_process_key(&sh->numbers, f->pid, number),
	                 thread ? &small : NULL, text))
		st->no_memory = true;
}

static void name_rank(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	const struct dft_arg *const value = dft_arg_of(rec, DFT_ROLE_VALUE);

	if (value == NULL || !arg_is(rec, dft_arg_of(rec, DFT_ROLE_NAME), "rank"))
		return;
	const struct slice rank = dft_token_text(rec, value->value);
	const struct slice text =
	    arena_printf(&st->scratch, "Rank %.*s", (int)(rank.n < 20 ? rank.n : 20), rank.p);
	st->no_memory |= text.p == NULL;
	add_title(st, rec, f, false, text);
}

static void name_track(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                       bool thread)
{
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_NAME);

	if (name == NULL || !json_is_string((enum json_kind)name->kind) || name->value.n == 0)
		return;
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

static const char *unit_name(uint64_t ns)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (units[i].ns == ns)
			return units[i].name;
	return "?";
}

static void set_unit(struct dft_state *st, const struct dft_record *rec, struct dft_process *p,
                     const struct dft_arg *value)
{
	const struct slice name = dft_token_text(rec, value->value);
	const uint64_t unit = value->kind == JSON_STRING ? dft_time_unit(name) : 0;
	struct quoted q;

	if (unit == 0)
		dft_report(st, DFT_RULE_TIME_UNIT, rec, rec->p + value->value.at,
		           "time_metric is %s, expected US, NS, MS or SEC; times are still read in %s",
		           quoted(&q, name), unit_name(p->unit));
	else if ((p->unit_given || p->calls > 0) && unit != p->unit)
		dft_report(st, DFT_RULE_TIME_UNIT, rec, rec->p + value->value.at,
		           "time_metric is %s after records in %s; used from here on", quoted(&q, name),
		           unit_name(p->unit));
	if (unit != 0) {
		p->unit = unit;
		p->unit_given = true;
	}
}

static void apply_custom(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_NAME);
	const struct dft_arg *const value = dft_arg_of(rec, DFT_ROLE_VALUE);

	if (name == NULL || value == NULL)
		return;
	if (arg_is(rec, name, "time_metric") && f->process != NULL)
		set_unit(st, rec, f->process, value);
	if ((st->r->want & WANT_TIMES) == 0)
		return;
	const struct slice key = arg_text(st, rec, name);
	add_meta(st, "CM", key, arg_text(st, rec, value), false);
}

/* ---- metadata: start and end ---- */

static void apply_start(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	struct dft_process *const p = f->process;

	if (p != NULL) {
		p->started = true;
		p->starts++;
		p->start = dft_record_position(rec);
	}
	if ((st->r->want & WANT_TIMES) != 0)
		add_args_as_meta(st, "start", rec, f);
}

/* Checks num_events: up to 1.0.8 the number of all records before `end`, later of the calls among them, with
 * aggregation of more calls than there are records.  A hint, of use only where a pid means one process. */
static void check_num_events(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	const struct dft_arg *const a = dft_arg_of(rec, DFT_ROLE_NUM_EVENTS);
	const struct dft_process *const p = f->process;
	uint64_t n;

	/* d1 writes wide numbers in quotes */
	if (a == NULL || (a->kind != JSON_UINT && a->kind != JSON_STRING) ||
	    !json_digits_any(rec->p + a->value.at, a->value.n, &n) || p->starts != 1)
		return;
	const uint64_t all = p->records - 1, calls = p->calls - 1;
	if (n == all || (n <= calls + 1 && n + 1 >= calls) || (p->aggregated && n > calls))
		return;
	dft_report(st, DFT_RULE_NUM_EVENTS, rec, rec->p + a->value.at,
	           "num_events is %" PRIu64 ", but %" PRIu64 " records of the process precede it, %" PRIu64
	           " of them not metadata",
	           n, all, calls);
}

/* Checks the second copy of the unit, inside args.cfg. */
static void check_end_unit(struct dft_state *st, const struct dft_record *rec, const struct dft_process *p)
{
	static const char key[] = "\"time_metric\":\"";
	const struct dft_arg *const cfg = dft_arg_of(rec, DFT_ROLE_CFG);
	const struct slice s =
	    cfg != NULL && cfg->kind == JSON_OBJECT ? dft_token_text(rec, cfg->value) : slice_of(NULL, 0);
	struct quoted q;

	for (uint32_t i = 0; s.n >= sizeof key && i <= s.n - sizeof key; i++) {
		if (s.p[i] != '"' || memcmp(s.p + i, key, sizeof key - 1) != 0)
			continue;
		const char *const from = s.p + i + sizeof key - 1;
		const char *const to = memchr(from, '"', (size_t)(s.p + s.n - from));
		const struct slice name = slice_of(from, to != NULL ? (size_t)(to - from) : 0);
		if (dft_time_unit(name) != p->unit)
			dft_report(st, DFT_RULE_TIME_UNIT, rec, from,
			           "cfg.time_metric is %s, but times were read in %s", quoted(&q, name),
			           unit_name(p->unit));
		return;
	}
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
	if (top_is(rec, DFT_NAME, "FH"))
		define_hash(st, rec, f, DFT_HASH_FILE);
	else if (top_is(rec, DFT_NAME, "HH"))
		define_hash(st, rec, f, DFT_HASH_HOST);
	else if (top_is(rec, DFT_NAME, "SH"))
		define_hash(st, rec, f, DFT_HASH_STRING);
	else if (top_is(rec, DFT_NAME, "PR"))
		name_rank(st, rec, f);
	else if (top_is(rec, DFT_NAME, "process_name"))
		name_track(st, rec, f, false);
	else if (top_is(rec, DFT_NAME, "thread_name"))
		name_track(st, rec, f, true);
	else if (top_is(rec, DFT_NAME, "CM"))
		apply_custom(st, rec, f);
}

void dft_meta_apply(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	if (f->phase == DFT_PHASE_METADATA)
		apply_metadata(st, rec, f);
	else if (f->phase != DFT_PHASE_COMPLETE || rec->top[DFT_CAT].n != 8 ||
	         !top_is(rec, DFT_CAT, "dftracer"))
		return;
	else if (top_is(rec, DFT_NAME, "start"))
		apply_start(st, rec, f);
	else if (top_is(rec, DFT_NAME, "end"))
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
	if (first != NULL)
		dft_report_at(st, DFT_RULE_END_MISSING, first->start,
		              "process %" PRId64 " starts here and has no end record; %" PRIu64
		              " such process%s in all",
		              (int64_t)first->pid, n, n == 1 ? "" : "es");
}

/* ---- tracks ---- */

/* Returns the name of the host of a process, or its hash; empty: not known. */
static struct slice host_name(struct dft_state *st, const struct dft_process *p)
{
	const struct slice host = p->host != 0 ? dft_host_text(&st->sh->numbers, p->host) : slice_of("", 0);
	const struct dft_record whole = { .p = host.p };
	struct slice name = { .p = NULL };
	struct dft_hash h;

	/* the host is as written: a name or a hash */
	const enum json_kind kind =
	    host.n > 0 && host.n != DFT_HEX_DIGITS && host.p[0] >= '0' && host.p[0] <= '9' ? JSON_UINT
	                                                                                   : JSON_STRING;
	if (host.n > 0 && dft_hash_read(&whole, (struct dft_token){ 0, host.n }, kind, &h))
		name = dft_name_find(st, DFT_HASH_HOST, h, p->pid);
	name = name.p != NULL ? name : host;
	name.n = name.n < DFT_MAX_TITLE ? name.n : DFT_MAX_TITLE;
	return name;
}

/* Returns "the title (host)", or "process 12 (host)". */
static struct slice process_name(struct dft_state *st, const struct dft_process *p, struct slice host,
                                 bool negative, char *buffer, size_t size)
{
	const struct slice title = find_title(st, p->pid, p->host, NULL);
	struct slice number;
	int n;

	if (title.p != NULL)
		n = snprintf(buffer, size, "%.*s", (int)title.n, title.p);
	else if (negative)
		n = snprintf(buffer, size, "process %" PRId64, (int64_t)p->pid);
	else if ((number = trace_track_name(st->r->trace, true, "process", p->pid)).p != NULL)
		n = snprintf(buffer, size, "%.*s", (int)(number.n < DFT_MAX_TITLE ? number.n : DFT_MAX_TITLE),
		             number.p);
	else
		return number;
	if (host.n > 0)
		n += snprintf(buffer + n, size - (size_t)n, " (%.*s)", (int)host.n, host.p);
	return textscan_slice(buffer, (uint32_t)n);
}

static const struct track *process_track(struct dft_state *st, struct dft_process *p, bool negative)
{
	char buffer[2 * DFT_MAX_TITLE + 40];

	if (p->track != NULL)
		return p->track;
	const struct slice host = host_name(st, p);
	const struct slice name = process_name(st, p, host, negative, buffer, sizeof buffer);
	struct track *const t = name.p != NULL ? trace_add_process(st->r->trace, name) : NULL;
	if (t == NULL)
		return NULL;
	t->has_id = true;
	t->id = p->pid;
	t->global = p->host != 0; /* ranks write files of their own */
	if (!trace_set_host(st->r->trace, t, host))
		return NULL;
	p->track = t;
	return t;
}

static bool is_number(struct slice name, const uint64_t *number)
{
	char digits[24];

	return number != NULL && name.n == (uint32_t)snprintf(digits, sizeof digits, "%" PRIu64, *number) &&
	       memcmp(name.p, digits, name.n) == 0;
}

static const struct track *add_thread(struct dft_state *st, const struct dft_record *rec,
                                      struct dft_process *p, const uint64_t *tid, uint64_t key, bool negative)
{
	struct trace *const trace = st->r->trace;
	const struct track *const process = process_track(st, p, negative);

	if (process == NULL)
		return NULL;
	if (st->sh->processes.threads.used >= DFT_MAX_THREADS) {
		dft_report(st, DFT_RULE_THREAD_LIMIT, rec, NULL,
		           "more than 40000 threads: thread %" PRIu64 " shares a track with others",
		           tid != NULL ? *tid : 0);
		if (st->sh->processes.overflow == NULL)
			st->sh->processes.overflow =
			    trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more threads"));
		return st->sh->processes.overflow;
	}
	struct slice name = tid != NULL ? find_title(st, p->pid, p->host, tid) : SLICE_LIT("no thread");
	if (name.p == NULL || is_number(name, tid)) /* tracers name threads by their numbers */
		name = trace_track_name(trace, false, "thread", *tid);
	struct track *const t =
	    name.p != NULL ? trace_add_thread(trace, process, tid != NULL ? *tid : 0, name) : NULL;
	if (t == NULL || !table64_put(&st->sh->processes.threads, key, t->index))
		return NULL;
	t->has_id = tid != NULL;
	return t;
}

static const struct track *thread_track(struct dft_state *st, const struct dft_record *rec,
                                        struct dft_process *p, bool has_tid, uint64_t tid, bool negative_pid)
{
	struct dft_thread *const recent = &st->sh->processes.recent[(tid ^ p->number) % DFT_RECENT];

	if (has_tid && recent->process == p && recent->tid == tid)
		return recent->track;
	const uint64_t key =
	    (uint64_t)p->number << 40 | (has_tid ? dft_small_number(&st->sh->numbers, tid) + 1 : 0);
	const uint32_t known = table64_get(&st->sh->processes.threads, key);
	const struct track *const t = known != TABLE_NONE
	                                  ? st->r->trace->tracks[known]
	                                  : add_thread(st, rec, p, has_tid ? &tid : NULL, key, negative_pid);
	if (has_tid && t != NULL)
		*recent = (struct dft_thread){ p, t, tid };
	return t;
}

/* ---- fields ---- */

/* The fields of one event: members other than name, times and ids of the track, and the arguments. */
struct fields {
	struct dft_state *st;
	struct batch *b;
	const struct dft_record *rec;
	const struct dft_facts *facts;
	struct field *to;
	uint32_t hashes; /* number of hashes that were added */
};

/* Checks a text that was created in the batch. */
static struct slice checked_text(struct fields *x, struct slice s)
{
	x->st->no_memory |= s.p == NULL;
	return textscan_slice(s.p, s.n);
}

static struct value value_of(struct fields *x, const struct dft_arg *a)
{
	const struct slice s = dft_token_text(x->rec, a->value);

	if (a->kind == JSON_ESCAPED) /* valid JSON with its quotes */
		return dft_json_value(slice_of(s.p - 1, s.n + 2));
	if (a->kind == JSON_BAD_STRING) {
		const struct slice text = json_unescape(&x->b->scratch, s);
		x->st->no_memory |= text.p == NULL;
		return value_string(text);
	}
	return dft_value_of(x->rec, a->value, (enum json_kind)a->kind);
}

static struct slice key_of(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = dft_token_text(x->rec, a->key);

	if (x->rec->clean || key.n == 0 || memchr(key.p, '\\', key.n) == NULL)
		return key;
	const struct slice text = json_unescape(&x->b->scratch, key);
	x->st->no_memory |= text.p == NULL;
	return text.p != NULL ? text : key;
}

static void put_arg(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = key_of(x, a);
	struct field *const to = x->to++;

	if (a->repeats > 0)
		to->name = checked_text(
		    x, arena_printf(&x->b->scratch, "%.*s (%u)", (int)key.n, key.p, a->repeats + 1));
	else
		to->name = x->rec->clean ? dft_clean_text(key) : textscan_slice(key.p, key.n);
	if (a->kind == JSON_STRING && x->rec->clean)
		to->value = value_string(dft_clean_text(dft_token_text(x->rec, a->value)));
	else
		to->value = value_of(x, a);
}

/* Fields that show names in place of hashes, unless the record has the argument `conflict`. */
static const struct {
	struct slice name;
	enum dft_role conflict;
} readable[] = {
	[DFT_ROLE_HHASH] = { SLICE_LIT("hostname"), DFT_ROLE_HOSTNAME },
	[DFT_ROLE_FHASH] = { SLICE_LIT("fname"), DFT_ROLE_FNAME },
	[DFT_ROLE_CMD_HASH] = { SLICE_LIT("cmd"), DFT_ROLE_CMD },
	[DFT_ROLE_EXEC_HASH] = { SLICE_LIT("exec"), DFT_ROLE_EXEC },
	[DFT_ROLE_CWD] = { SLICE_LIT("cwd"), DFT_ROLE_NONE },
};

static struct slice name_of_hash(struct fields *x, const struct dft_arg *a)
{
	const enum dft_role role = (enum dft_role)a->role;
	const uint32_t i = x->hashes++;
	struct dft_hash h;

	if (i < x->facts->nnames)
		return x->facts->names[i];
	if (x->facts->phase != DFT_PHASE_METADATA ||
	    !dft_hash_read(x->rec, a->value, (enum json_kind)a->kind, &h))
		return slice_of(NULL, 0);
	return dft_name_find(x->st, dft_hash_kind_of(role), h, x->facts->pid);
}

static void put_hash(struct fields *x, const struct dft_arg *a)
{
	const enum dft_role role = (enum dft_role)a->role, conflict = readable[role].conflict;
	const struct slice name = name_of_hash(x, a);

	if (name.p == NULL || (conflict != DFT_ROLE_NONE && x->rec->special[conflict] != 0)) {
		put_arg(x, a);
		return;
	}
	*x->to++ = (struct field){ readable[role].name, value_string(name) };
	if (x->st->keep_ids && role != DFT_ROLE_CWD)
		put_arg(x, a);
}

/* Adds the series of a counter: all arguments but the host, which the track shows. */
static void put_counter(struct fields *x)
{
	for (uint32_t i = 0; i < x->rec->nargs; i++) {
		const struct dft_arg *const a = &x->rec->args[i];
		const struct slice s = dft_token_text(x->rec, a->value);
		enum json_kind kind;
		if (a->role == DFT_ROLE_HHASH || a->role == DFT_ROLE_HOSTNAME)
			continue;
		put_arg(x, a);
		if (a->kind == JSON_STRING && s.n > 0 && json_number(s.p, s.p + s.n, &kind) == s.p + s.n)
			x->to[-1].value = dft_json_value(s);
	}
}

/* Adds a member of the record; `other` is its name if an argument of role `conflict` has the name. */
static void put_top(struct fields *x, enum dft_top which, enum dft_role conflict, struct slice name,
                    struct slice other)
{
	const struct dft_arg a = { .value = x->rec->top[which],
		                   .kind = (uint8_t)dft_top_kind(x->rec, which) };

	if (a.kind == JSON_ABSENT)
		return;
	*x->to++ = (struct field){ x->rec->special[conflict] != 0 ? other : name, value_of(x, &a) };
}

/* Returns whether another field of the event has, or may have, this name. */
static bool name_conflicts(const struct dft_record *rec, struct slice name)
{
	for (uint32_t i = 0; i < rec->nargs; i++)
		if (slice_equal(dft_token_text(rec, rec->args[i].key), name))
			return true;
	for (size_t i = DFT_ROLE_HHASH; i < sizeof readable / sizeof readable[0]; i++)
		if (slice_equal(readable[i].name, name))
			return true;
	return false;
}

static void put_extra(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = dft_token_text(x->rec, a->key);

	put_arg(x, a);
	if (a->repeats > 0 || name_conflicts(x->rec, key))
		x->to[-1].name = checked_text(
		    x, arena_printf(&x->b->scratch, "%.*s (record, %u)", (int)key.n, key.p, a->repeats + 1));
}

static void put_all(struct fields *x)
{
	const struct dft_record *const rec = x->rec;

	if (x->facts->has_id && rec->special[DFT_ROLE_ID] == 0 && dft_top_kind(rec, DFT_ID) == JSON_UINT)
		*x->to++ = (struct field){ SLICE_LIT("id"), value_u64(x->facts->id) };
	else
		put_top(x, DFT_ID, DFT_ROLE_ID, SLICE_LIT("id"), SLICE_LIT("id (record)"));
	put_top(x, DFT_TYPE, DFT_ROLE_TYPE, SLICE_LIT("type"), SLICE_LIT("type (record)"));
	for (uint32_t i = 0; i < rec->nextras; i++)
		put_extra(x, &rec->extras[i]);
	for (uint32_t i = 0; i < rec->nargs; i++) {
		const struct dft_arg *const a = &rec->args[i];
		if (dft_role_is_hash((enum dft_role)a->role) && a->repeats == 0 && i < 64)
			put_hash(x, a);
		else
			put_arg(x, a);
	}
	if (dft_top_kind(rec, DFT_ARGS) != JSON_OBJECT)
		put_top(x, DFT_ARGS, DFT_ROLE_NONE, SLICE_LIT("args"), SLICE_LIT("args"));
}

/* Adds members that an event cannot express: invalid times, unknown phases. */
static void put_inexpressible(struct fields *x, const struct event *e)
{
	const struct dft_facts *const f = x->facts;

	if (f->phase == DFT_PHASE_NONE || f->phase >= DFT_PHASE_BEGIN)
		put_top(x, DFT_PH, DFT_ROLE_NONE, SLICE_LIT("ph (record)"), SLICE_LIT("ph"));
	if (!f->has_ts)
		put_top(x, DFT_TS, DFT_ROLE_NONE, SLICE_LIT("ts (record)"), SLICE_LIT("ts"));
	if (e->phase != PHASE_SPAN || (f->has_dur && e->dur != f->dur))
		put_top(x, DFT_DUR, DFT_ROLE_NONE, SLICE_LIT("dur (record)"), SLICE_LIT("dur"));
}

static void add_fields(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                       struct batch *b, struct event *e)
{
	const uint32_t max = 2 * rec->nargs + rec->nextras + 6;
	struct fields x = { st, b, rec, f, batch_fields(b, max), 0 };
	const struct field *const first = x.to;

	if (first == NULL) {
		st->no_memory = true;
		return;
	}
	if (e->phase == PHASE_COUNTER) {
		put_counter(&x);
	} else {
		put_all(&x);
		put_inexpressible(&x, e);
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)(x.to - first > UINT16_MAX ? UINT16_MAX : x.to - first);
	b->nfields += e->nfields;
}

/* Adds only the fields that count the bytes of a span. */
static void add_sizes(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                      struct batch *b, struct event *e)
{
	const struct plan_bytes *const bytes = plan_bytes_cached(&st->sizes, e->cls, e->name);

	if (bytes == NULL)
		return;
	struct fields x = { st, b, rec, f, batch_fields(b, rec->nargs), 0 };
	const struct field *const first = x.to;
	if (first == NULL) {
		st->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < rec->nargs; i++)
		for (uint32_t k = 0; k < bytes->nfields; k++)
			if (slice_equal(dft_token_text(rec, rec->args[i].key), bytes->field[k])) {
				put_arg(&x, &rec->args[i]);
				break;
			}
	e->nfields = (uint16_t)(x.to - first > UINT16_MAX ? UINT16_MAX : x.to - first);
	b->nfields += e->nfields;
}

/* ---- classes ---- */

static struct class *find_class(struct dft_state *st, const struct dft_record *rec, struct slice name,
                                struct slice category)
{
	struct trace *const trace = st->r->trace;
	struct dft_classes *const all = &st->sh->classes;
	const uint32_t known = tabletext_get(&all->index, name);

	if (known != TABLE_NONE)
		return trace->planned[known];
	if (trace->nclasses >= DFT_MAX_CLASSES || name.n > DFT_MAX_CLASS_BYTES - all->bytes) {
		dft_report_limit(st, DFT_LIMIT_CLASSES, rec);
		if (all->overflow == NULL)
			all->overflow = trace_add_class(trace, SLICE_LIT("more categories"));
		return all->overflow;
	}
	struct class *const c =
	    trace_plan_class(trace, &(struct class){ .name = name,
	                                             .category = category,
	                                             .plan = trace_find_plan(trace, name, NULL, NULL) });
	if (c == NULL || !tabletext_put(&all->index, c->name, c->index))
		return NULL;
	all->bytes += name.n;
	return c;
}

/* The text in brackets distinguishes metadata of the tracer from categories of the same name. */
static struct class *metadata_class(struct dft_state *st, const struct dft_record *rec)
{
	static const struct {
		const char *name;
		struct slice class;
	} rows[] = {
		{ "HH", SLICE_LIT("HH (host name)") },
		{ "FH", SLICE_LIT("FH (file name)") },
		{ "SH", SLICE_LIT("SH (string)") },
		{ "PR", SLICE_LIT("PR (process)") },
		{ "CM", SLICE_LIT("CM (custom metadata)") },
		{ "EH", SLICE_LIT("EH (entity)") },
		{ "ET", SLICE_LIT("ET (entity type)") },
		{ "ER", SLICE_LIT("ER (entity relation)") },
		{ "process_name", SLICE_LIT("process_name") },
		{ "thread_name", SLICE_LIT("thread_name") },
	};
	const struct slice name =
	    dft_top_kind(rec, DFT_NAME) == JSON_STRING ? dft_top_text(rec, DFT_NAME) : slice_of(NULL, 0);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (slice_is(name, rows[i].name))
			return find_class(st, rec, rows[i].class, SLICE_LIT("dftracer"));
	return find_class(st, rec, SLICE_LIT("metadata"), SLICE_LIT("dftracer"));
}

static struct class *class_of(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                              struct batch *b)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_CAT);
	struct slice cat = kind != JSON_ABSENT ? dft_top_text(rec, DFT_CAT) : slice_of("", 0);

	if (f->phase == DFT_PHASE_METADATA)
		return metadata_class(st, rec);
	struct class **const recent =
	    &st->sh->classes.recent[cat.n > 0 ? (uint32_t)(unsigned char)cat.p[cat.n - 1] % DFT_RECENT : 0];
	if (kind == JSON_STRING && *recent != NULL && slice_equal((*recent)->name, cat))
		return *recent;
	if (kind == JSON_ABSENT)
		cat = SLICE_LIT("no category");
	else
		cat = text_of(&b->scratch, rec, rec->top[DFT_CAT], kind);
	struct class *const c = cat.p != NULL ? find_class(st, rec, cat, cat) : NULL;
	if (kind == JSON_STRING)
		*recent = c;
	return c;
}

/* ---- events ---- */

/* Records without a time or a pid are structure, not events. */
static enum phase phase_of(const struct dft_facts *f)
{
	if (f->phase == DFT_PHASE_METADATA || f->phase == DFT_PHASE_NONE || !f->has_ts || !f->has_pid)
		return PHASE_STRUCTURE;
	switch (f->phase) {
	case DFT_PHASE_COMPLETE:
		return f->has_dur ? PHASE_SPAN : PHASE_INSTANT;
	case DFT_PHASE_COUNTER:
		return PHASE_COUNTER;
	case DFT_PHASE_BEGIN:
		return PHASE_BEGIN;
	case DFT_PHASE_END:
		return PHASE_END;
	default:
		return PHASE_INSTANT;
	}
}

bool dft_event_is_structure(const struct dft_facts *f)
{
	return phase_of(f) == PHASE_STRUCTURE;
}

static struct slice name_of(struct batch *b, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_NAME);

	if (kind == JSON_STRING && rec->clean)
		return dft_clean_text(dft_top_text(rec, DFT_NAME));
	return kind == JSON_ABSENT ? SLICE_LIT("") : text_of(&b->scratch, rec, rec->top[DFT_NAME], kind);
}

void dft_event_add(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                   struct batch *b)
{
	struct event *const e = &b->events[b->n];
	const enum phase phase = phase_of(f);
	struct class *const c = class_of(st, rec, f, b);

	if (c == NULL) {
		st->no_memory = true;
		return;
	}
	c->records++;
	if ((st->r->want & (phase == PHASE_STRUCTURE ? WANT_STRUCTURE : WANT_TIMES)) == 0)
		return;
	*e = (struct event){ .ts = f->has_ts ? f->ts : 0,
		             .dur = phase == PHASE_SPAN ? f->dur : 0,
		             .name = name_of(b, rec),
		             .cls = c,
		             .offset = rec->offset,
		             .first_field = b->nfields,
		             .phase = (uint8_t)phase };
	if (phase != PHASE_STRUCTURE)
		e->track = thread_track(st, rec, f->process, f->has_tid, f->tid, f->negative_pid);
	st->no_memory |= e->name.p == NULL || (e->track == NULL && phase != PHASE_STRUCTURE);
	if (st->raw_fields)
		dft_raw_fields(st, rec, b, e);
	else if ((st->r->want & WANT_FIELDS) != 0 ||
	         ((phase == PHASE_COUNTER || class_needs_fields(c)) && !st->raw))
		add_fields(st, rec, f, b, e);
	else if ((st->r->want & WANT_SIZES) != 0 && c->plan != NULL && c->plan->nbytes > 0)
		add_sizes(st, rec, f, b, e);
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	b->n++;
}
