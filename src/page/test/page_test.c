/* The data of the page, compared with the innermost span at each moment; and its texts. */
#include <criterion/criterion.h>

#include "output/text.h"
#include "page/page.h"
#include "test/support/splitmix.h"

enum { MOMENTS = 40000, SPANS = 1500, TRACKS = 3, NAMES = 5 };

static const char *const names[NAMES] = { "a", "b", "c", "d", "wait" };

/* The events of a test. */
struct made {
	struct class plain, waits;
	struct plan plan;
	struct track tracks[TRACKS];
	struct event events[TRACKS * SPANS];
	uint32_t n;
	uint8_t what[TRACKS][MOMENTS]; /* number of the innermost name + 1; 0: idle */
};

static int by_time(const void *a, const void *b)
{
	const struct event *const x = a, *const y = b;

	if (x->ts != y->ts)
		return x->ts > y->ts ? 1 : -1;
	if (x->dur != y->dur)
		return x->dur < y->dur ? 1 : -1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Spans that nest or overlap in part. */
static struct made *make(uint64_t seed)
{
	struct made *const m = calloc(1, sizeof *m);
	uint64_t state = seed;

	m->plan.waiting = true;
	m->plain.category = slice_str("work");
	m->waits = (struct class){ .category = slice_str("rest"), .plan = &m->plan };
	for (uint32_t k = 0; k < TRACKS; k++) {
		m->tracks[k] = (struct track){ .index = k, .kind = TRACK_THREAD, .name = slice_str("t") };
		for (uint32_t i = 0; i < SPANS; i++) {
			const uint64_t name = splitmix_next(&state) % NAMES,
			               ts = splitmix_next(&state) % (MOMENTS - 1);
			const uint64_t dur =
			    1 + splitmix_next(&state) % (splitmix_next(&state) % 7 == 0 ? 900 : 30);
			m->events[m->n++] = (struct event){
				.ts = ts,
				.dur = ts + dur <= MOMENTS ? dur : MOMENTS - ts,
				.name = slice_str(names[name]),
				.cls = name == NAMES - 1 ? &m->waits : &m->plain,
				.track = &m->tracks[k],
				.offset = i,
				.phase = PHASE_SPAN,
			};
		}
	}
	qsort(m->events, m->n, sizeof *m->events, by_time);
	uint64_t starts[TRACKS][MOMENTS] = { 0 }, ends[TRACKS][MOMENTS] = { 0 };
	for (uint32_t i = 0; i < m->n; i++) {
		const struct event *const e = &m->events[i];
		const uint32_t k = e->track->index;
		for (uint64_t t = e->ts; t < e->ts + e->dur; t++)
			if (m->what[k][t] == 0 || starts[k][t] != e->ts || ends[k][t] != e->ts + e->dur) {
				for (unsigned n = 0; n < NAMES; n++)
					if (e->name.p == names[n])
						m->what[k][t] = (uint8_t)(n + 1);
				starts[k][t] = e->ts;
				ends[k][t] = e->ts + e->dur;
			}
	}
	return m;
}

static void read_all(struct page *p, struct made *m, uint32_t step)
{
	page_init(p);
	page_begin(p, PAGE_TIME | PAGE_STACKS, PAGE_NEW);
	for (uint32_t i = 0; i < m->n; i += step) {
		const struct batch b = { .events = &m->events[i], .n = i + step <= m->n ? step : m->n - i };
		cr_assert(page_batch(p, &b));
	}
	cr_assert(page_end(p));
}

Test(page, bins_are_the_time_of_innermost_spans)
{
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct made *const m = make(seed);
		struct page p;

		read_all(&p, m, 100);
		cr_assert_gt(p.shift, 0, "the times need wider bins");
		cr_assert_leq((p.last_ns >> p.shift) - (p.first_ns >> p.shift) + 1, PAGE_BINS);
		for (uint32_t k = 0; k < TRACKS; k++) {
			const struct page_track *const t = &p.tracks[k];
			uint64_t busy = 0, waiting = 0;
			for (uint32_t b = 0; b < t->nbins; b++) {
				const uint64_t from = (t->first_bin + b) << p.shift;
				double want[2] = { 0, 0 };
				for (uint64_t i = from; i < from + (UINT64_C(1) << p.shift) && i < MOMENTS;
				     i++)
					if (m->what[k][i] != 0)
						want[m->what[k][i] == NAMES]++;
				cr_assert_float_eq((double)t->bins[b].busy, want[0], 1e-3);
				cr_assert_float_eq((double)t->bins[b].waiting, want[1], 1e-3);
				busy += (uint64_t)want[0];
				waiting += (uint64_t)want[1];
			}
			cr_assert_eq((uint64_t)total_of(t->busy), busy);
			cr_assert_eq((uint64_t)total_of(t->waiting), waiting);
			cr_assert_eq(t->count, SPANS);
		}
		page_free(&p);
		free(m);
	}
}

