/*
 * CPU profiles of V8: the event Profile begins one and states its time 0, events ProfileChunk add nodes and
 * samples (format/cpu_profile.h).  These events remain instants with their fields; samples are further
 * events, on the thread of Profile (another thread writes the chunks).  An event CpuProfile (webpack) is a
 * whole profile of its own thread.  A file .cpuprofile has the same lists as members.
 */
#include "chrome/chrome.h"

static void report_fault(void *ctx, enum cpu_profile_fault fault, const char *at, const char *text)
{
	static const enum chrome_rule rules[CPU_PROFILE_FAULTS] = {
		[CPU_PROFILE_NODE] = CHROME_RULE_PROFILE_NODE,
		[CPU_PROFILE_SAMPLE] = CHROME_RULE_PROFILE_SAMPLE,
		[CPU_PROFILE_COUNT] = CHROME_RULE_PROFILE_COUNT,
		[CPU_PROFILE_TIME] = CHROME_RULE_PROFILE_TIME,
		[CPU_PROFILE_LIMIT] = CHROME_RULE_LIMIT
	};
	struct chrome_reading *const st = ctx;

	chrome_report(st, rules[fault], fault == CPU_PROFILE_LIMIT ? st->p : at, "%s", text);
}

void chrome_profiles_init(struct chrome_reading *st)
{
	st->profiles.all = (struct cpu_profiles){ .arena = &st->r->trace->arena,
		                                  .no_memory = &st->r->no_memory,
		                                  .report = report_fault,
		                                  .ctx = st };
}

/* ---- events ---- */

/* The key of the profile of st->rec: ids are of a process. */
static uint64_t profile_key(const struct chrome_reading *st)
{
	const struct chrome_id id = chrome_find_id(&st->rec);
	const struct slice s = json_token_text(&id.token);
	const uint32_t process = st->task->owner != NULL ? st->task->owner->index : CPU_PROFILE_NONE;

	return hash_bytes(s.p, s.n, hash_u64(process, hash_seed()));
}

static void begin_profile(struct chrome_reading *st, const struct json_token *data)
{
	struct cpu_profiles *const f = &st->profiles.all;
	const struct json_token start = json_member(data, "startTime");
	const uint64_t key = profile_key(st);
	struct cpu_profile p = { .owner = st->task, .zero_ns = st->r->trace->zero_ns };

	if (!cpu_profile_start(f, &start, st->rec.p, &p.ns))
		return;
	const bool is_known = cpu_profile_find(f, key) != CPU_PROFILE_NONE;
	if (cpu_profile_begin_keyed(f, key, p) && is_known)
		chrome_report(st, CHROME_RULE_DUPLICATE_ID, st->rec.p,
		              "a CPU profile of this process and id has begun before");
}

/* at: the chunk. */
static void give_out(struct chrome_reading *st, uint32_t profile, const char *at)
{
	struct chrome_profiles *const f = &st->profiles;

	f->task = f->all.list[profile].owner;
	f->offset = chrome_offset(st, chrome_origin(st, at));
	f->nstored = f->all.nsamples;
	if ((st->r->want & WANT_RAW) != 0 || st->r->recovers)
		f->all.nsamples = 0; /* they are shown, or written, as parts of the chunk */
	else if (f->all.nsamples > 0)
		st->gives_samples = true;
}

static void read_chunk(struct chrome_reading *st, const struct json_token *data)
{
	struct cpu_profiles *const f = &st->profiles.all;
	const struct cpu_profile_chunk chunk = cpu_profile_chunk(data);
	const uint32_t at = cpu_profile_find(f, profile_key(st));

	if (cpu_profile_chunk_is_empty(&chunk))
		return;
	if (at == CPU_PROFILE_NONE) {
		if (f->n < CPU_PROFILE_MAX)
			chrome_report(st, CHROME_RULE_PROFILE_START, st->rec.p,
			              "no event Profile of this process and id precedes");
		return;
	}
	cpu_profile_read(f, at, &chunk);
	give_out(st, at, st->rec.p);
}

