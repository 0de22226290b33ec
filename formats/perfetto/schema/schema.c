/* The tables of schema.def: messages and their fields by number, for the checks and for raw records. */
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
