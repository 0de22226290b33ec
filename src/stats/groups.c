/* Groups of --by: each key of an event becomes a small number (of a text,
 * or the index of a track), and each combination of numbers a group.  Threads, processes and tracks with
 * equal names stay distinct.  Bounded: NAMES_MAX texts of a key, NAMES_MAX groups of a table; the rest is
 * counted as "(other)". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/memory.h"
#include "format/field_path.h"
#include "model/number.h"
#include "model/value.h"
#include "stats/stats.h"

/* ---- keys ---- */

static const char *const words[] = {
	[GROUP_BY_NAME] = "name",       [GROUP_BY_CATEGORY] = "category", [GROUP_BY_THREAD] = "thread",
	[GROUP_BY_PROCESS] = "process", [GROUP_BY_TRACK] = "track",       [GROUP_BY_FILE] = "file",
	[GROUP_BY_HOST] = "host",       [GROUP_BY_ARG] = "arg:",
};

static bool parse_key(struct group_column *c, const char *name, size_t n)
{
	if (n >= sizeof c->head)
		return false;
	for (size_t i = 0; i < n; i++) /* the key is the head of a column */
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return false;
	memcpy(c->head, name, n);
	c->head[n] = '\0';
	for (unsigned i = 0; i < GROUP_BY_ARG; i++)
		if (strcmp(c->head, words[i]) == 0) {
			c->key = (enum group_key)i;
			return true;
		}
	c->key = GROUP_BY_ARG;
	return strncmp(c->head, "arg:", 4) == 0 && n > 4;
}

bool group_by_parse(struct group_by *by, const char *list, char *why, size_t size)
{
	by->n = 0;
	for (const char *p = list;; p++) {
		const size_t n = strcspn(p, ",");
		if (by->n == GROUP_KEYS_MAX) {
			snprintf(why, size, "at most %d keys", GROUP_KEYS_MAX);
			return false;
		}
		struct group_column *const c = &by->columns[by->n];
		if (!parse_key(c, p, n)) {
			char name[65];
			snprintf(name, sizeof name, "%.*s", n > 64 ? 64 : (int)n, p);
			struct nearest near = { .typed = name };
			for (unsigned i = 0; i < GROUP_BY_ARG; i++)
				nearest_add(&near, words[i]);
			snprintf(why, size,
			         "keys are name, category, thread, process, track, host, file and arg:FIELD, "
			         "not \"%s\"%s%s%s",
			         name, near.name != NULL ? "; did you mean " : "",
			         near.name != NULL ? near.name : "", near.name != NULL ? "?" : "");
			return false;
		}
		for (unsigned i = 0; i < by->n; i++)
			if (strcmp(by->columns[i].head, c->head) == 0) {
				snprintf(why, size, "%s is given twice", c->head);
				return false;
			}
		by->n++;
		p += n;
		if (*p == '\0')
			return true;
	}
}

const char *group_by_key(const struct group_by *by, unsigned i)
{
	return by->n > 0 ? by->columns[i].head : words[i == 0 ? GROUP_BY_NAME : GROUP_BY_CATEGORY];
}

unsigned group_by_count(const struct group_by *by)
{
	return by->n > 0 ? by->n : 2;
}

bool group_by_is_same(const struct group_by *a, const struct group_by *b)
{
	bool same = group_by_count(a) == group_by_count(b);

	for (unsigned i = 0; same && i < group_by_count(a); i++)
		same = strcmp(group_by_key(a, i), group_by_key(b, i)) == 0;
	return same;
}

void group_by_words(const struct group_by *by, char *to, size_t size)
{
	size_t n = 0;

	snprintf(to, size, "name,category");
	for (unsigned i = 0; i < by->n && n < size; i++)
		n += (size_t)snprintf(to + n, size - n, "%s%s", i > 0 ? "," : "", by->columns[i].head);
}

unsigned group_by_wants(const struct group_by *by)
{
	unsigned want = 0;

	for (unsigned i = 0; i < by->n; i++)
		switch (by->columns[i].key) {
		case GROUP_BY_THREAD:
		case GROUP_BY_PROCESS:
		case GROUP_BY_TRACK:
		case GROUP_BY_HOST:
			want |= WANT_NAMES;
			break;
		case GROUP_BY_ARG:
			want |= WANT_FIELDS;
			break;
		default:
			break;
		}
	return want;
}

/* ---- values ---- */

#define VALUE_OTHER NAMES_MAX /* a text beyond the limits */
#define UNKNOWN "(none)"      /* value of an event without the field, or of an unknown host */

