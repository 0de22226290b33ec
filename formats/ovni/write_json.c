#include "ovni/write.h"

/* stream.json of the streams that are made of other formats. */

static void
put_member(struct text *t, const char *key, struct slice value)
{
	text_printf(t, "\"%s\":", key);
	text_json_quoted(t, value);
}

static void
put_lib(struct text *t, const struct writer *w)
{
	text_str(t, "\"lib\":{");
	put_member(t, "version", slice_str(w->tool));
	text_str(t, ",\"commit\":\"unknown\"},");
}

/* The labels of a type that this stream declares: each one is declared once in the trace. */
static void
put_labels(const struct ovw_marks *m, struct text *t, uint32_t type, uint32_t from, uint32_t to)
{
	const char *comma = "";

	text_str(t, ",\"labels\":{");
	for (uint32_t i = from; i < to; i++) {
		if (m->labels[i].type != type)
			continue;
		text_printf(t, "%s\"%u\":", comma, i + 1);
		text_json_quoted(t, slice_str(m->labels[i].name));
		comma = ",";
	}
	text_char(t, '}');
}

static void
put_type(struct text *t, uint32_t type, struct slice title)
{
	text_printf(t, "%s\"%u\":{", type > 0 ? "," : "", type);
	put_member(t, "title", title);
	text_str(t, ",\"chan_type\":\"stack\"");
}

static void
put_marks(const struct ovw_marks *m, struct text *t, uint32_t from, uint32_t to)
{
	static const char *const titles[] = { "spans", "instants", "arrows out", "arrows in" };

	text_str(t, ",\"mark\":{");
	for (uint32_t type = 0; type < OVW_COUNTERS; type++) {
		put_type(t, type, slice_str(titles[type]));
		if (type < OVW_LABELLED)
			put_labels(m, t, type, from, to);
		text_char(t, '}');
	}
	for (uint32_t i = 0; i < m->ntitles; i++) {
		put_type(t, OVW_COUNTERS + i, m->titles[i]);
		text_char(t, '}');
	}
	text_char(t, '}');
}

/* Where the labels end that this stream has room for. */
static uint32_t
labels_end(struct ovw_marks *m, uint32_t from)
{
	size_t bytes = 0;
	uint32_t i = from;

	for (; i < m->nlabels; i++) {
		text_clear(&m->scratch);
		text_json_quoted(&m->scratch, slice_str(m->labels[i].name));
		bytes += m->scratch.n + 24;
		if (bytes > OVW_LABELS_OF_STREAM)
			break;
	}
	return i;
}

/* A name without what would be too much for a reader; a reader's name for what has none. */
static void
put_name(struct text *t, const char *key, struct slice name, uint32_t lane, struct text *scratch)
{
	(void)ovw_clean_name(scratch, name);
	if (lane > 0)
		text_printf(scratch, " (async %u)", lane);
	put_member(t, key, slice_of(scratch->p, scratch->n));
}

/* Other programs ignore it: ovni has no names of processes and threads. */
static void
put_names(struct text *t, struct ovw_marks *m, const struct ovw_stream *s)
{
	text_str(t, "},\"tracetool\":{");
	put_name(t, "process", m->processes[s->process].track->name, 0, &m->scratch);
	text_char(t, ',');
	put_name(t, "thread", s->track->name, s->lane, &m->scratch);
	text_str(t, "}}\n");
}

static const char *
metadata_name(struct ovw_state *st, const struct ovw_stream *s)
{
	struct text *const t = &st->marks.scratch;

	text_clear(t);
	text_add(t, s->file, strlen(s->file) - strlen(OVNI_STREAM_FILE));
	text_str(t, OVNI_METADATA_FILE);
	return t->failed ? NULL : arena_copy(&st->arena, slice_of(t->p, t->n)).p;
}

void
ovw_metadata(struct ovw_state *st, const struct writer *w, struct ovw_stream *s, uint32_t *label,
             struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;
	const uint32_t end = labels_end(m, *label);
	const char *const name = metadata_name(st, s);
	struct text *const t = &chunk->text;

	if (name == NULL) {
		t->failed = true;
		return;
	}
	chunk_file(chunk, name);
	text_str(t, "{\"version\":3,\"ovni\":{");
	put_lib(t, w);
	text_printf(t, "\"part\":\"thread\",\"tid\":%d,\"pid\":%d,\"loom\":\"tracetool\",\"app_id\":%u,",
	            s->tid, m->processes[s->process].pid, s->process + 1);
	text_str(t,
	         "\"require\":{\"ovni\":\"1.1.0\"},\"loom_cpus\":[{\"index\":0,\"phyid\":0}],\"finished\":1");
	put_marks(m, t, *label, end);
	put_names(t, m, s);
	*label = end;
}
