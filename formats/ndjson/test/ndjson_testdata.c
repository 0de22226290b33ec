#include "ndjson/test/aids.h"
#include "ndjson/test/samples.h"

bool ndjson_write_testdata(const char *dir)
{
	return text_samples_write(dir, "good", "ndjson", "ndjson", ndjson_good) &&
	       text_samples_write(dir, "bad", "ndjson", "ndjson", ndjson_bad);
}
