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

DAEMON_LDLIBS := $(shell $(PKG_CONFIG) --libs $(DAEMON_LIBS)) -lm -pthread
DAEMON_PARTS := $(patsubst %.c,%,$(filter-out ctcpd/ctcpd.c,$(wildcard ctcpd/*.c)))
DAEMON_TESTS := $(patsubst tests/%.c,%,$(wildcard tests/test_ctcpd_*.c))

$(O)/ctcpd: $(O)/obj/ctcpd/ctcpd.o $(DAEMON_PARTS:%=$(O)/obj/%.o) $(O)/libctcp.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(DAEMON_LDLIBS) $(LDLIBS)

-include $(wildcard $(O)/obj/ctcpd/*.d $(O)/obj-san/ctcpd/*.d)
