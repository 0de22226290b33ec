/* Statistics of a selection, for messages when nothing or little is selected: conditions that no event met,
 * with the most similar text of the trace (edit distance).  Bounded by FOUND_LOOKS texts per condition;
 * recent texts are skipped by hash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/match.h"
#include "base/table.h"
#include "format/field_path.h"
#include "model/event.h"
#include "model/plan.h"
#include "run/choose/select.h"

struct select_found *select_found_new(const struct select *s)
{
	struct select_found *const f = calloc(1, sizeof *f);

	if (f == NULL)
		return NULL;
	f->first = UINT64_MAX;
	for (uint32_t k = 0; k < s->n; k++)
		if (s->conditions[k].kind != SELECT_MIN_DUR && s->conditions[k].kind != SELECT_MAX_DUR &&
		    s->conditions[k].kind != SELECT_WAITING)
			f->unmet |= UINT64_C(1) << k;
	return f;
}

void select_found_free(struct select_found *f)
{
	if (f == NULL)
		return;
	for (uint32_t k = 0; k < SELECT_MAX_CONDITIONS; k++)
		free(f->near[k]);
	free(f);
}

/* ---- texts ---- */

/* Copies a text in lower case, to ignore case. */
static void copy_lower(char *to, const char *from)
{
	size_t n = 0;

	for (; from[n] != '\0' && n < FOUND_TEXT; n++)
		to[n] = (char)(from[n] >= 'A' && from[n] <= 'Z' ? from[n] - 'A' + 'a' : from[n]);
	to[n] = '\0';
}

/* Copies the part of a text that is shown.  Returns false if it is cut or contains a NUL. */
static bool copy(char to[FOUND_TEXT + 1], struct slice text)
{
	const bool cut = text.n > FOUND_TEXT;
	const size_t n = cut ? FOUND_TEXT - 3 : text.n;

	array_copy(to, text.p, n);
	memcpy(to + n, cut ? "..." : "", cut ? 4 : 1);
	return !cut && memchr(to, '\0', n) == NULL;
}

/* Copies a pattern without its wildcards. */
static void copy_literal(char to[FOUND_TEXT + 1], struct slice glob)
{
	size_t n = 0;

	for (uint32_t i = 0; i < glob.n && n < FOUND_TEXT; i++)
		if (glob.p[i] != '*' && glob.p[i] != '\\' && glob.p[i] != '\0')
			to[n++] = glob.p[i];
	to[n] = '\0';
}

static void update_best(struct select_near *near, const char *text, struct slice glob)
{
	char typed[FOUND_TEXT + 1], known[FOUND_TEXT + 1], word[FOUND_TEXT + 1];

	copy_literal(word, glob);
	copy_lower(typed, word);
	copy_lower(known, text);
	struct nearest n = { typed, near->best, near->distance };
	if (nearest_add(&n, known)) {
		near->distance = n.distance;
		memcpy(near->best, text, strlen(text) + 1);
	}
}

/* Adds a text to near->first, unless it is there. */
static void add_first(struct select_near *near, const char *text)
{
	for (unsigned i = 0; i < near->n && i < FOUND_SHOWN; i++)
		if (strcmp(near->first[i], text) == 0)
			return;
	if (near->n < FOUND_SHOWN)
		memcpy(near->first[near->n], text, strlen(text) + 1);
	near->n += near->n <= FOUND_SHOWN;
}

static void compare_text(struct select_near *near, struct slice text, struct slice glob)
{
	char shown[FOUND_TEXT + 1];

	if (text.n == 0 || near->looks == FOUND_LOOKS)
		return;
	const uint64_t hash = hash_bytes(text.p, text.n < 256 ? text.n : 256, 1) | 1;
	uint64_t *const recent = &near->recent[hash / 2 % FOUND_RECENT];
	if (*recent == hash)
		return;
	*recent = hash;
	near->looks++;
	const bool whole = copy(shown, text);
	add_first(near, shown);
	if (whole && glob.n > 0)
		update_best(near, shown, glob);
}

static void compare_id(struct select_near *near, const struct track *t)
{
	char text[24];

	if (t == NULL || !t->has_id)
		return;
	const int n = snprintf(text, sizeof text, "%llu", (unsigned long long)t->id);
	compare_text(near, slice_of(text, (size_t)n), SLICE_LIT(""));
}

/* ---- conditions ---- */

