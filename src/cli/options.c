/*
 * The command line of one command: getopt_long() over the rows of all its options, each of which states the
 * destination of its argument; and the effects of common options.  The message about a mistake proposes the
 * nearest option.
 */

#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/match.h"
#include "base/numbers.h"
#include "base/os.h"
#include "cli/names.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "format/registry.h"
#include "run/read/operands.h"

void options_init(struct options *o, const struct command *cmd, int argc, char **argv)
{
	*o = (struct options){ .cmd = cmd, .argc = argc, .argv = argv, .policy = &policy_of_rules };
	o->files.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	optind = 0; /* start again: main has looked at the command line before */
	opterr = 0;
	(void)unsetenv("POSIXLY_CORRECT"); /* it would make operands of the options after the first operand */
}

/* Writes the row of --help of the first option in a message; returns false if the message has no option. */
static bool put_named_row(struct text *t, const struct command *cmd, const char *message)
{
	for (const char *p = message; (p = strstr(p, "--")) != NULL;) {
		const size_t n = strspn(p += 2, "abcdefghijklmnopqrstuvwxyz-");
		if (n > 0 && options_put_row(t, cmd, p, n))
			return true;
	}
	return false;
}

bool options_mistake(struct options *o, const char *fmt, ...)
{
	char detail[1024];
	struct text row = { .p = NULL };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof detail, fmt, ap);
	va_end(ap);
	if (strstr(detail, "tracetool ") != NULL || strchr(detail, '?') != NULL)
		say("%s: %s", o->cmd->name, detail); /* the message proposes a correction already */
	else if (put_named_row(&row, o->cmd, detail) && !row.failed)
		say("%s: %s\n%.*s", o->cmd->name, detail, (int)row.n - 1, row.p);
	else
		say("%s: %s (tracetool %s --help shows how)", o->cmd->name, detail, o->cmd->name);
	text_free(&row);
	o->status = STATUS_USAGE;
	return false;
}

bool options_takes(struct options *o, const char *option, const char *what, const char *arg)
{
	struct shown_path shown;

	return options_mistake(o, "%s takes %s, not %s", option, what, show_path(&shown, arg));
}

