#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/compiler.h"
#include "check/findings.h"
#include "cli/command.h"
#include "format/trace_ops.h"
#include "policy/policy.h"
#include "run/choose/select.h"
#include "run/read/source.h"
#include "vocab/vocab.h"

struct options;

/* Unless stated otherwise, functions return false after a message, with o->status set. */

/* ---- options that select events ---- */

/* Names and help; the name of the last row is NULL. */
extern const struct cmd_option select_option_rows[];

/* Values of these options; texts are borrowed from the command line. */
struct select_options {
	struct select select;
	bool invert; /* --not, for the next option */
	bool fail_on_empty;
	bool clip_asked; /* --edges clip was given; clip is also the default */
};

/* Sets the option of a row of select_option_rows. */
bool select_options_take(struct select_options *s, struct options *o, const struct cmd_option *row,
                         const char *arg);

/* Checks the options after the last one was parsed. */
bool select_options_end(const struct select_options *s, struct options *o);

/* ---- options ---- */

/* Progress of a long run, shown on stderr after the first second if stderr is a terminal. */
struct progress {
	bool wanted, shown;
	int64_t started_ms, last_ms;
	/* input of the current pass over the current file */
	const struct input *in;
	uint64_t begun_at, at;
	int64_t begun_ms;
};

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER }; /* as options_color_words */

#define OPTIONS_MAX 64 /* long options of one command, including those of formats */
#define OPTIONS_MAX_SCHEMAS 16

/* The command line of one command: values of common options, of formats' options, and of options that select
 * events.  The run of a command begins with it. */
struct options {
	const struct command *cmd;
	int argc;
	char **argv;
	/* reading */
	const struct format *from;
	const char *dialect;
	uint64_t max_record; /* argument of --max-record; 0: not given */
	bool quiet;
	struct schema_file schemas[OPTIONS_MAX_SCHEMAS]; /* vocabularies that were read and checked */
	struct vocab_use schema_uses[OPTIONS_MAX_SCHEMAS];
	size_t nschemas;
	struct input_files files;         /* files of all passes over the inputs */
	struct vocabularies vocabularies; /* kept from one input to the next */
	struct select_options select;     /* for commands that select events */
	struct side_reports *side;        /* reports of --report, for the same commands; NULL: none */
	const struct policy *policy;      /* of findings about traces; default: policy_of_rules */
	bool wordless;                    /* --anonymise: findings are shown without text of the trace */
	uint64_t warnings;     /* number of warnings about traces, which are not shown; see say_found() */
	uint64_t said, unsaid; /* numbers of findings: shown; not shown, as they are beyond SAY_FINDINGS */
	/* writing */
	const char *output; /* NULL: not named */
	bool force;
	int color; /* enum color_when */
	bool width_given;
	unsigned width;                          /* argument of --width; 0: full */
	struct option_value values[OPTIONS_MAX]; /* values of formats' own options */
	size_t nvalues;
	struct progress progress;
	/* operands */
	const char *const *in; /* operands */
	size_t nin;
	enum exit_status status; /* set when options_parse() returns false */
};

void options_init(struct options *o, const struct command *cmd, int argc, char **argv);

/* Called at the end of a command: warns of vocabularies that apply to no trace. */
void options_free(struct options *o);

/* Parses all options; values of the command's own options are stored in `run`, as its rows state.  Returns
 * false if the command must return o->status at once (after --help or a reported mistake). */
bool options_parse(struct options *o, void *run);

/* Finds the traces of the operands, of which there must be one; a folder may have several.  Always end with
 * trace_groups_free(). */
bool options_traces(struct options *o, struct trace_groups *traces);

/* Finds the format of --from (reads) or --to by its name.  advice: the end of messages that propose no
 * format.  Returns NULL after a message. */
const struct format *options_format(struct options *o, const char *name, bool reads, const char *advice);

