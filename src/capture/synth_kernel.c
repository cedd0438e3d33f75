/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the kernel and its modules lie, as perf writes it. */
#include "capture/synth.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/parse.h"
#include "capture/synth_record.h"
#include "elf/note.h"
#include "host/kallsyms.h"

enum { HEAD_BYTES = 1 << 16, KERNEL_PID = -1 };

/* @notes: the file below /sys that says which build it is. */
static int put_kernel_map(struct synth *s, u64 start, u64 len, u64 offset, const char *name,
			  const char *notes)
{
	struct synth_map m = { .start = start,
			       .end = start + len,
			       .offset = offset,
			       .prot = PROT_READ | PROT_EXEC,
			       .path = name,
			       .path_len = strlen(name),
			       .kernel = true };
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct synth_record r;

	if (s->build_ids) {
		buf_addf(&path, "%s/%s", s->sys ? s->sys : "/sys", notes);
		m.build_id_size = (u32)elf_notes_file_build_id(buf_str(&path), m.build_id,
							       sizeof(m.build_id));
	}
	if (m.build_id_size)
		return synth_mmap2(s, (u32)KERNEL_PID, &m);
	synth_begin(&r, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	synth_put_u32(&r, (u32)KERNEL_PID);
	synth_put_u32(&r, 0);
	synth_put_u64(&r, start);
	synth_put_u64(&r, len);
	synth_put_u64(&r, offset);
	synth_put_name(&r, name, strlen(name));
	s->maps++;
	return synth_end(s, &r);
}

/*
 * Size of the kernel's code from the first lines of iomem: kallsyms would have to be formatted
 * by the kernel up to _etext, which takes 40 ms.
 */
static bool code_size(const char *proc, u64 *ret)
{
	_cleanup_buf_ struct buf path = BUF_INIT, text = BUF_INIT;
	const char *at, *end;
	u64 first, last;

	buf_addf(&path, "%s/iomem", proc);
	if (io_read_file(buf_str(&path), IO_MAX_PROC, &text, NULL) < 0)
		return false;
	end = buf_str(&text) + text.len;
	at = strstr(buf_str(&text), " : Kernel code");
	if (!at)
		return false;
	while (at > text.data && at[-1] != '\n')
		at--;
	while (*at == ' ')
		at++;
	if (!scan_u64(&at, end, 16, &first) || *at++ != '-' || !scan_u64(&at, end, 16, &last) ||
	    last <= first)
		return false;
	*ret = last - first + 1;
	return true;
}

/* 0 when it cannot be found, or is hidden. */
static u64 text_start(const struct buf *text)
{
	u64 start = 0;

	if (!kallsyms_lookup(buf_str(text), text->len, "_text", &start))
		(void)kallsyms_lookup(buf_str(text), text->len, "_stext", &start);
	return start;
}

/* The whole of kallsyms, unless the head of it was enough. */
static int read_rest(const char *path, struct buf *text, struct err *e)
{
	if (text->len > HEAD_BYTES)
		return 0;
	buf_reset(text);
	return kallsyms_read(path, IO_MAX_PROC, text, e);
}

int synth_kernel(struct synth *s, struct err *e)
{
	const char *proc = s->proc ? s->proc : "/proc";
	_cleanup_buf_ struct buf path = BUF_INIT, text = BUF_INIT;
	u64 start, size, end;
	int r;

	buf_addf(&path, "%s/kallsyms", proc);
	/* _text is among the first lines */
	r = kallsyms_read(buf_str(&path), HEAD_BYTES, &text, e);
	if (r < 0)
		return r;
	start = text_start(&text);
	if (start == 0 && (r = read_rest(buf_str(&path), &text, e)) >= 0)
		start = text_start(&text);
	if (r < 0)
		return r;
	if (start == 0) {
		err_set(e, EACCES,
			"the kernel hides its addresses: kernel functions have no names");
		err_hint(e, "run as root, or sysctl kernel.kptr_restrict=0");
		return -EACCES;
	}
	if (!code_size(proc, &size)) {
		r = read_rest(buf_str(&path), &text, e);
		if (r < 0)
			return r;
		size = kallsyms_lookup(buf_str(&text), text.len, "_etext", &end) && end > start
			       ? end - start
			       : ~start;
	}
	return put_kernel_map(s, start, size, start, "[kernel.kallsyms]_text", "kernel/notes");
}

/* --- modules ---------------------------------------------------------------------------------- */

/* '-' and '_' are the same in the names of modules. */
static bool module_name_is(const char *file, size_t n, const char *name, size_t name_n)
{
	if (n != name_n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (file[i] != name[i] && !(file[i] == '-' && name[i] == '_'))
			return false;
	}
	return true;
}

/* "kernel/fs/ext4/ext4.ko.xz: kernel/lib/crc16.ko.xz" in modules.dep -> its path. */
static bool module_path(const struct buf *dep, const char *dir, const char *name, size_t n,
			struct buf *ret)
{
	for (const char *line = buf_str(dep); *line;) {
		size_t len = strcspn(line, "\n"), path_n = strcspn(line, ":\n");
		const char *slash = memrchr(line, '/', path_n), *file = slash ? slash + 1 : line;
		const char *dot = memmem(file, (size_t)(line + path_n - file), ".ko", 3);

		if (dot && module_name_is(file, (size_t)(dot - file), name, n)) {
			buf_addf(ret, "%s/%.*s", dir, (int)path_n, line);
			return true;
		}
		line += len + (line[len] == '\n');
	}
	return false;
}

struct module_files {
	struct buf dir;
	struct buf dep;
	struct buf path;
	struct buf notes;
};

/* "ext4 983040 1 - Live 0xffffffffc0a00000" */
static int put_module(struct synth *s, const char *line, size_t n, struct module_files *files)
{
	const char *end = line + n, *space = memchr(line, ' ', n), *at;
	u64 size, start;

	if (!space)
		return 0;
	at = space + 1;
	if (!scan_u64(&at, end, 10, &size))
		return 0;
	at = memmem(at, (size_t)(end - at), " 0x", 3);
	if (!at)
		return 0;
	at += 3;
	if (!scan_u64(&at, end, 16, &start) || start == 0)
		return 0;
	buf_reset(&files->path);
	if (!module_path(&files->dep, buf_str(&files->dir), line, (size_t)(space - line),
			 &files->path))
		buf_addf(&files->path, "[%.*s]", (int)(space - line), line);
	buf_reset(&files->notes);
	buf_addf(&files->notes, "module/%.*s/notes/.note.gnu.build-id", (int)(space - line), line);
	return put_kernel_map(s, start, size, 0, buf_str(&files->path), buf_str(&files->notes));
}

int synth_modules(struct synth *s, struct err *e UNUSED)
{
	_cleanup_buf_ struct buf text = BUF_INIT, path = BUF_INIT;
	struct module_files files = { 0 };
	struct utsname uts;
	int r = 0;

	buf_addf(&path, "%s/modules", s->proc ? s->proc : "/proc");
	if (io_read_file(buf_str(&path), IO_MAX_PROC, &text, NULL) < 0 || text.len == 0)
		return 0; /* a kernel without modules */
	if (uname(&uts) == 0) {
		buf_addf(&files.dir, "/lib/modules/%s", uts.release);
		buf_reset(&path);
		buf_addf(&path, "%s/modules.dep", buf_str(&files.dir));
		(void)io_read_file(buf_str(&path), IO_MAX_PROC, &files.dep, NULL);
	}
	for (const char *line = buf_str(&text); r >= 0 && *line;) {
		size_t len = strcspn(line, "\n");

		r = put_module(s, line, len, &files);
		line += len + (line[len] == '\n');
	}
	buf_release(&files.dir);
	buf_release(&files.dep);
	buf_release(&files.path);
	buf_release(&files.notes);
	return r;
}
