/*
 * Selection of the records that a copy keeps.
 *
 * Mark and sweep.  A survey pass over the input marks all data that selected records refer to: definitions of
 * hashes and entities, and all metadata of their processes and threads.  The copy then keeps the metadata
 * that defines marked data, in the order of the input.
 */
#include <stdlib.h>

#include "dftracer/write/write.h"

/* A mark that is needed if one of two others is: the type of an entity, the host that metadata of a process
 * names. */
struct dfw_reference {
	uint64_t from[2], to;
};

/* ---- parsing ---- */

static enum dfw_copied_kind kind_of_custom(struct dfw_parser *x)
{
	const struct dft_record *const rec = &x->rec;
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_NAME);
	const struct dft_arg *const value = dft_arg_of(rec, DFT_ROLE_VALUE);

	if (name == NULL || value == NULL)
		return DFW_COPIED_METADATA;
	if (slice_is(dft_token_text(rec, name->value), "time_metric"))
		return DFW_COPIED_TIME_METRIC;
	x->in_facts |= slice_is(dft_token_text(rec, name->value), "tool") &&
	               trace_tool_is_own(dft_token_text(rec, value->value));
	return x->in_facts ? DFW_COPIED_FACT : DFW_COPIED_METADATA;
}

static enum dfw_copied_kind kind_of(struct dfw_parser *x)
{
	const struct dft_record *const rec = &x->rec;
	static const struct {
		const char *name;
		enum dfw_copied_kind kind;
	} kinds[] = {
		{ "HH", DFW_COPIED_HASH },
		{ "FH", DFW_COPIED_HASH },
		{ "SH", DFW_COPIED_HASH },
		{ "EH", DFW_COPIED_ENTITY },
		{ "ET", DFW_COPIED_ENTITY_TYPE },
		{ "ER", DFW_COPIED_ENTITY_RELATION },
		{ "thread_name", DFW_COPIED_THREAD_NAME },
	};

	if (!dft_is_metadata(rec))
		return DFW_COPIED_CALL;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (dft_top_is(rec, DFT_NAME, kinds[i].name))
			return kinds[i].kind;
	return dft_top_is(rec, DFT_NAME, "CM") ? kind_of_custom(x) : DFW_COPIED_METADATA;
}

/* Reads a pid or tid, quoted or not; a negative one as two's complement. */
static bool read_number(const struct dft_record *rec, enum dft_top which, uint64_t *v)
{
	const struct slice s =
	    dft_top_kind(rec, which) != JSON_ABSENT ? dft_top_text(rec, which) : SLICE_NONE;
	const bool minus = s.n > 0 && *s.p == '-';

	if (s.n <= minus || !json_digits_any(s.p + minus, s.n - minus, v))
		return false;
	*v = minus ? -*v : *v;
	return true;
}

bool dfw_parse_record(struct dfw_parser *x, struct slice bytes)
{
	struct dft_record *const rec = &x->rec;

	if (!x->ready)
		x->ready = dft_record_init(&x->rec) && dft_keys_init(&x->keys);
	if (!x->ready || !dft_parse(rec, &x->keys, bytes.p, bytes.p + bytes.n))
		return false;
	x->kind = kind_of(x);
	x->has_pid = read_number(rec, DFT_PID, &x->pid);
	x->has_tid = read_number(rec, DFT_TID, &x->tid);
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH);
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_HOSTNAME);
	const struct dft_arg *const a = hash != NULL ? hash : name;
	x->host = a == NULL ? SLICE_NONE : a == hash ? dft_host_hash(rec, a) : dft_token_text(rec, a->value);
	return true;
}

/* ---- time units ---- */

/* Processes are distinguished as in the reader (find_process() in names.c): a record without a host belongs
 * to the first process of its pid, which takes the first host that is named. */

struct dfw_unit {
	uint32_t ns; /* per unit of the times of a process */
	bool has_host;
};

static uint64_t unit_key(uint64_t pid, struct slice host)
{
	return hash_bytes(host.p, host.n < DFT_MAX_HOST ? host.n : DFT_MAX_HOST, hash_u64(pid, hash_seed()));
}