static void read_whole(struct chrome_reading *st, const struct json_token *data)
{
	struct cpu_profiles *const f = &st->profiles.all;
	const struct json_token profile = json_member(data, "cpuProfile"),
	                        start = json_member(&profile, "startTime");
	struct cpu_profile p = { .owner = st->task, .zero_ns = st->r->trace->zero_ns };
	struct cpu_profile_chunk chunk = cpu_profile_chunk(data);

	chunk.times = json_member(&profile, "timeDeltas");
	/* before 2016 a profile had a tree, and times of samples: no list of nodes */
	if (chunk.nodes.kind == JSON_ABSENT || !cpu_profile_start(f, &start, st->rec.p, &p.ns) ||
	    !cpu_profile_begin(f, p))
		return;
	cpu_profile_read(f, f->n - 1, &chunk);
	give_out(st, f->n - 1, st->rec.p);
}

void chrome_read_profile(struct chrome_reading *st)
{
	const struct slice name = json_token_text(&st->rec.of[CHROME_NAME]);
	void (*read)(struct chrome_reading *, const struct json_token *) = NULL;

	if (st->rec.ph == 'I') /* not i: outputs have that, and the samples beside it */
		read = slice_is(name, "CpuProfile") ? read_whole : NULL;
	else if (slice_is(name, "Profile"))
		read = begin_profile;
	else if (slice_is(name, "ProfileChunk"))
		read = read_chunk;
	if (read == NULL)
		return;
	const struct json_token data = json_member(&st->rec.of[CHROME_ARGS], "data");
	if (data.kind != JSON_ABSENT && *data.p == '{')
		read(st, &data);
}

/* ---- files of one profile ---- */

/* Begins the profile if the list of nodes is that of V8. */
static bool begin_file(struct chrome_reading *st, const struct json_token *nodes)
{
	struct chrome_profiles *const f = &st->profiles;
	struct json_walk w = json_walk_list(nodes);

	if (st->has_events || !json_walk_next(&w))
		return false;
	const struct json_token frame = json_member(&w.value, "callFrame");
	if (frame.kind == JSON_ABSENT)
		return false;
	chrome_set_dialect(st, CHROME_DIALECT_CPUPROFILE); /* the name of the process needs it */
	const struct cpu_profile p = { .owner = chrome_no_task(st), .zero_ns = st->r->trace->zero_ns };
	if (note_failure(&st->r->no_memory, p.owner == NULL))
		return true;
	if (!cpu_profile_begin(&f->all, p))
		return st->r->no_memory;
	f->file = f->all.n;
	f->has_start = f->is_cut = false;
	f->all.nsamples = 0;
	return true;
}

bool chrome_is_profile_list(const struct chrome_reading *st, struct slice key)
{
	return (slice_is(key, "nodes") && !st->has_events) ||
	       (st->profiles.file > 0 && (slice_is(key, "samples") || slice_is(key, "timeDeltas")));
}

bool chrome_is_number_list(const struct chrome_reading *st, struct slice key, const char *v)
{
	return v < st->end && *v == '[' && !slice_is(key, "nodes") &&
	       st->profiles.document == st->documents && chrome_is_profile_list(st, key);
}

