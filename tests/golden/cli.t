#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The command line: what people type wrongly, and what they read.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

page() { golden "$1" "$out_file" "$test_dir/cli/$1"; }

# refused WORDS... : status 2, nothing on stdout, one line and a hint on stderr
refused() {
	local what=$1 hint=$2
	shift 2
	run "$FATHOM" "$@"
	is "$* is refused" "$status/$out/$err" "2//fathom: $what"$'\n'"hint: $hint"
}

has() { "$FATHOM" help "$1" >/dev/null 2>&1; }

# --- pages --------------------------------------------------------------------------------------

run "$FATHOM"
expect_status 0
expect_no_err 'fathom: nothing on stderr'
expect_out 'Usage: fathom COMMAND [options] [-- program [args]]'
expect_out 'What can fathom do here?'
expect_out 'First steps'
bare=$out
run "$FATHOM" help
is "'fathom help' is what bare 'fathom' says" "$out" "$bare"
run "$FATHOM" --help
is "'fathom --help' too" "$out" "$bare"

run "$FATHOM" help help
expect_status 0
expect_no_err 'fathom help help: nothing on stderr'
page help.txt
ok 'fits 80 columns' test "$(wc -L <"$out_file")" -le 80
cp "$out_file" "$TMP/help"
run "$FATHOM" help --help
ok "'fathom help --help' is the same" cmp "$TMP/help" "$out_file"
run "$FATHOM" help -h
ok "'fathom help -h' is the same" cmp "$TMP/help" "$out_file"
run "$FATHOM" --help help
ok "'fathom --help help' is the same" cmp "$TMP/help" "$out_file"

run "$FATHOM" completion --help
page completion.txt

run env COLUMNS=20 "$FATHOM" help help
expect_status 0
page help-20.txt
run env COLUMNS=20 "$FATHOM"
ok '20 columns are enough for the list of commands' \
	test "$(grep -v '^  fathom ' "$out_file" | wc -L)" -le 20

run "$FATHOM" help --color=always help
expect_out $'\033[1mOptions\033[0m'

# --- version ------------------------------------------------------------------------------------

run "$FATHOM" --version
expect_status 0
expect_out_like '^fathom [0-9]+\.[0-9]+\.[0-9]+'
expect_out_like 'libraries: |without: '
version=$out
for words in -V version 'version --no-pager'; do
	# shellcheck disable=SC2086 # words are words
	run "$FATHOM" $words
	is "'fathom $words' is the same" "$out" "$version"
done
run "$FATHOM" --version --json
expect_out '"command": "version"'
run "$FATHOM" --json version
expect_out '"command": "version"' 'an option before the command belongs to it'

# --- the tables ---------------------------------------------------------------------------------

run "$FATHOM" help --check
is 'the tables have no fault' "$status/$out" 0/

