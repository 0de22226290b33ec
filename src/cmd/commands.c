/* The list of commands, in the order of help, and --version. */

#include <cjson/cJSON.h>
#include <isa-l.h>
#include <lzma.h>
#include <sqlite3.h>
#include <yaml.h>
#include <zstd.h>

#include "base/os.h"
#include "cli/command.h"
#include "format/registry.h"
#include "json/scan.h"

const struct command *const commands[] = {
	&convert_command,
	&merge_command,
	&validate_command,
	&stats_command,
	&top_command,
	&cat_command,
	&info_command,
	&diff_command,
	&compare_command,
	&report_command,
	&recover_command,
	&formats_command,
	&explain_command,
	&rules_command,
	&vocabulary_command,
	&completion_command,
	NULL,
};

void version_put(struct text *t, bool verbose)
{
	char libc[64];

	text_str(t, TOOL_NAME "\n");
	if (!verbose)
		return;
	for (const struct format *const *f = formats; *f != NULL; f++) {
		text_printf(t, "format: %s (%s%s%s", (*f)->name, (*f)->reader != NULL ? "read" : "",
		            (*f)->reader != NULL && (*f)->writer != NULL ? ", " : "",
		            (*f)->writer != NULL ? "written" : "");
		for (const char *const *d = (*f)->dialects; d != NULL && *d != NULL; d++)
			text_printf(t, "%s%s", d == (*f)->dialects ? "; dialects " : " ", *d);
		text_str(t, ")\n");
	}
	text_printf(t, "library: cJSON %s\n", cJSON_Version());
	/* ISA-L cannot report its version at run time */
	text_printf(t, "library: ISA-L %d.%d.%d\n", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION,
	            ISAL_PATCH_VERSION);
	text_printf(t, "library: SQLite %s\n", sqlite3_libversion());
	text_printf(t, "library: libyaml %s\n", yaml_get_version_string());
	text_printf(t, "library: liblzma %s\n", lzma_version_string());
	text_printf(t, "library: zstd %s\n", ZSTD_versionString());
	text_printf(t, "library: %s\n", libc_version(libc, sizeof libc));
	text_str(t, "compression: gzip (ISA-L) and zstd, read and written; xz, read\n");
	text_printf(t, "cpu: JSON is scanned with %s; this machine has", json_scanner_best()->name);
	for (const struct json_scanner *s = json_scanners; s->name != NULL; s++)
		if (s->usable())
			text_printf(t, " %s", s->name);
	text_char(t, '\n');
}
