#include "chrome/chrome_aids.h"
#include "chrome/chrome_samples.h"

bool
chrome_write_testdata(const char *dir)
{
	return text_samples_write(dir, "good", "chrome", "json", chrome_good) &&
	       text_samples_write(dir, "bad", "chrome", "json", chrome_bad);
}
