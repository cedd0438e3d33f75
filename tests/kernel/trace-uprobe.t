#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# User probes by debug information: typed arguments, structs, lines of the source, names of C++.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc g++
need_file /sys/kernel/btf/vmlinux

cat >"$TMP/typed.c" <<-'END'
	#include <unistd.h>
	typedef unsigned char byte;
	struct inner { short a; byte list[4]; };
	struct box { int id; long b; char name[8]; struct box *next; unsigned flag : 3; unsigned rest : 5; struct inner in; };
	union either { int i; char c[4]; };
	enum color { RED, GREEN = 7 };
	struct box two = { 9, 90, "two", 0, 5, 17, { -3, { 1, 2, 3, 4 } } };
	struct box one = { 7, 70, "one", &two, 1, 2, { 11, { 5, 6, 7, 8 } } };
	__attribute__((noinline)) int take(const struct box *box, signed char c, double d, enum color color,
					   union either *e)
	{
		usleep(10);
		return box->id + c + (int)d + (int)color + e->i;
	}
	__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, short h)
	{
		usleep(10);
		return a + b + c + d + e + f + g + h;
	}
	int main(void)
	{
		union either e = { 0x41424344 };

		take(&one, -5, 2.5, GREEN, &e); /* line 25 */
		many(1, 2, 3, 4, 5, 6, -7, -8);
		return 0;
	}
END
gcc -g -O1 -o "$TMP/typed" "$TMP/typed.c"
gcc -O1 -o "$TMP/bare" "$TMP/typed.c"
t=$TMP/typed

traced() { run "$FATHOM" trace -c "$t" -e "$1"; }
traced "uprobe:$t:take { printf(\"%d %d %s|\", args.box->id, args.box->b, args.box->name); printf(\"%d %s %d|\", args.box->next->id, args.box->next->name, args.box->next->in.a); printf(\"%d %d|%d %d\n\", args.box->flag, args.box->rest, args.c, args.color); }"
expect_status 0
expect_out '7 70 one|9 two -3|1 2|-5 7'
traced "uprobe:$t:take { printf(\"%d %x\n\", args.box->in.list[2], args.e->i); }"
expect_out '7 41424344'
traced "uprobe:$t:take /args.c < 0/ { @[args.c] = count(); }"
expect_out '@[-5]: 1'
traced "uprobe:$t:many { printf(\"%d %d %d\n\", args.a, args.g, args.h); }"
expect_out '1 -7 -8'
traced "uprobe:$t:take { \$b = (struct box *)arg0; printf(\"%s %d\n\", \$b->next->name, sizeof(struct box)); }"
expect_out_like '^two [0-9]+$'
traced "uprobe:$t@typed.c:25 { @[probe] = count(); }"
expect_out_like ':typed\.c:25\]: 1$'
traced "uprobe:$t:take { printf(\"%d\n\", args.nothing); }"
expect_status 1
expect_err "does not contain a field named 'nothing'"
traced "uprobe:$t@typed.c:9999 { @ = count(); }"
expect_status 1
expect_err 'there is no debug information for this line'
run "$FATHOM" trace -e "uprobe:$TMP/bare:take { printf(\"%d\n\", args.c); }"
expect_status 1
expect_err 'args'
run "$FATHOM" trace -lv "uprobe:$t:take"
expect_out 'struct box* box'
expect_out 'char c'

cat >"$TMP/plus.cc" <<-'END'
	#include <unistd.h>
	struct base { int id; };
	struct derived : base { long more; };
	namespace ns {
	__attribute__((noinline)) int f(int n) { usleep(10); return n; }
	__attribute__((noinline)) int f(const char *s) { usleep(10); return s[0]; }
	struct thing {
		int x;
		__attribute__((noinline)) int get(derived &d) const { usleep(10); return x + d.id + (int)d.more; }
	};
	}
	derived d;
	ns::thing t;
	int main()
	{
		d.id = 5;
		d.more = 6;
		t.x = 40;
		return ns::f(3) + ns::f("abc") + t.get(d) < 0;
	}
END
g++ -g -O1 -o "$TMP/plus" "$TMP/plus.cc"
t=$TMP/plus
traced "uprobe:$t:\"ns::f(int)\" { @[func] = sum(args.n); }"
expect_out '@[ns::f(int)]: 3'
traced "uprobe:$t:cpp:ns::f { @[func] = count(); }"
is 'a name without parameters means all of them' "$(grep -c '^@\[ns::f(.*)\]: 1$' <<<"$out")" 2
traced "uprobe:$t:cpp:ns::* { @[func] = count(); }"
expect_out '@[ns::thing::get(derived&) const]: 1'
traced "uprobe:$t:cpp:ns::thing::get { printf(\"%d %d %d\n\", args.this->x, args.d->id, args.d->more); }"
expect_out '40 5 6'
traced "uretprobe:$t:\"ns::f(char const*)\" { printf(\"%d\n\", retval); }"
expect_out 97

# Offsets: every place where an instruction begins is taken, every other one is refused.
if command -v objdump >/dev/null; then
	starts=$(objdump -d -w "$TMP/typed" | awk '/<many>:$/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' | tr -d :)
	first=0x$(head -n 1 <<<"$starts")
	wrong=''
	for ((i = 1; i < 24; i++)); do
		run "$FATHOM" trace --dry-run -e "uprobe:$TMP/typed:many+$i { @ = count(); }"
		want=1
		grep -qx "$(printf '%x' $((first + i)))" <<<"$starts" && want=0
		[ "$status" = "$want" ] || wrong="$wrong +$i: status $status"
	done
	is 'offsets inside instructions are refused' "$wrong" ''
fi
# so they are by address, and what is in no function
many=$((0x$(nm "$TMP/typed" | sed -n 's/ T many$//p')))
run "$FATHOM" trace -c "$TMP/typed" -e "uprobe:$TMP/typed:$many { print(arg0); }"
expect_out '1'
cut=0
for i in 1 2 3 4 5 6; do
	run "$FATHOM" trace --dry-run -e "uprobe:$TMP/typed:$((many + i)) { @ = count(); }"
	grep -qE 'middle of instruction' <<<"$err" && cut=$((cut + 1))
done
ok 'addresses inside instructions are refused' [ "$cut" -ge 1 ]
run "$FATHOM" trace --dry-run -e "uprobe:$TMP/typed:0x10 { @ = count(); }"
expect_status 1
expect_err 'typed:0x10: no function is there'
run "$FATHOM" trace --dry-run -e "uprobe:$TMP/typed:many+100000 { @ = count(); }"
expect_err 'Offset outside the function bounds'

# libraries by their names, with and without "lib"
for name in c libc; do
	run "$FATHOM" trace -c /bin/true -e "uprobe:$name:_exit { @ = count(); }"
	expect_out '@: 1'
done
# one that glibc made empty: what it had is in libc
if [ -e /lib/x86_64-linux-gnu/libpthread.so.0 ]; then
	run "$FATHOM" trace --dry-run -e 'uprobe:libpthread:pthread_create { @ = count(); }'
	expect_status 0
	run "$FATHOM" trace --dry-run -e 'uprobe:libpthread:pthread_no_such { @ = count(); }'
	expect_status 1
	expect_err ':pthread_no_such.'
else
	skip 'no libpthread' 3
fi
done_testing