/* Returns the unit of the record's process; NULL on OOM. */
static struct dfw_unit *unit_of_process(struct dfw_parser *x)
{
	const uint64_t key = unit_key(x->pid, x->host), any = unit_key(x->pid, SLICE_NONE);
	const uint32_t known = table64_get(&x->unit_index, key), first = table64_get(&x->unit_index, any);
	uint32_t i = known;

	if (known == TABLE_NONE && first != TABLE_NONE && !x->units[first].has_host) {
		i = first;
		x->units[i].has_host = true;
	} else if (known == TABLE_NONE) {
		if (x->nunits < DFT_MAX_PROCESSES) {
			if (!array_reserve(&x->units, x->nunits, &x->units_cap, sizeof *x->units))
				return NULL;
			x->units[x->nunits++] = (struct dfw_unit){ 1000, x->host.n > 0 };
		}
		i = x->nunits - 1;
	}
	if (known == TABLE_NONE && x->unit_index.used < (size_t)2 * DFT_MAX_PROCESSES &&
	    (!table64_put(&x->unit_index, key, i) ||
	     (first == TABLE_NONE && !table64_put(&x->unit_index, any, i))))
		return NULL;
	return &x->units[i];
}

uint64_t dfw_time_unit(struct dfw_parser *x)
{
	const struct dft_arg *const a = dft_arg_of(&x->rec, DFT_ROLE_VALUE);
	struct dfw_unit *const unit = x->has_pid ? unit_of_process(x) : NULL;

	if (unit == NULL)
		return x->has_pid ? 0 : 1000;
	if (x->kind == DFW_COPIED_TIME_METRIC && a != NULL) {
		const uint64_t ns = dft_time_unit(dft_token_text(&x->rec, a->value));
		unit->ns = ns > 0 ? (uint32_t)ns : unit->ns;
	}
	return unit->ns;
}

/* ---- marks ---- */

/* Marks are 64-bit hashes: a collision keeps a needless record. */

#define MAX_MARKS (1U << 20)
#define MAX_REFERENCES (1U << 17)

enum mark { OF_HASH = 1, OF_DEFINITION = 4, OF_PROCESS, OF_THREAD, OF_ENTITY, OF_TYPE };

static uint64_t mark_key(enum mark kind, uint64_t a, uint64_t b)
{
	return hash_u64(b, hash_u64(a, hash_seed() + kind));
}

static uint64_t text_key(enum mark kind, struct slice s)
{
	return mark_key(kind, hash_bytes(s.p, s.n, hash_seed()), 0);
}

static bool is_marked(const struct dfw_selection *s, uint64_t key)
{
	return table64_get(&s->needed, key) != TABLE_NONE;
}

static void mark(struct dfw_selection *s, uint64_t key, uint32_t value)
{
	s->keep_all |= s->needed.used >= MAX_MARKS;
	if (!s->keep_all)
		s->failed |= !table64_put(&s->needed, key, value);
}

/* ---- hashes, processes and threads ---- */

/* Narrow hashes belong to a process.  Returns false if the argument is no hash. */
static bool hash_key_of(uint64_t pid, struct slice value, enum json_kind json, enum dft_hash_kind kind,
                        uint64_t *key)
{
	struct dft_hash h;

	if (!dft_hash_read(value, json, &h) || h.none)
		return false;
	const bool narrow = !h.text && h.value <= UINT16_MAX;
	*key = mark_key(OF_HASH, h.value, (narrow ? pid << 8 : 0) | (uint64_t)kind << 1 | h.text);
	return true;
}

static bool hash_key(const struct dfw_parser *x, const struct dft_arg *a, enum dft_hash_kind kind,
                     uint64_t *key)
{
	return hash_key_of(x->pid, dft_token_text(&x->rec, a->value), (enum json_kind)a->kind, kind, key);
}

static void mark_hashes(struct dfw_selection *s, const struct dfw_parser *x)
{
	uint64_t key;

	for (uint32_t i = 0; i < x->rec.nargs; i++) {
		const struct dft_arg *const a = &x->rec.args[i];
		const enum dft_role role = (enum dft_role)a->role;
		if (dft_role_is_hash(role) && hash_key(x, a, dft_hash_kind_of(role), &key))
			mark(s, key, 1);
	}
}

