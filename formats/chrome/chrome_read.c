#include "chrome/chrome_read.h"

static bool
chrome_read_open(struct reader *r)
{
	finding_add(r->findings, &chrome_rules[CHROME_RULE_NOT_READ], 0, 0,
	            "the input is Chrome trace event JSON");
	return false;
}

static enum read_status
chrome_next(struct reader *r, struct batch *b)
{
	(void)r;
	(void)b;
	return READ_BAD;
}

const struct reader_ops chrome_reader_ops = {
	.state_size = 1,
	.probe = chrome_probe,
	.open = chrome_read_open,
	.next = chrome_next,
};
