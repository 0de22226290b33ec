/* Labels of tracks: their names, and what tells tracks of equal names apart. */
#include <inttypes.h>
#include <stdlib.h>

#include "model/event_traits.h"
#include "stats/stats.h"

/* Parts of labels, in the order in which they are added to labels that are equal so far. */
enum label_part { LABEL_ID, LABEL_PROCESS, LABEL_HOST, LABEL_PARTS };

/* Writes a part of a label.  The index of the track replaces a missing id, or a missing process id if the
 * host is missing, too. */
static void put_label_part(struct text *t, const struct track *k, enum label_part part)
{
	const struct track *const process = track_process(k);

	if (part == LABEL_HOST)
		text_slice(t, process->host);
	else if (part == LABEL_ID && k->has_id)
		text_u64(t, k->id);
	else if (part == LABEL_PROCESS && process->has_id && process != k)
		text_printf(t, "process %" PRIu64, process->id);
	else if (part == LABEL_ID || process->host.n == 0)
		text_printf(t, "#%" PRIu32, k->index);
}

/* Adds a part to the labels that occur more than once. */
static bool label_repeated(struct arena *a, const struct track *const *tracks, uint32_t n,
                           struct slice *labels, enum label_part part)
{
	struct tabletext seen = { .slots = NULL };
	struct text more = { .p = NULL }, label = { .p = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++)
		if (tracks[i] != NULL)
			ok = tabletext_put(&seen, labels[i],
			                   tabletext_get(&seen, labels[i]) == TABLE_NONE ? 0 : 1);
	for (uint32_t i = 0; ok && i < n; i++) {
		if (tracks[i] == NULL || tabletext_get(&seen, labels[i]) == 0)
			continue;
		text_clear(&more);
		put_label_part(&more, tracks[i], part);
		ok = !more.failed;
		if (more.n == 0)
			continue;
		text_clear(&label);
		text_add(&label, labels[i].p, labels[i].n - (part != LABEL_ID)); /* without its bracket */
		text_str(&label, part == LABEL_ID ? " (" : ", ");
		text_add(&label, more.p, more.n);
		text_char(&label, ')');
		labels[i] = arena_copy(a, slice_of(label.p, label.n));
		ok = ok && !label.failed && labels[i].p != NULL;
	}
	tabletext_free(&seen);
	text_free(&more);
	text_free(&label);
	return ok;
}

void tracks_copy_names(const struct track *const *tracks, uint32_t n, struct slice *labels)
{
	for (uint32_t i = 0; i < n; i++)
		if (tracks[i] != NULL)
			labels[i] = tracks[i]->name;
}

bool tracks_label(struct arena *a, const struct track *const *tracks, uint32_t n, struct slice *labels)
{
	bool ok = true;

	tracks_copy_names(tracks, n, labels);
	for (enum label_part part = LABEL_ID; ok && part < LABEL_PARTS; part++)
		ok = label_repeated(a, tracks, n, labels, part);
	return ok;
}

/* Sets `repeated` to the tracks that have the name of another one of their process. */
static bool find_repeated(struct arena *a, const struct track *const *tracks, uint32_t n,
                          const struct track **repeated)
{
	struct tabletext first = { .slots = NULL }; /* process and name -> index of a track */
	struct text key = { .p = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++) {
		if (tracks[i] == NULL || track_process(tracks[i]) == tracks[i])
			continue;
		text_clear(&key);
		text_printf(&key, "%" PRIu32 " ", track_process(tracks[i])->index);
		text_slice(&key, tracks[i]->name);
		const struct slice own = arena_copy(a, slice_of(key.p, key.n));
		const uint32_t at = own.p != NULL ? tabletext_get(&first, own) : TABLE_NONE;
		ok = !key.failed && own.p != NULL && (at != TABLE_NONE || tabletext_put(&first, own, i));
		if (ok && at != TABLE_NONE) {
			repeated[at] = tracks[at];
			repeated[i] = tracks[i];
		}
	}
	tabletext_free(&first);
	text_free(&key);
	return ok;
}

bool track_labels_make(struct track_labels *l, const struct track *const *tracks, uint32_t n)
{
	uint32_t all = n;

	*l = (struct track_labels){ .of = NULL };
	for (uint32_t i = 0; i < n; i++)
		if (tracks[i] != NULL && track_process(tracks[i])->index >= all)
			all = track_process(tracks[i])->index + 1;
	const struct track **const some = calloc((size_t)all + 1, sizeof *some);
	l->of = calloc((size_t)all + 1, sizeof *l->of);
	bool ok = some != NULL && l->of != NULL;
	if (ok) {
		tracks_copy_names(tracks, n, l->of);
		for (uint32_t i = 0; i < n; i++)
			if (tracks[i] != NULL)
				some[track_process(tracks[i])->index] = track_process(tracks[i]);
		ok = tracks_label(&l->text, some, all, l->of);
		memset(some, 0, all * sizeof *some);
		ok = ok && find_repeated(&l->text, tracks, n, some) && tracks_label(&l->text, some, n, l->of);
	}
	free(some);
	return ok;
}

void track_labels_free(struct track_labels *l)
{
	free(l->of);
	arena_free(&l->text);
}
