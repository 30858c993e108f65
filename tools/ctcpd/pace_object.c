// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF object of pace.bpf.c as bytes of this program, so that no file of its own has to be
 * installed, found, and be of the same version.
 */
#include "pace_load.h"

/* libelf reads it in place: headers of eight bytes */
asm(".pushsection .rodata\n"
	".balign 8\n"
	".global pace_object\n"
	"pace_object:\n"
	".incbin \"pace.bpf.o\"\n"
	".global pace_object_end\n"
	"pace_object_end:\n"
	".popsection\n");
