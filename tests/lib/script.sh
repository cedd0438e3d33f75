# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# For tests that compare perf script's text with ours; sourced after test.sh.
need_root
need_cmd perf python3
need_file "$FATHOM" "$WORKLOADS/burn" "$WORKLOADS/forks"
cd "$TMP" || exit 1
COMPARE=$TOP/tests/oracle/script_compare.py
FIELDS=comm,tid,cpu,time,event,ip,sym,dso

# A machine that does something: processes that come and go, system calls, floating point.
spawn sh -c 'while :; do dd if=/dev/zero of=/dev/null bs=4k count=20000; done 2>/dev/null'
spawn sh -c "while :; do '$WORKLOADS/forks' 20; done >/dev/null 2>&1"
