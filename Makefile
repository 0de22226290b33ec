# tracetool.  One Makefile, no list of sources; `make help` names the targets.

PREFIX ?= /usr/local
DESTDIR ?=
CFLAGS ?= -O2 -g
BUILD  ?= build
FORMAT ?= htdump

# All processors compile, unless make was told how many.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

# make V=1 shows whole commands.
ifdef V
say = $(1)
else
say = @echo "  $(2) $(3)"; $(1)
endif

# Warnings are errors with the compilers of Debian 12; others may have new ones.  Flags of several enums are combined.
WERROR := $(if $(filter 12 14.0.6,$(shell $(CC) -dumpversion 2>&1)),-Werror)
WARN := -std=c11 -Wall -Wextra $(WERROR) -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-unused-parameter -Wno-enum-enum-conversion \
	-Wno-enum-compare-conditional
LIB_PC    := libcjson libisal liblzma libzstd sqlite3 yaml-0.1
PC_CFLAGS := $(shell pkg-config --cflags $(LIB_PC) 2>/dev/null)
LIBS      := $(shell pkg-config --libs $(LIB_PC) 2>/dev/null) -lpthread -lm
TEST_LIBS := $(shell pkg-config --libs criterion 2>/dev/null)
CPP_ALL   := -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -Isrc -Iformats $(PC_CFLAGS)

# Sources are found, not listed.  A file in a folder test/ is no part of tracetool: *_test.c are tests, and the rest aids
# tests, benchmarks and fuzzing (builders of traces, samples, second readers to compare with).  formats/X/test/aids.c lists
# the aids of format X (src/test/support/format_aids.h).  Programs with a main() of their own are listed here.
ALL_C   := $(sort $(shell find src formats -name '*.c'))
MAINS   := src/main.c src/test/bench/bench_main.c src/test/support/make_testdata.c src/test/fuzz/fuzz_replay.c \
	src/test/fuzz/fuzz_read.c src/test/fuzz/fuzz_files.c src/test/support/no_libgit2.c $(wildcard src/test/faults/*.c)
IN_TEST := $(filter-out $(MAINS),$(foreach c,$(ALL_C),$(if $(findstring /test/,$(c)),$(c))))
TESTS   := $(filter %_test.c,$(IN_TEST))
AIDS    := $(filter-out $(TESTS),$(IN_TEST))
LIB_C   := $(filter-out $(MAINS) $(IN_TEST),$(ALL_C))
# The formats that have aids.
AIDED   := $(patsubst formats/%/test/aids.c,%,$(filter formats/%/test/aids.c,$(AIDS)))
LIB_O   := $(LIB_C:%.c=$(BUILD)/%.o) $(BUILD)/schemas_builtin.o $(BUILD)/page_assets.o $(BUILD)/completion_scripts.o
AID_O   := $(AIDS:%.c=$(BUILD)/%.o)
TEST_O  := $(TESTS:%.c=$(BUILD)/%.o)

all: tracetool ## build ./tracetool (the default)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

tracetool: $(BUILD)/tracetool
	@cp -f $< $@.tmp && mv -f $@.tmp $@

$(BUILD)/tracetool: $(LIB_O) $(BUILD)/src/main.o
	$(call say,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS),LD,$@)

# Each test is a new process of build/tests.  To start it fast: no relocations, and a stub of libgit2, which loads TLS and Kerberos.
TEST_LD = -no-pie -Wl,--no-as-needed -Wl,-rpath,$(abspath $(BUILD)/no_libgit2) $$(find $(BUILD)/no_libgit2 -name 'lib*')

$(BUILD)/tests: $(LIB_O) $(AID_O) $(TEST_O) $(BUILD)/no_libgit2
	$(call say,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(TEST_LD) $(filter %.o,$^) $(TEST_LIBS) $(LIBS),LD,$@)

# A folder with a stub of the libgit2 that Criterion links to; empty if it does not.
$(BUILD)/no_libgit2: src/test/support/no_libgit2.c Makefile
	@rm -rf $@ && mkdir -p $@
	@so=$$(readelf -d "$$($(CC) -print-file-name=libcriterion.so)" | sed -n 's/.*NEEDED.*\[\(libgit2[^]]*\)\]/\1/p'); \
	[ -z "$$so" ] || $(CC) $(WARN) -shared -fPIC -Wl,-soname,"$$so" -o "$@/$$so" $<

$(BUILD)/bench: $(LIB_O) $(AID_O) $(BUILD)/src/test/bench/bench_main.o
	$(call say,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS),LD,$@)

$(BUILD)/make_testdata: $(LIB_O) $(AID_O) $(BUILD)/src/test/support/make_testdata.o
	$(call say,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS),LD,$@)

$(BUILD)/fuzz_replay: $(LIB_O) $(AID_O) $(BUILD)/src/test/fuzz/fuzz_replay.o
	$(call say,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS),LD,$@)

# The program that fails calls of its own C library, with tracetool's main() in it.
FAULT_O := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/test/faults/*.c)) $(BUILD)/src/test/faults/tracetool_main.o

$(BUILD)/src/test/faults/tracetool_main.o: src/main.c Makefile
	@mkdir -p $(@D)
	$(call say,$(CC) $(WARN) -Wno-missing-prototypes $(CPP_ALL) -MMD -MP -Dmain=tracetool_main $(CFLAGS) -c -o $@ $<,CC,$<)

$(BUILD)/faults: $(LIB_O) $(AID_O) $(FAULT_O)
	$(call say,$(CC) $(CFLAGS) $(LDFLAGS) -rdynamic -o $@ $^ $(LIBS),LD,$@)

# The files beside traces that have a target, too.
FUZZ_FILES := policy vocabulary table

$(BUILD)/fuzz_$(FORMAT): $(LIB_O) $(AID_O) src/test/fuzz/fuzz_$(if $(filter $(FUZZ_FILES),$(FORMAT)),files,read).c
	$(call say,$(CC) $(WARN) $(CPP_ALL) $(CFLAGS) -DFUZZ_FORMAT=$(FORMAT) -fsanitize=fuzzer -o $@ $^ $(LIBS),LD,$@)

# The vocabularies, as C.  The folder itself is named so that a file that goes away is noticed.
SCHEMAS := $(sort $(wildcard schemas/*.yaml) $(patsubst %/,%,$(wildcard schemas/*/)))