Test(page, stacks_and_balance_add_up_to_the_bins)
{
	struct made *const m = make(77);
	uint64_t self = 0, waiting = 0, cells = 0, want[2] = { 0, 0 };
	struct page p;

	read_all(&p, m, 7);
	for (uint32_t i = 1; i < p.flames[PLAN_STACK_ANY].nnodes; i++) {
		self += p.flames[PLAN_STACK_ANY].nodes[i].self[PAGE_NEW];
		waiting += p.flames[PLAN_STACK_ANY].nodes[i].waiting[PAGE_NEW];
		cr_assert_lt(p.flames[PLAN_STACK_ANY].nodes[i].parent, i);
		cr_assert_eq(p.flames[PLAN_STACK_ANY].nodes[i].depth,
		             p.flames[PLAN_STACK_ANY].nodes[p.flames[PLAN_STACK_ANY].nodes[i].parent].depth +
		                 1);
	}
	for (uint32_t i = 0; i < p.ncells[1]; i++)
		cells += p.cells[1][i].ns;
	for (uint32_t k = 0; k < TRACKS; k++)
		for (uint32_t i = 0; i < MOMENTS; i++)
			if (m->what[k][i] != 0)
				want[m->what[k][i] == NAMES]++;
	cr_assert_eq(self, want[0]);
	cr_assert_eq(waiting, want[1]);
	cr_assert_eq(cells, want[0]);
	page_free(&p);
	free(m);
}

/* The node of a stack of names of one letter; UINT32_MAX: there is none. */
static uint32_t node_at(const struct page *p, const char *stack)
{
	uint32_t at = 0;

	for (; *stack != '\0' && at != UINT32_MAX; stack++) {
		uint32_t next = UINT32_MAX;
		for (uint32_t i = at + 1; i < p->flames[PLAN_STACK_ANY].nnodes; i++)
			if (p->flames[PLAN_STACK_ANY].nodes[i].parent == at &&
			    slice_equal(page_name(p, p->flames[PLAN_STACK_ANY].nodes[i].name),
			                slice_of(stack, 1)))
				next = i;
		at = next;
	}
	return at;
}