run "$FATHOM" help --json
if command -v python3 >/dev/null; then
	commands=$(python3 -c 'import json, sys
for c in json.load(sys.stdin)["commands"]: print(c["name"])' <"$out_file")
	like 'help --json lists the commands' "$commands" '^completion$'
	ok 'the lists of tools are those of tools/' env -C "$TOP" scripts/tools-doc --check
	is 'the tour in README.md names every command, in its own words' \
		"$(sed -n 's/^| `fathom \([a-z-]*\)` | \(.*\) |$/\1: \2/p' "$TOP/README.md" | sort)" \
		"$(python3 -c 'import json, sys
for c in json.load(sys.stdin)["commands"]:
    if not c.get("group"): print(c["name"] + ": " + c["summary"])' <"$out_file" | sort)"
else
	commands='completion help version'
	skip 'needs the command python3'
fi

too_wide=
for command in $commands; do
	[ "$("$FATHOM" "$command" --help | wc -L)" -le 80 ] || too_wide+=" $command"
done
is 'every page of help fits 80 columns' "$too_wide" ''

for command in '' $commands; do
	if ! command -v mandoc >/dev/null; then
		skip 'needs the command mandoc'
		continue
	fi
	# shellcheck disable=SC2086 # the main page has no name
	"$FATHOM" help --man $command >"$TMP/page.1"
	is "manual page of fathom $command" "$(mandoc -Tlint -W warning "$TMP/page.1" 2>&1)" ''
	wanted='NAME SYNOPSIS DESCRIPTION OPTIONS ENVIRONMENT FILES EXIT STATUS EXAMPLES SEE ALSO CAVEATS'
	is "its sections" "$(sed -n 's/^\.Sh //p' "$TMP/page.1" | paste -sd' ')" "$wanted"
done

# --- completion ---------------------------------------------------------------------------------

# In a plain bash, without the bash-completion package.
complete_words() {
	# shellcheck disable=SC2016 # for the inner bash
	bash --norc -c '
		. <("$FATHOM" completion bash)
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_fathom
		echo "${COMPREPLY[*]}"' bash "$@"
}
is 'complete a command' "$(complete_words fathom comple)" completion
is 'complete a long option' "$(complete_words fathom help --ch)" --check
is 'complete an operand' "$(complete_words fathom completion z)" zsh
is 'complete a choice' "$(complete_words fathom help --color = al)" always
is 'complete a choice in one word' "$(complete_words fathom help --color=ne)" --color=never
like 'complete the command of help' "$(complete_words fathom help versio)" '^version$'
: >"$TMP/file-1"
if has report; then
	is 'complete a file' "$(complete_words fathom report -i "$TMP/file-")" "$TMP/file-1"
else
	skip 'this build has no report command'
fi
"$FATHOM" completion bash >"$TMP/fathom.bash"
ok 'bash takes the script' bash -n "$TMP/fathom.bash"
"$FATHOM" completion zsh >"$TMP/_fathom"
if command -v zsh >/dev/null; then
	ok 'zsh takes the script' zsh -n "$TMP/_fathom"
else
	skip 'needs the command zsh'
fi

# --- bad words ----------------------------------------------------------------------------------

refused "unknown command 'compltion'" "did you mean 'completion'?" compltion
refused "unknown command 'xyzzy'" "'fathom help' lists the commands" xyzzy
refused "unknown command ''" "'fathom help' lists the commands" ''
refused "unknown command 'flamegraph.pl'" "that is 'fathom flame' here, see 'fathom help flame'" flamegraph.pl
refused "unknown command 'toplev'" "'fathom stat -M' has ratios of hardware counters, 'fathom list' the CPU's events" toplev
refused "unknown command 'c2c'" "that is 'fathom mem' here, see 'fathom help mem'" c2c
# whoever knows another tool is told what there is instead, by a command that exists
for name in bench config daemon kvm test sadf nfsiostat cifsiostat tapestat numasched wqlat rdmaucma \
	ltrace gprof callgrind hotspot kernelshark ss nethogs iftop bpftool pmap smem powertop sysdig swapout vfsreadlat; do
	run "$FATHOM" "$name"
	unlike "a hint for $name" "$err" "yet|'fathom help' lists|did you mean"
	while read -r _ command; do
		ok "... $command exists" has "$command"
	done < <(grep -o "'fathom [a-z]*" <<<"$err" | sort -u)
done
# The names of perf's, sysstat's and bcc's tools: each is a command here, or the error names one.
# shellcheck disable=SC2086 # words
known=$(for name in \
	annotate archive argdist bashreadline bench bindsnoop biolatency biolatpcts biopattern \
	biosnoop biotop bitesize bpflist btrfsdist btrfsslower buildid-cache buildid-list c2c \
	cachestat cachetop capable cifsiostat cobjnew compactsnoop config cpudist cpuunclaimed \
	criticalstat cthreads daemon data dbslower dbstat dcsnoop dcstat deadlock dirtop drsnoop \
	execsnoop exitsnoop ext4dist ext4slower f2fsslower filegone filelife fileslower filetop \
	ftrace funccount funcinterval funclatency funcslower futexctn gethostlatency hardirqs \
	inject iostat javacalls javaflow javagc javaobjnew javastat javathreads kallsyms killsnoop \
	klockstat kmem ksnoop kvm kvmexit kwork llcstat lock mdflush mem memleak mountsnoop mpstat \
	mysqld_qslower naptime netqtop nfsdist nfsiostat nfsslower nodegc nodestat numamove \
	numasched offcputime offwaketime oomkill opensnoop perlcalls perlflow perlstat phpcalls \
	phpflow phpstat pidpersec pidstat ppchcalls probe profile pythoncalls pythonflow pythongc \
	pythonstat rdmaucma readahead reset-trace rubycalls rubyflow rubygc rubyobjnew rubystat \
	runqlat runqlen runqslower sadf sar shmsnoop sigsnoop slabratetop sofdsnoop softirqs \
	solisten sslsniff stackcount statsnoop swapin swapout syncsnoop syscount sysdig tapestat \
	tcpaccept tcpcong tcpconnect tcpconnlat tcpdrop tcplife tcppktlat tcpretrans tcprtt \
	tcpstates tcpsubnet tcpsynbl tcptop tcptracer test threadsnoop timechart top tplist trace \
	ttysnoop undump vfscount vfsreadlat vfsstat virtiostat vmstat wakeuptime wqlat xfsdist \
	xfsslower zfsdist zfsslower; do
	"$FATHOM" $name --help >/dev/null 2>"$TMP/name.err" && continue
	grep -q "^hint: .*'fathom [a-z]" "$TMP/name.err" && ! grep -q 'lists\|did you mean' "$TMP/name.err" && continue
	echo "$name"
done)
is 'all tools of perf, sysstat and bcc are known by name' "$known" ''
refused "unknown command 'map'" "that is 'fathom sched' here, see 'fathom help sched'" map
refused "unknown command 'verison'" "did you mean 'version'?" help verison
refused "unknown option '--vresion' before a command" "did you mean '--version'?" --vresion
refused "unknown option '-p' before a command" 'options of a command come after its name' -p 1 help
refused 'no command was given' "'fathom help' lists the commands" --json
for form in --json --csv; do
	refused "'fold' writes folded stacks and nothing else" \
		"'fathom report' and 'fathom flame' have --json and --csv" fold "$form"
done
run "$FATHOM" fold --help
unlike 'what a command refuses is not in its help' "$out" '--(json|csv)'
refused "a program's output has no columns: there is no CSV of it" 'use --json' trace --csv -e 'BEGIN { }'
refused "unknown option '--jsn'" "did you mean '--json'?" help --jsn
refused "unknown option '--colr'" "did you mean '--color'?" help --colr
refused "unknown option '--quite'" "did you mean '--quiet'?" help --quite
refused "unknown option '--zzz'" "'fathom help --help' lists the options" help --zzz
refused "unknown option '-d'" "did you mean '--duration'?" mpstat -d 5s
run "$FATHOM" stat -d 5s
expect_err 'for a time write --duration 5s' 'a time where a program is wanted'
refused "unknown option '-Z'" "'fathom help --help' lists the options" help -Z
refused "unknown option '-Z' in '-qZ'" "'fathom help --help' lists the options" help -qZ
refused "option '--c' could be --check, --csv, --color" 'write more of its name' help --c
refused "option '--json' takes no value" 'write --json alone' help --json=1
refused '--json and --csv cannot be used together' 'give only one of them' help --json --csv
refused '--man and --json cannot be used together' 'give only one of them' help --man --json
refused "option '--color': 'alwyas' is not one of auto, always, never" \
	"did you mean 'always'?" help --color=alwyas
refused "unexpected operand 'b'" 'usage: fathom help [options] [COMMAND]' help a b
refused "'completion' needs bash|zsh" 'for example: . <(fathom completion bash)' completion
refused "'funccount' needs PATTERN" 'for example: fathom funccount -d 1 c:malloc' funccount
refused "the span of time '9,1' ends before it begins" 'write FROM,TO like 10.5,12 or +1,+3' \
	report --time 9,1
refused "the span of time '+2,+1' ends before it begins" 'write FROM,TO like 10.5,12 or +1,+3' \
	sched --time +2,+1
refused "option '-F': a frequency of 0 takes no samples" \
	'write it like 99, 4k or max: samples per second and CPU' record -F 0
refused "no completion for the shell 'fish'" 'bash and zsh are supported' completion fish
refused "unknown command '\\x1b[2J'" "'fathom help' lists the commands" $'\033[2J'

if has doctor; then
	refused "unknown command 'docter'" "did you mean 'doctor'?" docter
else
	skip 'this build has no doctor command'
fi

if has record; then
	refused "option '--duration': '10x' has the unknown unit 'x'" \
		'a duration is written like 10s, 500ms or 2m' record --duration 10x
	refused "option '--pid': 'me' is not an id or a list of ids" \
		'write it like 1234 or 1234,1250' record --pid=me
	refused "option '-d' needs a value" 'write -d TIME' record -d
	refused "option '-d' needs a value" 'write -d TIME' record -d -a
	run "$FATHOM" record -d 99999999999d
	expect_status 2
	expect_err "option '-d': '99999999999d' is too large"
	run "$FATHOM" record -p 99999999999999999999
	expect_status 2
else
	skip 'this build has no record command' 6
fi

# --- files --------------------------------------------------------------------------------------

if has report; then
	run "$FATHOM" report -i "$TMP/none"
	expect_status 1
	expect_err "fathom: cannot open '$TMP/none': no such file or directory"
	run "$FATHOM" report -i "$TMP"
	expect_status 1
	expect_err 'directory'
	run "$FATHOM" report -i ''
	expect_status 2
	printf 'shop;main;serve 3\nshop;main 1\n' >"$TMP/shop.folded"
	for command in callgraph 'export --format csv' fold flame heatmap import report script; do
		# shellcheck disable=SC2086 # words are words
		{
			"$FATHOM" $command -i "$TMP/shop.folded" >"$TMP/by-option" 2>&1
			"$FATHOM" $command "$TMP/shop.folded" >"$TMP/by-operand" 2>&1
			run "$FATHOM" $command -i "$TMP/shop.folded" other
		}
		ok "$command: FILE is what -i FILE is" cmp "$TMP/by-option" "$TMP/by-operand"
		is "$command: one input" "$status/$err" \
			"2/fathom: two inputs: '$TMP/shop.folded' and 'other'"
	done
else
	skip 'this build has no report command' 21
fi
if has sched; then
	refused "'sched latency' has no picture to write" "-o goes with 'sched map'" \
		sched latency -o x.svg
	refused "cannot tell the format of 'x.png' by its name" \
		'the name ends in one of these, after a dot: svg html' sched map -o x.png
else
	skip 'this build has no sched command' 2
fi
if ! has report; then
	skip 'this build has no report command' 2
elif [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip 'needs root and setpriv, to be somebody else' 2
else
	: >"$TMP/secret" && chmod 600 "$TMP/secret" && chmod 755 "$TMP"
	# the program may lie where nobody may go
	cp "$FATHOM" "$TMP/program" && chmod 755 "$TMP/program"
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/program" report -i "$TMP/secret"
	expect_status 3
	expect_err "cannot open '$TMP/secret': permission denied"
fi

# --- where the output goes ----------------------------------------------------------------------

into() {
	local target=$1
	shift
	"$FATHOM" "$@" >"$target" 2>"$TMP/err"
	status=$?
	err=$(cat "$TMP/err")
}

if [ -e /dev/full ]; then
	for words in help 'help --json' 'version --json' 'help help'; do
		# shellcheck disable=SC2086 # words are words
		into /dev/full $words
		is "'fathom $words' on a full disk" "$status/$err" \
			'1/fathom: cannot write the output: no space left on device'
	done
else
	skip 'there is no /dev/full' 4
fi

"$FATHOM" help --json 2>"$TMP/err" | head -1 >/dev/null
is 'head closes the pipe: silent' "${PIPESTATUS[0]}/$(cat "$TMP/err")" 0/
{
	sleep 0.2
	"$FATHOM" help 2>"$TMP/err"
	echo $? >"$TMP/status"
} | true
is 'the pipe was closed before: silent' "$(cat "$TMP/status")/$(cat "$TMP/err")" 0/

"$FATHOM" help >&- 2>"$TMP/err"
is 'no standard output at all' "$?/$(cat "$TMP/err")" \
	'1/fathom: cannot write the output: bad file descriptor'
"$FATHOM" xyzzy 2>&- >"$TMP/out"
is 'no standard error at all' "$?/$(cat "$TMP/out")" 2/

# --- the pager ----------------------------------------------------------------------------------

# Runs fathom on a terminal of ten lines; prints what appears there.
on_terminal() { python3 "$TOP/tests/lib/on_terminal.py" 10 '' "$FATHOM" "$@"; }

if command -v python3 >/dev/null; then
	# shellcheck disable=SC2016 # for the pager
	printf '#!/bin/sh\necho "paged $LESS"\ncat >/dev/null\n' >"$TMP/pager"
	chmod +x "$TMP/pager"
	export TERM=xterm
	unset LESS
	is 'a long page goes to the pager' "$(PAGER=$TMP/pager on_terminal help help)" \
		'paged FRX'$'\n''status 0'
	is 'a pager with arguments goes through the shell' \
		"$(PAGER='sed -n 1p' on_terminal help help)" \
		'fathom help - show the commands, or all about one of them'$'\n''status 0'
	unlike '--no-pager' "$(PAGER=$TMP/pager on_terminal help help --no-pager)" paged
	unlike 'what fits is not paged' "$(PAGER=$TMP/pager on_terminal version)" paged
	unlike 'JSON is not paged' "$(PAGER=$TMP/pager on_terminal version --json)" paged
	like 'an empty PAGER is none' "$(PAGER='' on_terminal help help)" '^Examples$'
	like 'a pager that is not there is done without' \
		"$(PAGER=/no/such/pager on_terminal help help)" '^Examples$'
	is 'a pager that leaves early is no error' "$(PAGER=true on_terminal help help)" 'status 0'
	like 'colour on a terminal' "$(NO_COLOR='' PAGER='' on_terminal help help)" $'\033\\[1m'
	unlike 'no colour with NO_COLOR' "$(PAGER='' on_terminal help help)" $'\033'
else
	skip 'needs the command python3' 10
fi

run "$FATHOM" prebuild -n /bin/sh /no/such/file
expect_status 1
expect_err "cannot read '/no/such/file': no such file or directory"
run "$FATHOM" trace --fmt 'BEGIN{exit()}'
expect_status 0
like 'a program needs no letter' "$out" 'exit\(\)'
run "$FATHOM" trace --fmt 'k:f /comm=="{"/'
expect_status 1
printf 'a;b 3\n' >"$TMP/x.folded"
run "$FATHOM" report "$TMP/x.folded" --csv --table rows
expect_status 0
is 'one table of several' "$(sed -n 1p <<<"$out")" 'self,children,samples,period,symbol'
run "$FATHOM" report "$TMP/x.folded" --csv --table nope
expect_status 1
expect_err "the result has no table 'nope'"
expect_err 'hint: it has tree, rows'
run "$FATHOM" report "$TMP/x.folded" --table rows
expect_status 2
expect_err '--table chooses a table of --csv'

run "$FATHOM" sadf
expect_status 2
expect_err "'fathom sar' has --json and --csv"
run "$FATHOM" prebuild </dev/null
expect_status 2
expect_err 'hint: --yes does it without asking'
# A clock cannot sample where interrupts are off: said once, and charged to the caller.
for i in 1 2 3 4; do
	printf 'app 5/5 [000] 5.%d00000: 1000000 cpu-clock:\n\tffffffff81000010 _raw_spin_unlock_irqrestore ([kernel.kallsyms])\n\tffffffff81000000 tcp_sendmsg ([kernel.kallsyms])\n\n' "$i"
done >"$TMP/skid.txt"
run "$FATHOM" report -i "$TMP/skid.txt"
like 'report says where a clock samples' "$out" '100.0% of samples fell where interrupts are enabled'
like '... and marks the rows' "$out" '\[k\] _raw_spin_unlock_irqrestore \(late\)$'
run "$FATHOM" report -i "$TMP/skid.txt" --json
unlike '... for people alone' "$out" 'irqrestore \(late\)'
run "$FATHOM" components -i "$TMP/skid.txt" --csv --table components
like 'components charges the caller' "$out" 'tcp'
unlike '... not the lock' "$(grep -i '^lock' <<<"$out")" '100'

# What perf has and the report does not is refused with where to find it.
run "$FATHOM" report -i "$TMP/skid.txt" -s comm,trace
expect_status 2
expect_err "unknown sort key 'trace'"
expect_err 'of recorded tracepoints trace, trace_fields, FIELD, EVENT.FIELD'
run "$FATHOM" report -i "$TMP/skid.txt" -g folded
expect_status 2
expect_err "'fathom fold' writes them"
run "$FATHOM" report -i "$TMP/skid.txt" -k /boot/vmlinux
expect_status 2
expect_err 'kernel names come with the recording'

done_testing
