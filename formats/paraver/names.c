/*
 * Numbers of names, types and objects, in the order of their first use, and the two files with their meaning:
 * .pcf and .row.  Names and types have limits; objects grow with the tracks of the trace.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "paraver/paraver.h"

struct paraver_group {
	struct slice label;
	uint32_t first_value, last_value, nvalues; /* values[], numbered 1, 2, ...; TABLE_NONE: none */
	uint32_t first_type, last_type;            /* types[]; TABLE_NONE: none */
	uint32_t other;                            /* value for names beyond the limit; 0: none yet */
};

struct paraver_value {
	uint32_t name, next; /* index of its text; next value of the same group */
};

struct paraver_task {
	const struct track *process;
	uint32_t nthreads;
	uint32_t first, last; /* its rows: the first and the last one */
};

/* ---- groups, values, types ---- */

static bool has_space(const struct paraver_names *n, struct slice text)
{
	return text.n <= PARAVER_MAX_TEXT - n->bytes;
}

static struct slice copy_text(struct paraver_names *n, struct slice text)
{
	const struct slice own = arena_copy(&n->arena, text);

	n->failed |= own.p == NULL;
	n->bytes += text.n;
	return own;
}

static uint32_t add_group(struct paraver_names *n, struct slice key)
{
	if (n->ngroups >= PARAVER_MAX_TYPES || !has_space(n, key))
		return TABLE_NONE;
	const struct slice own = copy_text(n, key);
	if (note_failure(&n->failed,
	                 own.p == NULL ||
	                     !array_reserve(&n->groups, n->ngroups, &n->groups_cap, sizeof *n->groups) ||
	                     !tabletext_put(&n->by_label, own, n->ngroups)))
		return TABLE_NONE;
	n->groups[n->ngroups] = (struct paraver_group){
		.label = { own.p + 1, own.n - 1, own.flags },
		.first_value = TABLE_NONE,
		.first_type = TABLE_NONE,
	};
	return n->ngroups++;
}

uint32_t paraver_group(struct paraver_names *n, enum paraver_group_kind kind, struct slice label)
{
	text_clear(&n->key);
	text_char(&n->key, (char)('0' + kind));
	text_slice(&n->key, label);
	if (n->key.failed || n->key.n > PARAVER_MAX_TEXT) {
		n->failed |= n->key.failed;
		return TABLE_NONE;
	}
	const struct slice key = slice_of(n->key.p, n->key.n);
	const uint32_t found = tabletext_get(&n->by_label, key);

	return found != TABLE_NONE ? found : add_group(n, key);
}

/* Returns the index of a text, which groups share; TABLE_NONE at the limit or on OOM. */
static uint32_t find_text(struct paraver_names *n, struct slice name)
{
	const uint32_t found = tabletext_get(&n->by_text, name);

	if (found != TABLE_NONE)
		return found;
	if (!has_space(n, name))
		return TABLE_NONE;
	const struct slice own = copy_text(n, name);
	if (note_failure(&n->failed,
	                 own.p == NULL ||
	                     !array_reserve(&n->texts, n->ntexts, &n->texts_cap, sizeof *n->texts) ||
	                     !tabletext_put(&n->by_text, own, n->ntexts)))
		return TABLE_NONE;
	n->texts[n->ntexts] = own;
	return n->ntexts++;
}

/* Appends a value to a group.  Returns 0 on OOM. */
static uint32_t add_value(struct paraver_names *n, uint32_t group, uint32_t text)
{
	struct paraver_group *const g = &n->groups[group];

	if (note_failure(&n->failed,
	                 !array_reserve(&n->values, n->nvalues, &n->values_cap, sizeof *n->values)))
		return 0;
	n->values[n->nvalues] = (struct paraver_value){ text, TABLE_NONE };
	if (g->first_value == TABLE_NONE)
		g->first_value = n->nvalues;
	else
		n->values[g->last_value].next = n->nvalues;
	g->last_value = n->nvalues++;
	return ++g->nvalues;
}

uint32_t paraver_value(struct paraver_names *n, uint32_t group, struct slice name, bool *full)
{
	struct known_text *const known = known_text(n->known, KNOWN_TEXTS, name, group);
	if (known_text_is(known, name, group))
		return known->number;
	const uint32_t text =
	    n->nvalues < PARAVER_MAX_NAMES ? find_text(n, name) : tabletext_get(&n->by_text, name);
	const uint64_t key = (uint64_t)group << 32 | text;
	const uint32_t found = text != TABLE_NONE ? table64_get(&n->by_value, key) : TABLE_NONE;

	if (found != TABLE_NONE) {
		known_text_set(known, name, group, found);
		return found;
	}
	if (text == TABLE_NONE || n->nvalues >= PARAVER_MAX_NAMES) {
		*full = !n->failed;
		if (n->groups[group].other == 0)
			n->groups[group].other = add_value(n, group, TABLE_NONE);
		return n->groups[group].other;
	}
	const uint32_t value = add_value(n, group, text);
	n->failed |= value == 0 || !table64_put(&n->by_value, key, value);
	return value;
}

uint32_t paraver_type(struct paraver_names *n, struct paraver_type like)
{
	struct paraver_group *const g = &n->groups[like.group];
	const uint64_t key =
	    (uint64_t)like.group << 40 | (uint64_t)like.lane << 24 | (uint64_t)like.level << 8 | like.kind;
	const uint32_t before = n->ntypes;
	const uint32_t i = table64_element(&n->by_type, key, &n->types, &n->ntypes, &n->types_cap,
	                                   sizeof *n->types, PARAVER_MAX_TYPES);

	n->failed |= i == TABLE_FAILED;
	if (i >= TABLE_FAILED)
		return 0;
	if (i == before) {
		like.next = TABLE_NONE;
		n->types[i] = like;
		*(g->first_type == TABLE_NONE ? &g->first_type : &n->types[g->last_type].next) = i;
		g->last_type = i;
	}
	return PARAVER_FIRST_TYPE + i;
}

void paraver_names_free(struct paraver_names *n)
{
	arena_free(&n->arena);
	free(n->groups);
	free(n->types);
	free(n->values);
	free(n->texts);
	tabletext_free(&n->by_text);
	tabletext_free(&n->by_label);
	table64_free(&n->by_value);
	table64_free(&n->by_type);
	text_free(&n->key);
}

/* ---- objects ---- */

uint32_t paraver_row(struct paraver_rows *r, const struct track *t)
{
	const struct track *const process = track_process(t);
	const uint32_t number = table64_element(&r->task_by_track, process->index, &r->tasks, &r->ntasks,
	                                        &r->tasks_cap, sizeof *r->tasks, TABLE_FAILED);
	const uint32_t before = r->n;

	if (number == TABLE_FAILED)
		return TABLE_NONE;
	const uint32_t i =
	    table64_element(&r->by_track, t->index, &r->rows, &r->n, &r->cap, sizeof *r->rows, TABLE_FAILED);
	if (i < before || i == TABLE_FAILED)
		return i != TABLE_FAILED ? i : TABLE_NONE;
	struct paraver_task *const task = &r->tasks[number];
	struct paraver_row *const row = &r->rows[i];
	*row = (struct paraver_row){
		.track = t, .task = number + 1, .thread = ++task->nthreads, .next = TABLE_NONE
	};
	row->prefix_n = (uint32_t)snprintf(row->prefix, sizeof row->prefix, "0:1:%" PRIu32 ":%" PRIu32 ":",
	                                   row->task, row->thread);
	if (task->process == NULL)
		task->first = i;
	else
		r->rows[task->last].next = i;
	task->process = process;
	task->last = i;
	return i;
}

void paraver_write_objects(const struct paraver_rows *r, struct text *t)
{
	text_printf(t, "1:%" PRIu32 "(", r->ntasks > 0 ? r->ntasks : 1);
	for (uint32_t i = 0; i < r->ntasks; i++)
		text_printf(t, "%s%" PRIu32 ":1", i > 0 ? "," : "", r->tasks[i].nthreads);
	if (r->ntasks == 0)
		text_str(t, "1:1");
	text_char(t, ')');
}

void paraver_rows_free(struct paraver_rows *r)
{
	free(r->rows);
	free(r->tasks);
	table64_free(&r->by_track);
	table64_free(&r->task_by_track);
}

/* ---- labels and the .row file ---- */

/* Writes a name as one line of visible text.  Returns true if it was changed. */
static bool write_label(struct text *t, struct slice name)
{
	const size_t at = t->n;

	if (name.n == 0)
		name = SLICE_LIT("(no name)");
	text_visible_message(t, name);
	return t->failed || t->n - at != name.n || memcmp(t->p + at, name.p, name.n) != 0;
}

/* Writes a label and the end of its line. */
static void write_label_line(struct chunk *chunk, struct slice name)
{
	if (write_label(&chunk->text, name))
		paraver_add_loss(chunk, PARAVER_LABEL, LOSS_NOWHERE);
	text_char(&chunk->text, '\n');
}

void paraver_write_row(const struct paraver_rows *r, struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	text_printf(t, "LEVEL NODE SIZE 1\nunknown\n\nLEVEL TASK SIZE %" PRIu32 "\n", r->ntasks);
	for (uint32_t i = 0; i < r->ntasks; i++)
		write_label_line(chunk, r->tasks[i].process->name);
	text_printf(t, "\nLEVEL THREAD SIZE %" PRIu32 "\n", r->n);
	for (uint32_t i = 0; i < r->ntasks; i++)
		for (uint32_t k = r->tasks[i].first; k != TABLE_NONE; k = r->rows[k].next)
			write_label_line(chunk, r->rows[k].track->name);
}

/* ---- the .pcf file ---- */

static const char pcf_head[] = "DEFAULT_OPTIONS\n"
                               "\n"
                               "LEVEL               THREAD\n"
                               "UNITS               NANOSEC\n"
                               "LOOK_BACK           100\n"
                               "SPEED               1\n"
                               "FLAG_ICONS          ENABLED\n"
                               "NUM_OF_STATE_COLORS 1000\n"
                               "YMAX_SCALE          37\n"
                               "\n\n"
                               "DEFAULT_SEMANTIC\n"
                               "\n"
                               "THREAD_FUNC         State As Is\n"
                               "\n\n"
                               "STATES_COLOR\n";

/* Writes 25 colours: black for "nothing", 12 distinct hues, then the same hues darker. */
static void write_colours(struct text *t)
{
	static const uint8_t wheel[12][3] = {
		{ 66, 133, 214 }, { 222, 82, 70 },  { 70, 170, 96 },  { 245, 180, 50 },
		{ 150, 90, 190 }, { 60, 190, 200 }, { 240, 125, 40 }, { 220, 95, 165 },
		{ 150, 200, 60 }, { 120, 110, 90 }, { 95, 105, 220 }, { 200, 165, 120 },
	};

	text_str(t, "0    {0, 0, 0}\n");
	for (unsigned i = 0; i < 24; i++) {
		const uint8_t *const c = wheel[i % 12];
		const unsigned share = i < 12 ? 4 : 3;
		text_printf(t, "%u    {%u, %u, %u}\n", i + 1, c[0] * share / 4, c[1] * share / 4,
		            c[2] * share / 4);
	}
}

/* Writes the label of a type: the label of its group, and a part of its own.  Returns true if the label of
 * the group was changed. */
static bool write_type(struct text *t, uint32_t number, const struct paraver_type *type, struct slice label)
{
	text_printf(t, "0    %" PRIu32 "    ", number);
	const bool changed = write_label(t, label);
	if (type->kind == PARAVER_INSTANTS)
		text_str(t, ", instants");
	else if (type->kind == PARAVER_ASYNC)
		text_printf(t, ", async %u", type->lane + 1U);
	else if (type->lane > 0)
		text_printf(t, ", lane %u", type->lane + 1U);
	if (type->level > 0)
		text_printf(t, ", level %u", (unsigned)type->level);
	text_char(t, '\n');
	return changed;
}

static void write_group(const struct paraver_names *n, const struct paraver_group *g, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	uint32_t number = 1;
	bool changed = false;

	text_str(t, "\n\nEVENT_TYPE\n");
	for (uint32_t i = g->first_type; i != TABLE_NONE; i = n->types[i].next)
		changed = write_type(t, PARAVER_FIRST_TYPE + i, &n->types[i], g->label);
	if (changed)
		paraver_add_loss(chunk, PARAVER_LABEL, LOSS_NOWHERE);
	if (g->nvalues == 0)
		return;
	text_str(t, "VALUES\n0    (nothing)\n");
	for (uint32_t i = g->first_value; i != TABLE_NONE; i = n->values[i].next) {
		const uint32_t name = n->values[i].name;
		text_printf(t, "%" PRIu32 "    ", number++);
		write_label_line(chunk, name != TABLE_NONE ? n->texts[name] : SLICE_LIT("(other)"));
	}
}

void paraver_write_pcf(const struct paraver_names *n, struct chunk *chunk)
{
	text_str(&chunk->text, pcf_head);
	write_colours(&chunk->text);
	for (uint32_t i = 0; i < n->ngroups; i++)
		if (n->groups[i].first_type != TABLE_NONE)
			write_group(n, &n->groups[i], chunk);
}