Test(page, of_equal_spans_the_later_is_around_the_earlier)
{
	struct class plain = { .category = slice_str("c") };
	struct track track = { .index = 0, .kind = TRACK_THREAD, .name = slice_str("t") };
	static const struct {
		uint64_t ts, dur;
		const char *name;
		uint16_t row; /* of the timeline */
	} spans[] = {
		{ 0, 20, "p", 0 }, { 5, 15, "a", 3 }, { 5, 15, "b", 2 }, { 5, 15, "c", 1 }, { 7, 3, "k", 4 }
	};
	struct event e[5];
	const struct batch b = { .events = e, .n = 5 };
	struct page p;

	for (uint32_t i = 0; i < 5; i++)
		e[i] = (struct event){ .ts = spans[i].ts,
			               .dur = spans[i].dur,
			               .name = slice_str(spans[i].name),
			               .cls = &plain,
			               .track = &track,
			               .phase = PHASE_SPAN };
	page_init(&p);
	page_begin(&p, PAGE_TIME | PAGE_STACKS, PAGE_NEW);
	cr_assert(page_batch(&p, &b));
	cr_assert(page_end(&p));
	for (uint32_t i = 0; i < 5; i++)
		cr_assert_eq(p.tracks[0].spans[i].depth, spans[i].row, "%s", spans[i].name);
	cr_assert_eq(p.tracks[0].depth, 4);
	static const struct {
		const char *stack;
		uint64_t self;
	} want[] = { { "p", 5 }, { "pc", 0 }, { "pcb", 0 }, { "pcba", 12 }, { "pcbak", 3 } };
	for (uint32_t i = 0; i < 5; i++) {
		const uint32_t at = node_at(&p, want[i].stack);
		cr_assert_neq(at, UINT32_MAX, "%s", want[i].stack);
		cr_assert_eq(p.flames[PLAN_STACK_ANY].nodes[at].self[PAGE_NEW], want[i].self, "%s",
		             want[i].stack);
		cr_assert_eq(p.flames[PLAN_STACK_ANY].nodes[at].count[PAGE_NEW], 1, "%s", want[i].stack);
	}
	uint64_t count = 0;
	for (uint32_t i = 1; i < p.flames[PLAN_STACK_ANY].nnodes; i++)
		count += p.flames[PLAN_STACK_ANY].nodes[i].count[PAGE_NEW];
	cr_assert_eq(count, 5);
	page_free(&p);
}

/* A span that ends with the one around it covers it for the rest of its time. */
Test(page, rows_of_the_timeline)
{
	struct class plain = { .category = slice_str("c") };
	struct track track = { .index = 0, .kind = TRACK_THREAD, .name = slice_str("t") };
	static const struct {
		uint64_t ts, dur;
		uint16_t row;
	} spans[] = { { 0, 100, 0 }, { 10, 90, 1 },  { 20, 5, 2 },  { 30, 40, 2 }, { 40, 30, 3 },
		      { 50, 10, 4 }, { 55, 10, 5 },  { 62, 6, 4 },  { 66, 2, 5 },  { 90, 20, 2 },
		      { 95, 1, 3 },  { 105, 10, 0 }, { 112, 10, 1 } };
	enum { N = sizeof spans / sizeof *spans };
	struct event e[N];
	const struct batch b = { .events = e, .n = N };
	struct page p;

	for (uint32_t i = 0; i < N; i++)
		e[i] = (struct event){ .ts = spans[i].ts,
			               .dur = spans[i].dur,
			               .name = SLICE_LIT("a"),
			               .cls = &plain,
			               .track = &track,
			               .phase = PHASE_SPAN };
	page_init(&p);
	page_begin(&p, PAGE_TIME, PAGE_NEW);
	cr_assert(page_batch(&p, &b));
	cr_assert(page_end(&p));
	for (uint32_t i = 0; i < N; i++)
		cr_expect_eq(p.tracks[0].spans[i].depth, spans[i].row, "%u: %u", i,
		             p.tracks[0].spans[i].depth);
	page_free(&p);
}

Test(page, batches_make_no_difference)
{
	struct made *const m = make(5);
	struct page a, b;

	read_all(&a, m, 1);
	read_all(&b, m, 4000);
	cr_assert_eq(a.shift, b.shift);
	cr_assert_eq(a.flames[PLAN_STACK_ANY].nnodes, b.flames[PLAN_STACK_ANY].nnodes);
	for (uint32_t k = 0; k < TRACKS; k++) {
		cr_assert_eq(a.tracks[k].nbins, b.tracks[k].nbins);
		cr_assert_arr_eq(a.tracks[k].bins, b.tracks[k].bins,
		                 a.tracks[k].nbins * sizeof(struct page_bin));
	}
	page_free(&a);
	page_free(&b);
	free(m);
}