bool stats_group(struct stats *s, const struct group_by *by, struct slice sum_of)
{
	s->sum_of = sum_of;
	s->by = *by;
	if (by->n == 0)
		return true;
	s->instants.grouped = s;
	s->values = calloc(by->n, sizeof *s->values);
	for (unsigned i = 0; s->values != NULL && i < by->n; i++)
		names_init(&s->values[i].texts, &s->text);
	return s->values != NULL;
}

void groups_free_set(struct group_set *set)
{
	for (unsigned i = 0; i < GROUP_KEYS_MAX; i++)
		table64_free(&set->levels[i]);
	free(set->values);
}

void groups_free(struct stats *s)
{
	for (unsigned i = 0; s->values != NULL && i < s->by.n; i++) {
		names_free(&s->values[i].texts);
		free(s->values[i].tracks);
		free(s->values[i].labels);
	}
	free(s->values);
}

static uint32_t text_value(struct group_values *v, struct slice text)
{
	const uint32_t number = stats_known_index(v->known, &v->texts, text);

	return number == NAMES_OTHER ? VALUE_OTHER : number;
}

static uint32_t track_value(struct group_values *v, const struct track *k)
{
	if (!array_reach(&v->tracks, &v->ntracks, k->index, sizeof *v->tracks))
		return NAMES_FAILED;
	v->tracks[k->index] = k;
	return k->index;
}

static uint32_t argument_value(struct group_values *v, const struct batch *b, const struct event *e,
                               const char *name)
{
	struct path_value member;
	const struct value *const value =
	    field_value(b->fields + e->first_field, e->nfields, slice_str(name), &member);
	char space[SELECT_VALUE_TEXT];

	if (value == NULL)
		return text_value(v, SLICE_LIT(UNKNOWN));
	if (value_is_list(value))
		return text_value(v, SLICE_LIT("(list)"));
	struct slice text = select_value_text(value, space);
	if (text.p == space) /* on the stack */
		text.flags &= (uint32_t)~SLICE_STAYS;
	return text_value(v, text);
}

static uint32_t value_of(struct stats *s, unsigned i, const struct batch *b, const struct event *e)
{
	struct group_values *const v = &s->values[i];

	switch (s->by.columns[i].key) {
	case GROUP_BY_NAME:
		return text_value(v, e->name);
	case GROUP_BY_CATEGORY:
		return text_value(v, e->cls->category);
	case GROUP_BY_THREAD:
		return track_value(v, track_thread(e->track));
	case GROUP_BY_PROCESS:
		return track_value(v, track_process(e->track));
	case GROUP_BY_TRACK:
		return track_value(v, e->track);
	case GROUP_BY_FILE:
		return text_value(v, s->file);
	case GROUP_BY_HOST: {
		const struct slice host = track_process(e->track)->host;
		return text_value(v, host.n > 0 ? host : SLICE_LIT(UNKNOWN));
	}
	case GROUP_BY_ARG:
		break;
	}
	return argument_value(v, b, e, s->by.columns[i].head + strlen("arg:"));
}

/* ---- groups ---- */

static bool store_values(struct stats *s, struct group_set *set, const uint32_t *values)
{
	const size_t n = s->by.n;

	if (!array_reserve(&set->values, set->n, &set->cap, n * sizeof *values))
		return false;
	memcpy(set->values + set->n * n, values, n * sizeof *values);
	return true;
}

static uint32_t find_group(struct stats *s, struct group_set *set, const uint32_t *values)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < s->by.n; i++) {
		struct table64 *const level = &set->levels[i];
		const uint64_t key = (uint64_t)number << 32 | values[i];
		number = table64_get(level, key);
		if (number != TABLE_NONE)
			continue;
		const bool last = i + 1 == s->by.n;
		number = last ? set->n : (uint32_t)level->used;
		if (number >= NAMES_MAX)
			return NAMES_OTHER;
		if ((last && !store_values(s, set, values)) || !table64_put(level, key, number))
			return NAMES_FAILED;
		set->n += last;
	}
	return number;
}

uint32_t groups_find(struct stats *s, struct group_set *set, const struct batch *b, const struct event *e)
{
	uint32_t values[GROUP_KEYS_MAX];

	for (unsigned i = 0; i < s->by.n; i++)
		if ((values[i] = value_of(s, i, b, e)) == NAMES_FAILED)
			return NAMES_FAILED;
	return find_group(s, set, values);
}

uint32_t groups_find_texts(struct stats *s, struct group_set *set, const struct slice *texts)
{
	uint32_t values[GROUP_KEYS_MAX];

	for (unsigned i = 0; i < s->by.n; i++)
		if ((values[i] = text_value(&s->values[i], texts[i])) == NAMES_FAILED)
			return NAMES_FAILED;
	return find_group(s, set, values);
}

