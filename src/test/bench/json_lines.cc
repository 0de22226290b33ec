// json_lines yyjson|simdjson FILE: parses each line of a file that begins with {, and counts them: what a reader of JSON
// lines costs that does nothing else.  A peer of scripts/bench_peers.py; status 77: built without this library.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#if __has_include(<simdjson.h>)
#include <simdjson.h>
#define PADDING simdjson::SIMDJSON_PADDING
static bool parse_simdjson(const char *line, size_t n)
{
	static simdjson::dom::parser parser;
	return parser.parse(line, n, false).error() == simdjson::SUCCESS;
}
#else
#define PADDING 64
#define parse_simdjson nullptr
#endif

#if __has_include(<yyjson.h>)
#include <yyjson.h>
static bool parse_yyjson(const char *line, size_t n)
{
	yyjson_doc *const doc = yyjson_read(line, n, 0);
	yyjson_doc_free(doc);
	return doc != nullptr;
}
#else
#define parse_yyjson nullptr
#endif

int main(int argc, char **argv)
{
	if (argc != 3)
		return 3;
	bool (*const parse)(const char *, size_t) = strcmp(argv[1], "yyjson") == 0 ? parse_yyjson : parse_simdjson;
	if (parse == nullptr)
		return 77;
	std::ifstream in(argv[2], std::ios::binary);
	std::string data((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
	const size_t size = data.size();
	size_t lines = 0;
	data.resize(size + PADDING);
	for (size_t at = 0; at < size;) {
		const char *const line = data.data() + at;
		const void *const stop = memchr(line, '\n', size - at);
		const size_t n = stop != nullptr ? (const char *)stop - line : size - at;
		if (*line == '{')
			lines += parse(line, n);
		at += n + 1;
	}
	printf("%zu\n", lines);
	return 0;
}
