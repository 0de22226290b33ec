/*
 * Begins, ends and arrows: their keys, and the check that each has its other end.  Files may have any order,
 * so the check is in order of time: ends wait in a window; when it is full, it is sorted and its earlier half
 * is checked.  The engine makes the spans, with a window of the same size (run/meaning/by_time.c).  Memory is
 * bounded: the window, CHROME_MAX_OPEN open ends, and a table of keys without those that are no longer open.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

/* ---- keys ---- */

/* Seeds of hashes, one for each kind of key, as keys of several kinds share a table. */
enum { SEED_ARROW = 1, SEED_NAMED_ASYNC, SEED_ASYNC, SEED_BIND, SEED_NAME };

/* Hashes a text or number; escapes and what they stand for are the same, and so are 7 and 7.0. */
static uint64_t hash_text(struct chrome_reading *st, uint64_t h, const struct json_token *t)
{
	if (t->kind == JSON_ABSENT || t->kind == JSON_NULL)
		return hash_bytes("", 0, h);
	if (t->kind != JSON_ESCAPED && t->kind != JSON_BAD_STRING) {
		const struct slice s = json_token_text(t);
		char digits[DECIMAL_U64_MAX];
		uint64_t v;
		const bool whole = t->kind == JSON_NUMBER && json_whole(s, &v);
		const struct slice same = whole ? decimal_slice(digits, v) : s;
		return hash_bytes(same.p, same.n, h);
	}
	const struct slice s = chrome_text(&st->scratch, t);
	st->r->no_memory |= s.p == NULL;
	return s.p != NULL ? hash_bytes(s.p, s.n, h) : h;
}

struct chrome_id chrome_find_id(const struct chrome_record *rec)
{
	const struct json_token *const id = &rec->of[CHROME_ID], *const id2 = &rec->of[CHROME_ID2];
	struct chrome_id found = { .token = *id };

	if (id->kind != JSON_ABSENT || id2->kind != JSON_OBJECT)
		return found;
	struct json_walk w = json_walk_again(id2);
	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key);
		const bool local = slice_is(key, "local"), global = slice_is(key, "global");
		if (global || (local && (found.local || found.token.kind == JSON_ABSENT)))
			found = (struct chrome_id){ w.value, local };
	}
	return found;
}

/* Hashes the members that both ends share. */
static uint64_t end_key(struct chrome_reading *st, uint64_t seed, bool named)
{
	const struct chrome_record *const rec = &st->rec;
	const struct chrome_id id = chrome_find_id(rec);
	uint64_t h = hash_text(st, seed, &id.token);

	h = hash_text(st, h, &rec->of[CHROME_CAT]);
	h = hash_text(st, h, &rec->of[CHROME_SCOPE]);
	if (named)
		h = hash_text(st, h, &rec->of[CHROME_NAME]);
	return id.local ? hash_text(st, h, &rec->of[CHROME_PID]) : h;
}

uint64_t chrome_async_key(struct chrome_reading *st)
{
	const bool named = st->rec.ph == 'S' || st->rec.ph == 'F';

	return end_key(st, named ? SEED_NAMED_ASYNC : SEED_ASYNC, named);
}

/* ---- numbers of arrows ---- */

/* Reads an id that tracetool wrote: the number of the arrow. */
static bool read_own_number(const struct json_token *t, uint64_t *v)
{
	const struct slice s = json_token_text(t);

	if (t->kind == JSON_UINT)
		return json_digits_any(s.p, s.n, v);
	return s.n > 2 && s.p[0] == '0' && s.p[1] == 'x' && json_hex(slice_of(s.p + 2, s.n - 2), v);
}

#define MAX_NUMBERS (1u << 19) /* known keys */

/* Returns 1, 2, 3 ... in order of arrival: writers store close numbers cheaply. */
static uint64_t number_of_key(struct chrome_reading *st, uint64_t key)
{
	const uint32_t n = table64_number(&st->arrows, key, &st->narrows, MAX_NUMBERS);

	st->r->no_memory |= n == 0;
	return n;
}

uint64_t chrome_arrow_number(struct chrome_reading *st)
{
	const struct chrome_record *const rec = &st->rec;
	uint64_t v;

	if (st->dialect == CHROME_DIALECT_TRACETOOL && read_own_number(&rec->of[CHROME_ID], &v))
		return v;
	return number_of_key(st, end_key(st, SEED_ARROW, true));
}

uint64_t chrome_bound_number(struct chrome_reading *st)
{
	return number_of_key(st, hash_text(st, SEED_BIND, &st->rec.of[CHROME_BIND_ID]));
}

/* ---- the window ---- */

/* clang-format off */
enum chrome_end_kind {
	END_B, END_E, END_ASYNC_B, END_ASYNC_E, END_S, END_F, END_OUT, END_STEP, END_IN, END_KINDS
};
/* clang-format on */

static const char end_letters[] = "BEbeSFstf"; /* ph, by enum chrome_end_kind */

