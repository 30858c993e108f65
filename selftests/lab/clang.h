/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clang.sh's answers as the C sources see them: included behind autoconf.h, which
 * holds gcc's.
 */
#undef CONFIG_CC_IS_GCC
#define CONFIG_CC_IS_CLANG 1

/*
 * The named address space of per-cpu variables is for gcc alone: clang finds it
 * twice in a type (-Wduplicate-decl-specifier), some hundred times in the headers
 * from 6.12 on.  7.x has looked at the options already, in asm/percpu_types.h.
 */
#undef CONFIG_CC_HAS_NAMED_AS
#undef CONFIG_USE_X86_SEG_SUPPORT
#undef __percpu_seg_override
#define __percpu_seg_override
#undef __percpu_qual
#define __percpu_qual
