#include "base/utf8.h"
#include "ctf/state.h"
#include "output/text_utf8.h"

/* Texts: in events they end in NUL and are UTF-8 (sections 4.2.5 and 6.1.6); in the metadata they are
 * literals as in C. */

unsigned
ctf_clean(struct text *t, struct slice s)
{
	const char *p = s.p, *const end = s.p + s.n;
	unsigned found = 0;

	while (p < end) {
		const char *const nul = memchr(p, '\0', (size_t)(end - p)), *const stop =
		                                                                nul != NULL ? nul : end;
		found |= text_utf8(t, slice_of(p, (size_t)(stop - p))) > 0 ? 2 : 0;
		p = stop;
		if (nul != NULL) {
			text_str(t, TEXT_REPLACEMENT);
			p++;
			found |= 1;
		}
	}
	return found;
}

static void
count(unsigned found, struct chunk *chunk, uint64_t offset)
{
	if ((found & 1) != 0)
		ctf_lose(chunk, CTF_TEXT_NUL, offset);
	if ((found & 2) != 0)
		ctf_lose(chunk, CTF_BAD_TEXT, offset);
}

void
ctf_string(struct text *t, struct slice s, struct chunk *chunk, uint64_t offset)
{
	const bool plain = (s.flags & SLICE_JSON) != 0;

	if (plain || s.n == 0 || (memchr(s.p, '\0', s.n) == NULL && utf8_valid(s.p, s.n))) {
		char *const p = text_room(t, (size_t)s.n + 1);
		if (p == NULL)
			return;
		*text_put(p, s.p, s.n) = '\0';
		t->n += (size_t)s.n + 1;
		return;
	}
	count(ctf_clean(t, s), chunk, offset);
	text_char(t, '\0');
}

void
ctf_literal(struct text *t, struct slice s)
{
	struct text shown = { .p = NULL };

	text_visible_message(&shown, s);
	text_char(t, '"');
	for (size_t i = 0; i < shown.n; i++) {
		if (shown.p[i] == '"' || shown.p[i] == '\\')
			text_char(t, '\\');
		text_char(t, shown.p[i]);
	}
	text_char(t, '"');
	t->failed |= shown.failed;
	text_free(&shown);
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool
ctf_identifier(struct text *t, const char *prefix, struct slice name)
{
	const uint32_t n = name.n < CTF_MOST_IDENTIFIER ? name.n : CTF_MOST_IDENTIFIER;
	bool same = n == name.n && n > 0;

	text_str(t, prefix);
	if (n == 0)
		text_str(t, "unnamed");
	for (uint32_t i = 0; i < n; i++) {
		same &= is_word(name.p[i]);
		text_char(t, is_word(name.p[i]) ? name.p[i] : '_');
	}
	return same;
}