struct chrome_end {
	uint64_t ts;
	uint64_t key, offset;
	uint32_t name, cat; /* hashes; 0: any */
	uint32_t task;      /* the thread for B and E, the process for others */
	uint8_t kind;
};

/* An open begin.  task: as in struct chrome_end. */
struct chrome_open {
	uint64_t offset;
	uint32_t next; /* index + 1 of the enclosing entry of this key, or of the next free entry; 0: none */
	uint32_t name, cat, task;
	uint8_t kind; /* END_KINDS: free */
};

static uint32_t hash_or_any(struct chrome_reading *st, const struct json_token *t)
{
	return json_token_text(t).n == 0 || t->kind == JSON_NULL ? 0
	                                                         : (uint32_t)hash_text(st, SEED_NAME, t) | 1;
}

/* Sets the innermost open entry of a key, or of a thread. */
static void set_top(struct chrome_reading *st, const struct chrome_end *end, uint32_t top)
{
	if (end->kind <= END_E)
		st->tasks[end->task]->open = top;
	else if ((st->open_keys.used > 4 * CHROME_MAX_OPEN && !table64_drop_below(&st->open_keys, 1)) ||
	         !table64_put(&st->open_keys, end->key, top))
		st->r->no_memory = true;
}

/* Returns index + 1; 0: none is open; TABLE_NONE: the key is not known. */
static uint32_t get_top(const struct chrome_reading *st, const struct chrome_end *end)
{
	return end->kind <= END_E ? st->tasks[end->task]->open : table64_get(&st->open_keys, end->key);
}

static void push_open(struct chrome_reading *st, const struct chrome_end *end)
{
	const uint32_t top = get_top(st, end);
	uint32_t i = st->free_open;

	if (st->in_use == CHROME_MAX_OPEN) {
		chrome_report_limit(
		    st, CHROME_LIMIT_OPEN,
		    "more than 262,144 spans and arrows are open: the others are not checked");
		return;
	}
	if (i == 0 && !reader_reserve(st->r, &st->open, st->nopen, &st->open_cap, sizeof *st->open))
		return;
	if (i != 0)
		st->free_open = st->open[i - 1].next;
	else
		i = ++st->nopen;
	st->in_use++;
	st->open[i - 1] = (struct chrome_open){ .offset = end->offset,
		                                .next = top != TABLE_NONE ? top : 0,
		                                .name = end->name,
		                                .cat = end->cat,
		                                .task = end->task,
		                                .kind = end->kind };
	set_top(st, end, i);
}

#define LOOK 64 /* maximum number of entries searched for a key, as in the engine */

/* Removes the innermost open entry of a name and category, one of the same process first.  Returns false if
 * there is none. */
static bool pop_open(struct chrome_reading *st, const struct chrome_end *end)
{
	const uint32_t top = get_top(st, end);
	uint32_t before = 0, found = 0, before_found = 0;

	for (uint32_t i = top != TABLE_NONE ? top : 0, n = 0; i != 0 && n < LOOK; n++) {
		const struct chrome_open *const o = &st->open[i - 1];
		const bool fits = (end->name == 0 || end->name == o->name) &&
		                  (end->kind != END_E || end->cat == 0 || end->cat == o->cat);
		if (fits && (found == 0 || end->task == o->task)) {
			found = i;
			before_found = before;
			if (end->task == o->task)
				break;
		}
		before = i;
		i = o->next;
	}
	if (found == 0)
		return false;
	if (before_found != 0 && end->kind == END_E)
		chrome_tally(st, CHROME_TALLY_CROSSING, end->offset);
	if (before_found != 0)
		st->open[before_found - 1].next = st->open[found - 1].next;
	else
		set_top(st, end, st->open[found - 1].next);
	st->open[found - 1] = (struct chrome_open){ .next = st->free_open, .kind = END_KINDS };
	st->free_open = found;
	st->in_use--;
	return true;
}

void chrome_tally(struct chrome_reading *st, enum chrome_tally which, uint64_t offset)
{
	if (st->tallies[which].count == 0 || offset < st->tallies[which].at.offset)
		st->tallies[which].at.offset = offset;
	st->tallies[which].count++;
}

/* An end whose begin may be one that was not pushed is not counted. */
static void tally_alone(struct chrome_reading *st, enum chrome_tally which, uint64_t offset)
{
	if (!st->limits[CHROME_LIMIT_OPEN])
		chrome_tally(st, which, offset);
}

/* An arrow does not end with its first end: more may follow. */
static void check_arrow(struct chrome_reading *st, const struct chrome_end *end)
{
	const uint32_t top = get_top(st, end);

	if (end->kind == END_OUT && top != TABLE_NONE && top != 0)
		chrome_tally(st, CHROME_TALLY_OUT_AGAIN, end->offset);
	else if (end->kind == END_OUT)
		push_open(st, end);
	else if (top == TABLE_NONE)
		tally_alone(st, CHROME_TALLY_IN_ALONE, end->offset);
	else if (end->kind == END_IN && top != 0)
		(void)pop_open(st, end);
}

