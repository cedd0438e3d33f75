#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The page of fathom serve with the charts of a second machine beside ours: the same kernel with
# another host name. See serve-peers.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd unshare
unshare --uts true 2>/dev/null || plan_skip 'no other host name can be had here'
need_file "$WORKLOADS/burn"
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"
cd "$TMP" || exit 1

# shellcheck disable=SC2016 # for the inner shell
spawn unshare --uts sh -c 'echo box7 >/proc/sys/kernel/hostname && exec "$@"' - \
	"$FATHOM" serve -q --listen 127.0.0.1 --role view >other.address 2>other.err
other=$spawned
wait_until grep -q token other.address
sed -n '1s/.*token=\([0-9a-f]*\).*/\1/p' other.address >other.token
at=$(sed -n '1s|http://\([^/]*\)/.*|\1|p' other.address)
spawn "$FATHOM" serve -q --listen 127.0.0.1 --no-past-stacks --peer "$at" --peer-token other.token >address 2>serve.err
wait_until grep -q token address

RUN_TIMEOUT=120
drive serve-peers.mjs "$(sed -n 's/  (trace)$//p' address)" "$WORKLOADS" "$other"
unlike 'the HTTP side does not crash' "$(cat serve.err other.err)" 'ended by signal'
done_testing
