#include <stdlib.h>

#include "base/match.h"
#include "ovni/ovni.h"

/* ---- code ---- */

void ovni_codes_free(struct ovni_codes *c)
{
	free(c->list);
	table64_free(&c->index);
}

const char *ovni_model_name(unsigned char model)
{
	static const char names[][8] = { "Oovni",   "6nanos6", "Vnosv",  "Dnodes",
		                         "Popenmp", "Mmpi",    "Ttampi", "Kkernel" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if ((unsigned char)names[i][0] == model)
			return names[i] + 1;
	return NULL;
}

/* The bytes as text; those that are not printable as \xNN. */
static struct slice code_text(char *to, size_t cap, const unsigned char *p, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(to + used, cap - used,
		                         p[i] >= 0x20 && p[i] < 0x7f ? "%c" : "\\x%02x", p[i]);
	return textscan_slice(to, (uint32_t)used);
}

static struct class *add_class(struct reader *r, struct class like)
{
	if ((r->want & WANT_RAW) != 0)
		ovni_raw_declare(&like);
	return trace_plan_class(r->trace, &like);
}

/* Codes beyond the bound share one class. */
static struct ovni_code *other_codes(struct ovni_codes *c, struct reader *r, struct slice text,
                                     uint64_t offset)
{
	struct quoted q;

	if (c->others.cls == NULL) {
		finding_add(r->findings, &ovni_rules[OVNI_RULE_LIMIT], offset, r->records,
		            "event code %s exceeds the limit of %u different codes: further codes are "
		            "counted together",
		            quoted(&q, text), OVNI_MAX_CODES);
		c->others.cls = add_class(r, (struct class){ .name = SLICE_LIT("other codes") });
	}
	return c->others.cls != NULL ? &c->others : NULL;
}

/* ---- plans ---- */

/* Jumbo events have flags, all but the smallest a payload. */
static bool has_field(const void *ctx, struct slice name)
{
	(void)ctx;
	return slice_is(name, "flags") || slice_is(name, "payload");
}

const struct plan *ovni_class_plan(const struct class *cls)
{
	const struct plan *m = cls->plan;

	while (m != NULL && m->named.p != NULL && !glob_fits(m->named, cls->name))
		m = m->otherwise;
	return m != NULL ? plan_shape(m) : NULL;
}

/* Words for the reader: "old", and "old-size", the payload of an older release that "old-name" names. */
static void find_words(struct ovni_code *c)
{
	c->plan = ovni_class_plan(c->cls);
	if (c->plan == NULL)
		return;
	c->jumbo = slice_is(plan_word(c->plan, "jumbo"), "true");
	c->old = plan_word(c->plan, "old").p != NULL;
	const struct slice size = plan_word(c->plan, "old-size");
	if (size.p != NULL && size.n == 1 && size.p[0] >= '0' && size.p[0] <= '9')
		c->old_size = (int8_t)(size.p[0] - '0');
}

/* ---- looking up ---- */

static struct ovni_code *add_code(struct ovni_codes *codes, struct reader *r, uint32_t bytes,
                                  struct slice text)
{
	const unsigned char model = (unsigned char)(bytes >> 8);
	const char *const name = ovni_model_name(model);
	char hex[8];

	if (!array_room(&codes->list, codes->n, &codes->cap, sizeof *codes->list))
		return NULL;
	struct ovni_code *const c = &codes->list[codes->n];
	*c = (struct ovni_code){ .bytes = bytes, .old_size = -1 };
	c->cls = add_class(r, (struct class){ .name = text,
	                                      .category = name != NULL
	                                                      ? textscan_slice(name, (uint32_t)strlen(name))
	                                                      : code_text(hex, sizeof hex, &model, 1),
	                                      .plan = trace_find_plan(r->trace, text, has_field, NULL) });
	if (c->cls == NULL)
		return NULL;
	find_words(c);
	return table64_put(&codes->index, bytes, codes->n++) ? c : NULL;
}

struct ovni_code *ovni_code_find(struct ovni_codes *codes, struct reader *r, uint32_t word, uint64_t offset)
{
	const uint32_t bytes = word & 0xffffff00U;
	uint16_t *const recent = &codes->recent[(bytes * 0x9e3779b1U) >> (32 - OVNI_RECENT_BITS)];
	const unsigned char mcv[3] = { (unsigned char)(word >> 8), (unsigned char)(word >> 16),
		                       (unsigned char)(word >> 24) };
	char text[16];

	if (*recent < codes->n && codes->list[*recent].bytes == bytes)
		return &codes->list[*recent];
	const uint32_t known = table64_get(&codes->index, bytes);
	if (known != TABLE_NONE) {
		*recent = (uint16_t)known;
		return &codes->list[known];
	}
	const struct slice name = code_text(text, sizeof text, mcv, 3);
	if (codes->n >= OVNI_MAX_CODES)
		return other_codes(codes, r, name, offset);
	return add_code(codes, r, bytes, name);
}

/* ---- system ---- */

/* Looms, processes, threads and CPUs, merged from all streams ("computed by merging all the values"). */

#define LOOMS_SEARCHED 256 /* for a process whose loom is not given */

void ovni_system_free(struct ovni_system *s)
{
	arena_free(&s->text);
	free(s->looms);
	free(s->processes);
	free(s->cpus);
	free(s->labels);
	tabletext_free(&s->loom_index);
	tabletext_free(&s->label_index);
	table64_free(&s->process_index);
	table64_free(&s->tids);
	table64_free(&s->phyids);
}

void ovni_system_limit(struct ovni_system *s, struct reader *r, const char *what, uint32_t most)
{
	if (!s->limited)
		ovni_report(r, OVNI_RULE_LIMIT, "more than %" PRIu32 " %s: the others are not compared", most,
		            what);
	s->limited = true;
}

struct slice ovni_system_text(struct ovni_system *s, struct reader *r, const char *text)
{
	const size_t n = strlen(text);

	if (n > OVNI_MAX_TEXT - s->text_bytes) {
		ovni_system_limit(s, r, "bytes of names", OVNI_MAX_TEXT);
		return SLICE_LIT("");
	}
	s->text_bytes += (uint32_t)n;
	const struct slice copy = arena_copy(&s->text, textscan_slice(text, (uint32_t)n));
	s->no_memory |= copy.p == NULL;
	return copy;
}

/* Room for one more in a list, and its number under a key.  false: no memory. */
static bool add_numbered(struct ovni_system *s, void *list, uint32_t n, uint32_t *cap, size_t size,
                         struct table64 *index, uint64_t key)
{
	const bool ok = array_room(list, n, cap, size) && table64_put(index, key, n);

	s->no_memory |= !ok;
	return ok;
}

/* ---- looms, processes, threads ---- */

static uint32_t add_loom(struct ovni_system *s, struct reader *r, struct slice name)
{
	const uint32_t known = name.p != NULL ? tabletext_get(&s->loom_index, name) : TABLE_NONE;

	if (name.p == NULL || known != TABLE_NONE)
		return known;
	if (s->nlooms >= OVNI_MAX_LOOMS) {
		ovni_system_limit(s, r, "looms", OVNI_MAX_LOOMS);
		return TABLE_NONE;
	}
	if (!array_room(&s->looms, s->nlooms, &s->looms_cap, sizeof *s->looms) ||
	    !tabletext_put(&s->loom_index, name, s->nlooms)) {
		s->no_memory = true;
		return TABLE_NONE;
	}
	s->looms[s->nlooms] = (struct ovni_loom){ .name = name };
	return s->nlooms++;
}

/* NULL: no memory. */
static const struct track *process_track(struct reader *r, const struct ovni_thread *t)
{
	char name[200];
	int n = t->loom.p == NULL ? snprintf(name, sizeof name, "pid %" PRId64, t->pid)
	                          : snprintf(name, sizeof name, "%.*s pid %" PRId64,
	                                     (int)(t->loom.n < 64 ? t->loom.n : 64), t->loom.p, t->pid);

	if (t->rank >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, " (rank %" PRId64, t->rank);
	if (t->app_id >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, "%sapp %" PRId64, t->rank >= 0 ? ", " : " (",
		              t->app_id);
	if (t->rank >= 0 || t->app_id >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, ")");
	struct track *const k = trace_add_process(
	    r->trace, t->process_name.p != NULL ? t->process_name : textscan_slice(name, (uint32_t)n));
	if (k != NULL) {
		k->has_id = true;
		k->id = (uint64_t)t->pid;
	}
	return k;
}

static uint64_t process_key(uint32_t loom, int64_t pid)
{
	return (uint64_t)(loom + 1) << 32 | (uint64_t)pid; /* TABLE_NONE + 1 is 0 */
}

static uint32_t add_process(struct ovni_system *s, struct reader *r, const struct ovni_thread *t,
                            uint32_t loom)
{
	const uint64_t key = process_key(loom, t->pid);
	const uint32_t known = table64_get(&s->process_index, key), n = s->nprocesses;

	if (known != TABLE_NONE)
		return known;
	if (n >= OVNI_MAX_PROCESSES) {
		ovni_system_limit(s, r, "processes", OVNI_MAX_PROCESSES);
		return TABLE_NONE;
	}
	if (!add_numbered(s, &s->processes, n, &s->processes_cap, sizeof *s->processes, &s->process_index,
	                  key))
		return TABLE_NONE;
	struct ovni_process *const p = &s->processes[s->nprocesses++];
	*p = (struct ovni_process){ .loom = loom, .pid = t->pid, .app_id = -1, .rank = -1, .nranks = -1 };
	if (r->trace->ntracks < TRACE_MAX_TRACKS) {
		p->track = process_track(r, t);
		s->no_memory |= p->track == NULL;
	}
	return n;
}

static void merge_number(struct reader *r, const char *key, int64_t pid, int64_t *known, int64_t now)
{
	if (now < 0)
		return;
	if (*known >= 0 && *known != now)
		ovni_report(r, OVNI_RULE_PROCESS_CONFLICT,
		            "ovni.%s of process %" PRId64 " is %" PRId64 ", but %" PRId64
		            " in another thread",
		            key, pid, now, *known);
	if (*known < 0)
		*known = now;
}

static void add_tid(struct ovni_system *s, struct reader *r, const struct ovni_thread *t, uint32_t process)
{
	const uint64_t key = (uint64_t)process << 32 | (uint64_t)t->tid;

	if (table64_get(&s->tids, key) != TABLE_NONE)
		ovni_report(r, OVNI_RULE_TID_REPEATED,
		            "thread %" PRId64 " of process %" PRId64 " has another stream", t->tid, t->pid);
	else if (s->ntids >= OVNI_MAX_THREADS)
		ovni_system_limit(s, r, "threads", OVNI_MAX_THREADS);
	else
		s->no_memory |= !table64_put(&s->tids, key, s->ntids++);
}

/* The track of a thread of a known process; NULL: there are too many, or no memory. */
static const struct track *thread_track(struct ovni_system *s, struct reader *r, const struct track *process,
                                        const struct ovni_thread *t)
{
	char name[40];

	if (process == NULL || r->trace->ntracks >= TRACE_MAX_TRACKS)
		return NULL;
	const int n = snprintf(name, sizeof name, "thread %" PRId64, t->tid);
	const struct track *const k =
	    trace_add_thread(r->trace, process, (uint64_t)t->tid,
	                     t->name.p != NULL ? t->name : textscan_slice(name, (uint32_t)n));
	s->no_memory |= k == NULL;
	return k;
}

uint32_t ovni_system_add_thread(struct ovni_system *s, struct reader *r, const struct ovni_thread *t,
                                struct ovni_stream *stream)
{
	const uint32_t loom = add_loom(s, r, t->loom);
	const uint32_t process = t->pid > 0 ? add_process(s, r, t, loom) : TABLE_NONE;

	if (process == TABLE_NONE)
		return loom;
	struct ovni_process *const p = &s->processes[process];
	merge_number(r, "app_id", p->pid, &p->app_id, t->app_id);
	merge_number(r, "rank", p->pid, &p->rank, t->rank);
	merge_number(r, "nranks", p->pid, &p->nranks, t->nranks);
	if (t->tid <= 0)
		return loom;
	add_tid(s, r, t, process);
	stream->process = process;
	stream->tid = (int32_t)t->tid;
	stream->track = thread_track(s, r, p->track, t);
	return loom;
}

void ovni_system_add_unknown(struct ovni_system *s, struct reader *r, struct ovni_stream *stream)
{
	struct trace *const trace = r->trace;
	const char *const path = strcmp(r->in->path, "-") == 0 ? "standard input" : r->in->path;
	const size_t n = strlen(path), cut = n > 200 ? n - 200 : 0;

	if (s->unknown == NULL)
		s->unknown = trace_add_process(trace, SLICE_LIT("unknown process"));
	if (s->unknown != NULL && trace->ntracks < TRACE_MAX_TRACKS)
		stream->track = trace_add_thread(trace, s->unknown, trace->ntracks,
		                                 textscan_slice(path + cut, (uint32_t)(n - cut)));
	else if (s->unknown != NULL && s->more_threads == NULL)
		s->more_threads = trace_add_thread(trace, s->unknown, UINT64_MAX, SLICE_LIT("more threads"));
	if (stream->track == NULL)
		stream->track = s->more_threads;
	s->no_memory |= stream->track == NULL;
}

uint32_t ovni_system_find_process(const struct ovni_system *s, int64_t pid)
{
	uint32_t found = TABLE_NONE;

	for (uint32_t i = 0; i < s->nlooms && i < LOOMS_SEARCHED && found == TABLE_NONE; i++)
		found = table64_get(&s->process_index, process_key(i, pid));
	return found;
}

/* ---- CPUs, models ---- */

void ovni_system_add_cpu(struct ovni_system *s, struct reader *r, uint32_t loom, uint32_t index,
                         uint32_t phyid)
{
	const uint64_t key = (uint64_t)loom << 32 | phyid;
	const uint32_t known = table64_get(&s->phyids, key);

	if (known != TABLE_NONE) {
		if (s->cpus[known].index != index)
			ovni_report(r, OVNI_RULE_CPU_PHYID,
			            "phyid %" PRIu32 " has index %" PRIu32 ", but %" PRIu32
			            " in another list",
			            phyid, index, s->cpus[known].index);
		return;
	}
	if (s->ncpus >= OVNI_MAX_CPUS) {
		ovni_system_limit(s, r, "CPUs", OVNI_MAX_CPUS);
		return;
	}
	if (!add_numbered(s, &s->cpus, s->ncpus, &s->cpus_cap, sizeof *s->cpus, &s->phyids, key))
		return;
	s->cpus[s->ncpus++] = (struct ovni_cpu){ loom, index, phyid };
	s->looms[loom].cpus++;
}

void ovni_system_require(struct ovni_system *s, struct reader *r, const char *model)
{
	for (uint32_t i = 0; i < s->nrequired; i++)
		if (slice_is(s->required[i], model))
			return;
	if (s->nrequired < OVNI_MAX_REQUIRED)
		s->required[s->nrequired++] = ovni_system_text(s, r, model);
}

/* ---- event ---- */

/* The size in the low bits of the flags is that of the payload: flags are a field only where other bits are
 * set. */
static bool add_fields(struct batch *b, struct event *e, uint8_t flags, struct slice payload)
{
	struct field *const f = batch_fields(b, 2);
	uint16_t n = 0;

	if (f == NULL)
		return false;
	if ((flags & (OVNI_FLAG_JUMBO | OVNI_FLAGS_RESERVED)) != 0)
		f[n++] = (struct field){ SLICE_LIT("flags"), { .type = VALUE_U8, .u64 = flags } };
	if (payload.p != NULL)
		f[n++] = (struct field){ SLICE_LIT("payload"),
			                 { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
	e->first_field = b->nfields;
	e->nfields = n;
	b->nfields += n;
	return true;
}

bool ovni_event_add(struct ovni_state *st, struct batch *b, const struct ovni_record *record,
                    struct class *cls)
{
	const bool raw = (st->r->want & WANT_RAW) != 0, big = st->stream.big;
	const bool fields = (st->r->want & WANT_FIELDS) != 0 || class_needs_fields(cls);
	const uint64_t clock = load_u64(record->bytes.p + 4, big);
	struct event *const e = &b->events[b->n];

	*e = (struct event){ .ts = raw ? clock : ovni_offset_add(clock, st->offset),
		             .dur = ovni_copy_number(st),
		             .name = cls->name,
		             .cls = cls,
		             .track = st->stream.track,
		             .offset = record->offset,
		             .first_field = b->nfields,
		             .phase = PHASE_INSTANT,
		             .flags = big ? EVENT_BIG : 0 };
	if (raw && (st->r->want & WANT_BARE) == 0 &&
	    !ovni_raw_add_fields(b, e, record->bytes.p, record->payload, big))
		return false;
	if (!raw && fields && !add_fields(b, e, (uint8_t)record->bytes.p[0], record->payload))
		return false;
	if (b->bytes != NULL)
		b->bytes[b->n] = record->bytes;
	b->n++;
	cls->records++;
	return true;
}

static inline struct slice payload_of(const char *p, uint32_t n)
{
	return slice_of(n > 0 ? p + OVNI_EVENT_SIZE : NULL, n);
}

/*
 * One check of the remaining bytes serves the longest event, so the last few of a window are for the caller.
 * A time cannot leave its range: the first clock is not made negative, none goes backwards, none is above
 * 2^63 - 1.
 */
static inline const char *add_fast(struct ovni_state *st, struct batch *b, const char *p, uint32_t most,
                                   bool big, bool raw)
{
	const struct ovni_codes *const codes = &((const struct ovni_shared *)st->r->shared)->codes;
	const char *const end = st->r->in->end;
	const bool fields = (st->r->want & WANT_FIELDS) != 0, bare = (st->r->want & WANT_BARE) != 0;
	const uint64_t by = raw ? 0 : (uint64_t)st->offset, number = ovni_copy_number(st);
	struct event *e = b->events + b->n, *const full = e + most;
	uint64_t offset = input_offset(st->r->in, p), last = st->last;

	for (; e < full && end - p >= OVNI_EVENT_SIZE + 16; e++) {
		const uint32_t word = load_u32(p, false), payload = (word & 15) + ((word & 15) != 0);
		const uint64_t clock = load_u64(p + 4, big);
		struct class *const cls = ovni_fast_class(codes, word);
		if (cls == NULL || clock < last || clock > INT64_MAX)
			break;
		*e = (struct event){ .ts = clock + by,
			             .dur = number,
			             .name = cls->name,
			             .cls = cls,
			             .track = st->stream.track,
			             .offset = offset,
			             .first_field = b->nfields,
			             .phase = PHASE_INSTANT,
			             .flags = big ? EVENT_BIG : 0 };
		if (raw) {
			if (!bare && !ovni_raw_add_fields(b, e, p, payload_of(p, payload), big))
				break;
		} else if ((fields || class_needs_fields(cls)) &&
		           !add_fields(b, e, (uint8_t)word, payload_of(p, payload))) {
			break;
		}
		if (b->bytes != NULL)
			b->bytes[e - b->events] = slice_of(p, OVNI_EVENT_SIZE + payload);
		cls->records++;
		last = clock;
		p += OVNI_EVENT_SIZE + payload;
		offset += OVNI_EVENT_SIZE + payload;
	}
	b->n = (uint32_t)(e - b->events);
	st->last = last;
	return p;
}

uint32_t ovni_events_add_fast(struct ovni_state *st, struct batch *b, uint32_t most)
{
	struct reader *const r = st->r;
	const uint32_t before = b->n;
	const bool raw = (r->want & WANT_RAW) != 0;

	if (!ovni_can_be_fast(st))
		return 0;
	const char *const p = r->in->p;
	if (st->stream.big)
		r->in->p = raw ? add_fast(st, b, p, most, true, true) : add_fast(st, b, p, most, true, false);
	else
		r->in->p =
		    raw ? add_fast(st, b, p, most, false, true) : add_fast(st, b, p, most, false, false);
	r->records += b->n - before;
	r->trace->events += b->n - before;
	return b->n - before;
}