static void check_end(struct chrome_reading *st, const struct chrome_end *end)
{
	static const enum chrome_tally alone[END_KINDS] = {
		[END_E] = CHROME_TALLY_E, [END_ASYNC_E] = CHROME_TALLY_ASYNC_E, [END_F] = CHROME_TALLY_F
	};

	if (end->kind >= END_OUT)
		check_arrow(st, end);
	else if (end->kind == END_B || end->kind == END_ASYNC_B || end->kind == END_S)
		push_open(st, end);
	else if (!pop_open(st, end))
		tally_alone(st, alone[end->kind], end->offset);
}

/* Checks the earlier half of the window, or all of it. */
static void check_window(struct chrome_reading *st, bool all)
{
	struct timed *const order = st->order;
	const uint32_t due = all ? st->nends : st->nends / 2 + 1;
	uint32_t n = 0;

	for (uint32_t i = 0; i < st->nends; i++)
		order[i] = (struct timed){ st->ends[i].ts, i };
	timed_sort(order, st->nends, order + CHROME_WINDOW);
	for (uint32_t i = 0; i < due; i++) {
		struct chrome_end *const end = &st->ends[order[i].at];
		check_end(st, end);
		end->kind = END_KINDS;
	}
	st->checked_to = due > 0 ? order[due - 1].ts : 0;
	for (uint32_t i = 0; i < st->nends; i++)
		if (st->ends[i].kind != END_KINDS)
			st->ends[n++] = st->ends[i];
	st->nends = n;
}

static void put_end(struct chrome_reading *st, const struct chrome_end *end)
{
	if (st->order == NULL)
		st->order = malloc(2 * CHROME_WINDOW * sizeof *st->order);
	if (note_failure(&st->r->no_memory,
	                 st->order == NULL ||
	                     !array_reserve(&st->ends, st->nends, &st->ends_cap, sizeof *st->ends)))
		return;
	if (end->ts < st->checked_to)
		chrome_tally(st, CHROME_TALLY_LATE, end->offset);
	st->ends[st->nends++] = *end;
	if (st->nends == CHROME_WINDOW)
		check_window(st, false);
}

void chrome_check_end(struct chrome_reading *st, const struct chrome_task *task)
{
	const struct chrome_record *const rec = &st->rec;
	const char *const letter = memchr(end_letters, rec->ph, sizeof end_letters - 1);

	if (letter == NULL)
		return;
	const enum chrome_end_kind kind = (enum chrome_end_kind)(letter - end_letters);
	struct chrome_end end = { .ts = rec->ts, .offset = chrome_offset(st, rec->p), .kind = (uint8_t)kind };
	end.task = kind <= END_E ? task->index : task->owner->index;
	if (kind <= END_ASYNC_E)
		end.name = hash_or_any(st, &rec->of[CHROME_NAME]);
	if (kind <= END_E)
		end.cat = hash_or_any(st, &rec->of[CHROME_CAT]);
	else
		end.key = kind >= END_OUT ? end_key(st, SEED_ARROW, true) : chrome_async_key(st);
	put_end(st, &end);
}

void chrome_check_bound(struct chrome_reading *st, const struct chrome_task *task)
{
	const struct chrome_record *const rec = &st->rec;
	const bool in = rec->of[CHROME_FLOW_IN].kind == JSON_TRUE,
	           out = rec->of[CHROME_FLOW_OUT].kind == JSON_TRUE;
	struct chrome_end end = { .ts = rec->ts,
		                  .key = hash_text(st, SEED_BIND, &rec->of[CHROME_BIND_ID]),
		                  .offset = chrome_offset(st, rec->p) };

	if (!in && !out)
		return;
	end.task = task->owner->index;
	end.kind = in && out ? END_STEP : out ? END_OUT : END_IN;
	put_end(st, &end);
}

/* ---- end of the input ---- */

static const struct {
	enum chrome_rule rule;
	const char *text;
} tally_rows[CHROME_TALLIES] = {
#define TALLY(tally, rule, text) { CHROME_RULE_##rule, text },
	CHROME_TALLY_ROWS(TALLY)
#undef TALLY
};

void chrome_end(struct reader *r)
{
	static const enum chrome_tally of_kind[END_KINDS] = {
		[END_B] = CHROME_TALLY_B, [END_ASYNC_B] = CHROME_TALLY_ASYNC_B, [END_S] = CHROME_TALLY_S
	};
	struct chrome_reading *const st = r->state;

	if (st->nends > 0)
		check_window(st, true);
	for (uint32_t i = 0; i < st->nopen; i++)
		if (st->open[i].kind < END_OUT)
			chrome_tally(st, of_kind[st->open[i].kind], st->open[i].offset);
	for (unsigned i = 0; i < CHROME_TALLIES; i++)
		finding_add_tally(r->findings, &chrome_rules[tally_rows[i].rule], &st->tallies[i], "%s",
		                  tally_rows[i].text);
}

void chrome_pairs_free(struct chrome_reading *st)
{
	free(st->ends);
	free(st->order);
	free(st->open);
	table64_free(&st->open_keys);
	table64_free(&st->arrows);
}