/* The index of arg among the words; -1 after a message, with o->status set. */
int options_word(struct options *o, const char *option, const char *arg, const char *const *words);

/* Parses a number, which must be all of arg. */
bool options_number(struct options *o, const char *option, const char *arg, uint64_t *v);

/* Parses a number of bytes, with or without a unit: units_bytes(). */
bool options_bytes(struct options *o, const char *option, const char *arg, uint64_t *v);

/* Reports OOM before an input was opened, with the last argument of the command line.  Returns false. */
bool options_no_memory(struct options *o);

/* The number of threads for --threads=asked; 0: one per core, at most 16. */
unsigned options_threads(uint64_t asked);

/* A job with the values of the common options; the command sets the rest.  Findings go to `sink`. */
struct pipeline_job options_job(struct options *o, finding_sink *sink, void *ctx);

/* Checks the argument of an option of a format. */
bool options_fits(struct options *o, const struct format_option *p, const char *arg);

/* Values of formats' options, for readers and writers; the last one given is first. */
const struct option_value *options_values(const struct options *o);

/* Whether text for this descriptor is coloured. */
bool options_color(const struct options *o, int fd);

/* Maximum width of a text report in columns; 0: unlimited. */
unsigned options_width(const struct options *o);

/* Maximum width of help and explanations, at most 100. */
unsigned options_prose_width(const struct options *o);

/* Reports a mistake in the command line, and the command for help.  Returns false. */
bool options_mistake(struct options *o, const char *fmt, ...) PRINTF(2, 3);

/* Likewise, for the argument of an option: "--every takes a time, not 5x". */
bool options_takes(struct options *o, const char *option, const char *what, const char *arg);

/* Likewise, for a name that does not exist: the message ends in a question for `nearest`, or if that is NULL
 * in `advice`. */
bool options_unknown(struct options *o, const char *nearest, const char *advice, const char *fmt, ...)
    PRINTF(4, 5);

/* ---- options table ---- */

/* The options of a command, as tables: for parsing, for --help and for completion. */

enum common {
	COMMON_HELP,
	COMMON_FROM,
	COMMON_FROM_DIALECT,
	COMMON_VOCABULARY,
	COMMON_MAX_RECORD,
	COMMON_QUIET,
	COMMON_COLOR,
	COMMON_WIDTH,
	COMMON_JSON,
	COMMON_OUTPUT,
	COMMON_FORCE,
	COMMON_REPORT,
	COMMON_COUNT
};

extern const struct cmd_option options_common[COMMON_COUNT];
extern const char *const options_color_words[]; /* arguments of --color; NULL-terminated */

bool options_has_common(const struct command *cmd, enum common which);

/* The i-th option of a command that a format provides, over all formats; NULL after the last. */
const struct format_option *options_of_formats(const struct command *cmd, size_t i);

/* The index of the command's own option of this name, which hides an option of a format; -1: none. */
int options_own(const struct command *cmd, const char *name);

/* Whether several formats have an option of this name: then the output determines its arguments. */
bool options_is_shared(const struct command *cmd, const char *name);

/* Calls `visit` for each option of a command in the order of --help; an option that several formats have is
 * visited once.  words: possible arguments, if the table of the option has them. */
typedef void options_visitor(void *ctx, const struct cmd_option *option, const char *const *words);

void options_visit(const struct command *cmd, options_visitor *visit, void *ctx);

/* Appends the row of --help of the option whose name is these n bytes.  Returns false if the command has
 * none. */
bool options_put_row(struct text *t, const struct command *cmd, const char *name, size_t n);

/* Prints the help of the command. */
enum exit_status options_help(const struct options *o);

/* ---- times ---- */

/*
 * Times and durations on the command line:
 *   12.5ms         on the trace's own clock; the unit (ns, us, ms, s, min, h) is ns unless given
 *   +1.5s, -2s     after the first, before the last time of the trace
 *   50%            of the way from the first to the last
 *   2026-11-22T08:30:00.5Z, 2026-11-22   wall time; without Z or an offset (+01:00) it is UTC
 * Digits beyond a nanosecond are refused.
 */

