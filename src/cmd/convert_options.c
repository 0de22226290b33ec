#include "cmd/convert_options.h"

#include <string.h>

#include "cmd/convert.h"
#include "cmd/run_names.h"
#include "cmd/output_format.h"

const struct cmd_words convert_words[] = {
	{ "--to", WORDS_OUTPUT_FORMATS, NULL },
	{ NULL, WORDS_LIST, NULL },
};

bool
convert_take_option(struct convert *c, int option, const char *arg)
{
	static const char *const on_off[] = { "on", "off", NULL };
	struct options *const o = &c->options;
	int word;

	switch (option) {
	case CONVERT_TO:
		c->to_name = arg;
		return true;
	case CONVERT_THREADS:
		return options_number(o, "--threads", arg, &c->threads);
	case CONVERT_MEMORY:
		return options_bytes(o, "--memory", arg, &c->sort_memory);
	case CONVERT_MAX_REPEAT:
		return options_positive(o, "--max-repeat", arg, &c->max_repeat);
	case CONVERT_LANES:
		word = options_word(o, "--lanes", arg, on_off);
		c->no_lanes = word == 1;
		return word >= 0;
	case CONVERT_REBASE:
		return c->rebase = true;
	case CONVERT_FAIL_ON_LOSS:
		return losses_out_fail_on(&c->losses, o, NULL);
	case CONVERT_FAIL_ON_LOSS_OF:
		return losses_out_fail_on(&c->losses, o, arg);
	case CONVERT_LOSSES:
		c->losses.path = arg;
		return true;
	default:
		return c->keep_partial = true;
	}
}

/* Whether all files of the run are different ones. */
static bool
check_names(struct convert *c)
{
	const bool folder = convert_splits(&c->split) || c->to->writer->shape == WRITER_FOLDER;
	struct run_names n;

	run_names_begin(&n, &c->options, c->in, c->nin);
	(folder ? run_names_folder : run_names_written)(&n, "output", c->out);
	run_names_written(&n, "report of losses", c->losses.path);
	run_names_read(&n, "key", c->anonymise.keyfile);
	run_names_read(&n, "file of offsets", c->offsets);
	return run_names_end(&n);
}

bool
convert_check_names(struct convert *c)
{
	struct options *const o = &c->options;

	if (c->out[0] == '\0') {
		o->status = options_mistake(o, "the name of the output is empty");
		return false;
	}
	if (!convert_splits(&c->split))
		c->to = output_format(o, c->to_name, c->out);
	else if (!convert_split_format(c))
		return false;
	return c->to != NULL && check_names(c) && output_format_fits(o, c->to, c->out, c->raw) &&
	       output_options_fit(o, c->to);
}