Test(page, thinning_keeps_the_longest_spans)
{
	struct made *const m = make(9);
	struct page p;

	read_all(&p, m, 100);
	cr_assert_eq(p.all_spans, TRACKS * SPANS);
	sketch_thin(&p, 300);
	cr_assert_leq(p.all_spans, 300);
	for (uint32_t k = 0; k < TRACKS; k++) {
		uint64_t longest = 0, kept = 0, before = 0;
		for (uint32_t i = 0; i < m->n; i++)
			if (m->events[i].track->index == k && m->events[i].dur > longest)
				longest = m->events[i].dur;
		for (uint32_t i = 0; i < p.tracks[k].nspans; i++) {
			kept = p.tracks[k].spans[i].dur > kept ? p.tracks[k].spans[i].dur : kept;
			cr_assert_geq(p.tracks[k].spans[i].start, before, "in order of start");
			before = p.tracks[k].spans[i].start;
		}
		cr_assert_eq(kept, longest);
	}
	page_free(&p);
	free(m);
}

Test(page, times_near_the_end_of_the_clock)
{
	struct class plain = { .category = slice_str("c") };
	struct track track = { .index = 0, .kind = TRACK_THREAD, .name = slice_str("t") };
	struct event e[] = {
		{ .ts = 0,
		  .dur = 5,
		  .name = slice_str("a"),
		  .cls = &plain,
		  .track = &track,
		  .phase = PHASE_SPAN },
		{ .ts = UINT64_MAX - 10,
		  .dur = UINT64_MAX,
		  .name = slice_str("b"),
		  .cls = &plain,
		  .track = &track,
		  .phase = PHASE_SPAN },
	};
	const struct batch b = { .events = e, .n = 2 };
	struct page p;

	page_init(&p);
	page_begin(&p, PAGE_TIME | PAGE_STACKS, PAGE_NEW);
	cr_assert(page_batch(&p, &b));
	cr_assert(page_end(&p));
	cr_assert_eq((uint64_t)total_of(p.tracks[0].busy), 15);
	cr_assert_leq(p.tracks[0].nbins, PAGE_BINS);
	page_free(&p);
}

Test(page, too_many_tracks_and_stacks)
{
	enum { MANY = 3000 };
	struct class plain = { .category = slice_str("c") };
	struct track *const tracks = calloc(MANY, sizeof *tracks);
	struct event *const events = calloc(MANY, sizeof *events);
	struct page p;

	for (uint32_t i = 0; i < MANY; i++) {
		tracks[i] = (struct track){ .index = i, .kind = TRACK_THREAD, .name = slice_str("t") };
		events[i] = (struct event){ .ts = i * 10,
			                    .dur = 1 << 20,
			                    .name = slice_str("a"),
			                    .cls = &plain,
			                    .track = &tracks[i],
			                    .phase = PHASE_SPAN };
	}
	const struct batch b = { .events = events, .n = MANY };
	page_init(&p);
	page_begin(&p, PAGE_TIME | PAGE_STACKS, PAGE_NEW);
	cr_assert(page_batch(&p, &b));
	cr_assert(page_end(&p));
	cr_assert_eq(p.nwith_spans, MANY);
	cr_assert_eq(p.nbinned, PAGE_TRACKS);
	cr_assert_leq(p.all_bins, PAGE_ALL_BINS + PAGE_BINS);
	page_free(&p);
	free(tracks);
	free(events);
}

struct visited {
	uint64_t self;
	uint32_t n;
};

static void add_visited(void *ctx, const struct page_node *node)
{
	struct visited *const v = ctx;

	v->self += node->self[PAGE_NEW];
	v->n++;
}

