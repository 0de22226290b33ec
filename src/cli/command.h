#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "output/output.h"
#include "output/text.h"
#include "output/text_json.h"
#include "output/text_visible.h"
#include "run/pipeline.h"

#define TOOL_VERSION "0.1.0"
#define TOOL_NAME "tracetool " TOOL_VERSION

/* Statuses have the same meaning in every command; of several inputs the worst status is returned. */
enum exit_status {
	STATUS_CLEAN = 0,
	STATUS_FINDINGS = 1,   /* findings at or above the fail level; a loss with --fail-on-loss */
	STATUS_UNREADABLE = 2, /* an input could not be read, or an output failed */
	STATUS_USAGE = 3,
	STATUS_PIPE_CLOSED = 4, /* the reader of the output closed the pipe: main() exits as by SIGPIPE */
};

struct options;

/* Type and destination of an option's argument. */
enum option_kind {
	OPTION_FLAG,     /* bool: true */
	OPTION_TEXT,     /* const char *: the argument, borrowed */
	OPTION_NUMBER,   /* uint64_t */
	OPTION_POSITIVE, /* uint64_t, at least 1 */
	OPTION_LIMIT,    /* uint64_t; UINT64_MAX for 0, which means all */
	OPTION_BYTES,    /* uint64_t; the unit is optional */
	OPTION_CHOICE,   /* unsigned: the index among the words of `arg`, "text|json" */
	OPTION_CALL,     /* `set` is called with the destination, by default the run itself */
	OPTION_SELECT,   /* a row of select_option_rows */
	OPTION_FORMAT,   /* a row of options_of_formats(), at index `at` */
};

struct cmd_option {
	const char *name; /* long name */
	const char *arg;  /* name of the argument in the help; NULL: none */
	const char *help; /* one line */
	char letter;      /* 0: no short form */
	enum option_kind kind;
	size_t at; /* offset of the destination in the command's run (common options: in struct options) */
	/* Returns false after a message, with the status of the options set. */
	bool (*set)(void *to, struct options *o, const char *arg);
};

/* The kind and destination of an option, for its row.  The destination is a member of the command's run; its
 * type is checked. */
#define OPTION_AT(run, member, type)                                                                         \
	.at = (offsetof(run, member) + 0 * sizeof(_Generic(((run *)0)->member, type : 0)))
#define TO_FLAG(run, member) OPTION_FLAG, OPTION_AT(run, member, bool)
#define TO_TEXT(run, member) OPTION_TEXT, OPTION_AT(run, member, const char *)
#define TO_NUMBER(run, member) OPTION_NUMBER, OPTION_AT(run, member, uint64_t)
#define TO_POSITIVE(run, member) OPTION_POSITIVE, OPTION_AT(run, member, uint64_t)
#define TO_LIMIT(run, member) OPTION_LIMIT, OPTION_AT(run, member, uint64_t)
#define TO_BYTES(run, member) OPTION_BYTES, OPTION_AT(run, member, uint64_t)
#define TO_CHOICE(run, member) OPTION_CHOICE, OPTION_AT(run, member, unsigned)
#define TO_CALL(run, member, function) OPTION_CALL, .at = offsetof(run, member), .set = (function)

/* clang-format off */
/* Rows that several commands have. */
#define ROW_THREADS(run, member)                                                                             \
	{ "threads", "N", "work with N threads (default: one per core, 16 at most)", 0,                      \
	    TO_POSITIVE(run, member) }
#define ROW_TRACES_AT_A_TIME(run, member)                                                                    \
	{ "threads", "N", "read N traces at a time (default: one per core, 16 at most)", 0,                  \
	    TO_POSITIVE(run, member) }
#define ROW_MAX_REPEAT(run, member)                                                                          \
	{ "max-repeat", "N", "limit repeated texts and lists to N times the input size (default: 32)", 0,    \
	    TO_POSITIVE(run, member) }
