/*
 * Fast path: whole lines with one clean record each.  All other lines are left to the general path (read.c),
 * which gives the same results where both can read a line.  Also skips the lines that a look-ahead pass does
 * not need.
 */
#include "dftracer/dftracer.h"

/* ---- fast path: common records ---- */

/*
 * Most records of a trace are complete events of the same process as the record before, with known hashes.
 * Their only possible finding is a repeated id: dft_check_record() would change the same counts.
 */

/* Digits of ts and dur whose sum fits 64 bits as ns ... */
#define COMMON_TS 16
#define COMMON_DUR 8
#define COMMON_UNIT 1000 /* ... in units of at most 1000 ns */

/* Whether the numbers are free of findings.  The pid is checked in same_process(). */
static inline bool has_common_numbers(const struct dft_record *rec)
{
	const struct dft_token *const t = rec->top;

	return t[DFT_TS].n <= COMMON_TS && t[DFT_DUR].n <= COMMON_DUR && t[DFT_TID].n < 20 &&
	       json_few_digits(t[DFT_PID].at, t[DFT_PID].n) && json_few_digits(t[DFT_ID].at, t[DFT_ID].n);
}

/* Excludes categories of eight letters, as "dftracer": its events may start or end a process. */
static inline bool is_common(const struct dft_record *rec)
{
	return rec->shape == DFT_USUAL_COMPLETE && rec->top[DFT_PH].n == 1 &&
	       rec->p[rec->top[DFT_PH].at] == 'X' && rec->top[DFT_CAT].n != 8 &&
	       rec->special[DFT_ROLE_HHASH] != 0 &&
	       (rec->special[DFT_ROLE_HOSTNAME] | rec->special[DFT_ROLE_FNAME]) == 0;
}

static inline uint64_t few_digits(const struct dft_record *rec, enum dft_top which)
{
	const struct dft_token t = rec->top[which];

	return json_last_digits(rec->p + t.at + t.n, t.n);
}

/* Returns the process of the last record if it is also this record's and its host has a name; else NULL. */
static inline struct dft_process *same_process(const struct dft_state *st, const struct dft_record *rec,
                                               const struct dft_arg *host)
{
	const struct dft_shared *const sh = st->sh;
	struct dft_process *const p = sh->processes.last;

	if (p == NULL || !dft_can_be_hash(rec, host) || p->pid != few_digits(rec, DFT_PID) ||
	    p->host_name.p == NULL || p->host_known != sh->names.hosts_defined || p->unit > COMMON_UNIT)
		return NULL;
	return dft_same_host(dft_host_text(&sh->hosts, p->host), dft_token_text(rec, host->value)) ? p : NULL;
}

/* Whether all hashes but the host's are defined; *texts: number of hashes that are text. */
static inline bool has_defined_hashes(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                      uint32_t *texts)
{
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[low_bit(left)];
		struct dft_recent_hash key;
		*texts += a->kind == JSON_STRING;
		if (a->role == DFT_ROLE_HHASH)
			continue;
		if (!dft_recent_key(rec, a, pid, &key) ||
		    !dft_recent_matches(dft_recent_slot(&st->sh->names, &key), &key))
			return false;
	}
	return *texts == 0 || st->tallies[DFT_HASHES_AS_TEXT].of.count > 0;
}

/* Replaces dft_check_record() for a common record.  Returns false, having done nothing, for other records.
 * DFT_SPARE bytes after the record must be readable. */
static bool count_common(struct dft_state *st, const struct dft_record *rec)
{
	if (!is_common(rec) || !has_common_numbers(rec))
		return false;
	const struct dft_arg *const host = &rec->args[rec->special[DFT_ROLE_HHASH] - 1];
	struct dft_process *const p = same_process(st, rec, host);
	const bool reports = st->r->findings != NULL; /* else ids and hashes are not checked */
	uint32_t texts = 0;
	if (p == NULL || p->ids == 0 || (reports && !has_defined_hashes(st, rec, p->pid, &texts)) ||
	    (!st->mixed_reported && dft_signature(rec, DFT_PHASE_COMPLETE) != st->last_signature))
		return false;
	p->records++;
	p->calls++;
	st->r->records++;
	st->r->trace->events++;
	st->tallies[DFT_HASHES_AS_TEXT].of.count += texts;
	if (!reports)
		return true;
	const uint64_t id = few_digits(rec, DFT_ID);
	if (idset_add(&st->sh->ids, dft_id_base(p) + id))
		dft_tally_record(st, DFT_IDS_REPEATED, rec, dft_top_text(rec, DFT_ID));
	else
		dft_count_id(p, id);
	return true;
}

