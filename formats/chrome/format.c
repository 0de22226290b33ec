#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "chrome/chrome.h"

/* ---- parts ---- */

/*
 * chrome-dir: a folder of documents that open by themselves, for traces that
 * are too large for a viewer.  Events come in the order of time, so a part is
 * a stretch of it.  A part names the processes and threads that have events in
 * it.  All parts stay without their end until the facts of the whole trace are
 * known.
 */
#define SPLIT_SIZE 104857600U /* what viewers in a browser still show without delay */
#define SPLIT_SIZE_LEAST 1024U

static const char *chrome_part_size_mistake(const char *arg)
{
	uint64_t n;

	if (units_bytes(slice_str(arg), &n) && n >= SPLIT_SIZE_LEAST)
		return NULL;
	return "takes a number of bytes, at least 1024";
}

void chrome_parts_free(struct chrome_parts *p)
{
	text_free(&p->line.text);
	text_free(&p->title.text);
	ledger_free(&p->line.ledger);
	ledger_free(&p->title.ledger);
	free(p->names);
	free(p->tracks);
}

static void append(struct chrome_parts *p, const struct text *from, struct chunk *chunk)
{
	const size_t skip = p->comma || from->n == 0 ? 0 : 1; /* the comma behind the line before */

	text_add(&chunk->text, from->p + skip, from->n - skip);
	chunk->text.failed |= from->failed;
	p->bytes += from->n - skip;
	p->comma |= from->n > 0;
}

/* false: no memory. */
static bool begin_part(struct chrome_state *st, struct chunk *chunk)
{
	struct chrome_parts *const p = &st->parts;
	char *const name = arena_alloc(&st->arena, sizeof "part-4294967295.json");
	const size_t before = chunk->text.n;

	if (p->begun > 0 && !chrome_put_order(p->tracks, p->ntracks, &chunk->text))
		return false;
	if (name == NULL || !array_room(&p->names, p->begun, &p->names_cap, sizeof *p->names))
		return false;
	(void)snprintf(name, sizeof "part-4294967295.json", "part-%05" PRIu32 ".json", p->begun);
	p->names[p->begun++] = name;
	chunk_file(chunk, name);
	chrome_put_head(&chunk->text);
	p->bytes = chunk->text.n - before;
	p->any = p->comma = false;
	p->ntracks = 0;
	return true;
}

static bool open_parts(struct writer *w, struct chunk *chunk)
{
	struct chrome_state *const st = w->state;
	const char *const size = option_find(w->options, "part-size");

	chrome_begin(w);
	st->parts.most = SPLIT_SIZE;
	if (size != NULL)
		(void)units_bytes(slice_str(size), &st->parts.most);
	return begin_part(st, chunk);
}

/* first: of a process, its first thread here. */
static bool put_title(struct chrome_parts *p, const struct track *k, const struct track *first)
{
	uint32_t *const named_in = chrome_track_of(k)->part;

	if (*named_in == p->begun)
		return true;
	if (!array_room(&p->tracks, p->ntracks, &p->tracks_cap, sizeof *p->tracks))
		return false;
	*named_in = p->begun;
	p->tracks[p->ntracks++] = k;
	chrome_render_track(k, first, &p->title);
	return true;
}

static bool put_titles(struct chrome_parts *p, const struct track *k, struct chunk *chunk)
{
	const struct track *const process = track_process(k);

	if (*chrome_track_of(k)->part == p->begun)
		return true;
	p->title.text.n = 0;
	if (!put_title(p, process, k != process ? k : NULL) || !put_title(p, k, NULL))
		return false;
	append(p, &p->title.text, chunk);
	return true;
}

static bool put_event(struct chrome_state *st, const struct batch *b, const struct event *e,
                      struct chunk *chunk)
{
	struct chrome_parts *const p = &st->parts;

	p->line.text.n = 0;
	chrome_render_event(st, b, e, &p->line);
	if (p->any && p->bytes + p->line.text.n > p->most && !begin_part(st, chunk))
		return false;
	if (!put_titles(p, e->track, chunk))
		return false;
	append(p, &p->line.text, chunk);
	p->any = true;
	return true;
}

static void take_losses(struct chunk *chunk, struct ledger *from)
{
	ledger_merge(&chunk->ledger, from);
	from->n = 0;
}

static void write_parts(void *state, const struct batch *b, struct chunk *chunk)
{
	struct chrome_state *const st = state;
	struct chrome_parts *const p = &st->parts;

	chunk_file(chunk, p->names[p->begun - 1]);
	for (uint32_t i = 0; i < b->n; i++)
		if (chrome_is_rendered(&b->events[i]) && !put_event(st, b, &b->events[i], chunk))
			chunk->text.failed = true;
	take_losses(chunk, &p->line.ledger);
	take_losses(chunk, &p->title.ledger);
}

/* The end of each part, one at a time. */
static bool close_parts(struct writer *w, struct chunk *chunk)
{
	struct chrome_state *const st = w->state;
	struct chrome_parts *const p = &st->parts;

	chunk_file(chunk, p->names[p->ended]);
	if (p->ended + 1 == p->begun && !chrome_put_order(p->tracks, p->ntracks, &chunk->text))
		return false;
	chrome_put_facts(w, p, chunk);
	p->ended++;
	chunk->end.more = p->ended < p->begun;
	return true;
}

const struct writer_ops chrome_dir_writer_ops = {
	.state_size = sizeof(struct chrome_state),
	.want = WANT_FIELDS,
	.modes = WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.nested = true,
	.open = open_parts,
	.declare = chrome_declare,
	.write = write_parts,
	.close = close_parts,
	.free = chrome_free,
};

/* ---- format ---- */

const struct rule chrome_rules[CHROME_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "chrome/rules.def"
#undef RULE
	{ .id = NULL }
};
static const char *const suffixes[] = { ".json", NULL };
static const char *const dir_suffixes[] = { ".json.d", NULL };

#define IDS                                                                                                  \
	{                                                                                                    \
		.name = "ids", .help = "add the original pid and tid to each event, as members of ids",      \
		.of_output = true                                                                            \
	}

static const struct format_option options[] = { IDS, { .name = NULL } };

static const struct format_option dir_options[] = {
	IDS,
	{ .name = "part-size",
	  .arg = "BYTES",
	  .help = "size of a part, such as 20M (default: 256 MiB, of JSON 100 MiB)",
	  .mistake = chrome_part_size_mistake },
	{ .name = NULL },
};

extern const struct format chrome_format, chrome_dir_format;

const struct format chrome_format = {
	.name = "chrome",
	.title = "Chrome trace event JSON",
	.spec = "Trace Event Format (Chromium)",
	.suffixes = suffixes,
	.options = options,
	.reader = &chrome_reader_ops,
	.writer = &chrome_writer_ops,
	.rules = chrome_rules,
	.losses = chrome_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS | HAS_EPOCH | HAS_DEEP |
	            HAS_NUMBERS | HAS_STEPS,
};

const struct format chrome_dir_format = {
	.name = "chrome-dir",
	.title = "Chrome trace event JSON, parts",
	.spec = "Trace Event Format (Chromium)",
	.suffixes = dir_suffixes,
	.options = dir_options,
	.writer = &chrome_dir_writer_ops,
	.losses = chrome_losses,
};
