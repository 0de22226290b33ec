#include "cmd/cmd.h"

const struct command *const commands[] = {
	&convert_command,    &merge_command,
	&validate_command,   &stats_command,
	&cat_command,        &info_command,
	&diff_command,       &recover_command,
	&formats_command,    &explain_command,
	&rules_command,      &vocabulary_command,
	&completion_command, NULL,
};