static void compare_fields(struct select_near *near, const struct select_condition *c,
                           const struct field *fields, uint32_t n)
{
	struct path_value member;
	const struct value *const v = field_value(fields, n, c->key, &member);
	char buffer[SELECT_VALUE_TEXT];

	if (v != NULL && !near->has_key) {
		near->has_key = true;
		near->distance = SIZE_MAX;
		near->best[0] = '\0';
		near->n = 0;
	}
	if (v != NULL && v->type < VALUE_LIST)
		compare_text(near, select_value_text(v, buffer), c->glob);
	for (uint32_t i = 0; i < n && !near->has_key; i++)
		compare_text(near, fields[i].name, c->key);
}

static void compare_event(struct select_near *near, const struct select_condition *c, const struct batch *b,
                          const struct event *e)
{
	switch (c->kind) {
	case SELECT_NAME:
		compare_text(near, e->name, c->glob);
		break;
	case SELECT_CATEGORY:
		compare_text(near, e->cls->category, c->glob);
		break;
	case SELECT_PID:
		compare_id(near, track_process(e->track));
		break;
	case SELECT_TID:
		if (track_thread(e->track)->kind == TRACK_THREAD)
			compare_id(near, track_thread(e->track));
		break;
	case SELECT_PROCESS:
		compare_text(near, track_process(e->track)->name, c->glob);
		break;
	case SELECT_THREAD:
		if (track_thread(e->track)->kind == TRACK_THREAD)
			compare_text(near, track_thread(e->track)->name, c->glob);
		break;
	case SELECT_TRACK:
		for (const struct track *t = e->track; t != NULL; t = t->parent)
			compare_text(near, t->name, c->glob);
		break;
	case SELECT_WHERE:
		compare_fields(near, c, b->fields + e->first_field, e->nfields);
		compare_fields(near, c, e->cls->parts, e->cls->nparts);
		break;
	default:
		break;
	}
}

void select_found_see(struct select_found *f, const struct select *s, const struct batch *b, uint32_t i,
                      unsigned kinds)
{
	const struct event *const e = &b->events[i];

	for (uint32_t k = 0; k < s->n; k++) {
		const uint64_t bit = UINT64_C(1) << k;
		if ((f->unmet & bit) == 0 || (kinds & SELECT_BIT(s->conditions[k].kind)) == 0)
			continue;
		if (select_meets(&s->conditions[k], b, e)) {
			f->unmet &= ~bit;
			free(f->near[k]);
			f->near[k] = NULL;
			continue;
		}
		if (f->near[k] == NULL && (f->near[k] = calloc(1, sizeof *f->near[k])) != NULL)
			f->near[k]->distance = SIZE_MAX;
		if (f->near[k] != NULL)
			compare_event(f->near[k], &s->conditions[k], b, e);
	}
}

static void add_near(struct select_near *to, const struct select_near *from)
{
	if (from->has_key != to->has_key) {
		if (from->has_key)
			*to = *from;
		return;
	}
	if (from->distance < to->distance) {
		to->distance = from->distance;
		memcpy(to->best, from->best, sizeof to->best);
	}
	for (unsigned i = 0; i < from->n && i < FOUND_SHOWN; i++)
		add_first(to, from->first[i]);
	to->n = from->n > FOUND_SHOWN ? from->n : to->n;
}

void select_found_add(struct select_found *f, const struct select_found *other)
{
	f->left_out += other->left_out;
	f->crossing += other->crossing;
	if (other->events > 0) {
		f->epoch_known =
		    other->epoch_known && (f->events == 0 || (f->epoch_known && f->epoch == other->epoch));
		f->epoch = other->epoch;
		const uint64_t zero = other->zero > f->zero ? other->zero : f->zero;
		const uint64_t first = other->first + (zero - other->zero),
		               last = other->last + (zero - other->zero);
		const uint64_t shift = zero - f->zero;
		f->first = f->events == 0 || first < f->first + shift ? first : f->first + shift;
		f->last = f->events == 0 || last > f->last + shift ? last : f->last + shift;
		f->zero = zero;
	}
	f->events += other->events;
	f->complete &= other->complete;
	f->unmet &= other->unmet;
	for (uint32_t k = 0; k < SELECT_MAX_CONDITIONS; k++) {
		if (other->near[k] == NULL)
			continue;
		if (f->near[k] == NULL && (f->near[k] = malloc(sizeof *f->near[k])) != NULL)
			*f->near[k] = *other->near[k];
		else if (f->near[k] != NULL)
			add_near(f->near[k], other->near[k]);
	}
}
