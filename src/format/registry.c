/* All formats of formats.def: by name, suffix or content; their options, and the files that their readers
 * open next to an input; all rules. */
#include "format/registry.h"

#include <stdio.h>

#include "base/match.h"
#include "check/rules.h"
#include "format/trace_ops.h"
#include "vocab/vocab.h"

/* ---- files next to an input ---- */

struct input *reader_open_auxiliary(const struct reader *r, const char *path)
{
	return input_open_in(r->files, r->archive, path);
}

bool reader_lacks_auxiliary(const struct reader *r, const char *path)
{
	return input_is_missing(r->files, r->archive, path);
}

bool reader_can_use(struct reader *r, struct input *file, const char *name)
{
	if (!input_shrunk(file) &&
	    (file->fault == INPUT_OK || file->fault == INPUT_EMPTY || file->fault == INPUT_TRAILING))
		return true;
	finding_add(r->findings, input_fault_rule(file->fault), 0, 0, "%s: %s", name, file->fault_text);
	snprintf(r->unreadable, sizeof r->unreadable, "%.60s: %.180s", name, file->fault_text);
	return false;
}

/* ---- formats by name and content ---- */

#define FORMAT(name) extern const struct format name##_format;

#include "formats.def"
#undef FORMAT

const struct format *const formats[] = {
#define FORMAT(name) &name##_format,
#include "formats.def"
#undef FORMAT
	NULL
};

const struct trace_ops *format_trace_ops(const struct format *f)
{
	static const struct trace_ops none = { .shared_size = 0 };

	return f->trace != NULL ? f->trace : &none;
}

const struct format *format_by_name(const char *name)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (strcmp((*f)->name, name) == 0)
			return *f;
	return NULL;
}

static bool ends_in(const char *path, size_t n, const char *suffix)
{
	const size_t m = strlen(suffix);

	return n > m && memcmp(path + n - m, suffix, m) == 0;
}

/* Length of the name without a suffix of compression and slashes at its end.  Inputs can also be packed as
 * .xz. */
static size_t unpacked_length(const char *name, bool input)
{
	size_t n = strlen(name);

	while (n > 0 && name[n - 1] == '/')
		n--;
	if (ends_in(name, n, ".gz") || (input && ends_in(name, n, ".xz")))
		return n - 3;
	return ends_in(name, n, ".zst") ? n - 4 : n;
}

size_t format_unpacked_length(const char *name)
{
	return unpacked_length(name, true);
}

/* The length of the longest suffix of the list (NULL: none) that name[0, n) has; 0: none. */
static size_t longest_of(const char *const *suffixes, const char *name, size_t n)
{
	size_t longest = 0;

	for (; suffixes != NULL && *suffixes != NULL; suffixes++)
		if (ends_in(name, n, *suffixes) && strlen(*suffixes) > longest)
			longest = strlen(*suffixes);
	return longest;
}

/* The length of the longest suffix of the format that the name has; 0: none. */
static size_t suffix_length(const struct format *f, const char *name, bool input)
{
	const size_t n = unpacked_length(name, input), own = longest_of(f->suffixes, name, n);
	const size_t common = input && f->reader != NULL ? longest_of(f->reader->common, name, n) : 0;

	return own > common ? own : common;
}

/* The format of the list with the longest suffix that the name has: of inputs, or of outputs.  NULL: none. */
static const struct format *best_by_suffix(const struct format *const *list, const char *name, bool input)
{
	const struct format *best = NULL;
	size_t longest = 0;

	for (; *list != NULL; list++) {
		const struct format *const f = *list;
		const bool fits = input ? f->reader != NULL && f->reader->common == NULL : f->writer != NULL;
		const size_t n = fits ? suffix_length(f, name, input) : 0;
		if (n > longest) {
			longest = n;
			best = f;
		}
	}
	return best;
}

const struct format *format_by_suffix_of(const struct format *const *list, const char *path)
{
	return best_by_suffix(list, path, false);
}

const struct format *format_by_suffix(const char *path)
{
	return format_by_suffix_of(formats, path);
}