void *groups_at(void *list, uint32_t *n, size_t size, uint32_t number, void *other)
{
	char *first;

	if (number == NAMES_OTHER)
		return other;
	if (number >= *n && (number == NAMES_FAILED || !array_reach(list, n, number, size)))
		return NULL;
	memcpy(&first, list, sizeof first);
	return first + number * size;
}

/* ---- sums of numeric fields: of --sum, and of those that the vocabulary names (`bytes`) ---- */

/* Gets the number in a value, also from a text or JSON.  Returns false if there is none. */
static bool number_of(const struct value *v, struct value *number)
{
	*number = *v;
	return (v->type >= VALUE_U8 && v->type <= VALUE_F64) ||
	       ((v->type == VALUE_JSON || v->type == VALUE_STRING) && value_number(value_text(v), number));
}

void groups_sum(struct stats *s, struct span_sum *sum, const struct batch *b, const struct event *e)
{
	struct path_value member;
	const struct value *const value =
	    field_value(b->fields + e->first_field, e->nfields, s->sum_of, &member);

	if (value == NULL)
		return;
	s->summed++;
	struct value number;
	if (!number_of(value, &number))
		return;
	s->summed_number = true;
	const struct value *const v = &number;
	if (v->type >= VALUE_I8 && v->type <= VALUE_I64 && v->i64 < 0) {
		sum->negative++;
	} else if (v->type >= VALUE_U8 && v->type <= VALUE_I64) {
		total_add(&sum->whole, v->u64);
		sum->values++;
	} else if (v->type == VALUE_F32 || v->type == VALUE_F64) {
		sum->negative += v->f64 < 0;
		sum->values += v->f64 >= 0;
		if (v->f64 >= 0 && v->f64 - v->f64 == 0)
			sum->real += v->f64;
	}
}

/* The product of the fields: 0 if one is missing, negative or no integer, or the product has more than 64
 * bits.  Only a span with the first field sets s->has_bytes: all spans of a trace may lack it. */
static uint64_t bytes_in(struct stats *s, const struct plan_bytes *bytes, const struct batch *b,
                         const struct event *e)
{
	uint64_t product = 1;

	for (uint32_t i = 0; i < bytes->nfields; i++) {
		const struct field *const f =
		    field_find(b->fields + e->first_field, e->nfields, bytes->field[i]);
		struct value v;
		if (f == NULL)
			return 0;
		s->has_bytes = true;
		if (!number_of(&f->value, &v) || v.type > VALUE_I64 || (v.type >= VALUE_I8 && v.i64 < 0) ||
		    ckd_mul(&product, product, v.u64))
			return 0;
	}
	return product;
}

void groups_count_bytes(struct stats *s, struct total *bytes, const struct batch *b, const struct event *e)
{
	const struct plan_bytes *const of = plan_bytes_cached(&s->bytes_known, e->cls, e->name);

	if (of == NULL)
		return;
	total_add(bytes, bytes_in(s, of, b, e));
}

bool groups_lacks_field(const struct stats *s, unsigned i)
{
	if (i == s->by.n)
		return s->sum_of.n > 0 && s->summed == 0 && s->spans.set.n + s->spans.names.n > 0;
	const struct names *const seen = &s->values[i].texts;
	return s->by.columns[i].key == GROUP_BY_ARG && seen->n == 1 &&
	       slice_equal(names_text(seen, 0), SLICE_LIT(UNKNOWN));
}

/* ---- values as texts ---- */

bool groups_label(struct stats *s)
{
	for (unsigned i = 0; i < s->by.n; i++) {
		struct group_values *const v = &s->values[i];
		if (v->ntracks == 0)
			continue;
		v->labels = calloc(v->ntracks, sizeof *v->labels);
		if (v->labels == NULL)
			return false;
		if (s->joins_tracks)
			tracks_copy_names(v->tracks, v->ntracks, v->labels);
		else if (!tracks_label(&s->text, v->tracks, v->ntracks, v->labels))
			return false;
	}
	return true;
}

void groups_values(const struct stats *s, const struct group_set *set, uint32_t number, struct slice *values)
{
	for (unsigned i = 0; i < s->by.n; i++) {
		const struct group_values *const v = &s->values[i];
		const uint32_t value = number < set->n ? set->values[number * s->by.n + i] : VALUE_OTHER;
		const enum group_key key = s->by.columns[i].key;
		const bool track = v->tracks != NULL && (key == GROUP_BY_THREAD || key == GROUP_BY_PROCESS ||
		                                         key == GROUP_BY_TRACK);
		if (number >= set->n || (!track && value == VALUE_OTHER))
			values[i] = SLICE_LIT("(other)");
		else
			values[i] = track ? v->labels[value] : names_text(&v->texts, value);
	}
}
