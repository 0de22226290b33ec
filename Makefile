# tracetool: one Makefile, no list of sources.  `make help` names the targets.

PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
BUILD  ?= build

WARN := -std=c11 -Wall -Wextra -Werror -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-unused-parameter
DEPS_PC   := libcjson libisal libzstd yaml-0.1
PC_CFLAGS  = $(shell pkg-config --cflags $(DEPS_PC) 2>/dev/null)
LIBS       = $(shell pkg-config --libs $(DEPS_PC) 2>/dev/null) -lpthread -lm
CPP_ALL    = -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -Isrc -Iformats -I$(BUILD)/gen $(PC_CFLAGS)

# Sources by wildcard: whoever adds a file edits nothing here.
ALL_C   := $(wildcard src/*.c src/*/*.c formats/*/*.c)
TESTS   := $(filter %_test.c,$(ALL_C))
FUZZ    := $(wildcard src/fuzz/*.c)
BENCH   := $(wildcard src/bench/*.c)
LIB_C   := $(filter-out $(TESTS) $(FUZZ) $(BENCH) src/main.c,$(ALL_C))
LIB_O   := $(LIB_C:%.c=$(BUILD)/%.o)
TEST_O  := $(TESTS:%.c=$(BUILD)/%.o)

all: tracetool

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 12

tracetool: $(BUILD)/tracetool
	@cp -f $< $@.tmp && mv -f $@.tmp $@

$(BUILD)/tracetool: $(LIB_O) $(BUILD)/src/main.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests: $(LIB_O) $(TEST_O)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcriterion $(LIBS)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPP_ALL) -MMD -MP $(CFLAGS) -c -o $@ $<

-include $(LIB_O:.o=.d) $(TEST_O:.o=.d)

clean: ## remove everything that was built
	rm -rf $(BUILD) tracetool

.PHONY: all help clean
.DELETE_ON_ERROR:
