# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make            build/fathom
#   make demo       install what is missing, build, show Fathom at work
#   make test       install what is missing, build all variants, run every test
#   make help       the other targets
#
# One makefile, no recursion into folders: sources are found by wildcard, so that adding a command,
# a view, a BPF program, a web asset or a test is adding a file. Everything made lies under build/.

VERSION := 0.1.0
BUILD   ?= release
PREFIX  ?= /usr/local
# Where zsh looks: Debian keeps site-functions of /usr for the administrator.
ZSHDIR  := $(if $(and $(filter /usr,$(PREFIX)),$(wildcard /etc/debian_version)),vendor-completions,site-functions)
DESTDIR ?=

ifeq ($(filter $(BUILD),release debug asan fuzz),)
$(error BUILD=$(BUILD) is not known: use release, debug, asan or fuzz)
endif

# The release tree is build/ itself; other variants have trees of their own.
OUT := build$(if $(filter-out release,$(BUILD)),/$(BUILD))
GEN := build/gen

CC      := gcc
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool /usr/local/sbin/bpftool) bpftool)
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)')

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wundef \
	-Wwrite-strings -Wimplicit-fallthrough -Wpointer-arith -Wold-style-definition -Werror
CFLAGS_release := -O2 -g1
CFLAGS_debug   := -Og -g3
CFLAGS_asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
CFLAGS_fuzz    := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS_asan   := -fsanitize=address,undefined
LDFLAGS_fuzz   := -fsanitize=address,undefined
ifeq ($(BUILD),fuzz)
CC := $(CLANG)
endif

CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Isrc -I$(GEN) $(FEATURE_FLAGS) \
	-DFATHOM_VERSION='"$(VERSION)"'
CFLAGS   = -std=gnu17 -fvisibility=hidden -ffunction-sections -fdata-sections -pthread $(WARN) \
	$(CFLAGS_$(BUILD)) $(EXTRA_CFLAGS)
LDFLAGS  = -Wl,--gc-sections -pthread $(LDFLAGS_$(BUILD)) $(EXTRA_LDFLAGS)
# Everything but libc from static archives: start-up stays in the milliseconds.
LDLIBS   = -Wl,-Bstatic $(FEATURE_LIBS) -Wl,-Bdynamic -lm $(FEATURE_LDFLAGS)

