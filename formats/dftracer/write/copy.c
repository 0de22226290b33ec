/*
 * Copies of records: writes their bytes, possibly without some of them and with other times.  Of several
 * inputs, the first decides about the bytes before and after all records: brackets of the others are left
 * out, so that the output is one trace.
 */
#include <stdlib.h>

#include "dftracer/write/write.h"

/* ---- parsing copied records ---- */

/* Kind of a copied record. */
enum record_kind {
	CALL,        /* not metadata */
	HASH,        /* HH, FH, SH */
	TIME_METRIC, /* CM with the unit of times */
	THREAD_NAME,
	ENTITY, /* EH, ET, ER */
	ENTITY_TYPE,
	ENTITY_RELATION,
	METADATA, /* other metadata */
};

/* Parser of copied records, with the last record. */
struct parser {
	bool ready;
	struct dft_keys keys;
	struct dft_record rec; /* points into the bytes */
	enum record_kind kind;
	bool has_pid, has_tid;
	uint64_t pid, tid;
	struct slice host;    /* as written; n 0: absent */
	struct table64 units; /* hash of pid and host, or of pid only -> ns per unit of times */
};

static bool top_is(const struct dft_record *rec, enum dft_top which, const char *text)
{
	return dft_top_kind(rec, which) != JSON_ABSENT && slice_is(dft_top_text(rec, which), text);
}

static bool arg_is(const struct dft_record *rec, enum dft_role role, const char *text)
{
	const struct dft_arg *const a = dft_arg_of(rec, role);

	return a != NULL && slice_is(dft_token_text(rec, a->value), text);
}

static enum record_kind kind_of(const struct dft_record *rec)
{
	if (!(top_is(rec, DFT_PH, "M") || top_is(rec, DFT_PH, "m") || top_is(rec, DFT_PH, "4") ||
	      top_is(rec, DFT_PH, "H") || top_is(rec, DFT_PH, "h")))
		return CALL;
	if (top_is(rec, DFT_NAME, "HH") || top_is(rec, DFT_NAME, "FH") || top_is(rec, DFT_NAME, "SH"))
		return HASH;
	if (top_is(rec, DFT_NAME, "thread_name"))
		return THREAD_NAME;
	if (top_is(rec, DFT_NAME, "EH"))
		return ENTITY;
	if (top_is(rec, DFT_NAME, "ET"))
		return ENTITY_TYPE;
	if (top_is(rec, DFT_NAME, "ER"))
		return ENTITY_RELATION;
	return top_is(rec, DFT_NAME, "CM") && arg_is(rec, DFT_ROLE_NAME, "time_metric") ? TIME_METRIC
	                                                                                : METADATA;
}

/* Reads a pid or tid, quoted or not; a negative one as two's complement. */
static bool read_number(const struct dft_record *rec, enum dft_top which, uint64_t *v)
{
	const struct slice s =
	    dft_top_kind(rec, which) != JSON_ABSENT ? dft_top_text(rec, which) : slice_of(NULL, 0);
	const bool minus = s.n > 0 && *s.p == '-';

	if (s.n <= minus || !json_digits_any(s.p + minus, s.n - minus, v))
		return false;
	*v = minus ? -*v : *v;
	return true;
}

/* Returns false if the bytes are not a record, or on OOM. */
static bool parse_record(struct parser *x, struct slice bytes)
{
	struct dft_record *const rec = &x->rec;

	if (!x->ready)
		x->ready = dft_record_init(&x->rec) && dft_keys_init(&x->keys);
	if (!x->ready || !dft_parse(rec, &x->keys, bytes.p, bytes.p + bytes.n))
		return false;
	x->kind = kind_of(rec);
	x->has_pid = read_number(rec, DFT_PID, &x->pid);
	x->has_tid = read_number(rec, DFT_TID, &x->tid);
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH);
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_HOSTNAME);
	const struct dft_arg *const a = hash != NULL ? hash : name;
	x->host = a != NULL ? dft_token_text(rec, a->value) : slice_of(NULL, 0);
	return true;
}

/* ---- time units ---- */

static uint64_t unit_key(uint64_t pid, struct slice host)
{
	return hash_bytes(host.p, host.n, hash_u64(pid, hash_seed()));
}

