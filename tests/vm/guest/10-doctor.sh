# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# What doctor says on a stock kernel; 10-doctor.check reads doctor.json on the host.
. /tests/lib.sh
need_cmd fathom

run fathom --version
expect_status 0
expect_out fathom

run fathom doctor --json
expect_status 0
cp "$out_file" /out/doctor.json
done_testing