SRC      := $(filter-out src/main.c,$(wildcard src/*/*.c src/*/*/*.c))
SRC      := $(filter-out %.bpf.c,$(SRC))
OBJ      := $(SRC:%.c=$(OUT)/obj/%.o)
MAIN     := $(OUT)/obj/src/main.o
BPF      := $(patsubst src/bpf/%.bpf.c,%,$(wildcard src/bpf/*.bpf.c))
SKEL     := $(BPF:%=$(GEN)/%.skel.h)
COMMANDS := $(sort $(patsubst src/cmd/%.c,%,$(wildcard src/cmd/*.c)))
VIEWS    := $(sort $(patsubst src/view/%_view.c,%,$(wildcard src/view/*_view.c)))
SOURCES  := $(sort $(patsubst src/counters/source_%.c,%,$(wildcard src/counters/source_*.c)))
# A folder of web/ with a main.js is one script in the program: web/viewer/main.js -> web/viewer.js.
BUNDLES  := $(patsubst web/%/main.js,web/%.js,$(wildcard web/*/main.js))
ASSETS   := $(sort $(BUNDLES) $(wildcard web/*.css web/*.html web/*.svg tools/*.bt tools/*.txt \
	tools/*.tsv))
LISTS    := $(GEN)/commands.inc $(GEN)/views.inc $(GEN)/sources.inc $(GEN)/features.inc \
	    $(GEN)/syscalls.inc
UNIT     := $(patsubst tests/unit/%.c,$(OUT)/obj/tests/unit/%.o,$(wildcard tests/unit/*.c))
FUZZ     := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
WORKLOAD := $(patsubst tests/workloads/%.c,build/workloads/%,$(wildcard tests/workloads/*.c))
TOOLS    := $(sort $(patsubst tools/%.bt,%,$(wildcard tools/*.bt)))
MAN      := $(patsubst %,build/man/fathom-%.1,$(subst _,-,$(COMMANDS))) $(TOOLS:%=build/man/fathom-%.1) build/man/fathom.1

.PHONY: all static demo test lint fuzz bench clean install deps help unit workloads man gen \
	oracles
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

all: $(OUT)/fathom

help:
	@echo 'make [BUILD=release|debug|asan]   build/fathom, build/debug/fathom, build/asan/fathom'
	@echo 'make static                       build/static/fathom, which needs nothing at run time'
	@echo 'make demo                         see Fathom at work on this machine'
	@echo 'make test                         every test; tests/run LAYER... for some of them'
	@echo 'make lint                         compilers, clang-tidy, cppcheck, shellcheck, house rules'
	@echo 'make fuzz [FUZZ_SECONDS=5]        each fuzz target for a while'
	@echo 'make bench                        ratios against peer tools'
	@echo 'make install PREFIX= DESTDIR=     program, man pages, completions'
	@echo 'make deps                         install what building and testing need'

# --- what the machine has -----------------------------------------------------------------------

# Goals that must work before anything is installed do not read the feature list.
BARE_GOALS := demo test clean help deps lint bench
ifneq ($(filter-out $(BARE_GOALS),$(or $(MAKECMDGOALS),all)),)
include $(GEN)/config.mk
endif

# Package managers change one of these with each installation: then libraries are looked for again.
PACKAGES := $(wildcard /var/lib/dpkg/status /var/lib/rpm/rpmdb.sqlite /var/lib/pacman/local \
	/lib/apk/db/installed)

# Rewritten only when something changed, so that a package of no interest rebuilds nothing.
$(GEN)/config.mk: $(GEN)/config.probed ;
$(GEN)/config.probed: scripts/features $(PACKAGES) $(if $(wildcard $(GEN)/config.mk),,FORCE) | $(GEN)/.dir
	$(Q)CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' scripts/features $(GEN)/config.mk
	$(Q)touch $@

$(GEN)/features.inc: $(GEN)/config.mk
	$(Q)sed -n 's/^FEATURE_\([a-z0-9]*\) := \([01]\)$$/FEATURE(\1, \2)/p' $< > $@

# --- generated lists: rewritten only when the folder's content changed ------------------------

$(GEN)/.dir:
	$(Q)mkdir -p $(GEN) && touch $@

# $(1) target, $(2) macro, $(3) names
define list_rule
$(1): $(GEN)/$(notdir $(1)).names ;
$(GEN)/$(notdir $(1)).names: FORCE | $(GEN)/.dir
	@new='$(foreach n,$(3),$(2)($(subst -,_,$(n))))'; \
	if [ "$$$$new" != "$$$$(cat $$@ 2>/dev/null)" ] || [ ! -e $(1) ]; then \
		printf '%s\n' "$$$$new" > $$@; \
		printf '%s\n' $$$$new > $(1); fi
endef
.PHONY: FORCE
$(eval $(call list_rule,$(GEN)/commands.inc,COMMAND,$(COMMANDS)))
$(eval $(call list_rule,$(GEN)/views.inc,VIEW,$(VIEWS)))
$(eval $(call list_rule,$(GEN)/sources.inc,SOURCE,$(SOURCES)))

# Names of system calls and of the values of their arguments, as the headers of the system have them.
$(GEN)/syscalls.inc: scripts/gen-syscalls src/syscalls/values.list src/syscalls/headers.h | $(GEN)/.dir
	$(Q)CC='$(CC)' scripts/gen-syscalls src/syscalls/values.list src/syscalls/headers.h > $@.new
	$(Q)mv $@.new $@

# --- kernel side: clang -> strip -> skeleton --------------------------------------------------

$(GEN)/bpf/%.o: src/bpf/%.bpf.c
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-parameter \
		-D__TARGET_ARCH_x86 -Isrc -idirafter /usr/include/x86_64-linux-gnu \
		-MMD -MP -MF $@.d -MT $@ -c $< -o $@.full
	$(Q)$(BPFTOOL) gen object $@ $@.full
	$(Q)rm -f $@.full

$(GEN)/%.skel.h: $(GEN)/bpf/%.o
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@

# --- assets: gzipped, placed in the binary by the assembler -----------------------------------

$(BUNDLES:%=$(GEN)/%): $(GEN)/web/%.js: web/%/main.js scripts/bundle
	$(Q)mkdir -p $(@D)
	$(Q)awk -f scripts/bundle -v deps=$@ $< > $@.d
	$(Q)awk -f scripts/bundle $< > $@

-include $(BUNDLES:%=$(GEN)/%.d)

$(BUNDLES:%=$(GEN)/assets/%.gz): $(GEN)/assets/%.gz: $(GEN)/%
	$(Q)mkdir -p $(@D)
	$(Q)gzip -9nc $< > $@

$(GEN)/assets/%.gz: %
	$(Q)mkdir -p $(@D)
	$(Q)gzip -9nc $< > $@

$(GEN)/assets.S: scripts/gen-assets $(ASSETS:%=$(GEN)/assets/%.gz) $(GEN)/assets.names
	$(Q)scripts/gen-assets $(GEN)/assets $(ASSETS) > $@

$(GEN)/assets.names: FORCE | $(GEN)/.dir
	@[ '$(ASSETS)' = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' '$(ASSETS)' > $@

$(OUT)/obj/assets.o: $(GEN)/assets.S
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -c $< -o $@

# --- objects ----------------------------------------------------------------------------------

$(OUT)/obj/%.o: %.c $(OUT)/.flags | $(SKEL) $(LISTS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MF $@.d -MT $@ -c $< -o $@

# A change of flags rebuilds the tree.
$(OUT)/.flags: FORCE
	@mkdir -p $(OUT); flags='$(CC) $(subst ','\'',$(CPPFLAGS) $(CFLAGS))'; \
	[ "$$flags" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$flags" > $@

# Tests may use what the program may not. Private: .flags, which they depend on, is for all.
$(OUT)/obj/tests/%.o: private CPPFLAGS += -Itests

-include $(OBJ:%=%.d) $(MAIN).d $(UNIT:%=%.d) $(BPF:%=$(GEN)/bpf/%.o.d)

# --- programs ---------------------------------------------------------------------------------

$(OUT)/fathom: $(OBJ) $(MAIN) $(OUT)/obj/assets.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

static: build/static/fathom
build/static/fathom: $(OBJ) $(MAIN) $(OUT)/obj/assets.o
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -static -s $(LDFLAGS) $^ $(FEATURE_STATIC_LIBS) $(FEATURE_LIBS) -lm -o $@ 2> $@.log \
		|| { cat $@.log >&2; exit 1; }

unit: $(OUT)/unit-tests
$(OUT)/unit-tests: $(UNIT) $(OBJ) $(OUT)/obj/assets.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

workloads: $(WORKLOAD)
build/workloads/%: tests/workloads/%.c tests/workloads/workload.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -g -pthread -Wall -Wextra $< -o $@ -lm

# Oracles are test programs that link a peer's library next to our own objects.
ORACLE := $(patsubst tests/oracle/%.c,build/oracle/%,$(wildcard tests/oracle/*.c))
oracles: $(ORACLE)
build/oracle/%: $(OUT)/obj/tests/oracle/%.o $(OBJ) $(OUT)/obj/assets.o
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(FUZZ:%=build/fuzz/%): build/fuzz/%: $(OUT)/obj/tests/fuzz/%.o $(OBJ) $(OUT)/obj/assets.o
	$(call say,LINK,$@)
	$(Q)$(CC) -fsanitize=fuzzer $(LDFLAGS) $^ $(LDLIBS) -o $@

.PHONY: fuzz-build
fuzz-build: $(FUZZ:%=build/fuzz/%)

# --- what people call -------------------------------------------------------------------------

deps:
	$(Q)scripts/deps all

demo:
	$(Q)scripts/deps build
	$(Q)$(MAKE) --no-print-directory -j2 all workloads
	$(Q)scripts/demo

test:
	$(Q)scripts/deps test
	$(Q)$(MAKE) --no-print-directory -j2 all static unit workloads oracles man
	$(Q)$(MAKE) --no-print-directory -j2 BUILD=asan all unit
	$(Q)$(MAKE) --no-print-directory -j2 BUILD=fuzz fuzz-build
	$(Q)tests/run

lint:
	$(Q)scripts/deps lint
	$(Q)scripts/lint

fuzz:
	$(Q)scripts/deps test
	$(Q)$(MAKE) --no-print-directory -j2 BUILD=fuzz fuzz-build
	$(Q)FUZZ_SEED=0 FUZZ_SECONDS=$(or $(FUZZ_SECONDS),5) tests/run fuzz

bench:
	$(Q)scripts/deps test
	$(Q)$(MAKE) --no-print-directory -j2 all workloads
	$(Q)for b in $(wildcard tests/bench/*.bench); do echo "== $${b##*/}"; $$b || exit 1; done

man: $(MAN)
build/man/fathom-%.1: build/fathom
	$(Q)mkdir -p $(@D)
	$(Q)build/fathom help --man $* > $@
build/man/fathom.1: build/fathom
	$(Q)mkdir -p $(@D)
	$(Q)build/fathom help --man > $@

install: all man
	install -Dm755 build/fathom $(DESTDIR)$(PREFIX)/bin/fathom
	install -Dm644 include/fathom.h $(DESTDIR)$(PREFIX)/include/fathom.h
	for m in $(MAN); do install -Dm644 $$m $(DESTDIR)$(PREFIX)/share/man/man1/$${m##*/}; done
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/$(ZSHDIR)
	build/fathom completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/fathom
	build/fathom completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/$(ZSHDIR)/_fathom

clean:
	$(Q)rm -rf build demo
