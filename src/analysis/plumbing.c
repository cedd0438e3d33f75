/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/plumbing.h"

#include <regex.h>

const struct plumbing_rule plumbing_rules[] = {
	{ "[start]", "^(_start|__libc_start_main(_impl|@.*)?|__libc_start_call_main|"
		     "_dl_start(_user)?|start_thread|thread_start|_{0,2}clone3?|"
		     "runtime\\.goexit.*|runtime\\.main)$" },
	{ "[CPython]", "^(_?Py[A-Z_]|pymain_|run_mod$|run_eval_code_obj|pyrun_|_run_code|"
		       "cfunction_|method_vectorcall|slot_tp_|object_vacall|bound_method|"
		       "builtin_exec|builtin___|type_call|_?PyEval|py_trampoline)" },
	{ "[HotSpot]", "^(JavaThread::|JavaCalls::|Interpreter$|call_stub|StubRoutines|"
		       "thread_native_entry|Thread::call_run|thread_entry|ThreadJavaMain|"
		       "JavaMain|jni_|Unsafe_Park|Parker::|os::Platform|ObjectMonitor::|"
		       "ObjectSynchronizer::|JVM_)" },
	{ "[V8]", "^(v8::|node::|Builtins_|uv_run$|uv__|void node::)" },
	{ "[Go runtime]", "^runtime\\.(mcall|park_m|schedule|findRunnable|findrunnable|gopark|"
			  "goparkunlock|notesleep|notetsleep.*|futexsleep|futex|systemstack.*|"
			  "mstart.*|stopm|mPark|selectgo|semacquire.*|sema.*|netpoll.*|"
			  "rt0_go.*)" },
	{ "[system call]", "^(entry_SYSCALL_64.*|do_syscall_64|x64_sys_call|__x64_sys_.*|"
			   "__do_sys_.*|ksys_.*|__se_sys_.*)$" },
	{ "[switch]", "^(schedule|__schedule|schedule_timeout|schedule_hrtimeout_range.*|"
		      "preempt_schedule.*|io_schedule.*|context_switch)$" },
	{ 0 },
};

enum { RULES = ARRAY_SIZE(plumbing_rules) - 1 };

bool plumbing_is_box(const char *name)
{
	for (int i = 0; i < RULES; i++)
		if (streq(plumbing_rules[i].box, name))
			return true;
	return false;
}

static int rule_of(const regex_t *all, const char *name)
{
	for (int i = 0; i < RULES; i++)
		if (regexec(&all[i], name, 0, NULL, 0) == 0)
			return i;
	return -1;
}

bool plumbing_fold(struct profile *p, u32 *shown, size_t n)
{
	u32 boxes[RULES];
	regex_t all[RULES];
	bool any = false;

	for (int i = 0; i < RULES; i++) {
		struct frame f = { .name = profile_string(p, plumbing_rules[i].box),
				   .kind = FRAME_MARKER };

		boxes[i] = profile_get_frame(p, &f);
		if (regcomp(&all[i], plumbing_rules[i].names, REG_EXTENDED | REG_NOSUB))
			abort(); /* the table is ours, and a test compiles it */
	}
	for (size_t f = 1; f < n; f++) {
		const struct frame *frame = &p->frames.items[f];
		int i = frame->kind == FRAME_MARKER ? -1
						    : rule_of(all, profile_str(p, frame->name));

		if (i < 0)
			continue;
		shown[f] = boxes[i];
		any = true;
	}
	for (int i = 0; i < RULES; i++)
		regfree(&all[i]);
	return any;
}
