#include "base/decimal.h"
#include "dftracer/write.h"

/* The parts of records, and metadata. */

void
dfw_text(struct chunk *chunk, struct slice s, uint64_t offset)
{
	if (text_json_string(&chunk->text, s) > 0)
		dfw_lose(chunk, DFW_BAD_TEXT, offset);
}

void
dfw_number(const struct dfw_state *st, struct text *t, const char *key, uint64_t v)
{
	const size_t n = strlen(key);
	char *p = text_room(t, n + 8 + DECIMAL_U64_MAX);

	if (p == NULL)
		return;
	*p++ = ',';
	*p++ = '"';
	p = text_put(p, key, n);
	*p++ = '"';
	*p++ = ':';
	if (st->dialect == DFW_D1)
		*p++ = '"';
	p = decimal_u64(p, v);
	if (st->dialect == DFW_D1)
		*p++ = '"';
	t->n = (size_t)(p - t->p);
}

void
dfw_metadata(struct dfw_state *st, struct chunk *chunk, struct dfw_who who, const char *kind,
             struct slice name, struct slice value)
{
	struct text *const t = &chunk->text;
	const struct dfw_hash *const host = &who.process->host_hash;

	if (st->dialect == DFW_D1)
		return;
	if (st->dialect == DFW_D3)
		text_printf(t, "{\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"dftracer\"",
		            who.process->next_id++, kind);
	else
		text_printf(t, "{\"name\":\"%s\",\"cat\":\"dftracer\",\"type\":1", kind);
	dfw_number(st, t, "pid", who.process->pid);
	dfw_number(st, t, "tid", who.tid);
	text_str(t, st->dialect == DFW_D3 ? ",\"ph\":\"M\",\"args\":{" : ",\"ph\":4,\"args\":{");
	if (host->n > 0) {
		text_str(t, "\"hhash\":");
		text_add(t, host->text, host->n);
		text_char(t, ',');
	}
	text_str(t, "\"name\":");
	dfw_text(chunk, name, 0);
	text_str(t, ",\"value\":");
	text_slice(t, value);
	text_str(t, "}}\n");
}