$(BUILD)/schemas_builtin.c: $(SCHEMAS) $(wildcard schemas/*/*.yaml) schemas src/vocab/embed.sh Makefile
	@mkdir -p $(@D)
	$(call say,sh src/vocab/embed.sh $(SCHEMAS) > $@,EMBED,schemas/*.yaml)

$(BUILD)/schemas_builtin.o: $(BUILD)/schemas_builtin.c src/vocab/private.h
	$(call say,$(CC) $(WARN) $(CPP_ALL) $(CFLAGS) -c -o $@ $<,CC,$<)

# Style and script of the page, as C.
PAGE := src/report/page/page.css src/report/page/page.js

$(BUILD)/page_assets.c: $(PAGE) src/report/page/embed.sh Makefile
	@mkdir -p $(@D)
	$(call say,sh src/report/page/embed.sh $(PAGE) > $@,EMBED,src/report/page)

$(BUILD)/page_assets.o: $(BUILD)/page_assets.c src/report/parts.h src/report/report.h
	$(call say,$(CC) $(WARN) $(CPP_ALL) $(CFLAGS) -c -o $@ $<,CC,$<)

# Scripts with which shells complete command lines, as C; in the order of src/cmd/complete.c.
SHELLS := $(addprefix src/cmd/completion/tracetool.,bash fish zsh)

$(BUILD)/completion_scripts.c: $(SHELLS) src/cmd/completion/embed.sh Makefile
	@mkdir -p $(@D)
	$(call say,sh src/cmd/completion/embed.sh $(SHELLS) > $@,EMBED,src/cmd/completion)

$(BUILD)/completion_scripts.o: $(BUILD)/completion_scripts.c src/cli/command.h
	$(call say,$(CC) $(WARN) $(CPP_ALL) $(CFLAGS) -c -o $@ $<,CC,$<)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,$(CC) $(WARN) $(CPP_ALL) -MMD -MP $(CFLAGS) -c -o $@ $<,CC,$<)

# Tests are compiled more often than run; -Og -g1 compiles in 60 % of the time of -O1 -g.
$(TEST_O): CFLAGS += -Og -g1

# The list of the formats' aids, made again when it is another one.
$(BUILD)/format_aids.def: FORCE
	@mkdir -p $(@D)
	@for f in $(AIDED); do echo "AIDS($${f}_aids)"; done > $@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

$(BUILD)/src/test/support/format_aids.o: CPP_ALL += -I$(BUILD)
$(BUILD)/src/test/support/format_aids.o: $(BUILD)/format_aids.def

# List of the command tests: formats/heph/test/cli.test is commands/heph_cli.
$(BUILD)/commands.def: FORCE
	@mkdir -p $(@D)
	@find src formats -path '*/test/*.test' | sort | \
		sed 's,^\(.*/\)*\([a-z0-9_]*\)/test/\(text/\)*\([a-z0-9_]*\)\.test$$,COMMANDS(\2_\4\, "&"),' > $@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

