#include "dftracer/write.h"
#include "format/fields_json.h"

/* Values of arguments: numbers with all their digits, everything else as JSON. */

/* Whether lists and maps are nested deeper than this.  A map whose keys are not all text is written as a list
 * of lists, so each counts twice. */
static bool
is_deeper(const struct value *v, unsigned most)
{
	const unsigned own = v->type == VALUE_LIST ? 1 : v->type == VALUE_MAP ? 2 : 0;

	if (own > most)
		return true;
	for (size_t i = 0; i < (size_t)v->count * own && own > 0; i++)
		if (is_deeper(&v->values[i], most - own))
			return true;
	return false;
}

/* The same of JSON text. */
static bool
is_deeper_text(const char *p, uint32_t n)
{
	unsigned depth = 0;
	bool quoted = false;

	for (uint32_t i = 0; i < n; i++)
		if (p[i] == '"')
			quoted = !quoted;
		else if (quoted)
			i += p[i] == '\\';
		else if (p[i] == '[' || p[i] == '{') {
			if (++depth > DFW_MOST_DEPTH)
				return true;
		} else if (p[i] == ']' || p[i] == '}')
			depth--;
	return false;
}

/* On one line: in valid JSON, line ends and tabs stand between values alone. */
static void
put_json(struct text *t, const char *p, uint32_t n)
{
	const size_t from = t->n;

	text_json_text(t, p, n);
	for (size_t i = from; i < t->n; i++)
		if ((unsigned char)t->p[i] < ' ')
			t->p[i] = ' ';
}

static void
put_other(struct chunk *chunk, const struct value *v, uint64_t offset)
{
	struct fields_json_lost lost = { 0 };

	fields_json_value(&chunk->text, v, &lost);
	if (lost.bad_text > 0)
		ledger_add(&chunk->ledger, &dfw_losses[DFW_BAD_TEXT], offset, lost.bad_text);
	if (lost.not_a_number > 0)
		ledger_add(&chunk->ledger, &dfw_losses[DFW_NOT_A_NUMBER], offset, lost.not_a_number);
}

void
dfw_value(struct chunk *chunk, const struct value *v, uint64_t offset)
{
	const bool nested = v->type == VALUE_LIST || v->type == VALUE_MAP;

	if (v->type >= VALUE_U8 && v->type <= VALUE_U64)
		text_u64(&chunk->text, v->u64);
	else if (v->type >= VALUE_I8 && v->type <= VALUE_I64)
		text_i64(&chunk->text, v->i64);
	else if ((nested && is_deeper(v, DFW_MOST_DEPTH)) ||
	         (v->type == VALUE_JSON && is_deeper_text(v->p, v->count))) {
		text_str(&chunk->text, "null");
		dfw_lose(chunk, DFW_TOO_DEEP, offset);
	} else if (v->type == VALUE_JSON)
		put_json(&chunk->text, v->p, v->count);
	else
		put_other(chunk, v, offset);
}