/* Whether add_common() reads all members that events of common records need. */
static bool wants_plain_events(const struct dft_state *st, const struct batch *b)
{
	const unsigned want = st->r->want;

	return st->raw ? (want & (WANT_WHOLE | WANT_FIELDS)) == WANT_WHOLE
	               : b->bytes == NULL && (want & (WANT_TIMES | WANT_FIELDS)) == WANT_TIMES;
}

/* Checks a common record of a known class and adds its event.  Returns false, having done nothing, for other
 * records. */
static bool add_common(struct dft_state *st, struct batch *b)
{
	const struct dft_record *const rec = &st->record;
	struct class *const cls = is_common(rec) ? dft_class_recent(st, rec) : NULL;
	uint64_t ts = 0, tid = 0;

	if (cls == NULL || class_needs_fields(cls) || !count_common(st, rec))
		return false;
	const struct dft_process *const p = st->sh->processes.last;
	/* has_common_numbers() checked that they fit */
	(void)dft_digits(rec, rec->top[DFT_TS], &ts);
	(void)dft_digits(rec, rec->top[DFT_TID], &tid);
	cls->records++;
	dft_add_common(st, cls, tid, ts * p->unit, few_digits(rec, DFT_DUR) * p->unit, b);
	return true;
}

/* Counts a common record and adds its times to the range.  Returns false like count_common(), which checks
 * that they have few digits. */
static bool count_times(struct dft_state *st, const struct dft_record *rec)
{
	uint64_t ts = 0;

	if (!count_common(st, rec))
		return false;
	const uint64_t unit = st->sh->processes.last->unit;
	(void)dft_digits(rec, rec->top[DFT_TS], &ts);
	reader_range_add(st->r->range, ts * unit, (ts + few_digits(rec, DFT_DUR)) * unit);
	return true;
}

/* ---- fast path: lines ---- */

static void skip_positions(struct dft_state *st)
{
	const uint32_t at = (uint32_t)(st->r->in->p - st->index->base);

	while (*st->lines < at)
		st->lines++;
	while (*st->quotes < at)
		st->quotes++;
	while (*st->odd < at)
		st->odd++;
}

/* Whether the index covers the start of the window, which may have moved. */
static bool has_index(const struct dft_state *st)
{
	const struct input *const in = st->r->in;
	const struct json_index *const ix = st->index;

	return ix->base != NULL && input_offset(in, ix->base) == st->indexed && ix->base <= in->p &&
	       (size_t)(in->p - ix->base) < ix->n && (size_t)(in->end - ix->base) >= ix->n;
}

/* Makes an index of the start of the window unless there is one.  Returns false if it has no line end. */
static bool index_window(struct dft_state *st)
{
	struct input *const in = st->r->in;
	struct json_index *const ix = st->index;

	if (has_index(st)) {
		skip_positions(st);
		if (*st->lines != UINT32_MAX)
			return true;
	}
	json_index_make(ix, st->scanner, in->p, (size_t)(in->end - in->p));
	st->indexed = input_offset(in, in->p);
	st->lines = ix->lines.at;
	st->quotes = ix->quotes.at;
	st->odd = ix->odd.at;
	return *st->lines != UINT32_MAX;
}

/* Parses a clean line that follows no known path.  If it is a valid record, its path is learned. */
static bool learn_line(struct dft_state *st, const char *e)
{
	struct dft_record *const rec = &st->record;

	if (!dft_parse(rec, &st->keys, st->r->in->p, e) || rec->end != e || rec->json.nflaws > 0 ||
	    rec->nextras > 0 || rec->too_many)
		return false;
	if (!st->raw_fields)
		dft_paths_learn(&st->paths, rec, st->r->records + 1);
	rec->clean = true;
	while (*st->quotes < (uint32_t)(e - st->index->base))
		st->quotes++;
	return true;
}

/* Begins to read lines at the start of the window, which may have moved.  Returns false if the first one is
 * known to be uncommon. */