#define ROW_MEMORY(run, member)                                                                              \
	{ "memory", "BYTES", "memory for sorting (default: a quarter of what is usable, 64M to 1G)", 0,      \
	    TO_BYTES(run, member) }
#define ROW_BY(run, member)                                                                                  \
	{ "by", "KEY,...", "group by name, category, thread, process, track, host, file, arg:FIELD "         \
	    "(default: name,category)", 0, TO_TEXT(run, member) }
#define ROWS_RULES(run, member)                                                                              \
	{ "ignore-rules", "RULES", "leave out findings of these rules", 0,                                   \
	    TO_CALL(run, member, policy_ignore) },                                                           \
	{ "level", "RULES=LEVEL", "set the level of these rules: error, limit, warning or note", 0,          \
	    TO_CALL(run, member, policy_level) }
#define ROWS_EXIT(run, member)                                                                               \
	{ "fail-level", "LEVEL", "exit 1 from this level on: error (default), limit, warning, note, never",  \
	    0, TO_CALL(run, member, policy_fail_level) },                                                    \
	{ "exit-zero", NULL, "findings do not change the exit status", 0,                                    \
	    TO_CALL(run, member, policy_exit_zero) }
/* clang-format on */

/* Source of the candidates that complete an argument or operand. */
enum cmd_word_source {
	WORDS_LIST,            /* words of the row */
	WORDS_FILES,           /* names of files */
	WORDS_INPUT_FORMATS,   /* names of formats that can be read */
	WORDS_OUTPUT_FORMATS,  /* names of formats that can be written */
	WORDS_VOCABULARIES,    /* names of formats that have a built-in vocabulary */
	WORDS_DIALECTS,        /* dialects of all formats */
	WORDS_OUTPUT_DIALECTS, /* dialects that can be written */
	WORDS_RULES,           /* ids of rules */
	WORDS_IDS,             /* ids of rules and of kinds of loss */
};

/* Words that complete an argument or operand.  Without a row, the name of an option's argument decides
 * ("on|off", FILE, RULES), and operands of commands that read are files. */
struct cmd_words {
	const char *position; /* "--to": the option's argument; "": the first operand; "show": after it */
	enum cmd_word_source source;
	const char *const *words; /* words of WORDS_LIST; NULL-terminated */
};

struct command {
	const char *name;
	const char *operands;             /* for the usage line */
	const char *summary;              /* one line */
	const struct cmd_option *options; /* besides the common ones; ended by a name of NULL; NULL: none */
	const struct cmd_words *words;    /* ended by a position of NULL; NULL: none */
	bool reads;                       /* takes traces: has the options of reading */
	bool uninterpreted;               /* takes traces, but has no options about the meaning of records */
	bool writes;                      /* takes -o FILE and -f */
	bool reports;                     /* its output is findings, so it has its own --report */
	bool selects;                     /* has the options that select events */
	bool converts;                    /* has the options of writers */
	bool tables;                      /* its text fits the width of --width */
	enum exit_status (*run)(const struct command *cmd, int argc, char **argv);
};

extern const struct command *const commands[]; /* NULL-terminated */

/* Hidden command that the scripts of `completion` run: tracetool __complete WORD... */
#define COMPLETE_COMMAND "__complete"
enum exit_status complete_print(int argc, char **argv);
extern const char *const completion_scripts[]; /* for bash, fish and zsh; made from src/cmd/completion/ */

extern const struct command convert_command, merge_command, validate_command, stats_command, top_command,
    cat_command, info_command, diff_command, compare_command, report_command, recover_command,
    formats_command, explain_command, rules_command, vocabulary_command, completion_command;

static inline enum exit_status worse(enum exit_status a, enum exit_status b)
{
	return a > b ? a : b;
}

/* Name and version on one line; verbose: formats, libraries and CPU features follow, one a line. */
void version_put(struct text *t, bool verbose);

#endif
