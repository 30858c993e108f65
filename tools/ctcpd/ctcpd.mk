# SPDX-License-Identifier: GPL-2.0
#
# ctcpd, the tuning daemon: all of ctcpd/*.c, and libctcp.a.  Its unit tests are
# tests/test_ctcpd_*.c.

DAEMON_LIBS := sqlite3 inih libmicrohttpd

ifneq ($(MAKECMDGOALS),clean)
MISSING	:= $(shell for l in $(DAEMON_LIBS); do $(PKG_CONFIG) --exists $$l || echo $$l; done)
ifneq ($(MISSING),)
$(error $(MISSING): not found by $(PKG_CONFIG); on Debian apt-get install \
	libsqlite3-dev libinih-dev libmicrohttpd-dev)
endif
endif

# Pacing by sockets (hands_bpf.h) where both are there; without, ctcpd says so when it is asked
BPF_CC	?= clang
HAVE_BPF := $(shell $(PKG_CONFIG) --atleast-version=1.0 libbpf && \
	    $(BPF_CC) -target bpf -E -x c /dev/null >/dev/null 2>&1 && echo yes)
BPF_LDLIBS := $(if $(HAVE_BPF),$(shell $(PKG_CONFIG) --libs libbpf))
BPF_PARTS := ctcpd/hands_bpf ctcpd/pace_load ctcpd/pace_missing ctcpd/pace_object
NO_PARTS := ctcpd/ctcpd ctcpd/pace.bpf $(if $(HAVE_BPF),ctcpd/hands_bpf_none,$(BPF_PARTS))

DAEMON_LDLIBS := $(shell $(PKG_CONFIG) --libs $(DAEMON_LIBS)) $(BPF_LDLIBS) -lm -pthread
DAEMON_PARTS := $(filter-out $(NO_PARTS),$(patsubst %.c,%,$(wildcard ctcpd/*.c)))
DAEMON_TESTS := $(patsubst tests/%.c,%,$(wildcard tests/test_ctcpd_*.c))

$(O)/ctcpd: $(O)/obj/ctcpd/ctcpd.o $(DAEMON_PARTS:%=$(O)/obj/%.o) $(O)/libctcp.a
	$(if $(HAVE_BPF),,@echo 'ctcpd is built without pacing by sockets: that needs libbpf 1.0 (libbpf-dev) and clang' >&2)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(DAEMON_LDLIBS) $(LDLIBS)

-include $(wildcard $(O)/obj/ctcpd/*.d $(O)/obj-san/ctcpd/*.d)

# for selftests/ctcpd_hands.sh: what is paced, set by command, which dies and fails on purpose
HANDS_PARTS := ctcpd/hands_class ctcpd/hands_record ctcpd/hands_why ctcpd/hands_index ctcpd/paced \
	tests/ctcpd_hands

$(O)/ctcpd_hands: $(call faulty,$(HANDS_PARTS) $(PARTS))
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

-include $(wildcard $(O)/obj-faulty/tests/*.d $(O)/obj/tests/*.d)

# The program for the kernel, whatever CC is, and as bytes of ctcpd: pace_object.c
BPF_OBJECT := $(O)/obj/ctcpd/pace.bpf.o
BPF_CFLAGS := -O2 -g -Wall -Wextra -Werror -ffile-prefix-map=$(CURDIR)=. \
	      -idirafter /usr/include/$(shell $(CC) -print-multiarch)

$(BPF_OBJECT): ctcpd/pace.bpf.c ctcpd/pace_slot.h
	@mkdir -p $(@D)
	$(BPF_CC) -target bpf $(BPF_CFLAGS) -c -o $@ $<

PACE_OBJECTS := $(foreach d,obj obj-faulty obj-san,$(O)/$d/ctcpd/pace_object.o)
$(PACE_OBJECTS): $(BPF_OBJECT)
$(PACE_OBJECTS): override CFLAGS += -Wa,-I$(dir $(BPF_OBJECT))

# for selftests/ctcpd_bpf.sh: what is paced by sockets, set by command
HANDS_BPF_PARTS := $(filter $(DAEMON_PARTS),$(BPF_PARTS) ctcpd/hands_bpf_none) ctcpd/pace_pins \
	ctcpd/pace_slots ctcpd/paced tests/ctcpd_hands_bpf

$(O)/ctcpd_hands_bpf: $(HANDS_BPF_PARTS:%=$(O)/obj/%.o) $(O)/libctcp.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(BPF_LDLIBS) $(LDLIBS)

# for selftests/dashboard: metrics of a world that is made up, over HTTP
$(O)/ctcpd_exporter: $(O)/obj/tests/ctcpd_exporter.o $(DAEMON_PARTS:%=$(O)/obj/%.o) $(O)/libctcp.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(DAEMON_LDLIBS) $(LDLIBS)

-include $(wildcard $(O)/obj/tests/*.d)