/* Applies a TIME_METRIC.  Records without a host belong to the first process of their pid. */
static bool apply_metric(struct parser *x)
{
	const struct dft_arg *const a = dft_arg_of(&x->rec, DFT_ROLE_VALUE);
	const uint32_t ns = a != NULL ? (uint32_t)dft_time_unit(dft_token_text(&x->rec, a->value)) : 0;
	const uint64_t any = unit_key(x->pid, slice_of("", 0));
	const bool first = table64_get(&x->units, any) == TABLE_NONE;

	if (!x->has_pid || ns == 0)
		return true;
	return table64_put(&x->units, unit_key(x->pid, x->host), ns) &&
	       (!first || table64_put(&x->units, any, ns));
}

/* Returns ns per unit of the record's times. */
static uint64_t time_unit(const struct parser *x)
{
	uint32_t ns = x->has_pid ? table64_get(&x->units, unit_key(x->pid, x->host)) : TABLE_NONE;

	if (ns == TABLE_NONE && x->has_pid)
		ns = table64_get(&x->units, unit_key(x->pid, slice_of("", 0)));
	return ns == TABLE_NONE ? 1000 : ns;
}

/* ---- selections: marks ---- */

/* A record that defines an entity. */
struct entity {
	uint64_t id, type; /* hashes of the texts */
};

/* Metadata to be written with its process, and the hash that it refers to: its host. */
struct reference {
	uint64_t pid, host; /* host: host_number() */
	uint64_t hash;      /* hash_key() */
};

/* Mark and sweep.  A survey pass over the input marks all that selected records refer to: definitions of
 * hashes and entities, and all metadata of their processes and threads.  The copy then keeps the metadata
 * that defines something marked, in the order of the input. */
struct selection {
	struct table64 needed; /* mark -> 1; mark of a written definition -> hash of its text */
	bool *tracks;          /* by index: process and thread are marked */
	uint32_t ntracks;
	struct entity *entities;
	uint32_t nentities, entities_cap;
	struct reference *references; /* from metadata to hosts */
	uint32_t nreferences, references_cap;
	bool left_out; /* a record was not selected */
	bool keep_all; /* limits exceeded: all metadata is written */
	bool ended;    /* the survey has ended */
	bool failed;   /* OOM */
};

/* Marks are 64-bit hashes: a collision keeps a needless record. */

#define MAX_MARKS (1U << 20)
#define MAX_ENTITIES (1U << 17)

enum mark { OF_HASH = 1, OF_DEFINITION = 4, OF_PROCESS, OF_THREAD, OF_ENTITY, OF_TYPE };

static uint64_t mark_key(enum mark kind, uint64_t a, uint64_t b)
{
	return hash_u64(b, hash_u64(a, hash_seed() + kind));
}

static uint64_t text_key(enum mark kind, struct slice s)
{
	return mark_key(kind, hash_bytes(s.p, s.n, hash_seed()), 0);
}

static bool is_marked(const struct selection *s, uint64_t key)
{
	return table64_get(&s->needed, key) != TABLE_NONE;
}

static void mark(struct selection *s, uint64_t key, uint32_t value)
{
	s->keep_all |= s->needed.used >= MAX_MARKS;
	if (!s->keep_all)
		s->failed |= !table64_put(&s->needed, key, value);
}

/* ---- selections: hashes, processes and threads ---- */

/* Narrow hashes belong to a process.  Returns false if the argument is no hash. */
static bool hash_key(const struct parser *x, const struct dft_arg *a, enum dft_hash_kind kind, uint64_t *key)
{
	struct dft_hash h;

	if (!dft_hash_read(&x->rec, a->value, (enum json_kind)a->kind, &h) || h.none)
		return false;
	const bool narrow = !h.text && h.value <= UINT16_MAX;
	*key = mark_key(OF_HASH, h.value, (narrow ? x->pid << 8 : 0) | (uint64_t)kind << 1 | h.text);
	return true;
}

static enum dft_hash_kind defined_kind(const struct dft_record *rec)
{
	switch (*dft_top_text(rec, DFT_NAME).p) {
	case 'H':
		return DFT_HASH_HOST;
	case 'F':
		return DFT_HASH_FILE;
	default:
		return DFT_HASH_STRING;
	}
}

