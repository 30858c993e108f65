# SPDX-License-Identifier: GPL-2.0
#
# tcp_circuit: the module, the tools, their tests and the demonstration.
# The kernel's build reads Kbuild, not this file.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
TOOLS := $(CURDIR)/build/tools
DKMS_DIR := $(DESTDIR)/usr/src/tcp_circuit-$(VERSION)

all: modules tools

help:
	@echo 'make demo           the main job on an emulated circuit, with a plot'
	@echo 'make bench          the papers'"'"' experiments (ONLY="T3.2 D1": only those);'
	@echo '                    report in build/bench/, of all of them in docs/bench/, too'
	@echo 'make bench-quick    those that are quick to make, asserted (PART=3/10: and a tenth of'
	@echo '                    the others)'
	@echo 'make verdicts       what ctcpd says of labelled flows: writes docs/verdicts/,'
	@echo '                    as make bench does at its end'
	@echo 'make dtn            a data transfer node with ctcpd and without: writes docs/dtn/'
	@echo 'make check          the tests, in virtual time (ONLY="hold lint": only those;'
	@echo '                    ONLY=hold ONLY_CASES=a,b: only these cases of it; MUCH=1: more of'
	@echo '                    what is drawn by chance; FRESH=1: also tests that passed and whose'
	@echo '                    inputs have not changed)'
	@echo 'make check-kernels  the tests on Debian'"'"'s kernels, emulated (as root);'
	@echo '                    SUITES="bullseye cross nonetfilter": only those; BRIEF=1: those of'
	@echo '                    ctcp-setup on the oldest and newest alone; TESTS="race ..." before'
	@echo '                    make: only those'
	@echo 'make check-debug    tests of module and ctcpd on kernels that check themselves'
	@echo 'make check-mutants  does a test fail for each wrong line of a list?  (ONLY="name ...")'
	@echo 'make changes        what a change of a circuit costs its own stream: writes docs/changes.md'
	@echo 'make check-cost     instructions per ACK and per connection, emulated (as root)'
	@echo 'make tests-bin      the programs of the tests, for one that is run by hand, as root'
	@echo '                    (selftests/README.md)'
	@echo 'make                module for KVER=$(KVER), ctcp-setup and ctcpd'
	@echo 'make install        all three, the module for this kernel only'
	@echo 'make install-dkms   ctcp-setup, ctcpd, and the module for every kernel to come'
	@echo 'make uninstall, make uninstall-dkms, make clean'

modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

# A second build in the same tree waits for the first
tools:
	mkdir -p build/bin
	flock -o build/tools.lock $(MAKE) -C tools O=$(TOOLS)
	cp -u $(TOOLS)/ctcp-setup $(TOOLS)/ctcpd build/bin/

# The programs that only tests need; after the tools, as both are built from the same objects
tests-bin: tools
	flock -o build/tools.lock $(MAKE) -C selftests
	flock -o build/tools.lock $(MAKE) -C tools O=$(TOOLS) faulty
	cp -u $(TOOLS)/ctcp-setup-faulty $(TOOLS)/ctcpd_hands $(TOOLS)/ctcpd_hands_bpf \
		$(TOOLS)/ctcpd_exporter build/bin/

demo:
	selftests/lab/demo.sh

# MUCH=1: a larger part, for tests that draw a part of what they could try
CHECK_MUCH := $(if $(MUCH),FAULTS=10 FUZZ_CALLS=1000000 NLFUZZ_MESSAGES=1000000 FUZZ_SECONDS=10)

check:
	$(CHECK_MUCH) selftests/lab/check.sh $(ONLY)

# BENCH_JOBS=1: one machine at a time
bench:
	selftests/bench/bench.sh $(ONLY)
	$(if $(ONLY),,selftests/flows/verdicts.sh)

bench-quick:
	selftests/bench/bench.sh --quick $(if $(PART),--part $(PART) $(if $(ROUND),--round $(ROUND)) \
		$(if $(WITHIN),--within $(WITHIN)))

# BENCH_JOBS=1: one machine at a time
verdicts:
	selftests/flows/verdicts.sh

# BENCH_JOBS=1: one machine at a time
dtn:
	selftests/dtn/dtn.sh

# All tests that name uml, but those of ctcp-setup, which does the same on any kernel, loss, which
# measures goodput, and ynl, which tests a program of the kernel's tree
DEBUG_TESTS := $(filter-out setup_% loss ynl,$(basename $(notdir \
	$(shell grep -lE '^\# labs:.*\buml\b' selftests/*.sh))))

DEBUG_MUCH := CHURN=100000 FUZZ_CALLS=1000000 NLFUZZ_MESSAGES=1000000

check-debug:
	LAB_KERNEL=newest-leaks $(DEBUG_MUCH) selftests/lab/check.sh $(DEBUG_TESTS)
	LAB_KERNEL=newest-debug $(DEBUG_MUCH) selftests/lab/check.sh $(DEBUG_TESTS)

check-kernels:
	selftests/lab/qemu.sh $(if $(BRIEF),--brief) $(SUITES)

check-mutants:
	selftests/mutants/mutants.py $(ONLY)

check-cost:
	selftests/lab/cost.sh

changes:
	mkdir -p build
	selftests/lab/changes.sh >build/changes.md
	mv build/changes.md docs/changes.md

install: all
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install
	$(if $(DESTDIR),,depmod $(KVER))
	$(MAKE) -C tools O=$(TOOLS) install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	install -D -m 644 include/uapi/linux/tcp_circuit.h \
		$(DESTDIR)$(PREFIX)/include/linux/tcp_circuit.h

uninstall:
	rm -f $(foreach d,extra updates,$(DESTDIR)/lib/modules/$(KVER)/$(d)/tcp_circuit.ko*)
	$(if $(DESTDIR),,depmod $(KVER))
	$(MAKE) -C tools uninstall DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	rm -f $(DESTDIR)$(PREFIX)/include/linux/tcp_circuit.h

install-dkms: tools
	rm -rf $(DKMS_DIR)
	mkdir -p $(DKMS_DIR)
	cp -r tcp_circuit.c circuit Kbuild include dkms.conf $(DKMS_DIR)/
	$(if $(DESTDIR),,dkms status tcp_circuit/$(VERSION) | grep -q . || \
		dkms add tcp_circuit/$(VERSION))
	$(if $(DESTDIR),,dkms install --force tcp_circuit/$(VERSION))
	$(MAKE) -C tools O=$(TOOLS) install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	install -D -m 644 include/uapi/linux/tcp_circuit.h \
		$(DESTDIR)$(PREFIX)/include/linux/tcp_circuit.h

uninstall-dkms:
	$(if $(DESTDIR),,dkms remove tcp_circuit/$(VERSION) --all)
	rm -rf $(DKMS_DIR)
	$(MAKE) -C tools uninstall DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	rm -f $(DESTDIR)$(PREFIX)/include/linux/tcp_circuit.h

clean:
	rm -rf build
	rm -f *.o circuit/*.o circuit/.*.cmd *.ko *.mod *.mod.c .*.cmd Module.symvers modules.order \
		compat-config.h

.PHONY: all help modules tools tests-bin demo check bench bench-quick verdicts dtn check-debug \
	check-kernels check-mutants check-cost changes install uninstall install-dkms uninstall-dkms clean
