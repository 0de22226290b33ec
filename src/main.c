/*
 * tracetool: finds the command.  Each command is a struct command (cli/command.h).
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/match.h"
#include "cli/command.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "format/registry.h"
#include "output/columns.h"
#include "output/text_visible.h"

static enum exit_status print_help(void)
{
	static const struct column list[] = { { NULL, COLUMN_WORD, 0, 0 }, { NULL, COLUMN_TEXT, 0, 0 } };
	const struct options o = { .argc = 0 };
	const unsigned width = options_prose_width(&o);
	struct columns c = { .list = list, .n = 2, .indent = 2 };
	struct text t = { .p = NULL };

	text_str(&t, "usage: tracetool COMMAND [options] ...\n\n"
	             "Converts, validates and counts traces.\n\n");
	for (const struct command *const *k = commands; *k != NULL; k++) {
		columns_str(&c, (*k)->name);
		columns_str(&c, (*k)->summary);
	}
	columns_print(&c, &t, width);
	text_char(&t, '\n');
	text_wrap(&t,
	          slice_str("tracetool help COMMAND (or COMMAND --help) and the manual page tracetool(1) "
	                    "say more; tracetool --version states the version."),
	          0, 0, width);
	text_char(&t, '\n');
	text_wrap(&t,
	          slice_str("Exit status: 0 clean, 1 findings, 2 an input or output failed, 3 wrong "
	                    "command line."),
	          0, 0, width);
	text_char(&t, '\n');
	return report_out_text(NULL, &t, REPORT_GUARDED);
}

static enum exit_status print_version(int argc, char **argv)
{
	struct text t = { .p = NULL };
	struct shown_path shown;
	const bool verbose = argc > 2 && strcmp(argv[2], "--verbose") == 0;

	if (argc > 2 + verbose) {
		say("%s takes nothing but --verbose, not %s", argv[1], show_path(&shown, argv[2 + verbose]));
		return STATUS_USAGE;
	}
	version_put(&t, verbose);
	return report_out_text(NULL, &t, REPORT_GUARDED);
}

static enum exit_status unknown_command(const char *name)
{
	struct shown_path shown;
	struct nearest near = { .typed = name };

	for (const struct command *const *c = commands; *c != NULL; c++)
		nearest_add(&near, (*c)->name);
	if (near.name != NULL)
		say("there is no command %s; did you mean %s?", show_path(&shown, name), near.name);
	else if (format_by_name(name) != NULL || strcmp(name, "select") == 0)
		say("there is no command %s; man tracetool-%s describes it", name, name);
	else if (access(name, F_OK) == 0)
		say("%s is not a command; did you mean tracetool info FILE, or tracetool stats FILE?",
		    show_path(&shown, name));
	else {
		struct text list = { .p = NULL };
		for (const struct command *const *c = commands; *c != NULL; c++)
			text_printf(&list, "%s%s", c > commands ? ", " : "", (*c)->name);
		say("there is no command %s; there are %.*s", show_path(&shown, name), (int)list.n, list.p);
		text_free(&list);
	}
	return STATUS_USAGE;
}

/* "-q stats": an option in place of the command. */
static enum exit_status misplaced_option(int argc, char **argv)
{
	struct shown_path shown;

	show_path(&shown, argv[1]);
	for (int i = 2; i < argc; i++)
		for (const struct command *const *c = commands; *c != NULL; c++)
			if (strcmp((*c)->name, argv[i]) == 0) {
				say("options follow the command: tracetool %s %s", (*c)->name, shown.s);
				return STATUS_USAGE;
			}
	if (strncmp(argv[1], "--", 2) == 0) {
		struct nearest near = { .typed = argv[1] + 2 };
		nearest_add(&near, "help");
		nearest_add(&near, "version");
		if (near.name != NULL) {
			say("there is no option %s; did you mean --%s?", shown.s, near.name);
			return STATUS_USAGE;
		}
	}
	say("there is no option %s without a command (tracetool --help lists the commands)", shown.s);
	return STATUS_USAGE;
}

/* Opens closed standard descriptors: the next file that is opened would get their number, and messages would
 * be written to it.  /dev/null is opened the wrong way round, so that reading 0 and writing 1 or 2 still
 * fail. */
static bool keep_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

static enum exit_status run(int argc, char **argv)
{
	char help[] = "--help";

	if (argc < 2) {
		say("name a command: usage: tracetool COMMAND [options] ... (tracetool --help lists the "
		    "commands)");
		return STATUS_USAGE;
	}
	/* help COMMAND and -h COMMAND are COMMAND --help */
	if (argc > 2 && argv[2][0] != '-' &&
	    (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
		argv[1] = argv[2];
		argv[2] = help;
		argc = 3;
	}
	const char *const name = argv[1];
	if (strcmp(name, COMPLETE_COMMAND) == 0)
		return complete_print(argc - 2, argv + 2);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return print_help();
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		return print_version(argc, argv);
	for (const struct command *const *c = commands; *c != NULL; c++)
		if (strcmp((*c)->name, name) == 0)
			return (*c)->run(*c, argc - 1, argv + 1);
	return name[0] == '-' && name[1] != '\0' ? misplaced_option(argc, argv) : unknown_command(name);
}

int main(int argc, char **argv)
{
	struct sigaction pipe_action;
	const bool is_known = sigaction(SIGPIPE, NULL, &pipe_action) == 0;

	if (!keep_standard_descriptors())
		return STATUS_UNREADABLE; /* no descriptor for a message */
	output_handle_signals();
	input_handle_signals();
	const enum exit_status status = run(argc, argv);
	if (status != STATUS_PIPE_CLOSED)
		return (int)status;
	/* like other filters, unless the parent ignores the signal */
	if (is_known && pipe_action.sa_handler != SIG_IGN && signal(SIGPIPE, SIG_DFL) != SIG_ERR)
		(void)raise(SIGPIPE);
	return STATUS_UNREADABLE;
}