$(BUILD)/src/test/commands/commands_test.o: CPP_ALL += -I$(BUILD)
$(BUILD)/src/test/commands/commands_test.o: $(BUILD)/commands.def

-include $(patsubst %.c,$(BUILD)/%.d,$(ALL_C)) $(BUILD)/src/test/faults/tracetool_main.d

# ---- the two commands of the README: everything, from nothing ----

SAMPLE := testdata/dial9/service.bin

demo: deps ## install what is missing, build, and show validate, stats, convert and report on a sample
	@$(MAKE) --no-print-directory -s tracetool
	@echo '$$ tracetool validate $(SAMPLE)'; ./tracetool validate $(SAMPLE)
	@echo; echo '$$ tracetool stats -n 5 $(SAMPLE)'; ./tracetool stats -n 5 $(SAMPLE)
	@echo; echo '$$ tracetool convert $(SAMPLE) build/demo.pftrace'; ./tracetool convert -f $(SAMPLE) build/demo.pftrace
	@echo; echo '$$ tracetool report $(SAMPLE) -o build/demo.html'; ./tracetool report -f $(SAMPLE) -o build/demo.html
	@echo; echo 'Open build/demo.html in a browser, and build/demo.pftrace in https://ui.perfetto.dev.'

test: deps ## install what is missing, build, and run all tests
	@$(MAKE) --no-print-directory run-tests

run-tests: tracetool $(BUILD)/tests
	TRACETOOL_BIN=$(BUILD)/tracetool sh scripts/scratch.sh $(BUILD)/tests --filter '!(host_*)/*'

# Suites host_* depend on what the kernel counts as memory, or on how far a running program has come; suites *_cost get a
# limit of CPU time besides that of what they write.  One test at a time.
check-limits: tracetool $(BUILD)/tests ## tests of memory, CPU time, signals and changing files, which want an idle machine
	COST_SECONDS=20 TRACETOOL_BIN=$(BUILD)/tracetool $(BUILD)/tests -j1 --filter '@(host_*|*_cost)/*'

# ---- what CI runs besides ----

SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

check: deps check-bench check-readme check-layers check-names check-width check-format check-contract check-man check-testdata ## layering, manuals, test data, fuzz corpus, tests under the sanitizers, failing calls
	@$(MAKE) --no-print-directory run-replay check-sweep
	@$(MAKE) --no-print-directory BUILD=build-sanitize CFLAGS='$(SANITIZE)' build-sanitize/tracetool build-sanitize/tests \
		build-sanitize/fuzz_replay
	ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 TRACETOOL_BIN=build-sanitize/tracetool sh scripts/scratch.sh build-sanitize/tests --filter '!(host_*)/*'
	@$(MAKE) --no-print-directory check-faults FAULTS_EVERY=2