static inline bool begin_lines(struct dft_state *st)
{
	const struct input *const in = st->r->in;

	st->in_index = false;
	return !st->line.begun && !st->closed && !st->trailer && in->p < in->end &&
	       input_offset(in, in->p) != st->uncommon;
}

static inline bool follow_path(struct dft_state *st, const char *base, const char *e)
{
	struct dft_record *const rec = &st->record;
	const char *const p = st->r->in->p;

	rec->top = rec->own_top;
	rec->args = rec->own_args;
	const struct dft_shape *const shape =
	    st->raw_fields ? NULL : dft_paths_follow(&st->paths, rec, base, &st->quotes, p, e);
	if (shape != NULL)
		dft_record_apply(rec, shape, p, e);
	return shape != NULL;
}

/* Parses the line at the start of the window by the index.  Returns its line feed; NULL: it is not a clean
 * record, or its end is not in the window. */
static inline const char *parse_line(struct dft_state *st)
{
	const struct input *const in = st->r->in;

	if ((!st->in_index || *st->lines == UINT32_MAX) && !index_window(st))
		return NULL;
	st->in_index = true;
	const char *const base = st->index->base, *const e = base + *st->lines;
	for (const char *q = in->p; q < e; q += 64)
		PREFETCH(q + JSON_CHUNK); /* the next index is made from these bytes */
	const bool clean = *in->p == '{' && *st->odd >= *st->lines && (size_t)(in->end - e) >= DFT_SPARE;
	if (clean && (follow_path(st, base, e) || learn_line(st, e)))
		return e;
	st->uncommon = st->record.offset;
	return NULL;
}

/* Sets st->record to the record that fills the line at the start of the window.  Returns its line feed; NULL:
 * the general path must read it. */
static inline const char *read_line(struct dft_state *st)
{
	const struct input *const in = st->r->in;
	struct dft_record *const rec = &st->record;

	if (rec->p == in->p && input_offset(in, in->p) == st->parsed && st->raw)
		return rec->end;
	rec->offset = input_offset(in, in->p);
	const char *e = st->pieces != NULL ? dft_line_read(st) : NULL;
	if (e != NULL)
		st->in_index = false;
	else if ((e = parse_line(st)) == NULL)
		return NULL;
	rec->line = st->line.number;
	rec->column = 1;
	rec->ordinal = st->r->records + 1;
	return e;
}

/* Goes to the line after that of read_line(); nl: its line feed. */
static inline void pass_line(struct dft_state *st, const char *nl)
{
	st->line.number++;
	st->line.start = input_offset(st->r->in, nl + 1);
	st->lines += st->in_index;
}

bool dft_fast_line(struct dft_state *st, struct record *rec)
{
	const char *const e = begin_lines(st) ? read_line(st) : NULL;

	if (e == NULL)
		return false;
	dft_take_record(st, rec);
	rec->end = e + 1;
	pass_line(st, e);
	return true;
}

static void add_event(struct dft_state *st, struct batch *b)
{
	struct reader *const r = st->r;
	struct record rec = { .p = st->record.p, .offset = st->record.offset, .end = st->record.end };
	struct event *const e = &b->events[b->n];

	dft_take_record(st, &rec);
	rec.cls->records++;
	r->trace->events += rec.role == RECORD_IS_EVENT;
	if (r->no_memory || rec.role == RECORD_IS_OTHER ||
	    (rec.role == RECORD_IS_EVENT && (r->want & WANT_TIMES) == 0))
		return;
	*e = (struct event){ .ts = rec.ts, .cls = rec.cls, .track = rec.track, .offset = rec.offset };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec.p, (size_t)(rec.end - rec.p));
	dft_event(r, &rec, b, e);
	b->n++;
}

/* Reads the lines that start before the limit; b NULL: counts them.  Returns false at a line for the general
 * path, or if the batch is full. */
