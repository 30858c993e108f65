# SPDX-License-Identifier: GPL-2.0
#
# Unit tests: cmocka, built with ASan and UBSan, no root, nothing left behind.

TESTS	:= test_units test_plan test_choose test_admit test_cli test_fits test_netlink \
	 test_ahead test_htb test_object test_order test_state test_commit test_live test_adopt \
	 test_hear test_watch test_link test_measure $(DAEMON_TESTS)
T	:= $(O)/tests
SAN_PARTS := $(PARTS:%=$(O)/obj-san/%.o)
TEST_DEFS := -DTEST_DIR='"$(abspath $(T))"' -DTOOLS_DIR='"$(CURDIR)"'

check: $(TESTS:%=$(T)/%) $(T)/ctcp-setup $(T)/ctcpd $(T)/capture.so $(T)/library
	@rc=0; for t in $(TESTS); do echo "# $$t"; $(T)/$$t || rc=1; done; exit $$rc

$(T)/test_%: $(O)/obj-san/tests/test_%.o $(SAN_PARTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

# static: of two pattern rules make takes the one whose prerequisites are there already
$(DAEMON_TESTS:%=$(T)/%): $(T)/%: $(O)/obj-san/tests/%.o $(DAEMON_PARTS:%=$(O)/obj-san/%.o) $(SAN_PARTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(DAEMON_LDLIBS) $(LDLIBS) -lcmocka

# whether a file is on the disk before it takes the place of another
$(T)/test_state: LDFLAGS += -Wl,--wrap=fsync

# a kernel of another age, and who has logged in
$(T)/test_state: LDFLAGS += -Wl,--wrap=getsockopt,--wrap=syscall,--wrap=fopen

# how often its thread wakes
$(T)/test_ctcpd_late: LDFLAGS += -Wl,--wrap=pthread_cond_timedwait

# a list that changes while it is read
$(T)/test_live: LDFLAGS += -Wl,--wrap=genl_resolve,--wrap=nlm_dump

# devices that the kernel of the test may not have
$(T)/test_link: LDFLAGS += -Wl,--wrap=rtnl_link_get_kernel,--wrap=nlm_get

# the kernel and the devices of ctcpd's hands are the test's own
$(filter $(T)/test_ctcpd_act_%,$(DAEMON_TESTS:%=$(T)/%)): LDFLAGS += $(ACT_WRAPS:%=-Wl,--wrap=%)
ACT_WRAPS := hands_apply hands_look hands_let_go hands_fit hands_unrecorded \
	 hands_takes_device hands_read_device hands_bpf_can hands_bpf_is_pinned hands_bpf_drop_others \
	 hands_bpf_open hands_bpf_close hands_bpf_apply hands_bpf_tick hands_bpf_look \
	 hands_bpf_is_used theirs_read theirs_check theirs_free remotes_each \
	 if_indextoname if_nametoindex flock

# the programs themselves, for tests of the command line
$(T)/ctcp-setup: $(SAN_PARTS) $(O)/obj-san/ctcp-setup.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(T)/ctcpd: $(O)/obj-san/ctcpd/ctcpd.o $(DAEMON_PARTS:%=$(O)/obj-san/%.o) $(SAN_PARTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(DAEMON_LDLIBS) $(LDLIBS)

# all of the library and no command: it needs none of them
$(T)/library: $(O)/libctcp.a
	@mkdir -p $(@D)
	echo 'int main(void) { return 0; }' | $(CC) $(CFLAGS) $(LDFLAGS) -x c - -x none -o $@ \
		-Wl,--whole-archive $< -Wl,--no-whole-archive $(LDLIBS)

# what is paced, as a test has it: tests/ctcpd_act_fake.h
$(T)/test_ctcpd_pacing $(T)/test_ctcpd_metrics $(O)/ctcpd_exporter: LDFLAGS += \
	-Wl,--wrap=act_find,--wrap=act_each,--wrap=act_totals,--wrap=act_devices_each \
	-Wl,--wrap=act_reload

# preloaded into tc and ip, which have no sanitizer in them
$(T)/capture.so: tests/capture.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -shared -fPIC -o $@ $<

$(O)/obj-san/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(TEST_DEFS) $(CFLAGS) $(SAN) -MMD -c -o $@ $<

-include $(wildcard $(O)/obj-san/tests/*.d)

.SECONDARY:
