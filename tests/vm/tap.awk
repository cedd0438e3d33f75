# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes one TAP document of the several that the guest's scripts print. Each stands between lines
# "### begin NAME" and "### end NAME STATUS". The tests are numbered anew and named after their
# script. A script that breaks its plan, fails without saying so, or never ends is a failed test.
#
# Variables: plan (print a plan line), kernel (for names), failure (why the guest stopped, if so).

function result(good, text) {
	count++
	if (!good)
		failed++
	print (good ? "ok " : "not ok ") count " - " kernel " " text
}

function end_script(status) {
	if (skip_all != "")
		result(1, script " # SKIP " skip_all)
	else if (planned != seen)
		result(0, script ": planned " (planned < 0 ? "nothing" : planned) ", ran " seen)
	else if (status != 0 && !bad)
		result(0, script ": ended with status " status)
	script = ""
}

{ sub(/\r$/, "") }

/^### begin / {
	script = $3
	sub(/\.sh$/, "", script)
	planned = -1
	seen = bad = 0
	skip_all = ""
	next
}

/^### end of all/ { next }

/^### end / { end_script($4); next }

/^1\.\.0 *# *SKIP/ {
	skip_all = $0
	sub(/^1\.\.0 *# *SKIP */, "", skip_all)
	next
}

/^1\.\.[0-9]+$/ { planned = substr($0, 4) + 0; next }

/^(not )?ok/ {
	good = $1 == "ok"
	text = $0
	sub(/^(not )?ok *[0-9]* *-? */, "", text)
	seen++
	bad += !good
	result(good, script ": " text)
	next
}

/^#/ { print; next }

{ print "# " $0 }

END {
	if (script != "")
		result(0, script ": never ended")
	if (failure != "")
		result(0, failure)
	if (plan != "")
		print "1.." count
	exit failed > 0
}
