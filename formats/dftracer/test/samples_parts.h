#ifndef DFTRACER_SAMPLES_PARTS_H
#define DFTRACER_SAMPLES_PARTS_H

/* What samples are put together from: records of September 2024 (dialect d2a), as the specification shows
 * them. */

/* clang-format off */

#define HOST "{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\"," \
	"\"args\":{\"name\":\"node1\",\"value\":5692}}"
#define FILE_A "{\"id\":2,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\"," \
	"\"args\":{\"name\":\"/data/a\",\"value\":22}}"
#define EVENT(id, name, args) \
	"{\"id\":" id ",\"name\":\"" name "\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":100000" id \
	",\"dur\":20,\"ph\":\"X\",\"args\":{" args "}}"
#define OPEN EVENT("3", "open", "\"hhash\":5692,\"fhash\":22,\"flags\":66,\"mode\":420,\"ret\":5")
#define READ EVENT("4", "read", "\"hhash\":5692,\"fhash\":22,\"fd\":5,\"count\":4096,\"ret\":4096")
#define CLOSE EVENT("5", "close", "\"hhash\":5692,\"fhash\":22,\"fd\":5,\"ret\":0")

/* Five sound records, and the same with one of them changed. */
#define FIRST_TWO "[\n" HOST "\n" FILE_A "\n"
#define FOUR FIRST_TWO OPEN "\n" READ "\n"
#define SOUND FOUR CLOSE "\n]"

#define TEXT(s) s, sizeof(s) - 1

#endif