/* Keeps the first definition of a hash, and each one whose text differs from that of the previous one. */
static bool keeps_definition(struct dfw_selection *s, const struct dfw_parser *x)
{
	const struct dft_arg *const name = dft_arg_of(&x->rec, DFT_ROLE_NAME);
	const struct dft_arg *const value = dft_arg_of(&x->rec, DFT_ROLE_VALUE);
	const struct dft_arg *const a = value != NULL ? value : dft_arg_of(&x->rec, DFT_ROLE_HASH);
	uint64_t key;

	if (name == NULL || a == NULL ||
	    !hash_key(x, a, dft_defined_kind(dft_top_text(&x->rec, DFT_NAME)), &key) || !is_marked(s, key))
		return false;
	const struct slice text = dft_token_text(&x->rec, name->value);
	const uint32_t now = (uint32_t)hash_bytes(text.p, text.n, hash_seed()) & INT32_MAX;
	const uint64_t defined = mark_key(OF_DEFINITION, key, 0);
	if (table64_get(&s->needed, defined) == now)
		return false;
	mark(s, defined, now);
	return true;
}

static uint64_t host_number(struct slice host)
{
	return host.n > 0 ? hash_bytes(host.p, host.n, hash_seed()) | 1 : 0;
}

static uint64_t thread_key(const struct dfw_parser *x)
{
	return mark_key(OF_THREAD, mark_key(OF_PROCESS, x->pid, 0), x->tid);
}

/* Marks the process with its host (0: none), and with 2 as its host for metadata without a host. */
static void mark_track(struct dfw_selection *s, const struct dfw_parser *x)
{
	const uint64_t host = host_number(x->host);

	if (!x->has_pid)
		return;
	mark(s, mark_key(OF_PROCESS, x->pid, host), 1);
	mark(s, mark_key(OF_PROCESS, x->pid, 2), 1);
	if (x->has_tid)
		mark(s, thread_key(x), 1);
}

static bool keeps_process(const struct dfw_selection *s, const struct dfw_parser *x)
{
	const uint64_t host = host_number(x->host);

	if (!x->has_pid)
		return true; /* of the whole trace */
	if (host == 0)
		return is_marked(s, mark_key(OF_PROCESS, x->pid, 2));
	return is_marked(s, mark_key(OF_PROCESS, x->pid, host)) ||
	       is_marked(s, mark_key(OF_PROCESS, x->pid, 0));
}

/* ---- entities ---- */

static bool key_is(const struct dfw_parser *x, const struct dft_arg *a, const char *key)
{
	return dft_key_is(&x->rec, a, slice_str(key));
}

/* Sets *key to the mark of an argument's text.  Returns false if there is no such argument. */
static bool arg_key(const struct dfw_parser *x, const char *name, enum mark kind, uint64_t *key)
{
	for (uint32_t i = 0; i < x->rec.nargs; i++)
		if (key_is(x, &x->rec.args[i], name)) {
			*key = text_key(kind, dft_token_text(&x->rec, x->rec.args[i].value));
			return true;
		}
	return false;
}

/* Marks all strings of 16 bytes in the argument `relations`. */
static void mark_relations(struct dfw_selection *s, const struct dfw_parser *x)
{
	for (uint32_t i = 0; i < x->rec.nargs; i++) {
		const struct slice v = dft_token_text(&x->rec, x->rec.args[i].value);
		if (!key_is(x, &x->rec.args[i], "relations"))
			continue;
		for (uint32_t at = 0; at + DFT_HEX_DIGITS + 2 <= v.n; at++)
			if (v.p[at] == '"' && v.p[at + DFT_HEX_DIGITS + 1] == '"')
				mark(s, text_key(OF_ENTITY, slice_of(v.p + at + 1, DFT_HEX_DIGITS)), 1);
	}
}

static void add_reference(struct dfw_selection *s, struct dfw_reference r)
{
	if (s->nreferences > 0 && memcmp(&s->references[s->nreferences - 1], &r, sizeof r) == 0)
		return;
	s->keep_all |= s->nreferences >= MAX_REFERENCES;
	if (s->keep_all)
		return;
	s->failed |=
	    !array_reserve(&s->references, s->nreferences, &s->references_cap, sizeof *s->references);
	if (!s->failed)
		s->references[s->nreferences++] = r;
}