/* Parses a time.  Returns false, without setting *t, if it is invalid. */
bool time_option(const char *s, struct select_time *t);

/* Parses a duration into ns, "12.5ms".  Returns false, without a message, if it is invalid or does not fit.
 */
bool duration_option(const char *s, uint64_t *ns);

/* Likewise, but the unit is required, except for 0: 100 is hardly ever meant in nanoseconds. */
bool duration_with_unit(const char *s, uint64_t *ns);

/* Returns the form of a valid duration that is nearest to the refused argument s, for options_takes(). */
const char *duration_option_takes(const char *s);

/* ---- vocabularies of the user (vocabularies.c) ---- */

/* Reads and checks the files of --vocabulary. */
bool options_read_vocabularies(struct options *o);

/* Parts of events that statistics need to count bytes.  WANT_SIZES: fields that built-in vocabularies name;
 * WANT_FIELDS: also fields that a file of the user may name. */
unsigned options_want_sizes(const struct options *o);

/* Content of a vocabulary. */
struct vocabulary_summary {
	char format[64];
	size_t rules;
	uint64_t mistakes; /* also those beyond the first ones of a rule, which the sink does not get */
	bool unreadable;   /* the file could not be read, or memory ran out */
};

/* Reads the file of file->path, and passes its mistakes to the sink.  rest: gets lines with the numbers of
 * further mistakes.  Returns whether it has none; then file->text is its text. */
bool vocabulary_file_check(struct schema_file *file, finding_sink *sink, void *ctx,
                           struct vocabulary_summary *summary, struct text *rest);
void vocabulary_file_free(struct schema_file *file); /* frees the text */

/* Warns, unless --quiet, of vocabularies that apply to no trace: their format, or their names of classes, may
 * be wrong.  Some may be for the traces of other commands, but not all. */
void say_useless_vocabularies(const struct options *o);

/* ---- options about findings ---- */

#define POLICY_MAX_BASELINES 16

/* --select-rules, --ignore-rules, --level, --limit, --exit-zero, --fail-level, and the files of policies. */
struct policy_options {
	struct policy_choice choice;
	uint64_t limit;                              /* --limit; UINT64_MAX: none, 0: not given */
	const char *config;                          /* --config; NULL: the policy is found by search */
	bool no_config;                              /* --no-config */
	const char *baselines[POLICY_MAX_BASELINES]; /* --baseline */
	unsigned nbaselines;
	struct arena arena; /* for parts of arguments */
};

void policy_options_init(struct policy_options *p);
void policy_options_free(struct policy_options *p);

/* Each function sets its option.  The last of several options about a rule takes effect; an ignored rule
 * stays ignored even if it is selected. */
bool policy_select(void *policy_options, struct options *o, const char *glob);
bool policy_ignore(void *policy_options, struct options *o, const char *glob);
bool policy_level(void *policy_options, struct options *o, const char *arg);
bool policy_fail_level(void *policy_options, struct options *o, const char *arg);
bool policy_exit_zero(void *policy_options, struct options *o, const char *arg);

/* ---- inputs ---- */

/* The record of an input for reports, without findings.  Texts are borrowed from the source. */
static inline struct file_record source_record(const struct source *s)
{
	return (struct file_record){
		.path = s->findings.path,
		.format = s->open ? s->format->name : NULL,
		.dialect = s->open ? s->dialect : NULL,
		.rules = s->open ? s->format->rules : NULL,
		.trace = source_is_stream(s) ? s->location.operand : NULL,
		.records = s->reader.records,
		.unread_bytes = s->open ? s->reader.unread : 0,
		.unreadable = s->unreadable,
		.whole = s->as_whole,
		.is_sidecar = s->is_sidecar,
	};
}

#endif
