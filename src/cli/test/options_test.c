/* Parts of the command line. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cli/options.h"

/* COLUMNS is the width of a terminal; output to files has no width limit. */
Test(options, width)
{
	struct options o = { .output = NULL };

	setenv("COLUMNS", "44", 1);
	cr_expect_eq(options_width(&o), 44);
	o.output = "-";
	cr_expect_eq(options_width(&o), 44);
	o.output = "report.txt";
	cr_expect_eq(options_width(&o), 0);
	o.width_given = true;
	o.width = 120;
	cr_expect_eq(options_width(&o), 120);
	cr_expect_eq(options_prose_width(&o), 100);
}
