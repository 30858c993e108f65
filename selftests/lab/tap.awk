# SPDX-License-Identifier: GPL-2.0
#
# tap.awk: the results of one machine's tests, in a line for each
#
# Input: TAP between "### RUN name" and "### EXIT name status seconds", and at
# the end "### DONE".  Output, separated by tabs:
#
#	FACT	name	value		as "### FACT name value" gave it
#	TEST	name	passed	failed	seconds		one for each test
#	FAIL	name	text		one for each failure, before its TEST, with the
#					diagnostics that follow it: expected, got
#	TOTAL	passed	failed
#
# Only tests that have to run are started, so a skip is a failure.  So is a test
# whose status, plan and points disagree: what did not run did not pass.  And so is the
# first complaint of a shell in a test: after an error in $(( )) bash aborts the whole
# top-level command, perhaps a loop over all cases, and goes on with the next, so that the
# plan fits the points that there were.

function fail(text)
{
	tell()
	failed++
	failure = text
	diagnostics = 0
}

# The failure that is waiting for its diagnostics
function tell()
{
	if (failure != "")
		print "FAIL", test, failure
	failure = ""
}

function begin(name)
{
	end_if_open()
	test = name
	passed = failed = points = complaints = 0
	plan = -1
}

function finish(seconds)
{
	tell()
	print "TEST", test, passed, failed, seconds
	total_passed += passed
	total_failed += failed
	test = ""
}

function end_if_open()
{
	if (test == "")
		return
	fail("it never ended")
	finish(0)
}

# What the exit status and the plan say beside the points.
function judge(status)
{
	if (status == 124 || status == 137)
		fail("it took too long")
	else if (status == 4)
		fail("it was skipped where it has to run")
	else if (plan < 0)
		fail("it gave no plan, exit status " status)
	else if (plan != points)
		fail("plan of " plan " points, " points " came")
	else if (status != 0 && failed == 0)
		fail("exit status " status)
}

function point(line)
{
	points++
	if (line ~ /^not ok/)
		fail(line)
	else if (toupper(line) ~ /# *SKIP/)
		fail(line " (it has to run here)")
	else
		passed++
}

# What a shell says of an error in a script: bash, dash, busybox
function is_complaint(line)
{
	return line ~ /error token is|syntax error|[Ss]yntax error:|division by (0|zero)/ ||
	       line ~ /divide by zero|arithmetic expression: |ambiguous redirect/ ||
	       line ~ /unbound variable|parameter not set|[Bb]ad substitution/ ||
	       line ~ /\[: .*(integer (expression )?expected|Illegal number|operator)/ ||
	       line ~ /\[: .*too many arguments|: bad number$|: bad array subscript$/ ||
	       line ~ /: command not found$|: [0-9]+: [^ ]+: not found$/ ||
	       line ~ /^(sh|ash|busybox): [^ ]+: not found$/
}

BEGIN		{ OFS = "\t" }
		{ sub(/\r$/, "") }

failure != "" && /^# / && diagnostics++ < 4 {
	gsub(/[\t ]+/, " ")
	failure = failure "; " substr($0, 3, 120)
	next
}
		{ tell() }

/^### FACT /	{
	name = $3
	sub(/^### FACT [^ ]+ /, "")
	print "FACT", name, $0
	next
}
/^### RUN /	{ begin($3); next }
/^### EXIT /	{ judge($4 + 0); finish($5 + 0); next }
/^### DONE/	{ done = 1; next }
test == ""	{ next }
/^1\.\.[0-9]/	{ plan = substr($1, 4) + 0; next }
/^(not )?ok( |$)/	{ point($0); next }
/^Bail out!/	{ fail($0); next }
/^#/		{ next }
is_complaint($0) && !complaints++ { fail("a shell's complaint: " $0) }

END {
	end_if_open()
	if (!done) {
		begin("machine")
		fail("it never reached its end")
		finish(0)
	}
	print "TOTAL", total_passed + 0, total_failed + 0
}
