/* Equality of traces as a whole: by their bytes, or by a digest of their events.  The digest is the sum of
 * one hash per track, made from the sum of the hashes of its events: no sorting, memory for the tracks only.
 */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/open.h"
#include "run/read/operands.h"

/* ---- bytes ---- */

/* Whether the input was read to its end without a fault. */
static bool is_complete(struct input *in)
{
	return in->p == in->end && in->last && in->fault == INPUT_OK && !input_shrunk(in);
}

/* Consumes the bytes that both windows contain, if they are equal. */
static bool consume_equal(struct input *a, struct input *b)
{
	const size_t left_a = (size_t)(a->end - a->p), left_b = (size_t)(b->end - b->p),
	             n = left_a < left_b ? left_a : left_b;

	if (memcmp(a->p, b->p, n) != 0)
		return false;
	a->p += n;
	b->p += n;
	input_release_read(a);
	input_release_read(b);
	return true;
}

static bool inputs_equal(struct input *a, struct input *b)
{
	while (input_need(a, 1) && input_need(b, 1))
		if (!consume_equal(a, b))
			return false;
	(void)input_need(b, 1); /* b must end, too */
	return is_complete(a) && is_complete(b);
}

static bool files_equal(struct input_files *files, const struct operand *a, const char *path_a,
                        const struct operand *b, const char *path_b)
{
	struct input *const in_a = input_open_in(files, a->archive, path_a), *const in_b = input_open_in(
	                                                                         NULL, b->archive, path_b);
	const bool same = in_a != NULL && in_b != NULL && inputs_equal(in_a, in_b);

	input_close(in_a);
	input_close(in_b);
	return same;
}

/* Returns the path of a file relative to its operand: "a" of "DIR/a" or "run.tar:/a". */
static const char *relative_path(const struct operand *o, const char *path)
{
	const char *p = path + strlen(o->path);

	while (*p == '/' || *p == ':')
		p++;
	return p;
}

static bool is_listed(const struct operand *o)
{
	return o->tree.nproblems == 0 && !o->tree.no_memory;
}

/* Both lists of files are sorted. */
static bool folders_equal(struct input_files *files, const struct operand *a, const struct operand *b)
{
	if (a->tree.n != b->tree.n)
		return false;
	for (size_t i = 0; i < a->tree.n; i++)
		if (strcmp(relative_path(a, a->tree.paths[i]), relative_path(b, b->tree.paths[i])) != 0 ||
		    !files_equal(files, a, a->tree.paths[i], b, b->tree.paths[i]))
			return false;
	return true;
}

static bool operands_equal(struct input_files *files, const struct operand *a, const struct operand *b)
{
	if (!is_listed(a) || !is_listed(b))
		return false;
	if (a->folder && b->folder)
		return folders_equal(files, a, b);
	if (a->folder || (b->folder && b->tree.n != 1))
		return false;
	return files_equal(files, a, a->path, b, b->folder ? b->tree.paths[0] : b->path);
}

bool trace_bytes_same(const char *a, const char *b, const struct format *of, struct input_files *files)
{
	const char *const paths[] = { a, b };
	struct operands o;

	if (!operands_init(&o, paths, 2, of))
		return false;
	const bool same = operands_equal(files, &o.list[0], &o.list[1]);
	operands_free(&o);
	return same;
}

/* ---- digest ---- */

enum { TRACK_DIGEST = 1 };

/* Returns the track on which the event is counted, or NULL on OOM. */
static struct digest_track *get_track(struct digest *d, const struct event *e)
{
	const struct track *track = event_compared_track(e);

	while (track->lane > 0 && track->parent != NULL)
		track = track->parent;
	const uint32_t at = d->rules.no_tracks ? 0 : track->index;
	if (!array_reach(&d->tracks, &d->ntracks, at, sizeof *d->tracks))
		return NULL;
	d->tracks[at].track = track;
	return &d->tracks[at];
}

/* Whether the event is included.  Counts the events of classes in rules.extra_classes. */
static bool is_included(struct digest *d, const struct event *e)
{
	if (!event_is_compared(e, d->rules.referred) || (e->flags & EVENT_LEFT_OUT) != 0)
		return false;
	const bool extra =
	    d->rules.extra_classes != NULL && name_lists_contain(d->rules.extra_classes, e->cls->name);
	d->extra_events += extra;
	return !extra;
}

bool digest_add(struct digest *d, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (!is_included(d, e))
			continue;
		struct digest_track *const to = get_track(d, e);
		if (to == NULL)
			return false;
		wide_hash_sum(&to->sum, event_hash(&d->canon, &d->category, b, e, &d->rules.fields));
		to->events++;
		d->events++;
	}
	return !d->canon.scratch.failed;
}

/* Adds up the tracks with the same identity, as in traces of several files. */
static bool join_tracks(struct digest *d, const struct trace *trace)
{
	struct table64 first = { .slots = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < d->ntracks; i++) {
		if (d->tracks[i].events == 0)
			continue;
		const uint64_t key = track_identity(&d->identities, trace, d->tracks[i].track).a;
		const uint32_t to = table64_get(&first, key);
		if (to == TABLE_NONE) {
			ok = table64_put(&first, key, i);
			continue;
		}
		wide_hash_sum(&d->tracks[to].sum, d->tracks[i].sum);
		d->tracks[to].events += d->tracks[i].events;
		d->tracks[i].events = 0;
	}
	table64_free(&first);
	return ok && !d->identities.failed;
}

bool digest_end(struct digest *d, const struct trace *trace, struct wide_hash *out)
{
	*out = (struct wide_hash){ 0, 0 };
	if (!d->rules.no_tracks && !join_tracks(d, trace))
		return false;
	for (uint32_t i = 0; i < d->ntracks; i++) {
		const struct digest_track *const t = &d->tracks[i];
		struct wide_hash h = wide_hash_start(TRACK_DIGEST);
		if (t->events == 0)
			continue;
		if (!d->rules.no_tracks)
			wide_hash_add_hash(&h, track_identity(&d->identities, trace, t->track));
		wide_hash_add(&h, t->events);
		wide_hash_add_hash(&h, t->sum);
		wide_hash_sum(out, wide_hash_end(h));
	}
	return !d->identities.failed;
}

void digest_free(struct digest *d)
{
	canon_free(&d->canon);
	track_identities_free(&d->identities);
	free(d->tracks);
}
