#include "cmd/anonymise_options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/say.h"
#include "input/input_whole.h"

#define KEY_MOST 65536 /* bytes of a key file */

static void
take_key(struct anonymise_options *a, struct options *o, const char *key, size_t n)
{
	struct shown_path shown;

	show_path(&shown, a->keyfile);
	if (n < ANONYMISE_KEY_LEAST)
		o->status = options_mistake(o, "--anonymise: the key in %s has %zu bytes; %d are needed",
		                            shown.s, n, ANONYMISE_KEY_LEAST);
	else
		anonymise_set_key(&a->anonymise, key, n);
}

static void
read_key(struct anonymise_options *a, struct options *o)
{
	struct input_whole w;
	struct shown_path shown;

	if (input_read_whole(&w, a->keyfile, KEY_MOST)) {
		take_key(a, o, w.p, w.n);
	} else if (w.no_memory) {
		options_no_memory(o);
	} else if (w.too_large) {
		o->status = options_mistake(o, "--anonymise: %s is no key: it has more than %d bytes",
		                            show_path(&shown, a->keyfile), KEY_MOST);
	} else {
		say("%s: cannot read the key: %s", show_path(&shown, a->keyfile), w.why);
		o->status = STATUS_UNREADABLE;
	}
	free(w.p);
}

bool
anonymise_options_check(struct anonymise_options *a, struct options *o)
{
	const struct anonymise *const w = &a->anonymise;

	if (a->keyfile != NULL)
		read_key(a, o);
	else if (w->keep_paths || w->keep_suffixes || w->hide_numbers || a->shift_time)
		o->status = options_mistake(o, "%s goes with --anonymise",
		                            w->keep_paths      ? "--keep-paths"
		                            : w->keep_suffixes ? "--keep-suffixes"
		                            : w->hide_numbers  ? "--hide-numbers"
		                                               : "--shift-time");
	if (o->status == STATUS_CLEAN && a->shift_time)
		anonymise_set_shift(&a->anonymise);
	return o->status == STATUS_CLEAN;
}

/* ---- what can be read all the same ---- */

static void
put_names(struct text *t, const struct rehome *r)
{
	struct slice *const names = calloc(r->nnames > 0 ? r->nnames : 1, sizeof *names);

	if (names == NULL) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; r->readable.slots != NULL && i <= r->readable.mask; i++) {
		const struct tabletext_slot *const s = &r->readable.slots[i];
		if (s->value != TABLE_NONE)
			names[s->value] = slice_of(s->p, s->n);
	}
	for (uint32_t i = 0; i < r->nnames; i++) {
		text_str(t, i > 0 ? ", " : " (");
		text_visible(t, names[i], 60);
	}
	if (r->nnames > 0)
		text_str(t, r->nnames == REHOME_MOST_NAMES ? ", ...)" : ")");
	free(names);
}

bool
anonymise_options_list(const struct anonymise_options *a, const struct pipeline *p, struct text *t)
{
	text_str(t, "names of fields");
	put_names(t, &p->rehome.rehome);
	text_str(t, a->anonymise.hide_numbers ? "" : ", numbers, ids of processes and threads");
	text_str(t, a->anonymise.keep_paths ? ", how many parts paths have" : "");
	text_str(t, a->anonymise.keep_suffixes ? ", suffixes of texts" : "");
	text_str(t, a->anonymise.shift ? ", differences of times" : ", times");
	text_str(t, ", offsets in the input, the format");
	text_char(t, '\0');
	return !t->failed;
}