static void mark_hashes(struct selection *s, const struct parser *x)
{
	uint64_t key;

	for (uint32_t i = 0; i < x->rec.nargs; i++) {
		const struct dft_arg *const a = &x->rec.args[i];
		const enum dft_role role = (enum dft_role)a->role;
		if (dft_role_is_hash(role) && hash_key(x, a, dft_hash_kind_of(role), &key))
			mark(s, key, 1);
	}
}

/* Keeps the first definition of a hash, and each with another text than the one before. */
static bool keeps_definition(struct selection *s, const struct parser *x)
{
	const struct dft_arg *const name = dft_arg_of(&x->rec, DFT_ROLE_NAME);
	const struct dft_arg *const value = dft_arg_of(&x->rec, DFT_ROLE_VALUE);
	const struct dft_arg *const a = value != NULL ? value : dft_arg_of(&x->rec, DFT_ROLE_HASH);
	uint64_t key;

	if (name == NULL || a == NULL || !hash_key(x, a, defined_kind(&x->rec), &key) || !is_marked(s, key))
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

static uint64_t thread_key(const struct parser *x)
{
	return mark_key(OF_THREAD, mark_key(OF_PROCESS, x->pid, 0), x->tid);
}

/* Marks the process with its host (0: none), and as having a pid (2) for metadata without a host. */
static void mark_track(struct selection *s, const struct parser *x)
{
	const uint64_t host = host_number(x->host);

	if (!x->has_pid)
		return;
	mark(s, mark_key(OF_PROCESS, x->pid, host), 1);
	mark(s, mark_key(OF_PROCESS, x->pid, 2), 1);
	if (x->has_tid)
		mark(s, thread_key(x), 1);
}

static bool keeps_process(const struct selection *s, const struct parser *x)
{
	const uint64_t host = host_number(x->host);

	if (!x->has_pid)
		return true; /* of the whole trace */
	if (host == 0)
		return is_marked(s, mark_key(OF_PROCESS, x->pid, 2));
	return is_marked(s, mark_key(OF_PROCESS, x->pid, host)) ||
	       is_marked(s, mark_key(OF_PROCESS, x->pid, 0));
}

static bool keeps_thread(const struct selection *s, const struct parser *x)
{
	return keeps_process(s, x) && (!x->has_tid || is_marked(s, thread_key(x)));
}

/* ---- selections: entities ---- */

static bool key_is(const struct parser *x, const struct dft_arg *a, const char *key)
{
	return slice_is(dft_token_text(&x->rec, a->key), key);
}

/* Returns the mark of an argument's text.  Returns false if there is no such argument. */
static bool arg_key(const struct parser *x, const char *name, enum mark kind, uint64_t *key)
{
	for (uint32_t i = 0; i < x->rec.nargs; i++)
		if (key_is(x, &x->rec.args[i], name)) {
			*key = text_key(kind, dft_token_text(&x->rec, x->rec.args[i].value));
			return true;
		}
	return false;
}

/* Marks all strings of 16 bytes in the argument `relations`. */
static void mark_relations(struct selection *s, const struct parser *x)
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

static void add_entity(struct selection *s, const struct parser *x)
{
	struct entity e;

	if (!arg_key(x, "id", OF_ENTITY, &e.id) || !arg_key(x, "type", OF_TYPE, &e.type))
		return;
	s->keep_all |= s->nentities >= MAX_ENTITIES;
	if (s->keep_all)
		return;
	s->failed |= !array_reserve(&s->entities, s->nentities, &s->entities_cap, sizeof *s->entities);
	if (!s->failed)
		s->entities[s->nentities++] = e;
}

static bool keeps_entity(const struct selection *s, const struct parser *x)
{
	uint64_t a, b;

	switch (x->kind) {
	case ENTITY:
		return !arg_key(x, "id", OF_ENTITY, &a) || is_marked(s, a);
	case ENTITY_TYPE:
		return !arg_key(x, "type", OF_TYPE, &a) || is_marked(s, a);
	default:
		return !arg_key(x, "subject", OF_ENTITY, &a) || !arg_key(x, "object", OF_ENTITY, &b) ||
		       (is_marked(s, a) && is_marked(s, b));
	}
}

/* ---- selections: survey without parsing ---- */

#define MAX_TRACKS (DFT_MAX_THREADS - 1) /* threads past the limit share a track */

/* Returns whether the process and the thread of the event are marked, and assumes that the caller marks them
 * otherwise. */
static bool is_known_track(struct selection *s, const struct track *t)
{
	if (t->index >= MAX_TRACKS)
		return false;
	if (!array_reach(&s->tracks, &s->ntracks, t->index, sizeof *s->tracks)) {
		s->failed = true;
		return true;
	}
	const bool known = s->tracks[t->index];
	s->tracks[t->index] = true;
	return known;
}

/* Returns the token of a value: a string without its quotes, or digits. */
static struct dft_token read_value(struct slice bytes, uint32_t at, enum json_kind *kind)
{
	while (at < bytes.n && (bytes.p[at] == ' ' || bytes.p[at] == '\t'))
		at++;
	const bool text = at < bytes.n && bytes.p[at] == '"';
	uint32_t end = at += text;

	*kind = text ? JSON_STRING : JSON_UINT;
	while (end < bytes.n && (text ? bytes.p[end] != '"' : bytes.p[end] >= '0' && bytes.p[end] <= '9'))
		end++;
	return (struct dft_token){ at, end - at };
}

static bool ends_in(const char *p, const char *from, const char *suffix, size_t n)
{
	return (size_t)(p - from) >= n && memcmp(p - n, suffix, n) == 0;
}

/* Marks hashes by the suffix of their keys, `hash":`.  Text inside a string that looks the same only adds
 * needless marks.  Returns false if the record must be parsed. */
static bool mark_by_keys(struct selection *s, const struct event *e, struct slice bytes)
{
	struct parser x = { .pid = track_process(e->track)->id, .rec = { .p = bytes.p } };
	const char *p = bytes.p, *const end = p + bytes.n;
	uint64_t key;

	for (; (p = memchr(p, ':', (size_t)(end - p))) != NULL; p++) {
		if (ends_in(p, bytes.p, "relations\"", 10) || ends_in(p, bytes.p, "\"cwd\"", 5) ||
		    p[-1] == ' ')
			return false;
		if (!ends_in(p, bytes.p, "hash\"", 5) || p - bytes.p < 7)
			continue;
		enum json_kind kind;
		const char c = p[-6];
		const struct dft_token value = read_value(bytes, (uint32_t)(p + 1 - bytes.p), &kind);
		const struct dft_arg a = { .value = value, .kind = (uint8_t)kind };
		const enum dft_hash_kind of = c == 'h'   ? DFT_HASH_HOST
		                              : c == 'f' ? DFT_HASH_FILE
		                                         : DFT_HASH_STRING;
		if (hash_key(&x, &a, of, &key) && !is_marked(s, key))
			mark(s, key, 1);
	}
	return true;
}

/* ---- selections: metadata of processes ---- */

static void add_reference(struct selection *s, const struct parser *x)
{
	const struct dft_arg *const a = dft_arg_of(&x->rec, DFT_ROLE_HHASH);
	struct reference r = { .pid = x->pid, .host = host_number(x->host) };

	if (a == NULL || !x->has_pid || !hash_key(x, a, DFT_HASH_HOST, &r.hash))
		return;
	if (s->nreferences > 0 && memcmp(&s->references[s->nreferences - 1], &r, sizeof r) == 0)
		return;
	s->keep_all |= s->nreferences >= MAX_ENTITIES;
	if (s->keep_all)
		return;
	s->failed |=
	    !array_reserve(&s->references, s->nreferences, &s->references_cap, sizeof *s->references);
	if (!s->failed)
		s->references[s->nreferences++] = r;
}

/* ---- selections: survey and verdict ---- */

/* Adds the next raw record of the survey; x is used if the record must be parsed. */
static void survey_record(struct selection *s, struct parser *x, const struct event *e, struct slice bytes)
{
	if ((e->flags & EVENT_LEFT_OUT) != 0) {
		s->left_out = true;
		return;
	}
	if (s->keep_all)
		return;
	if (e->phase != PHASE_STRUCTURE && is_known_track(s, e->track) && mark_by_keys(s, e, bytes))
		return;
	const bool parsed = parse_record(x, bytes);
	s->failed |= !x->ready;
	if (!parsed)
		return;
	if (x->kind == ENTITY)
		add_entity(s, x);
	if (x->kind == METADATA || x->kind == TIME_METRIC || x->kind == THREAD_NAME)
		add_reference(s, x);
	if (x->kind != CALL)
		return;
	mark_track(s, x);
	mark_hashes(s, x);
	mark_relations(s, x);
}

/* Ends the survey; may be called again. */
static void end_survey(struct selection *s)
{
	if (s->ended)
		return;
	s->ended = true;
	for (uint32_t i = 0; i < s->nentities; i++)
		if (is_marked(s, s->entities[i].id))
			mark(s, s->entities[i].type, 1);
	for (uint32_t i = 0; i < s->nreferences; i++)
		if (is_marked(s, mark_key(OF_PROCESS, s->references[i].pid, s->references[i].host)) ||
		    is_marked(s, mark_key(OF_PROCESS, s->references[i].pid, 0)))
			mark(s, s->references[i].hash, 1);
}

static bool keeps_metadata(struct selection *s, const struct parser *x)
{
	switch (x->kind) {
	case CALL:
		return true;
	case HASH:
		return keeps_definition(s, x);
	case THREAD_NAME:
		return keeps_thread(s, x);
	case ENTITY:
	case ENTITY_TYPE:
	case ENTITY_RELATION:
		return keeps_entity(s, x);
	default:
		return keeps_process(s, x);
	}
}

enum verdict { DROP, KEEP, DROP_START };

/* Returns whether the next raw record is written. */
static enum verdict judge(struct selection *s, struct parser *x, const struct event *e, struct slice bytes)
{
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return DROP;
	if (e->phase != PHASE_STRUCTURE && !slice_is(e->cls->category, "dftracer"))
		return KEEP;
	if (!parse_record(x, bytes))
		return KEEP;
	if (e->phase != PHASE_STRUCTURE)
		return top_is(&x->rec, DFT_NAME, "start") ? DROP_START : KEEP;
	return s->keep_all || keeps_metadata(s, x) ? KEEP : DROP;
}

/* ---- the copy: its state ---- */

#define TAIL_BYTES 32      /* retained at the end of the output */
#define MAX_END (1U << 20) /* max bytes after the records of an input that are held back */

struct dfw_copy {
	bool rebased, signed_time; /* as in struct run_facts */
	uint32_t inputs;           /* started */
	bool at_start;             /* before the first record of the current input */
	bool opened;               /* the output starts with a bracket */
	bool commas;               /* records are separated by commas, as in an array */
	bool sealed;       /* more than MAX_END bytes follow the records of the first input: written */
	bool closed_later; /* an input after the first has a closing bracket */
	bool selecting;    /* records are left out */
	bool written;      /* selecting: a record was written ... */
	bool line_end, cr; /* ... with this line end: LF, CR LF */
	struct text end;   /* of the first input: bytes held back, starting with its closing bracket */
	char tail[TAIL_BYTES];
	uint32_t ntail;
	struct parser parser;
	struct selection selection;
};

/* ---- copies with other times ---- */

/* Returns the time of the event in the unit of the record. */
static uint64_t time_in_units(struct dfw_copy *copy, const struct event *e, struct chunk *chunk)
{
	const uint64_t unit = time_unit(&copy->parser);

	if (copy->signed_time && e->ts > INT64_MAX) {
		dfw_lose(chunk, DFW_NEGATIVE_TIME, e->offset);
		return 0;
	}
	if (e->ts % unit != 0)
		dfw_lose(chunk, DFW_TIME_ROUNDED, e->offset);
	return e->ts / unit;
}

/* Copies a record with the time of the event. */
static void put_rebased(struct dfw_copy *copy, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct dft_record *const rec = &copy->parser.rec;
	const bool parsed = parse_record(&copy->parser, bytes);

	chunk->text.failed |= !copy->parser.ready;
	if (parsed && copy->parser.kind == TIME_METRIC)
		chunk->text.failed |= !apply_metric(&copy->parser);
	if (!parsed || e->phase == PHASE_STRUCTURE || dft_top_kind(rec, DFT_TS) == JSON_ABSENT) {
		text_slice(t, bytes);
		return;
	}
	const struct dft_token ts = rec->top[DFT_TS];
	text_add(t, bytes.p, ts.at);
	text_u64(t, time_in_units(copy, e, chunk));
	text_add(t, bytes.p + ts.at + ts.n, bytes.n - ts.at - ts.n);
}

/* ---- copies of selected records ---- */

/* Notes bytes at the end of the output. */
static void add_tail(struct dfw_copy *copy, const char *p, size_t n)
{
	const uint32_t added = n < TAIL_BYTES ? (uint32_t)n : TAIL_BYTES;
	const uint32_t kept = copy->ntail < TAIL_BYTES - added ? copy->ntail : TAIL_BYTES - added;

	if (added == 0)
		return;
	memmove(copy->tail, copy->tail + copy->ntail - kept, kept);
	memcpy(copy->tail + kept, p + n - added, added);
	copy->ntail = kept + added;
}

static bool ends_in_comma(const char *p, uint32_t n)
{
	while (n > 0 && strchr(" \t\r\n", p[n - 1]) != NULL)
		n--;
	return n > 0 && p[n - 1] == ',';
}

/* Ends the line if the output ends within one. */
static void end_line(struct dfw_copy *copy, struct chunk *chunk)
{
	if (copy->ntail > 0 && copy->tail[copy->ntail - 1] != '\n')
		text_char(&chunk->text, '\n');
}

/* Returns the record without the rest of its line: end_selected() writes that before the next record. */
static struct slice body_of(struct slice record)
{
	while (record.n > 0 && record.p[record.n - 1] != '}')
		record.n--;
	return record;
}

static void end_selected(struct dfw_copy *copy, struct chunk *chunk, bool comma)
{
	if (!copy->written)
		return;
	if (comma && copy->commas)
		text_char(&chunk->text, ',');
	if (copy->cr)
		text_char(&chunk->text, '\r');
	text_char(&chunk->text, '\n');
}

static void put_selected(struct dfw_copy *copy, const struct event *e, struct slice bytes,
                         struct chunk *chunk)
{
	const struct slice body = body_of(bytes);
	const enum verdict verdict = judge(&copy->selection, &copy->parser, e, bytes);

	chunk->text.failed |= copy->selection.failed;
	if (verdict == DROP_START)
		dfw_lose(chunk, DFW_START_LEFT_OUT, e->offset);
	if (verdict != KEEP)
		return;
	end_selected(copy, chunk, true);
	if (copy->rebased)
		put_rebased(copy, e, body, chunk);
	else
		text_slice(&chunk->text, body);
	copy->written = true;
	copy->line_end = bytes.p[bytes.n - 1] == '\n';
	copy->cr = copy->line_end && bytes.n > body.n + 1 && bytes.p[bytes.n - 2] == '\r';
}

/* ---- copies of the bytes between records ---- */

/* Holds bytes back from the closing bracket on.  If there are too many, they are written, and records of
 * other inputs cannot follow (`sealed`). */
static void hold_back(struct dfw_copy *copy, struct slice s, struct chunk *chunk)
{
	if (copy->inputs > 1) {
		copy->closed_later = true;
		return;
	}
	if (!copy->sealed && s.n <= MAX_END - copy->end.n) {
		text_slice(&copy->end, s);
		chunk->text.failed |= copy->end.failed;
		return;
	}
	if (copy->selecting && !copy->sealed)
		end_selected(copy, chunk, false);
	copy->sealed = true;
	text_add(&chunk->text, copy->end.p, copy->end.n);
	text_slice(&chunk->text, s);
	text_clear(&copy->end);
}

/* Copies a gap.  The closing bracket and the bytes after it are held back, since a record may follow. */
static void put_gap(struct dfw_copy *copy, struct slice s, bool unreadable, struct chunk *chunk)
{
	const bool held = copy->end.n > 0 || copy->sealed;
	const char *const close = held ? s.p : unreadable ? NULL : memchr(s.p, ']', s.n);
	const size_t before = close != NULL ? (size_t)(close - s.p) : s.n;
	const bool head = copy->inputs == 1 && copy->at_start && !unreadable;

	if (copy->selecting && unreadable)
		return;
	copy->opened |= head && before > 0 && memchr(s.p, '[', before) != NULL;
	if (head || (!copy->selecting && (copy->inputs == 1 || unreadable || !copy->at_start)))
		text_add(&chunk->text, s.p, before);
	if (close != NULL)
		hold_back(copy, slice_of(close, s.n - before), chunk);
}

/* Writes the separator before the first record of an input, and before the first after a closing bracket. */
static void prepare_record(struct dfw_copy *copy, struct slice record, struct chunk *chunk)
{
	if (copy->inputs == 1) {
		copy->commas |= copy->at_start && ends_in_comma(record.p, record.n);
		if (!copy->selecting)
			text_add(&chunk->text, copy->end.p, copy->end.n);
		text_clear(&copy->end);
	} else if (copy->at_start && !copy->selecting) {
		end_line(copy, chunk);
		if (copy->commas && !ends_in_comma(copy->tail, copy->ntail))
			text_str(&chunk->text, ",\n");
	}
	copy->at_start = false;
}

static void begin_input(struct dfw_copy *copy, struct chunk *chunk)
{
	copy->inputs++;
	copy->at_start = true;
	if (copy->sealed)
		chunk->failed = "the first input is an object with more than 1 MiB after its records: "
		                "records of other inputs cannot follow them";
}

/* ---- the copier ---- */

static bool copy_open(struct copier *c)
{
	struct dfw_copy *const copy = c->state;

	copy->rebased = c->run->rebased;
	copy->signed_time = c->run->signed_time;
	return true;
}

static void copy_input(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct dfw_copy *const copy = c->state;

	(void)b;
	(void)e;
	(void)bytes;
	end_survey(&copy->selection);
	copy->selecting = c->selected && copy->selection.left_out;
	c->chunk->text.failed |= copy->selection.failed;
	begin_input(copy, c->chunk);
}

static void put_record(struct copier *c, const struct event *e, struct slice bytes)
{
	struct dfw_copy *const copy = c->state;
	struct text *const t = copier_text(c);
	const size_t before = t->n;

	if (e->phase == PHASE_STRUCTURE && dft_is_gap(e->cls)) {
		put_gap(copy, bytes, dft_is_unreadable(e->cls), c->chunk);
	} else {
		if (copy->at_start || copy->end.n > 0)
			prepare_record(copy, bytes, c->chunk);
		if (copy->selecting)
			put_selected(copy, e, bytes, c->chunk);
		else if (copy->rebased)
			put_rebased(copy, e, bytes, c->chunk);
	}
	if (!t->failed && t->n > before)
		add_tail(copy, t->p + before, t->n - before);
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct dfw_copy *const copy = c->state;
	const bool gap = e->phase == PHASE_STRUCTURE && dft_is_gap(e->cls);
	const bool changed = gap || copy->selecting || copy->rebased;

	(void)b;
	if (changed || copy->at_start || copy->end.n > 0)
		put_record(c, e, bytes);
	if (changed)
		return;
	copier_keep(c, bytes);
	add_tail(copy, bytes.p, bytes.n);
}

static void copy_survey(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct dfw_copy *const copy = c->state;

	(void)b;
	if (e->phase != PHASE_STRUCTURE || !dft_is_gap(e->cls))
		survey_record(&copy->selection, &copy->parser, e, bytes);
}

static void copy_end(struct copier *c)
{
	struct dfw_copy *const copy = c->state;
	struct text *const t = copier_text(c);
	const bool closed = copy->end.n > 0 || copy->closed_later;
	const bool closes = copy->inputs > 1 ? copy->opened && closed : closed;
	const size_t before = t->n;

	if (copy->selecting && !copy->sealed && (closes || copy->line_end))
		end_selected(copy, c->chunk, false);
	if (!closes)
		return;
	if (!t->failed && t->n > before)
		add_tail(copy, t->p + before, t->n - before);
	if (copy->inputs > 1)
		end_line(copy, c->chunk);
	if (copy->end.n > 0)
		text_add(t, copy->end.p, copy->end.n);
	else if (copy->closed_later)
		text_char(t, ']');
}

static void copy_free(void *state)
{
	struct dfw_copy *const copy = state;

	text_free(&copy->end);
	if (copy->parser.ready) {
		dft_record_free(&copy->parser.rec);
		dft_keys_free(&copy->parser.keys);
	}
	table64_free(&copy->parser.units);
	table64_free(&copy->selection.needed);
	free(copy->selection.entities);
	free(copy->selection.references);
	free(copy->selection.tracks);
}

const struct copier_ops dfw_copier_ops = {
	.state_size = sizeof(struct dfw_copy),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BYTES,
	.open = copy_open,
	.input = copy_input,
	.record = copy_record,
	.survey = copy_survey,
	.end = copy_end,
	.free = copy_free,
};