bool chrome_read_profile_member(struct chrome_reading *st, struct slice key, const struct json_token *t)
{
	struct chrome_profiles *const f = &st->profiles;
	const bool is_open = f->file > 0 && f->document == st->documents;

	if (slice_is(key, "nodes") && !is_open && begin_file(st, t)) {
		f->document = st->documents;
		if (!st->r->no_memory)
			cpu_profile_read_nodes(&f->all, f->file - 1, t);
		return true;
	}
	if (!is_open)
		return false;
	if (slice_is(key, "startTime")) {
		int64_t *const ns = &f->all.list[f->file - 1].ns;
		f->has_start = cpu_profile_start(&f->all, t, t->p, ns);
		if (f->has_start && *ns > 0) /* V8: since the machine started, Bun: since 1970 */
			chrome_mark_wall(st, st->r->trace->zero_ns + (uint64_t)*ns);
	} else if (slice_is(key, "samples")) {
		cpu_profile_read_ids(&f->all, f->file - 1, t);
		return true;
	} else if (slice_is(key, "timeDeltas")) {
		st->has_events = true;
		if (f->has_start) {
			cpu_profile_read_times(&f->all, f->file - 1, t);
			give_out(st, f->file - 1, t->p);
		} else {
			chrome_report(st, CHROME_RULE_PROFILE_TIME, t->p,
			              "no startTime before the times of samples");
		}
		f->file = 0;
		return true;
	}
	return false;
}

/* ---- further events ---- */

static struct class *sample_class(struct chrome_reading *st, bool idle)
{
	static const struct slice names[] = { SLICE_LIT("cpu_profile"), SLICE_LIT("cpu_profile_idle") };
	struct trace *const trace = st->r->trace;
	struct class **const cls = &st->profiles.classes[idle];

	if (*cls == NULL)
		*cls = trace_plan_class(
		    trace, &(struct class){ .name = names[idle],
		                            .plan = trace_find_plan(trace, names[idle], NULL, NULL) });
	st->r->no_memory |= *cls == NULL;
	return *cls;
}

enum record_status chrome_next_sample(struct chrome_reading *st, struct record *rec)
{
	struct chrome_profiles *const f = &st->profiles;

	f->current = f->all.samples[f->at++];
	if (f->at == f->all.nsamples) {
		f->at = f->all.nsamples = 0;
		st->gives_samples = false;
	}
	rec->cls = sample_class(st, cpu_profile_is_idle(&f->all, &f->current));
	rec->ts = f->current.ts;
	rec->track = f->task->track;
	rec->role = RECORD_IS_MORE;
	rec->end = rec->p;
	rec->offset = f->offset;
	return rec->cls != NULL ? RECORD_DONE : RECORD_BAD;
}

void chrome_sample_event(struct chrome_reading *st, struct batch *b, struct event *e)
{
	struct field f[CPU_PROFILE_FIELDS];

	if (!reader_wants_fields(st->r, e))
		return;
	const uint16_t n =
	    cpu_profile_fields(&st->profiles.all, &st->profiles.current, b, f, &st->r->referred);
	struct field *const to = batch_event_fields(b, e, n);
	if (to != NULL)
		memcpy(to, f, n * sizeof *f);
}

/* ---- own files ---- */

static bool is_texts(struct json_walk w)
{
	while (json_walk_next(&w))
		if (!json_is_string(w.value.kind))
			return false;
	return true;
}

void chrome_read_stack(struct chrome_reading *st, struct batch *b, struct event *e)
{
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field *const f = &b->fields[e->first_field + i];
		if (f->value.type != VALUE_JSON || f->value.count == 0 || *f->value.p != '[' ||
		    !slice_equal(f->name, e->cls->plan->stack))
			continue;
		const struct json_token t = { f->value.p, f->value.p + f->value.count, JSON_ARRAY };
		struct json_walk all = json_walk_list(&t), w = all;
		const uint64_t n = json_walk_rest(&all);
		if (n > CPU_PROFILE_MAX_FRAMES || !is_texts(w))
			continue;
		struct value *const v = arena_alloc(&b->scratch, (size_t)(n + 1) * sizeof *v);
		st->r->no_memory |= v == NULL;
		for (uint32_t k = 0; v != NULL && json_walk_next(&w); k++)
			v[k] = chrome_read_value(&b->scratch, &w.value);
		if (v != NULL)
			f->value = (struct value){
				.type = VALUE_LIST, .element = VALUE_STRING, .count = (uint32_t)n, .values = v
			};
	}
}