bool options_unknown(struct options *o, const char *nearest, const char *advice, const char *fmt, ...)
{
	char what[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	return nearest != NULL ? options_mistake(o, "%s; did you mean %s?", what, nearest)
	                       : options_mistake(o, "%s; %s", what, advice);
}

/* getopt's view of the rows.  Its values are ROW and the index of the row. */
enum { ROW = 256 };

struct getopt_table {
	struct option rows[OPTIONS_MAX + 1];
	struct cmd_option options[OPTIONS_MAX];
	void *bases[OPTIONS_MAX]; /* the objects that contain their destinations */
	char letters[3 * OPTIONS_MAX + 2];
	size_t n, nletters;
};

static void add_row(struct getopt_table *t, struct cmd_option option, void *base)
{
	if (t->n == OPTIONS_MAX)
		return;
	t->rows[t->n] = (struct option){ option.name, option.arg == NULL ? no_argument : required_argument,
		                         NULL, ROW + (int)t->n };
	t->options[t->n] = option;
	t->bases[t->n++] = base;
	if (option.letter != 0) {
		t->letters[t->nletters++] = option.letter;
		if (option.arg != NULL)
			t->letters[t->nletters++] = ':';
	}
}

static void make_table(struct options *o, void *run, struct getopt_table *t)
{
	const struct format_option *p;

	*t = (struct getopt_table){ .n = 0 };
	t->letters[t->nletters++] = ':'; /* getopt() returns it for a missing argument */
	for (const struct cmd_option *own = o->cmd->options; own != NULL && own->name != NULL; own++)
		add_row(t, *own, run);
	for (const struct cmd_option *k = select_option_rows; o->cmd->selects && k->name != NULL; k++)
		add_row(t, *k, run);
	for (int i = 0; i < COMMON_COUNT; i++)
		if (options_has_common(o->cmd, (enum common)i))
			add_row(t, options_common[i], options_common[i].kind == OPTION_CALL ? run : o);
	for (size_t i = 0; (p = options_of_formats(o->cmd, i)) != NULL; i++)
		if (options_own(o->cmd, p->name) < 0)
			add_row(t,
			        (struct cmd_option){ .name = p->name,
			                             .arg = p->arg,
			                             .help = p->help,
			                             .kind = OPTION_FORMAT,
			                             .at = i },
			        run);
}

/* ---- mistakes ---- */

/* Writes the option with these n bytes as its name, or the options whose names begin with them, "--from,
 * --force".  Returns their number. */
static size_t put_candidates(const struct getopt_table *t, const char *p, size_t n, struct text *list)
{
	size_t found = 0;

	for (size_t i = 0; i < t->n; i++)
		if (strncmp(t->rows[i].name, p, n) == 0 && t->rows[i].name[n] == '\0') {
			text_printf(list, "--%s", t->rows[i].name);
			return 1;
		}
	for (size_t i = 0; i < t->n; i++)
		if (strncmp(t->rows[i].name, p, n) == 0)
			text_printf(list, "%s--%s", found++ > 0 ? ", " : "", t->rows[i].name);
	return found;
}

/* Returns the command's option for a name that other programs use, or NULL. */
static const char *meant_option(const struct getopt_table *t, const char *typed)
{
	static const struct {
		const char *typed, *meant;
	} words[] = {
		{ "begin", "since" }, { "end", "until" },         { "filter", "where" },
		{ "group-by", "by" }, { "head", "limit" },        { "policy", "config" },
		{ "start", "since" }, { "strict", "fail-level" }, { "threshold", "min-change" },
		{ "top", "limit" },
	};

	for (size_t k = 0; k < COUNT_OF(words); k++)
		for (size_t i = 0; i < t->n && strcmp(words[k].typed, typed) == 0; i++)
			if (strcmp(words[k].meant, t->rows[i].name) == 0)
				return words[k].meant;
	return NULL;
}

/* The command that has the option, if it is another command; NULL: none has it. */
static const struct command *command_with(const char *option, size_t n)
{
	struct text row = { .p = NULL };
	const struct command *found = NULL;

	for (const struct command *const *c = commands; *c != NULL && found == NULL; c++)
		if (options_put_row(&row, *c, option, n))
			found = *c;
	text_free(&row);
	return found;
}

static bool unknown_long_option(struct options *o, const struct getopt_table *t, const char *typed)
{
	const size_t n = strcspn(typed + 2, "=");
	struct text list = { .p = NULL };
	struct shown_path shown;
	char name[64];

	snprintf(name, sizeof name, "--%.*s", (int)(n < sizeof name ? n : sizeof name), typed + 2);
	struct nearest near = { .typed = name + 2 };
	for (size_t i = 0; i < t->n; i++)
		nearest_add(&near, t->rows[i].name);
	const char *const known = meant_option(t, near.typed);
	const char *const meant = known != NULL ? known : near.name;
	const struct command *const other = command_with(typed + 2, n);
	show_path(&shown, name);
	const size_t found = put_candidates(t, typed + 2, n, &list);
	if (found == 1)
		options_mistake(o, "%.*s takes no argument", (int)list.n, list.p);
	else if (found > 1)
		options_mistake(o, "%s may be one of %.*s; write more of it, as tracetool %s --help shows",
		                shown.s, (int)list.n, list.p, o->cmd->name);
	else if (meant != NULL)
		options_mistake(o, "there is no option %s; did you mean --%s?", shown.s, meant);
	else if (other != NULL)
		options_mistake(o, "has no option %s; tracetool %s has it", shown.s, other->name);
	else
		options_mistake(o, "there is no option %s", shown.s);
	text_free(&list);
	return false;
}

/* Finds the name of a long option behind one dash: "-format json", which getopt reads as -f -o rmat.  Returns
 * NULL if neither the element at which getopt is, nor the one whose rest is optarg, is such a name. */
static const char *name_behind_one_dash(const struct options *o, const struct getopt_table *t)
{
	const bool attached = optarg != NULL && optarg == o->argv[optind - 1] + 2;
	const char *const typed = attached ? o->argv[optind - 1] : optind < o->argc ? o->argv[optind] : "";

	if (typed[0] != '-')
		return NULL;
	const size_t n = strcspn(typed + 1, "=");
	for (size_t i = 0; i < t->n; i++)
		if (n == strlen(t->rows[i].name) && memcmp(typed + 1, t->rows[i].name, n) == 0)
			return t->rows[i].name;
	return NULL;
}

static bool unknown_option(struct options *o, const struct getopt_table *t)
{
	const char *const typed = o->argv[optind - 1];
	struct shown_path shown;

	if (optopt == 0 || strncmp(typed, "--", 2) == 0)
		return unknown_long_option(o, t, typed);
	const char letter[] = { (char)optopt, '\0' };
	return options_mistake(o, "there is no option -%s", show_path(&shown, letter));
}

/* ---- common options ---- */

static bool set_help(void *run, struct options *o, const char *arg)
{
	o->status = options_help(o);
	return false;
}

static bool is_fit(const struct format *f, bool reads)
{
	return reads ? f->reader != NULL : f->writer != NULL;
}

const struct format *options_format(struct options *o, const char *name, bool reads, const char *advice)
{
	const struct format *const named = format_by_name(name), *const by_suffix = format_of_suffix(name);
	const char *const option = reads ? "--from" : "--to", *const put = reads ? "input" : "output";
	struct nearest near = { .typed = name };
	struct shown_path shown;

	if (named != NULL && is_fit(named, reads))
		return named;
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (is_fit(*f, reads))
			nearest_add(&near, (*f)->name);
	show_path(&shown, name);
	if (named != NULL)
		options_mistake(o, "format %s can be %s, but not %s; %s", named->name,
		                reads ? "written" : "read", reads ? "read" : "written", advice);
	else if (by_suffix != NULL && is_fit(by_suffix, reads))
		options_mistake(o, "%s takes the name of a format, not the suffix %s: use %s %s", option,
		                shown.s, option, by_suffix->name);
	else
		options_unknown(o, near.name, advice, "there is no %s format named %s", put, shown.s);
	return NULL;
}

static bool set_from(void *run, struct options *o, const char *arg)
{
	o->from = options_format(o, arg, true, "tracetool formats lists them");
	return o->from != NULL;
}

static bool set_vocabulary(void *run, struct options *o, const char *arg)
{
	if (o->nschemas == OPTIONS_MAX_SCHEMAS)
		return options_mistake(o, "takes at most %d vocabularies", OPTIONS_MAX_SCHEMAS);
	if (arg[0] == '\0')
		return options_mistake(o, "the name of the vocabulary is empty");
	o->schemas[o->nschemas++] = (struct schema_file){ .path = arg };
	return true;
}

static bool set_color(void *run, struct options *o, const char *arg)
{
	o->color = options_word(o, "--color", arg, options_color_words);
	return o->color >= 0;
}

static bool set_width(void *run, struct options *o, const char *arg)
{
	uint64_t n = 0;

	o->width_given = true;
	if (strcmp(arg, "full") != 0 && (!units_count(slice_str(arg), &n) || n == 0 || n > UINT32_MAX))
		return options_takes(o, "--width", "a number of columns, or full", arg);
	o->width = (unsigned)n;
	return true;
}

static bool set_option(struct options *o, void *base, const struct cmd_option *option, const char *arg);

/* --json stands for the command's own --format json. */
static bool set_json(void *run, struct options *o, const char *arg)
{
	return set_option(o, run, &o->cmd->options[options_own(o->cmd, "format")], "json");
}

static bool set_max_record(void *run, struct options *o, const char *arg)
{
	struct shown_path shown;

	if (!options_bytes(o, "--max-record", arg, &o->max_record))
		return false;
	if (o->max_record >= READER_MIN_RECORD && o->max_record <= READER_MAX_RECORD)
		return true;
	return options_mistake(
	    o, "--max-record takes %" PRIu64 " to %" PRIu64 " bytes (%" PRIu64 "M), not %s",
	    READER_MIN_RECORD, READER_MAX_RECORD, READER_MAX_RECORD >> 20, show_path(&shown, arg));
}

const char *const options_color_words[] = { "auto", "always", "never", NULL };

const struct cmd_option options_common[COMMON_COUNT] = {
	[COMMON_HELP] = { "help", NULL, "this help", 'h', OPTION_CALL, .set = set_help },
	[COMMON_FROM] = { "from", "FORMAT", "the input's format (default: by its content)", 0, OPTION_CALL,
	                  .set = set_from },
	[COMMON_FROM_DIALECT] = { "from-dialect", "NAME",
	                          "the dialect of the input (default: by its content)", 0,
	                          TO_TEXT(struct options, dialect) },
	[COMMON_VOCABULARY] = { "vocabulary", "FILE",
	                        "the meaning of events; the first of several files has priority", 0,
	                        OPTION_CALL, .set = set_vocabulary },
	[COMMON_MAX_RECORD] = { "max-record", "BYTES", "the longest record that is read (default: 64M)", 0,
	                        OPTION_CALL, .set = set_max_record },
	[COMMON_QUIET] = { "quiet", NULL, "report errors only", 'q', TO_FLAG(struct options, quiet) },
	[COMMON_COLOR] = { "color", "WHEN", "auto (default), always or never", 0, OPTION_CALL,
	                   .set = set_color },
	[COMMON_WIDTH] = { "width", "N|full",
	                   "columns of tables (default: those of the terminal, or COLUMNS)", 0, OPTION_CALL,
	                   .set = set_width },
	[COMMON_JSON] = { "json", NULL, "the same as --format json", 0, OPTION_CALL, .set = set_json },
	[COMMON_OUTPUT] = { "output", "FILE", "write to FILE", 'o', TO_TEXT(struct options, output) },
	[COMMON_FORCE] = { "force", NULL, "replace an existing FILE", 'f', TO_FLAG(struct options, force) },
	[COMMON_REPORT] = { "report", "FORMAT=FILE",
	                    "also write the findings to FILE: text, json, sarif, junit, ... as in validate",
	                    0, OPTION_CALL, .set = side_reports_add },
};

/* ---- after the last option ---- */

/* Checks that the format has the dialect, or any format if the format is found by content. */
static bool check_dialect(struct options *o)
{
	struct shown_path shown;

	if (o->dialect == NULL)
		return true;
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (o->from == NULL || *f == o->from)
			for (const char *const *d = (*f)->dialects; d != NULL && *d != NULL; d++)
				if (strcmp(*d, o->dialect) == 0)
					return true;
	show_path(&shown, o->dialect);
	if (o->from != NULL)
		return options_mistake(o, "%s has no dialect named %s; tracetool formats lists them",
		                       o->from->name, shown.s);
	return options_mistake(o, "no format has a dialect named %s; tracetool formats lists them", shown.s);
}

/* Refuses a report that would replace a file without -f, before anything is read.  Outputs that are traces
 * are checked when they are opened, as is the summary of a job, to which validate appends. */
static bool check_output(struct options *o)
{
	const bool is_report = !o->cmd->converts && (o->cmd->selects || !o->cmd->reads);
	struct stat st;

	if (!is_report || o->output == NULL || strcmp(o->output, "-") == 0 ||
	    (o->cmd->reports && is_job_summary(o->output)))
		return true;
	if (o->output[0] == '\0')
		return options_mistake(o, "the name of the output is empty");
	if (stat(o->output, &st) != 0 || !((S_ISREG(st.st_mode) && !o->force) || S_ISDIR(st.st_mode)))
		return true;
	say_of(o->output, S_ISREG(st.st_mode) ? "already exists (use -f to replace it)"
	                                      : "already exists and is a directory");
	o->status = STATUS_UNREADABLE;
	return false;
}

void options_free(struct options *o)
{
	say_useless_vocabularies(o);
	for (size_t i = 0; i < o->nschemas; i++)
		vocabulary_file_free(&o->schemas[i]);
	o->nschemas = 0;
	side_reports_free(o);
	vocabularies_free(&o->vocabularies);
	input_files_free(&o->files);
}

bool options_fits(struct options *o, const struct format_option *p, const char *arg)
{
	struct shown_path shown;
	char name[64];

	snprintf(name, sizeof name, "--%s", p->name);
	if (p->words != NULL && options_word(o, name, arg, p->words) < 0)
		return false;
	const char *const mistake = p->mistake != NULL ? p->mistake(arg) : NULL;
	return mistake == NULL || options_mistake(o, "%s %s, not %s", name, mistake, show_path(&shown, arg));
}

/* Adds an option of a format.  If several formats have it, its argument is checked by the format of the
 * output. */
static bool add_format_value(struct options *o, const struct format_option *p, const char *arg)
{
	struct option_value *const v = &o->values[o->nvalues];
	unsigned given = 0;

	if (!options_is_shared(o->cmd, p->name) && !options_fits(o, p, arg))
		return false;
	for (size_t i = 0; i < o->nvalues; i++)
		given += strcmp(o->values[i].name, p->name) == 0;
	if (p->most > 0 && given == p->most)
		return options_mistake(o, "--%s may be given at most %u times", p->name, p->most);
	if (o->nvalues == OPTIONS_MAX)
		return options_mistake(o, "takes at most %d format options", OPTIONS_MAX);
	*v = (struct option_value){ p->name, arg != NULL ? arg : "",
		                    o->nvalues > 0 ? v - 1 : NULL }; /* the last one given is found first */
	o->nvalues++;
	return true;
}

/* ---- parsing ---- */

/* Stores the index of arg among words with "|" between them, "text|json". */
static bool set_choice(struct options *o, const struct cmd_option *option, const char *arg, unsigned *index)
{
	char words[64], name[64];
	const char *list[16] = { words };
	size_t n = 1;

	snprintf(name, sizeof name, "--%s", option->name);
	snprintf(words, sizeof words, "%s", option->arg);
	for (char *p = words; (p = strchr(p, '|')) != NULL && n < COUNT_OF(list) - 1;) {
		*p++ = '\0';
		list[n++] = p;
	}
	const int i = options_word(o, name, arg, list);
	*index = i > 0 ? (unsigned)i : 0;
	return i >= 0;
}

bool options_bytes(struct options *o, const char *option, const char *arg, uint64_t *v)
{
	return units_bytes(slice_str(arg), v) ||
	       options_takes(o, option, "a number of bytes, 104857600 or 100M", arg);
}

/* Stores the argument of an option at the destination of its row; base: the object that contains the
 * destination. */
static bool set_option(struct options *o, void *base, const struct cmd_option *option, const char *arg)
{
	void *const to = base != NULL ? (char *)base + option->at : NULL;
	uint64_t *const number = to;
	char name[64];

	snprintf(name, sizeof name, "--%s", option->name);
	switch (option->kind) {
	case OPTION_FLAG:
		return *(bool *)to = true;
	case OPTION_TEXT:
		*(const char **)to = arg;
		return true;
	case OPTION_NUMBER:
		return options_number(o, name, arg, number);
	case OPTION_POSITIVE:
		return options_number(o, name, arg, number) &&
		       (*number > 0 || options_mistake(o, "%s takes a number of at least 1, not 0", name));
	case OPTION_LIMIT:
		if (!options_number(o, name, arg, number))
			return false;
		if (*number == 0)
			*number = UINT64_MAX;
		return true;
	case OPTION_BYTES:
		return options_bytes(o, name, arg, number);
	case OPTION_CHOICE:
		return set_choice(o, option, arg, to);
	case OPTION_CALL:
		return option->set(to, o, arg);
	case OPTION_SELECT:
		return select_options_take(&o->select, o, option, arg);
	case OPTION_FORMAT:
		return add_format_value(o, options_of_formats(o->cmd, option->at), arg);
	}
	return false;
}

/* The row of a value that getopt returned: a letter, or ROW plus the index. */
static size_t find_row(const struct getopt_table *t, int value)
{
	size_t i = 0;

	if (value >= ROW)
		return (size_t)(value - ROW);
	while (t->options[i].letter != value)
		i++;
	return i;
}

bool options_parse(struct options *o, void *run)
{
	struct getopt_table t;

	make_table(o, run, &t);
	for (int c; (c = getopt_long(o->argc, o->argv, t.letters, t.rows, NULL)) != -1;) {
		const char *const name = name_behind_one_dash(o, &t);
		if (name != NULL)
			return options_mistake(o, "there is no option -%s; did you mean --%s?", name, name);
		if (c == ':')
			return options_mistake(o, "option %s needs an argument", o->argv[optind - 1]);
		if (c == '?')
			return unknown_option(o, &t);
		const size_t i = find_row(&t, c);
		if (!set_option(o, t.bases[i], &t.options[i], optarg))
			return false;
	}
	o->in = (const char *const *)o->argv + optind;
	o->nin = (size_t)(o->argc - optind);
	return check_output(o) && check_dialect(o) && select_options_end(&o->select, o) &&
	       options_read_vocabularies(o);
}

int options_word(struct options *o, const char *option, const char *arg, const char *const *words)
{
	char space[256];
	struct text list = text_start(space, sizeof space);
	struct shown_path shown;
	int i;

	for (i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], arg) == 0) {
			text_free(&list);
			return i;
		}
		text_printf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	options_mistake(o, "%s takes one of %.*s, not %s", option, (int)list.n, list.p,
	                show_path(&shown, arg));
	text_free(&list);
	return -1;
}