static bool read_lines(struct dft_state *st, const char *limit, struct batch *b)
{
	struct reader *const r = st->r;
	struct input *const in = r->in;
	const bool plain = b != NULL && wants_plain_events(st, b);

	while (in->p < limit) {
		if (r->no_memory || (b != NULL && b->n == b->cap))
			return false;
		const char *const e = read_line(st);
		if (e == NULL)
			return false;
		if (b != NULL) {
			if (st->raw && b->bytes != NULL)
				b->bytes[b->n] = slice_of(in->p, (size_t)(e + 1 - in->p));
			const bool done = r->range != NULL ? count_times(st, &st->record)
			                                   : plain && !st->ahead && add_common(st, b);
			if (!done && st->raw) {
				st->parsed = st->record.offset;
				return false;
			}
			if (!done) {
				add_event(st, b);
				r->records++;
			}
		} else if (st->plain) {
			if (!count_common(st, &st->record)) {
				st->parsed = st->record.offset;
				return false;
			}
		} else if (dft_is_passed_over(st)) {
			r->records++;
		} else if (st->ahead || !count_common(st, &st->record)) {
			dft_check_record(st);
			r->records++;
			r->trace->events += !dft_event_is_structure(&st->facts);
		}
		in->p = e + 1;
		pass_line(st, e);
	}
	return true;
}

/* ---- look-ahead pass ---- */

/* The pass parses only metadata that names something; a search for its six names (see apply_metadata() in
 * metadata.c), which have no escapes in any dialect, skips other lines.  The rest of metadata differs between
 * dialects, and one file may contain records of several. */

#define MAX_KEYWORD 16 /* bytes; more than any has */
#define SKIP_BYTES (1u << 20)

struct keyword {
	char rare;       /* a byte that is rare in events ... */
	uint8_t rare_at; /* ... and its index in the text */
	struct slice text;
};

static const struct keyword keywords[DFT_AHEAD_NAMES] = {
	{ 'H', 0, SLICE_LIT("H\"") },     /* "FH", "HH", "SH" */
	{ 'R', 2, SLICE_LIT("\"PR\"") },  /* a rank */
	{ '_', 0, SLICE_LIT("_name\"") }, /* "process_name", "thread_name" */
};

/* Returns the first occurrence in [p, end); end if there is none. */
static const char *find_keyword(const struct keyword *k, const char *const p, const char *end)
{
	const char *q = p;

	while (q < end && (q = memchr(q, k->rare, (size_t)(end - q))) != NULL) {
		if (q - p >= k->rare_at && end - q >= k->text.n - k->rare_at &&
		    memcmp(q - k->rare_at, k->text.p, k->text.n) == 0)
			return q - k->rare_at;
		q++;
	}
	return end;
}

/* Returns the first occurrence of any keyword in [p, end), which starts a line; end if there is none.  Each
 * byte is searched once per keyword: occurrences not yet reached are remembered. */
static const char *find_any_keyword(struct dft_state *st, const char *p, const char *end)
{
	const uint64_t from = input_offset(st->r->in, p);
	const char *first = end;

	for (int i = 0; i < DFT_AHEAD_NAMES; i++) {
		uint64_t *const next = &st->ahead_next[i];
		if (*next <= from || *next - from < (uint64_t)(first - p)) {
			const char *const start = *next > from ? p + (*next - from) : p;
			const char *const at = find_keyword(&keywords[i], start, first);
			const uint64_t offset = input_offset(st->r->in, at);
			/* a keyword may start before the end of the searched bytes and continue after it */
			*next = at < first ? offset : offset - (offset < MAX_KEYWORD ? offset : MAX_KEYWORD);
			first = at;
		}
	}
	return first;
}

static void skip_lines_ahead(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const size_t window = (size_t)(in->end - in->p);
	const char *const limit = window > SKIP_BYTES ? in->p + SKIP_BYTES : in->end;

	/* before the first record, a wrapper may start, which determines the end of the array */
	if (st->line.begun || st->closed || st->wrapped || st->trailer || st->r->records == 0)
		return;
	const char *const at = find_any_keyword(st, in->p, limit);
	const char *const nl = slice_find_last(slice_of(in->p, (size_t)(at - in->p)), '\n');
	if (nl == NULL)
		return;
	in->p = nl + 1;
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = input_offset(in, in->p) };
}

/* ---- the fast path ---- */

bool dft_run(struct reader *r, const char *limit, struct batch *b)
{
	struct dft_state *const st = r->state;
	const struct input *const in = r->in;
	bool goes_on = true;

	if (b != NULL && st->raw && !wants_plain_events(st, b))
		return false;
	while (goes_on && in->p < limit) {
		if (st->ahead)
			skip_lines_ahead(st);
		/* a look-ahead pass skips lines before each one that it reads */
		goes_on = begin_lines(st) && read_lines(st, st->ahead ? in->p + 1 : limit, b);
	}
	dft_no_memory_of_tables(st);
	return true;
}