# What takes longer than CI may, one after the other.
check-sweeps: check-threads check-viewers check-tables check-fuzz check-faults ## all samples on several threads and in viewers; fuzzing; all failing calls
	@$(MAKE) --no-print-directory BUILD=build-sanitize CFLAGS='$(SANITIZE)' check-faults FAULTS_EVERY=8
	@$(MAKE) --no-print-directory BUILD=build-sanitize CFLAGS='$(SANITIZE)' build-sanitize/fuzz_replay
	ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 build-sanitize/fuzz_replay $(wildcard testdata/*/good testdata/*/bad testdata/fuzz/*)

run-replay: $(BUILD)/fuzz_replay
	$(BUILD)/fuzz_replay $(wildcard testdata/*/good testdata/*/bad testdata/fuzz/*)

check-threads: ## the same output for 1, 2 and 7 threads over all samples, and no data race under ThreadSanitizer
	@$(MAKE) --no-print-directory tracetool
	sh scripts/threads.sh $(BUILD)/tracetool $(SAMPLES_EVERY)
	@$(MAKE) --no-print-directory BUILD=build-threads CFLAGS='-O1 -g -fsanitize=thread -DAHEAD_FIRST=1 -DAHEAD_SLOW=0 -DPF_RELEASE=1 -DPIPELINE_BATCH_EVENTS=16 -DPIECE_TEXT=64 -DAPART_BYTES=1' build-threads/tracetool
	sh scripts/threads.sh build-threads/tracetool $(THREADS_EVERY)
	@$(MAKE) --no-print-directory build/tests
	TSAN_OPTIONS=exitcode=66 TRACETOOL_BIN=build-threads/tracetool build/tests --filter '*_race/*'

# Every so manieth input is compared; ThreadSanitizer makes a run ten times as long.
SAMPLES_EVERY := 1
THREADS_EVERY := 7

check-viewers: tracetool ## all samples and real traces, converted, in the programs that people open them with
	@sh scripts/deps.sh babeltrace2 || echo "what needs babeltrace2 is skipped"
	@for s in formats/*/test/*viewers.sh src/*/test/*viewers.sh; do sh $$s $(BUILD)/tracetool; n=$$?; [ $$n -eq 0 ] || [ $$n -eq 77 ] || exit $$n; done

check-clang: $(BUILD)/tests ## tests of commands with the program as clang compiles it, which evaluates arguments in another order
	@sh scripts/deps.sh clang
	@$(MAKE) --no-print-directory BUILD=build-clang CC=clang build-clang/tracetool
	TRACETOOL_BIN=build-clang/tracetool sh scripts/scratch.sh $(BUILD)/tests --filter '@(commands|cmd*|cli*|*_cli|*_oracle|*_trust)/*'

check-judge: tracetool ## Perfetto traces and CPU profiles of V8 as tracetool and Perfetto's own importer read them; an unexpected difference fails
	@sh formats/perfetto/test/judge.sh $(BUILD)/tracetool
	@python3 formats/chrome/test/profile.py $(BUILD)/tracetool

check-tables: tracetool ## the further tables of stats and top, beside a slow computation from NDJSON
	@python3 src/stats/tables/test/oracle.py $(BUILD)/tracetool
	@python3 src/stats/tables/test/oracle.py $(BUILD)/tracetool testdata/dial9/service.bin testdata/dftracer/checkpoint.pfw

check-reports: tracetool ## reports of all samples, judged by the SARIF schema and multitool (npm) and xmllint
	@sh scripts/reports.sh $(BUILD)/tracetool

check-recover: $(BUILD)/tests ## recover all prefixes and 100,000 random damages of each sample
	STRENGTH=100 $(BUILD)/tests --filter 'recover_sweep/*' --timeout 86400

check-roundtrip: $(BUILD)/tests ## 10,000 random traces through each writer and back
	STRENGTH=10 $(BUILD)/tests --filter 'roundtrip/*' --timeout 86400

# Suites that do more with STRENGTH=10: files that include strength.h, or an aid that does.
ASKING := strength[.]h|samples_test_util[.]h|agree_test[.]h|fuzz_sweep_test_util[.]h
SWEEPS = @($(shell grep -lE '$(ASKING)' $(TESTS) | xargs sed -nE 's/^(Parameterized)?Test.([a-z]* [*a-z]*, )?([a-z0-9_]+), .*/\3/p' | sort -u | paste -s -d '|'))/*

check-sweep: tracetool $(BUILD)/tests ## sweeps and random tests, ten times what make test does
	STRENGTH=10 TRACETOOL_BIN=$(BUILD)/tracetool $(BUILD)/tests --filter '$(SWEEPS)' --timeout 86400

check-matrix: tracetool ## all good samples and real traces to all formats that can be read, with --verify
	@sh scripts/matrix.sh $(BUILD)/tracetool

# Every so manieth call fails; with BUILD and CFLAGS of the sanitizers a run takes three times as long.
FAULTS_EVERY := 1

check-faults: ## every command with each of its calls for memory, files and threads failing in turn
	@$(MAKE) --no-print-directory $(BUILD)/faults
	$(BUILD)/faults -e $(FAULTS_EVERY)

check-layers: ## includes point one way; the engine names no format
	@sh scripts/layers.sh

check-readme: tracetool ## README names each format
	@sh scripts/readme.sh $(BUILD)/tracetool README.md

check-names: ## include guards are unique; command tests are found; functions and files that documents name exist
	@d=$$(git ls-files 'src/*.h' 'formats/*.h' | xargs sed -n 's/^#ifndef \([A-Z0-9_]*_H\)$$/\1/p' | sort | uniq -d); \
	if [ -n "$$d" ]; then echo "include guards that are not unique: $$d"; exit 1; fi
	@d=$$(git ls-files '*.test' | grep -v '^\(src\|formats\)/.*/test/\(text/\)*[a-z0-9_]*\.test$$'); \
	if [ -n "$$d" ]; then echo "command tests outside of test/ are not run: $$d"; exit 1; fi
	@d=$$(grep -oh '`[a-z0-9_]*()`' docs/architecture.md docs/code-style.md CONTRIBUTING.md | tr -d '`()' | sort -u | while read -r f; do \
		git grep -qw "$$f" -- src formats || echo "$$f()"; done; \
		grep -oh '`src/[a-z0-9_./]*[a-z0-9]`' docs/*.md README.md CONTRIBUTING.md | tr -d '`' | sort -u | while read -r f; do \
		[ -e "$$f" ] || [ "$$f" = src/metrics.rs ] || echo "$$f"; done); \
	if [ -n "$$d" ]; then echo "documents name what is not there:" $$d; exit 1; fi

check-width: ## lines of C have at most 110 columns
	@sh scripts/width.sh

format: ## clang-format all C files
	@find src formats -name '*.[ch]' | xargs clang-format -i

check-format: ## C files are as clang-format makes them
	@sh scripts/deps.sh clang-format
	@find src formats -name '*.[ch]' | xargs clang-format --dry-run -Werror

N ?= 200
MUTANT_SEED := 1

mutants: deps ## N (200) single-line changes of the program that tests must detect; MUTANT_ARGS: options of scripts/mutants.py
	@python3 scripts/mutants.py -n $(N) -s $(MUTANT_SEED) $(MUTANT_ARGS)

count: ## lines and files, by kind and by folder
	@sh scripts/count.sh

check-same: tracetool ## the build OLD (a path) and this one do the same on all samples: make check-same OLD=/tmp/tracetool
	@sh scripts/same.sh $(OLD) $(BUILD)/tracetool $(SAME_EVERY)

check-contract: ## how many lines of headers the author of a format has to read
	@sh scripts/contract.sh

check-man: tracetool ## the manual pages are well-formed, and list the options of --help
	@sh scripts/deps.sh groff
	@sh scripts/man.sh $(BUILD)/tracetool man/*.[1-9]

testdata: $(BUILD)/make_testdata ## regenerate testdata/ from the text of the samples
	$(BUILD)/make_testdata testdata

check-testdata: ## testdata/ is what its generator makes
	@$(MAKE) --no-print-directory $(BUILD)/make_testdata
	@rm -rf $(BUILD)/testdata && $(BUILD)/make_testdata $(BUILD)/testdata
	@cd $(BUILD)/testdata && find . -type f | LC_ALL=C sort > ../testdata.made
	@cd testdata && find . -type f ! -name '*.yaml' ! -path './fuzz/*' ! -path './faults/*' ! -path './policy/*' ! -name .gitattributes | \
		LC_ALL=C sort | diff $(CURDIR)/$(BUILD)/testdata.made -
	@for f in $$(cd $(BUILD)/testdata && find . -type f ! -name '*.zst'); do cmp "$(BUILD)/testdata/$$f" "testdata/$$f" || exit 1; done

list-objects: # what tracetool is linked from; for a test
	@echo $(LIB_O) $(BUILD)/src/main.o

list-flags: # of the compiler, without those of libraries
	@echo $(WARN)

# ---- measuring, fuzzing ----

bench: $(BUILD)/tracetool $(BUILD)/bench ## measure speed and memory (BENCH_ARGS='--help' lists options: inputs, jobs, --against another build)
	@python3 scripts/bench.py $(BENCH_ARGS)

bench-docs: ## measure all, and put tables into docs/benchmarks.md
	@$(MAKE) --no-print-directory bench BENCH_ARGS='--docs docs/benchmarks.md --json $(BUILD)/bench.json $(BENCH_ARGS)'

check-bench: $(BUILD)/tracetool $(BUILD)/bench # the benchmarks run
	@python3 scripts/bench.py --scale 0.01 -n 1 -d $(BUILD)/bench-inputs -i 'htdump/*,chrome/plain' -j 'info,copy' >/dev/null

# What they are compared with; what cannot be installed is skipped.
PEERS := babeltrace2 jq g++ libsimdjson-dev libyyjson-dev

bench-peers: $(BUILD)/tracetool $(BUILD)/bench ## CPU time beside simdjson, yyjson, babeltrace2, sqlite3, DuckDB and jq
	@for p in $(PEERS); do sh scripts/deps.sh $$p || echo "what needs $$p is skipped"; done
	@g++ -O2 -o $(BUILD)/json_lines src/test/bench/json_lines.cc \
		$$(for l in simdjson yyjson; do pkg-config --libs $$l 2>/dev/null; done) || echo "without g++, JSON libraries are skipped"
	@. scripts/viewers.sh; (viewers_npm DuckDB @duckdb/node-api); python3 scripts/bench_peers.py $(BENCH_ARGS)

# Prints the seed of each round; SEED=N build/tests --filter 'roundtrip/*' repeats one.
fuzz-roundtrip: $(BUILD)/tests ## random traces through each writer and back, until one differs
	@seed=$$(date +%s)000; while echo "seed $$seed" && SEED=$$seed CASES=10000 $(BUILD)/tests \
		--filter 'roundtrip/*' --timeout 86400; do seed=$$((seed + 10000)); done; exit 1

fuzz: ## fuzz a reader: make fuzz FORMAT=htdump [FUZZ_ARGS='-max_total_time=600'] (needs clang)
	@mkdir -p build-fuzz/corpus-$(FORMAT)
	$(MAKE) --no-print-directory fuzz-target FORMAT=$(FORMAT)
	build-fuzz/fuzz_$(FORMAT) $(FUZZ_ARGS) build-fuzz/corpus-$(FORMAT) $(wildcard testdata/fuzz/$(FORMAT) \
		testdata/$(FORMAT)/good testdata/$(FORMAT)/bad)

# The formats that can be read.
FUZZ_FORMATS := $(AIDED) $(FUZZ_FILES)
FUZZ_SECONDS := 60
FUZZ_JOBS    := 2

check-fuzz: ## fuzz each reader, and files beside traces, for FUZZ_SECONDS (60), two at a time (needs clang, which it installs)
	@sh scripts/deps.sh clang
	@for f in $(FUZZ_FORMATS); do $(MAKE) --no-print-directory fuzz-target FORMAT=$$f || exit 1; done
	FUZZ_ARGS='$(FUZZ_ARGS)' sh scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS) $(FUZZ_JOBS) $(FUZZ_FORMATS)

fuzz-target:
	@$(MAKE) --no-print-directory BUILD=build-fuzz CC=clang \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' build-fuzz/fuzz_$(FORMAT)

# ---- packages, installing ----

include packaging/packaging.mk

# Where zsh looks for completion.
ZSH_DIR ?= $(PREFIX)/share/zsh/site-functions

install: tracetool completions ## install under PREFIX (DESTDIR is put before it)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 \
		$(DESTDIR)$(PREFIX)/share/man/man7 \
		$(DESTDIR)$(PREFIX)/share/tracetool/schemas $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d $(DESTDIR)$(ZSH_DIR)
	install -m 755 tracetool $(DESTDIR)$(PREFIX)/bin
	install -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 man/*.5 $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 man/*.7 $(DESTDIR)$(PREFIX)/share/man/man7
	install -m 644 schemas/*.json schemas/*.yaml $(DESTDIR)$(PREFIX)/share/tracetool/schemas
	install -m 644 $(BUILD)/completion/tracetool.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tracetool
	install -m 644 $(BUILD)/completion/tracetool.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/tracetool.fish
	install -m 644 $(BUILD)/completion/tracetool.zsh $(DESTDIR)$(ZSH_DIR)/_tracetool

# Debian's packages, and for each how to see that it is there already.
deps: ## install the Debian packages that are missing (nothing happens when all are there)
	@sh scripts/deps.sh

clean: ## remove everything that was built
	rm -rf build build-sanitize build-threads build-fuzz build-mutants tracetool

.PHONY: testdata mutants check-tables check-format check-same count format check-limits check-readme check-sweeps all help demo test run-tests check run-replay check-threads check-viewers check-clang check-judge check-roundtrip check-sweep check-matrix fuzz-roundtrip check-reports check-recover check-faults check-layers check-names check-width check-contract check-man check-testdata \
	list-objects list-flags bench bench-docs bench-peers check-bench fuzz fuzz-target check-fuzz install deps clean FORCE
.DELETE_ON_ERROR:
