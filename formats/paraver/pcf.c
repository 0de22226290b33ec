#include <inttypes.h>

#include "paraver/state.h"

/* The file .pcf: what the types and their values are called, and colours. */

static const char head[] = "DEFAULT_OPTIONS\n"
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

/* Colours that lie apart, beginning with black for "nothing": hue by hue, twice, the second time darker. */
#define COLOURS 24

static void
put_colours(struct text *t)
{
	static const uint8_t wheel[12][3] = {
		{ 66, 133, 214 }, { 222, 82, 70 },  { 70, 170, 96 },  { 245, 180, 50 },
		{ 150, 90, 190 }, { 60, 190, 200 }, { 240, 125, 40 }, { 220, 95, 165 },
		{ 150, 200, 60 }, { 120, 110, 90 }, { 95, 105, 220 }, { 200, 165, 120 },
	};

	text_str(t, "0    {0, 0, 0}\n");
	for (unsigned i = 0; i < COLOURS; i++) {
		const uint8_t *const c = wheel[i % 12];
		const unsigned share = i < 12 ? 4 : 3;
		text_printf(t, "%u    {%u, %u, %u}\n", i + 1, c[0] * share / 4, c[1] * share / 4,
		            c[2] * share / 4);
	}
}

bool
paraver_label(struct text *t, struct slice name)
{
	const size_t at = t->n;

	if (name.n == 0)
		name = SLICE_LIT("(no name)");
	text_visible_message(t, name);
	return t->failed || t->n - at != name.n || memcmp(t->p + at, name.p, name.n) != 0;
}

static void
put_label(struct chunk *chunk, struct slice name)
{
	if (paraver_label(&chunk->text, name))
		paraver_lose(chunk, PARAVER_LABEL, 0);
}

/* What a type is of its group. */
static void
put_type(struct text *t, uint32_t number, const struct paraver_type *type, struct slice label)
{
	text_printf(t, "0    %" PRIu32 "    ", number);
	(void)paraver_label(t, label);
	if (type->kind == PARAVER_INSTANTS)
		text_str(t, ", instants");
	else if (type->kind == PARAVER_ASYNC)
		text_printf(t, ", async %u", type->lane + 1U);
	else if (type->lane > 0)
		text_printf(t, ", lane %u", type->lane + 1U);
	if (type->level > 0)
		text_printf(t, ", level %u", (unsigned)type->level);
	text_char(t, '\n');
}

static void
put_group(const struct paraver_names *n, const struct paraver_group *g, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	struct text label = { .p = NULL };
	uint32_t number = 1;

	if (paraver_label(&label, g->label))
		paraver_lose(chunk, PARAVER_LABEL, 0);
	t->failed |= label.failed;
	text_free(&label);
	text_str(t, "\n\nEVENT_TYPE\n");
	for (uint32_t i = g->first_type; i != TABLE_NONE; i = n->types[i].next)
		put_type(t, PARAVER_FIRST_TYPE + i, &n->types[i], g->label);
	if (g->nvalues == 0)
		return;
	text_str(t, "VALUES\n0    (nothing)\n");
	for (uint32_t i = g->first_value; i != TABLE_NONE; i = n->values[i].next) {
		text_printf(t, "%" PRIu32 "    ", number++);
		put_label(chunk, n->values[i].name != TABLE_NONE ? n->texts[n->values[i].name]
		                                                 : SLICE_LIT("(other)"));
		text_char(t, '\n');
	}
}

void
paraver_pcf(const struct paraver_names *n, struct chunk *chunk)
{
	text_str(&chunk->text, head);
	put_colours(&chunk->text);
	for (uint32_t i = 0; i < n->ngroups; i++)
		if (n->groups[i].first_type != TABLE_NONE)
			put_group(n, &n->groups[i], chunk);
}
