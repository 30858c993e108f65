/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Standard input, output and error of a program that may be started without them.
 */
#ifndef CTCP_STANDARD_H
#define CTCP_STANDARD_H

/* First of all: before anything else is opened */
void standard_files_open(void);

#endif