bool options_number(struct options *o, const char *option, const char *arg, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(arg, &end, 10);
	if (arg[0] >= '0' && arg[0] <= '9' && *end == '\0' && errno == 0)
		return true;
	return options_takes(o, option, "a number", arg);
}

bool options_no_memory(struct options *o)
{
	const char *const last = o->argc > 1 ? o->argv[o->argc - 1] : "standard output";

	say_of(last, "out of memory");
	o->status = STATUS_UNREADABLE;
	return false;
}

#define DEFAULT_THREADS 16U /* at most, without --threads */
#define MAX_THREADS 256U    /* of --threads */

unsigned options_threads(uint64_t asked)
{
	if (asked > 0)
		return asked < MAX_THREADS ? (unsigned)asked : MAX_THREADS;
	const unsigned cores = usable_cores();
	return cores < DEFAULT_THREADS ? cores : DEFAULT_THREADS;
}

const struct option_value *options_values(const struct options *o)
{
	return o->nvalues > 0 ? &o->values[o->nvalues - 1] : NULL;
}

bool options_color(const struct options *o, int fd)
{
	const char *const no = getenv("NO_COLOR"), *const term = getenv("TERM");

	if (o->color != COLOR_AUTO)
		return o->color == COLOR_ALWAYS;
	return (no == NULL || *no == '\0') && term != NULL && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool options_traces(struct options *o, struct trace_groups *traces)
{
	if (o->nin == 0)
		return options_mistake(o, "name at least one trace (- for standard input)");
	return trace_groups_init(traces, o->in, o->nin, o->from) || options_no_memory(o);
}

unsigned options_width(const struct options *o)
{
	const bool shown = o->output == NULL || strcmp(o->output, "-") == 0;

	if (o->width_given)
		return o->width;
	return shown ? terminal_columns(STDOUT_FILENO) : 0;
}

unsigned options_prose_width(const struct options *o)
{
	const unsigned max = 100, width = options_width(o);

	return width > max ? max : width;
}

struct pipeline_job options_job(struct options *o, finding_sink *sink, void *ctx)
{
	return (struct pipeline_job){
		.in.from = o->from,
		.in.dialect = o->dialect,
		.in.max_record = o->max_record,
		.in.options = options_values(o),
		.in.schemas = o->schemas,
		.in.nschemas = o->nschemas,
		.in.vocabularies = &o->vocabularies,
		.in.files = &o->files,
		.choice.select = select_is_any(&o->select.select) ? NULL : &o->select.select,
		.to.sink = sink,
		.to.ctx = ctx,
	};
}