static void add_entity(struct dfw_selection *s, const struct dfw_parser *x)
{
	uint64_t id, type;

	if (arg_key(x, "id", OF_ENTITY, &id) && arg_key(x, "type", OF_TYPE, &type))
		add_reference(s, (struct dfw_reference){ { id, id }, type });
}

/* Metadata of a process may name its host by a hash. */
static void add_host(struct dfw_selection *s, const struct dfw_parser *x)
{
	const struct dft_arg *const a = dft_arg_of(&x->rec, DFT_ROLE_HHASH);
	uint64_t hash;

	if (a != NULL && x->has_pid && hash_key(x, a, DFT_HASH_HOST, &hash))
		add_reference(s, (struct dfw_reference){ { mark_key(OF_PROCESS, x->pid, host_number(x->host)),
		                                           mark_key(OF_PROCESS, x->pid, 0) },
		                                         hash });
}

static bool keeps_entity(const struct dfw_selection *s, const struct dfw_parser *x)
{
	uint64_t a, b;

	switch (x->kind) {
	case DFW_COPIED_ENTITY:
		return !arg_key(x, "id", OF_ENTITY, &a) || is_marked(s, a);
	case DFW_COPIED_ENTITY_TYPE:
		return !arg_key(x, "type", OF_TYPE, &a) || is_marked(s, a);
	default:
		return !arg_key(x, "subject", OF_ENTITY, &a) || !arg_key(x, "object", OF_ENTITY, &b) ||
		       (is_marked(s, a) && is_marked(s, b));
	}
}

/* ---- survey without parsing ---- */

#define MAX_TRACKS (DFT_MAX_THREADS - 1) /* threads past the limit share a track */

/* Whether the process and the thread of the event are marked; if not, the caller must mark them. */
static bool is_known_track(struct dfw_selection *s, const struct track *t)
{
	if (t->index >= MAX_TRACKS)
		return false;
	if (note_failure(&s->failed, !array_reach(&s->tracks, &s->ntracks, t->index, sizeof *s->tracks)))
		return true;
	const bool known = s->tracks[t->index];
	s->tracks[t->index] = true;
	return known;
}

/* Returns a value: a string without its quotes, or digits. */
static struct slice read_value(struct slice bytes, uint32_t at, enum json_kind *kind)
{
	while (at < bytes.n && (bytes.p[at] == ' ' || bytes.p[at] == '\t'))
		at++;
	const bool text = at < bytes.n && bytes.p[at] == '"';
	uint32_t end = at += text;

	*kind = text ? JSON_STRING : JSON_UINT;
	while (end < bytes.n && (text ? bytes.p[end] != '"' : bytes.p[end] >= '0' && bytes.p[end] <= '9'))
		end++;
	return slice_of(bytes.p + at, end - at);
}

static bool ends_in(const char *p, const char *from, const char *suffix, size_t n)
{
	return (size_t)(p - from) >= n && memcmp(p - n, suffix, n) == 0;
}

/* Whether a hash of 16 digits was marked lately; if not, the caller must mark it. */
static bool is_recent(struct dfw_selection *s, uint64_t pid, struct slice digits, enum dft_hash_kind kind)
{
	const uint64_t low = load_u64(digits.p, false), high = load_u64(digits.p + 8, false);
	struct dfw_recent *const r = &s->recent[(low ^ high) * UINT64_C(0x9e3779b97f4a7c15) >> 58];

	if (r->low == low && r->high == high && r->pid == pid && r->kind == kind)
		return true;
	*r = (struct dfw_recent){ pid, low, high, kind };
	return false;
}

/* Marks hashes by the suffix of their keys, `hash":`.  Text inside a string that looks the same only adds
 * needless marks.  Returns false if the record must be parsed. */
