/* Time of each track: busy, waiting, or idle; and its longest gaps, in which it is not busy, with the spans
 * that were busy on other tracks meanwhile, of the process or of all.  A ring keeps the last busy periods of
 * all tracks; at most SHARE_LOOKS of them are examined per gap. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/event_traits.h"
#include "base/compiler.h"
#include "output/text_visible.h"
#include "stats/tables/tables.h"

#define SHARE_RING 65536U  /* busy periods that are kept */
#define SHARE_LOOKS 8192U  /* of them, examined per gap */
#define SHARE_TRACKS 4096U /* tracks from the process on whose open spans count in a gap */
#define SHARE_SHOWN 3U     /* names of a gap, those with the most time */
#define NAME_BYTES 256     /* of a name, before it is shortened */

struct share_track {
	const struct track *track; /* NULL: no span yet */
	struct total busy, waiting;
	uint64_t gap_from; /* end of the last busy period */
	bool worked, selected;
};

struct share_period {
	uint64_t from, to, added_at; /* added_at: time of the event at which it was added, at least `to` */
	uint32_t process, whole, name;
	bool part; /* of a track that is a part of another */
};

struct share_gap {
	const struct track *track;
	uint64_t from, to;
};

/* In the texts of a gap: a name, and its time on all tracks. */
struct share_name {
	uint128 ns;
	uint32_t name;
};

/* Index of the track of which a track is a part, such as the states of a thread: its parts are not other
 * tracks. */
static uint32_t whole_of(const struct track *t)
{
	while (t->is_child && t->parent != NULL)
		t = t->parent;
	return t->index;
}

static void spent(void *ctx, const struct track *track, uint64_t from, uint64_t to, uint64_t what)
{
	struct share_table *const h = ctx;

	if (what == ACTIVITY_IDLE || h->no_memory)
		return;
	if (note_failure(&h->no_memory,
	                 !array_reach(&h->tracks, &h->ntracks, track->index, sizeof *h->tracks)))
		return;
	struct share_track *const k = &h->tracks[track->index];
	if ((what & 1) != 0) {
		total_add(&k->waiting, to - from);
		return;
	}
	total_add(&k->busy, to - from);
	if (k->worked && from > k->gap_from && h->gaps.limit > 0) {
		if (note_failure(&h->no_memory,
		                 !array_reserve(&h->found, h->nfound, &h->found_cap, sizeof *h->found)))
			return;
		h->found[h->nfound++] = (struct share_gap){ track, k->gap_from, from };
	}
	k->worked = true;
	k->gap_from = to;
	h->ring[h->nperiods++ % SHARE_RING] = (struct share_period){ from,
		                                                     to,
		                                                     h->now,
		                                                     track_process(track)->index,
		                                                     whole_of(track),
		                                                     (uint32_t)(what >> 1),
		                                                     track->is_child };
}

void share_begin(struct share_table *h, struct arena *text, uint64_t gaps)
{
	h->activity = (struct activity){ .spent = spent, .ctx = h };
	h->gaps.limit = (uint32_t)gaps;
	names_init(&h->names, text);
}

void share_free(struct share_table *h)
{
	activity_free(&h->activity);
	longest_free(&h->gaps);
	names_free(&h->names);
	free(h->tracks);
	free(h->found);
	free(h->ring);
	free(h->meanwhile);
}

/* ---- gaps ---- */

static bool is_longer(const struct share_name *a, const struct share_name *b)
{
	return a->ns != b->ns ? a->ns > b->ns : a->name < b->name;
}

/* Finds the names that were busy longest on other tracks in a gap; returns their number.  process: only its
 * tracks count; NULL: all do, except parts: the states of threads would only say "running". */
static unsigned busy_meanwhile(struct share_table *h, const struct share_gap *gap,
                               const struct track *process, struct share_name longest[SHARE_SHOWN])
{
	const uint32_t first = process != NULL ? process->index : 0, whole = whole_of(gap->track);
	uint32_t seen[SHARE_LOOKS], nseen = 0;
	unsigned n = 0;
	bool any = false;

	for (uint32_t i = first; i < h->activity.ntracks && i - first < SHARE_TRACKS; i++) {
		const struct track *const other = h->activity.tracks[i].track;
		if (other != NULL && other != gap->track &&
		    (process == NULL || track_process(other) == process)) {
			activity_advance(&h->activity, i, gap->to);
			any = true;
		}
	}
	if (!any)
		return 0;
	for (uint64_t i = 0; i < SHARE_LOOKS && i < h->nperiods && i < SHARE_RING; i++) {
		const struct share_period *const p = &h->ring[(h->nperiods - 1 - i) % SHARE_RING];
		if (p->added_at < gap->from)
			break;
		const uint64_t from = p->from > gap->from ? p->from : gap->from,
		               to = p->to < gap->to ? p->to : gap->to;
		if (from >= to || p->whole == whole ||
		    (process != NULL ? p->process != process->index : p->part))
			continue;
		if (h->meanwhile[p->name] == 0)
			seen[nseen++] = p->name;
		h->meanwhile[p->name] += to - from;
	}
	for (uint32_t i = 0; i < nseen; i++) {
		const struct share_name name = { h->meanwhile[seen[i]], seen[i] };
		unsigned at = n < SHARE_SHOWN ? n++ : SHARE_SHOWN;
		for (; at > 0 && is_longer(&name, &longest[at - 1]); at--)
			if (at < SHARE_SHOWN)
				longest[at] = longest[at - 1];
		if (at < SHARE_SHOWN)
			longest[at] = name;
		h->meanwhile[seen[i]] = 0;
	}
	return n;
}