const struct format *format_of_suffix(const char *suffix)
{
	char name[64];
	const int n = snprintf(name, sizeof name, "x%s%s", suffix[0] == '.' ? "" : ".", suffix);

	return n > 0 && (size_t)n < sizeof name ? format_by_suffix(name) : NULL;
}

static bool is_among(const char *const *names, const char *name)
{
	return names != NULL && slice_is_one_of(slice_str(name), names);
}

const struct format *format_of_sidecar(const struct format *format, const char *name)
{
	if (format != NULL)
		return is_among(format_trace_ops(format)->sidecars, name) ? format : NULL;
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (is_among(format_trace_ops(*f)->sidecars, name))
			return *f;
	return NULL;
}

static bool fits_one(const char *const *patterns, const char *name)
{
	for (; patterns != NULL && *patterns != NULL; patterns++)
		if (glob_fits(slice_str(*patterns), slice_str(name)))
			return true;
	return false;
}

bool format_opens_auxiliary(const struct format *format, const char *name)
{
	if (format != NULL)
		return fits_one(format_trace_ops(format)->auxiliary, name);
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (fits_one(format_trace_ops(*f)->auxiliary, name))
			return true;
	return false;
}

const struct format *format_of_name(const char *name)
{
	return best_by_suffix(formats, name, true);
}

bool format_wants_name(const struct format *format, const char *name)
{
	return format != NULL ? suffix_length(format, name, true) > 0 : format_of_name(name) != NULL;
}

bool format_wants_common_name(const char *name)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		if ((*f)->reader != NULL && (*f)->reader->common != NULL && suffix_length(*f, name, true) > 0)
			return true;
	return false;
}

unsigned format_output_wants(const struct format *to)
{
	const bool files = to->copier != NULL && (to->copier->modes & COPIER_FILES) != 0;

	return to->writer->want | (to->copier != NULL ? WANT_BYTES : 0U) | (files ? WANT_FILES : 0U);
}

bool format_omits_records(const struct format *f)
{
	return f->copier != NULL && (f->copier->modes & COPIER_SELECTS) != 0;
}

const struct format *format_probe(struct slice head, bool whole, bool *no_memory)
{
	const struct format *best = NULL;
	int max = 0;

	*no_memory = false;
	for (const struct format *const *f = formats; *f != NULL; f++) {
		const int bits = (*f)->reader != NULL ? (*f)->reader->probe(head, whole) : 0;
		if (bits == PROBE_NO_MEMORY) {
			*no_memory = true;
			return NULL;
		}
		if (bits > max) {
			max = bits;
			best = *f;
		}
	}
	return best;
}

const char *option_find(const struct option_value *list, const char *name)
{
	for (; list != NULL; list = list->next)
		if (strcmp(list->name, name) == 0)
			return list->value;
	return NULL;
}

unsigned option_word(const char *const *words, const char *name)
{
	unsigned i = 0;

	while (words[i] != NULL && strcmp(words[i], name) != 0)
		i++;
	return i;
}

const struct rule *rule_next(struct rule_walk *w)
{
	static const struct rule *const lists[] = { input_rules, vocab_rules, policy_rules, compare_rules };
	const size_t n = COUNT_OF(lists);

	w->rule = w->rule != NULL ? w->rule + 1 : lists[0];
	while (w->rule->id == NULL) {
		w->list++;
		if (w->list >= n && formats[w->list - n] == NULL)
			return NULL;
		const struct rule *const list = w->list < n ? lists[w->list] : formats[w->list - n]->rules;
		w->rule = list != NULL ? list : w->rule;
	}
	return w->rule;
}

/* Compares the whole id and the part after the slash, as users leave out the format. */
const char *rule_nearest_name(const char *id)
{
	struct nearest near = { .typed = id };
	struct rule_walk w = { .list = 0 };

	for (const struct rule *r; (r = rule_next(&w)) != NULL;) {
		const char *const slash = strchr(r->id, '/');
		nearest_add(&near, r->id);
		if (slash != NULL && nearest_add(&near, slash + 1))
			near.name = r->id;
	}
	return near.name;
}
