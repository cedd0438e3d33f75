/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/runtime.h"

/* The first that is mapped counts: java and the like may load a python, not the reverse. */
static const struct runtime runtimes[] = {
	{ "java", "libjvm.so",
	  "run 'jcmd PID Compiler.perfmap' (java 17 and newer), or start it "
	  "with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
	{ ".NET", "libcoreclr.so", "start it with DOTNET_PerfMapEnabled=1 in its environment" },
	{ "node", "node", "start it as node --perf-basic-prof --interpreted-frames-native-stack" },
	{ "V8", "chrom", "start it with --no-sandbox --js-flags=--perf-basic-prof" },
	{ "V8", "electron", "start it with --no-sandbox --js-flags=--perf-basic-prof" },
	{ "deno", "deno", "start it with --v8-flags=--perf-basic-prof" },
	{ "Erlang", "beam.smp", "start it as erl +JPperf true" },
	{ "Julia", "libjulia", "start it with ENABLE_JITPROFILING=1 in its environment" },
	{ "Ruby", "libruby", "start it as ruby --yjit --yjit-perf" },
	{ "PHP", "php", "start it with -d opcache.jit_debug=16" },
	{ "QEMU", "qemu-", "start it with -perfmap (8.0 and newer)" },
	{ "LuaJIT", "libluajit", "it must be built with -DLUAJIT_USE_PERFTOOLS" },
	{ "LuaJIT", "luajit", "it must be built with -DLUAJIT_USE_PERFTOOLS" },
	{ "CPython", "libpython3", "start it as python3 -X perf (3.12 and newer)" },
	{ "CPython", "python3", "start it as python3 -X perf (3.12 and newer)" },
};

static const struct runtime unknown = {
	.name = "", .file = "", .hint = "its program may have a switch that writes a perf map"
};

static bool has_file(const struct process *p, const char *file)
{
	vec_each(map, &p->maps.items) {
		const char *path = map->path, *slash = strrchr(path, '/');

		if (path[0] == '/' && path[1] != '/' && starts_with(slash + 1, file))
			return true;
	}
	return false;
}

const struct runtime *runtime_of(const struct process *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		if (has_file(p, runtimes[i].file))
			return &runtimes[i];
	}
	return &unknown;
}

void runtime_collect(const struct machine *m, struct profile *p)
{
	vec_each(at, &m->processes) {
		const struct process *proc = *at;
		const char *why, *hint;

		if (!proc->nameless)
			continue;
		why = symbols_jit_why(m->symbols, proc->pid);
		/* in any case, it does write a map */
		hint = !why && proc->nameless == &unknown ? NULL : proc->nameless->hint;
		vec_push(&p->nameless, (struct profile_nameless){
					       .pid = proc->pid,
					       .runtime = profile_string(p, proc->nameless->name),
					       .why = profile_string(p, why),
					       .hint = profile_string(p, hint),
				       });
	}
}
