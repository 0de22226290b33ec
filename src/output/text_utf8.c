#include "output/text_utf8.h"

#include "base/utf8.h"

size_t
text_utf8(struct text *t, struct slice s)
{
	const char *p = s.p, *const end = s.p + s.n;

	if ((s.flags & (SLICE_UTF8 | SLICE_JSON)) != 0) {
		text_add(t, s.p, s.n);
		return 0;
	}
	for (size_t replaced = 0;; replaced++) {
		const size_t valid = utf8_valid_prefix(p, (size_t)(end - p));
		text_add(t, p, valid);
		p += valid;
		if (p == end)
			return replaced;
		text_str(t, TEXT_REPLACEMENT);
		p += utf8_invalid_run(p, (size_t)(end - p));
	}
}
