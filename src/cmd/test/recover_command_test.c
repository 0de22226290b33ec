/* Rules that formats list for recover. */
#include <criterion/criterion.h>
#include <string.h>

#include "format/recover.h"
#include "format/registry.h"

/* Errors of structure are rules of level error. */
Test(recover_command, rules_of_structure_exist)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		for (const char *const *id = (*f)->recover != NULL ? (*f)->recover->structure : NULL;
		     id != NULL && *id != NULL; id++) {
			const struct rule *r = (*f)->rules;
			while (r->id != NULL && strcmp(r->id, *id) != 0)
				r++;
			cr_expect(r->id != NULL && r->level == LEVEL_ERROR, "%s", *id);
		}
}