static bool add_gap(struct share_table *h, const struct share_gap *gap)
{
	const struct longest_item item = { .length = gap->to - gap->from,
		                           .ts = gap->from,
		                           .track = gap->track };
	struct share_name names[SHARE_SHOWN];

	memset(names, 0, sizeof names); /* also between the members */
	if (!longest_wants(&h->gaps, gap->track->index, item.length))
		return true;
	unsigned n = busy_meanwhile(h, gap, track_process(gap->track), names);
	uint128 ns = 0;
	for (unsigned i = 0; i < n; i++)
		ns += names[i].ns;
	/* streams of a GPU, and ranks of one thread, wait for other processes */
	if (h->several && ns < item.length / 2)
		n = busy_meanwhile(h, gap, NULL, names);
	return longest_add(&h->gaps, gap->track->index, item, SLICE_LIT(""), SLICE_LIT(""),
	                   slice_of((const char *)names, sizeof *names * n));
}

/* Handles the gaps that were found; this may find gaps of other tracks. */
static bool add_gaps(struct share_table *h)
{
	for (uint32_t i = 0; i < h->nfound && !h->no_memory; i++) {
		const struct share_gap gap = h->found[i]; /* the list may move */
		h->no_memory |= !add_gap(h, &gap);
	}
	h->nfound = 0;
	return !h->no_memory;
}

bool share_add(struct share_table *h, const struct event *e)
{
	const bool selected = (e->flags & EVENT_LEFT_OUT) == 0;

	h->first_ns = h->any ? h->first_ns : e->ts;
	h->any = true;
	h->last_ns = event_end(e) > h->last_ns ? event_end(e) : h->last_ns;
	if (e->phase != PHASE_SPAN || event_is_async(e))
		return true;
	h->now = e->ts;
	if (h->ring == NULL && (h->ring = calloc(SHARE_RING, sizeof *h->ring)) == NULL)
		return false;
	if (h->meanwhile == NULL && (h->meanwhile = calloc(NAMES_MAX + 1, sizeof *h->meanwhile)) == NULL)
		return false;
	if (!array_reach(&h->tracks, &h->ntracks, e->track->index, sizeof *h->tracks))
		return false;
	h->tracks[e->track->index].track = e->track;
	h->process = h->process != NULL ? h->process : track_process(e->track);
	h->several |= track_process(e->track) != h->process;
	h->tracks[e->track->index].selected |= selected;
	uint32_t name = names_index(&h->names, e->name, 0);
	if (name == NAMES_FAILED)
		return false;
	name = name == NAMES_OTHER ? NAMES_MAX : name;
	return activity_add(&h->activity, e->track, e->ts, event_end(e),
	                    (uint64_t)name << 1 | event_is_waiting(e), (e->flags & EVENT_INNER) != 0) &&
	       add_gaps(h);
}

bool share_end(struct share_table *h)
{
	h->now = UINT64_MAX;
	activity_end(&h->activity);
	if (!add_gaps(h))
		return false;
	longest_end(&h->gaps);
	return true;
}

/* ---- report ---- */

struct share_row {
	const struct track *track;
	uint128 busy, waiting;
};

static int busiest_first(const void *a, const void *b)
{
	const struct share_row *const x = a, *const y = b;

	return x->busy != y->busy ? ORDER(y->busy, x->busy) : ORDER(x->track->index, y->track->index);
}

static const struct cell_column heads[] = {
	{ { "process", COLUMN_NAME, 10, 3 }, "process" },
	{ { "track", COLUMN_NAME, 12, 0 }, "track" },
	{ { "busy", COLUMN_NUMBER, 0, 2 }, "busy_ns" },
	{ { "busy %", COLUMN_NUMBER, 0, 0 }, "busy" },
	{ { "", COLUMN_WORD, 0, 4 }, NULL },
	{ { "waiting", COLUMN_NUMBER, 0, 2 }, "waiting_ns" },
	{ { "waiting %", COLUMN_NUMBER, 0, 0 }, "waiting" },
	{ { "idle", COLUMN_NUMBER, 0, 2 }, "idle_ns" },
	{ { "idle %", COLUMN_NUMBER, 0, 0 }, "idle" },
};
static const struct cell_column gap_heads[] = {
	{ { "gap", COLUMN_NUMBER, 0, 0 }, "gap_ns" },
	{ { "at", COLUMN_NUMBER, 0, 0 }, "ts_ns" },
	{ { "process", COLUMN_NAME, 10, 3 }, "process" },
	{ { "track", COLUMN_NAME, 12, 0 }, "track" },
	{ { "busy meanwhile", COLUMN_LIST, 20, 0 }, "meanwhile" },
};

