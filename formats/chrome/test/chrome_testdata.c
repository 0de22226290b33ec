#include "chrome/test/aids.h"
#include "chrome/test/samples.h"

bool chrome_write_testdata(const char *dir)
{
	return text_samples_write(dir, "good", "chrome", "json", chrome_good) &&
	       text_samples_write(dir, "bad", "chrome", "json", chrome_bad);
}