Test(page, samples_beyond_the_limits_count_for_the_frames_around)
{
	enum { DEEP = 5000, STACKS = 400 };
	struct plan plan = { .stack = SLICE_LIT("frames"), .stack_of = PLAN_STACK_CPU };
	struct class cls = { .category = SLICE_LIT("c"), .plan = &plan };
	struct track track = { .index = 0, .kind = TRACK_THREAD, .name = SLICE_LIT("t") };
	struct value *const frames = calloc(DEEP, sizeof *frames);
	struct field f = { .name = SLICE_LIT("frames") };
	struct event e = { .cls = &cls, .track = &track, .phase = PHASE_INSTANT, .nfields = 1 };
	const struct batch b = { .events = &e, .n = 1, .fields = &f };
	struct visited v = { 0 };
	uint32_t shown, all, deepest = 0;
	struct page p;

	page_init(&p);
	page_begin(&p, PAGE_STACKS, PAGE_NEW);
	for (uint32_t i = 0; i < STACKS; i++) { /* the leaf is first: stacks share no more than the root */
		for (uint32_t k = 0; k < DEEP; k++)
			frames[k] = value_u64(k + 1 < DEEP ? i : STACKS);
		f.value = (struct value){ .type = VALUE_LIST, .count = i % 2 == 0 ? DEEP : 3 };
		f.value.values = frames + DEEP - f.value.count;
		cr_assert(page_batch(&p, &b));
	}
	f.value.count = 0;
	cr_assert(page_batch(&p, &b));
	e.nfields = 0;
	cr_assert(page_batch(&p, &b));
	cr_assert(page_end(&p));
	struct page_flame *const flame = &p.flames[PLAN_STACK_CPU];
	cr_assert_eq(flame->samples[PAGE_NEW], STACKS + 2);
	cr_assert_eq(flame->bare[PAGE_NEW], 2);
	cr_assert(flame_visit(flame, 1000, add_visited, &v, &shown, &all));
	cr_assert_eq(v.self, STACKS);
	for (uint32_t i = 0; i < flame->nnodes; i++)
		deepest = flame->nodes[i].depth > deepest ? flame->nodes[i].depth : deepest;
	cr_assert_eq(deepest, PAGE_DEPTH);
	cr_assert_eq(v.n, shown);
	cr_assert_leq(shown, 1000);
	cr_assert_leq(all, PAGE_NODES);
	page_free(&p);
	free(frames);
}

static void shows(const char *given, size_t n, const char *want)
{
	struct text t = { .p = NULL };

	page_html(&t, slice_of(given, n));
	text_char(&t, '\0');
	cr_assert_str_eq(t.p, want);
	text_free(&t);
}

Test(page, words)
{
	shows("<b>&\"", 5, "&lt;b&gt;&amp;&quot;");
	shows("", 0, "(no name)");
	shows("a\0b", 3, "a\\x00b");
	shows("\xe2\x80\xae"
	      "x",
	      4, "\\u{202e}x");
	shows("a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81"
	      "b",
	      12,
	      "a\xcc\x81\xcc\x81\xcc\x81"
	      "b");
	shows("\xff", 1, "\\xff");
}

Test(page, long_words_lose_their_middle)
{
	static char name[1 << 20];
	struct text t = { .p = NULL };

	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = 'y';
	page_visible(&t, slice_of(name, sizeof name));
	cr_assert_lt(t.n, 220);
	cr_assert_eq(t.p[t.n - 1], 'y');
	text_char(&t, '\0');
	cr_assert_not_null(strstr(t.p, "(1048576 bytes)"));
	text_free(&t);
}

Test(page, script_data_has_no_markup)
{
	struct text json = { .p = NULL }, t = { .p = NULL };

	text_str(&json, "{\"a\":\"</script><!--&\"}");
	page_script(&t, &json);
	text_char(&t, '\0');
	cr_assert_str_eq(t.p, "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}");
	text_free(&json);
	text_free(&t);
}