static void put_time(struct cells *c, uint128 ns, uint64_t whole, bool bar)
{
	const uint128 share = millionths(ns, whole);

	cells_time(c, ns);
	cells_share(c, share);
	if (bar)
		cells_bar(c, (double)(uint64_t)share / 1e6);
}

/* "query 3.20 ms, search 1.00 ms"; in JSON a list. */
static void put_names(const struct share_table *h, struct cells *c, const struct longest_item *i)
{
	struct text line = { .p = NULL }, shown = { .p = NULL }, visible = { .p = NULL };

	if (c->form == FORM_JSON)
		json_out_begin(c->json, "meanwhile", "[");
	for (uint32_t at = 0; at + sizeof(struct share_name) <= i->fields; at += sizeof(struct share_name)) {
		struct share_name n;
		memcpy(&n, longest_fields(i).p + at, sizeof n);
		const struct slice name =
		    n.name == NAMES_MAX ? SLICE_LIT(NAMES_OTHER_TEXT) : names_text(&h->names, n.name);
		if (c->form == FORM_JSON) {
			json_out_begin(c->json, NULL, "{");
			json_out_slice(c->json, "name", name);
			text_u128(json_out_value(c->json, "busy_ns"), n.ns);
			json_out_end(c->json, "}");
			continue;
		}
		text_str(&line, at > 0 ? ", " : "");
		text_clear(&shown);
		text_clear(&visible);
		text_visible_ends(&visible, name.n > 0 ? name : SLICE_LIT("(no name)"), NAME_BYTES);
		text_shorten(&shown, slice_of(visible.p, visible.n), 32);
		if (c->form == FORM_HTML)
			text_isolated(&line, slice_of(shown.p, shown.n));
		else
			text_add(&line, shown.p, shown.n);
		text_char(&line, ' ');
		text_time_short(&line, n.ns);
	}
	if (c->form == FORM_JSON)
		json_out_end(c->json, "]");
	else
		cells_visible(c, slice_of(line.p, line.n));
	c->t->failed |= line.failed || shown.failed || visible.failed;
	text_free(&line);
	text_free(&shown);
	text_free(&visible);
}

static bool put_gaps(const struct share_table *h, struct cells *c, const struct share_row *rows, size_t n,
                     const struct track_labels *labels)
{
	cells_begin(c, "longest gaps of each track", "gaps", gap_heads, COUNT_OF(gap_heads));
	for (size_t i = 0; i < n; i++) {
		const struct longest_group *const g = longest_of(&h->gaps, rows[i].track->index);
		for (uint32_t k = 0; k < g->n; k++) {
			cells_row(c);
			cells_time(c, g->list[k].length);
			cells_at(c, g->list[k].ts);
			cells_name(c, labels->of[track_process(rows[i].track)->index]);
			cells_name(c, labels->of[rows[i].track->index]);
			put_names(h, c, &g->list[k]);
		}
	}
	return cells_end(c);
}

bool share_put(const struct share_table *h, struct cells *c)
{
	struct share_row *const rows = malloc(((size_t)h->ntracks + 1) * sizeof *rows);
	const struct track **const tracks = calloc((size_t)h->ntracks + 1, sizeof *tracks);
	const uint64_t whole = h->last_ns - h->first_ns;
	struct track_labels labels = { .of = NULL };
	size_t n = 0;

	for (uint32_t i = 0; rows != NULL && tracks != NULL && i < h->ntracks; i++)
		if (h->tracks[i].selected) {
			rows[n++] = (struct share_row){ h->tracks[i].track, total_of(h->tracks[i].busy),
				                        total_of(h->tracks[i].waiting) };
			tracks[i] = h->tracks[i].track;
		}
	bool ok = rows != NULL && tracks != NULL && track_labels_make(&labels, tracks, h->ntracks);
	array_sort(rows, n, sizeof *rows, busiest_first);
	cells_begin(c, "time of tracks", "shares", heads, COUNT_OF(heads));
	for (size_t i = 0; ok && i < n; i++) {
		cells_row(c);
		cells_name(c, labels.of[track_process(rows[i].track)->index]);
		cells_name(c, labels.of[rows[i].track->index]);
		put_time(c, rows[i].busy, whole, true);
		put_time(c, rows[i].waiting, whole, false);
		put_time(c, whole - rows[i].busy - rows[i].waiting, whole, false);
	}
	ok = cells_end(c) && ok;
	if (ok && h->gaps.limit > 0 && c->form != FORM_CSV)
		ok = put_gaps(h, c, rows, n, &labels);
	if (h->activity.missed > 0)
		cells_note(c, "not in the busy time, as too many spans are open: %" PRIu64,
		           h->activity.missed);
	track_labels_free(&labels);
	free(tracks);
	free(rows);
	return ok;
}