static bool mark_by_keys(struct dfw_selection *s, const struct event *e, struct slice bytes)
{
	const uint64_t pid = track_process(e->track)->id;
	const char *p = memchr(bytes.p, '{', bytes.n), *const end = bytes.p + bytes.n;
	uint64_t key;

	p = p != NULL ? memchr(p + 1, '{', (size_t)(end - p - 1)) : NULL; /* not after the arguments begin */
	for (; p != NULL && (p = memchr(p, ':', (size_t)(end - p))) != NULL; p++) {
		if (ends_in(p, bytes.p, "relations\"", 10) || ends_in(p, bytes.p, "\"cwd\"", 5) ||
		    p[-1] == ' ')
			return false;
		if (!ends_in(p, bytes.p, "hash\"", 5) || p - bytes.p < 7)
			continue;
		enum json_kind kind;
		const char c = p[-6];
		const struct slice value = read_value(bytes, (uint32_t)(p + 1 - bytes.p), &kind);
		const enum dft_hash_kind of = c == 'h'   ? DFT_HASH_HOST
		                              : c == 'f' ? DFT_HASH_FILE
		                                         : DFT_HASH_STRING;
		if (kind == JSON_STRING && value.n == DFT_HEX_DIGITS && is_recent(s, pid, value, of))
			continue;
		if (hash_key_of(pid, value, kind, of, &key) && !is_marked(s, key))
			mark(s, key, 1);
	}
	return true;
}

/* ---- survey and verdict ---- */

void dfw_survey_record(struct dfw_selection *s, struct dfw_parser *x, const struct event *e,
                       struct slice bytes)
{
	if ((e->flags & EVENT_LEFT_OUT) != 0) {
		s->left_out = true;
		return;
	}
	if (s->keep_all)
		return;
	if (e->phase != PHASE_STRUCTURE && is_known_track(s, e->track) && mark_by_keys(s, e, bytes))
		return;
	const bool parsed = dfw_parse_record(x, bytes);
	s->failed |= !x->ready;
	if (!parsed)
		return;
	if (x->kind == DFW_COPIED_ENTITY)
		add_entity(s, x);
	if (x->kind == DFW_COPIED_METADATA || x->kind == DFW_COPIED_TIME_METRIC ||
	    x->kind == DFW_COPIED_THREAD_NAME)
		add_host(s, x);
	if (x->kind == DFW_COPIED_FACT)
		mark_hashes(s, x);
	if (x->kind != DFW_COPIED_CALL)
		return;
	mark_track(s, x);
	mark_hashes(s, x);
	mark_relations(s, x);
}

void dfw_end_survey(struct dfw_selection *s)
{
	if (s->ended)
		return;
	s->ended = true;
	for (uint32_t i = 0; i < s->nreferences; i++)
		if (is_marked(s, s->references[i].from[0]) || is_marked(s, s->references[i].from[1]))
			mark(s, s->references[i].to, 1);
}

static bool keeps_metadata(struct dfw_selection *s, const struct dfw_parser *x)
{
	switch (x->kind) {
	case DFW_COPIED_CALL:
	case DFW_COPIED_FACT:
		return true;
	case DFW_COPIED_HASH:
		return keeps_definition(s, x);
	case DFW_COPIED_THREAD_NAME:
		return keeps_process(s, x) && (!x->has_tid || is_marked(s, thread_key(x)));
	case DFW_COPIED_ENTITY:
	case DFW_COPIED_ENTITY_TYPE:
	case DFW_COPIED_ENTITY_RELATION:
		return keeps_entity(s, x);
	default:
		return keeps_process(s, x);
	}
}

enum dfw_verdict dfw_judge(struct dfw_selection *s, struct dfw_parser *x, const struct event *e,
                           struct slice bytes)
{
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return DFW_DROP;
	if (e->phase != PHASE_STRUCTURE && !slice_is(e->cls->category, "dftracer"))
		return DFW_KEEP;
	if (!dfw_parse_record(x, bytes))
		return DFW_KEEP;
	if (e->phase != PHASE_STRUCTURE)
		return dft_top_is(&x->rec, DFT_NAME, "start") ? DFW_DROP_START : DFW_KEEP;
	return s->keep_all || keeps_metadata(s, x) ? DFW_KEEP : DFW_DROP;
}

void dfw_parser_free(struct dfw_parser *x)
{
	if (x->ready) {
		dft_record_free(&x->rec);
		dft_keys_free(&x->keys);
	}
	table64_free(&x->unit_index);
	free(x->units);
}

void dfw_selection_free(struct dfw_selection *s)
{
	table64_free(&s->needed);
	free(s->references);
	free(s->tracks);
}
