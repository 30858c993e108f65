# SPDX-License-Identifier: GPL-2.0
#
#	make -C tools fuzz FUZZ_SECONDS=10	each fuzz target for so long, from its corpus
#	make -C tools fuzz FUZZ="state items"	only those
#	make -C tools fuzz-merge		what these found that is new, into the corpus
#
# libFuzzer, so clang whatever CC is.  A target that fails leaves its input in
# O/fuzzers/failed/: run.sh says which.

FUZZ_CC	?= clang
FUZZ	?= state circuits values items rtnetlink genl trace
FUZZ_SECONDS ?= 10
F	:= $(O)/fuzzers
FUZZ_SAN := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	    -fno-omit-frame-pointer
# what fake_kernel.c has in place of libc's, link.c's and sysctl.c's
FUZZ_WRAP := -Wl,--wrap=recvfrom,--wrap=connect,--wrap=link_index,--wrap=sysctl_exists \
	     -Wl,--wrap=if_indextoname,--wrap=free

fuzz: $(FUZZ:%=$(F)/fuzz_%)
	@fuzz/run.sh $(F) $(FUZZ_SECONDS) $(FUZZ)

$(F)/fuzz_rtnetlink $(F)/fuzz_genl: $(F)/obj/fuzz/fake_kernel.o
$(F)/fuzz_rtnetlink $(F)/fuzz_genl: FUZZ_LINK := $(FUZZ_WRAP)

# what of ctcpd the target is for; all of it would need the daemon's libraries
$(F)/fuzz_trace: $(addprefix $(F)/obj/ctcpd/,diag.o qdrops.o sample.o trace.o)

$(F)/fuzz_%: $(F)/obj/fuzz/fuzz_%.o $(F)/obj/fuzz/fuzz.o $(PARTS:%=$(F)/obj/%.o)
	$(FUZZ_CC) $(CFLAGS) $(FUZZ_SAN) -fsanitize=fuzzer $(LDFLAGS) $(FUZZ_LINK) -o $@ $^ $(LDLIBS)

$(F)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CPPFLAGS) $(CFLAGS) $(FUZZ_SAN) -MMD -c -o $@ $<

-include $(wildcard $(F)/obj/*.d $(F)/obj/fuzz/*.d)

# the fewest inputs that together reach all of it, by edges: how often each is taken would
# keep ten times as many
fuzz-merge: $(FUZZ:%=$(F)/fuzz_%)
	for t in $(FUZZ); do \
		rm -rf $(F)/merged && mkdir -p $(F)/merged && \
		$(F)/fuzz_$$t -merge=1 -set_cover_merge=1 -use_counters=0 $(F)/merged fuzz/corpus/$$t \
			$(F)/found/$$t 2>$(F)/$$t.log && \
		cp $(F)/merged/* fuzz/corpus/$$t/ || exit; \
	done

.PHONY: fuzz fuzz-merge
