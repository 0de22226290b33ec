/* The tables of schema.def: messages and their fields by number, for checks and raw records; reading a
 * message into a struct. */
#include "perfetto/schema/schema.h"

#define DATA PF_IS_DATA
#define REP PF_IS_REPEATED
#define PACK PF_IS_PACKED
#define ONE(n) ((n)*PF_ONEOF)

static const struct pf_field fields[] = {
#define MESSAGE(message, name, first, last)
#define FIELD(message, field, number, type, flags, arg)                                                      \
	{ { #field, sizeof #field - 1, SLICE_UTF8 | SLICE_JSON }, number, PF_TYPE_##type, (flags), (arg) },
#include "perfetto/schema/schema.def"
#undef MESSAGE
#undef FIELD
};

#define NFIELDS (sizeof fields / sizeof *fields)

struct range {
	const char *name;
	uint32_t first, last; /* numbers of extensions */
};

static const struct range messages[PF_MESSAGES] = {
#define MESSAGE(message, name, first, last) [PF_MESSAGE_##message] = { name, first, last },
#define FIELD(message, field, number, type, flags, arg)
#include "perfetto/schema/schema.def"
#undef MESSAGE
#undef FIELD
};

/* The message of each field. */
static const uint8_t owners[] = {
#define MESSAGE(message, name, first, last)
#define FIELD(message, field, number, type, flags, arg) PF_MESSAGE_##message,
#include "perfetto/schema/schema.def"
#undef MESSAGE
#undef FIELD
};

void pf_schema_init(struct pf_schema *s)
{
	memset(s, 0, sizeof *s);
	for (size_t i = NFIELDS; i-- > 0;)
		s->first[owners[i]] = &fields[i];
	for (size_t i = 0; i < NFIELDS; i++) {
		s->n[owners[i]]++;
		if (fields[i].number < PF_DIRECT)
			s->direct[owners[i]][fields[i].number] =
			    (uint8_t)(&fields[i] - s->first[owners[i]] + 1);
	}
}

const struct pf_field *pf_schema_field(const struct pf_schema *s, enum pf_message m, uint32_t number)
{
	if (number < PF_DIRECT)
		return s->direct[m][number] == 0 ? NULL : s->first[m] + s->direct[m][number] - 1;
	for (uint32_t i = 0; i < s->n[m]; i++)
		if (s->first[m][i].number == number)
			return &s->first[m][i];
	return NULL;
}

bool pf_schema_is_extension(enum pf_message m, uint32_t number)
{
	return number >= messages[m].first && number <= messages[m].last && messages[m].last > 0;
}

const char *pf_schema_name(enum pf_message m)
{
	return messages[m].name;
}

/* ---- encoding ---- */

void wire_close_long(struct text *t, size_t start)
{
	const size_t n = t->n - start;
	const unsigned more = wire_size(n) - 1;

	if (text_reserve(t, more) == NULL)
		return;
	memmove(t->p + start + more, t->p + start, n);
	wire_put(t->p + start - 1, n);
	t->n += more;
}

/* ---- messages as structs ---- */

static inline void store(const struct pf_member *m, const struct pf_wire *w, char *to)
{
	const uint32_t v32 = (uint32_t)w->v;
	struct slice s;

	switch ((enum pf_as)m->as) {
	case PF_AS_U8:
		*to = (char)w->v;
		break;
	case PF_AS_U32:
		memcpy(to, &v32, sizeof v32);
		break;
	case PF_AS_U64:
		memcpy(to, &w->v, sizeof w->v);
		break;
	case PF_AS_BOOL:
		*to = w->v != 0;
		break;
	case PF_AS_FIELD:
	case PF_AS_SLICE:
		s = m->as == PF_AS_SLICE ? pf_wire_slice(w) : slice_of(w->at, (size_t)(w->p - w->at));
		memcpy(to, &s, sizeof s);
		break;
	case PF_AS_MARK:
		break;
	}
}

void pf_read(struct slice message, const struct pf_member *members, uint32_t n, void *to)
{
	struct pf_wire w = pf_wire_on(message);

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		if (number >= n || members[number].tag != w.tag)
			continue;
		const struct pf_member *const m = &members[number];
		store(m, &w, (char *)to + m->at);
		if (m->marked_at > 0)
			((char *)to)[m->marked_at - 1] = (char)m->mark;
	}
}
