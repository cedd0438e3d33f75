/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/openssl.h"

#ifdef HAVE_OPENSSL

#include "base/base.h"

#include <dlfcn.h>
#include <errno.h>

#define TEXT(x)      #x
#define AS_TEXT(x)   TEXT(x)
#define PRAGMA(text) _Pragma(#text)
/* Weak: there when the program is linked statically, and dlopen() when it is not. */
#define WEAK(name) PRAGMA(weak name)
OPENSSL_CALLS(WEAK)
WEAK(dlopen)
WEAK(dlsym)

static const struct openssl linked = {
#define LINKED(name) .name = name,
	OPENSSL_CALLS(LINKED)
};

static const char *const names[] = {
#define NAME(name) TEXT(name),
	OPENSSL_CALLS(NAME)
};
_Static_assert(sizeof(struct openssl) == sizeof(names), "a name for each function");

static bool is_whole(const struct openssl *api)
{
	void *functions[ARRAY_SIZE(names)];

	memcpy(functions, api, sizeof(functions));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!functions[i])
			return false;
	return true;
}

int openssl_open(struct openssl *ret)
{
	void *functions[ARRAY_SIZE(names)];
	void *library;

	if (is_whole(&linked)) {
		*ret = linked;
		return 0;
	}
	library = dlopen ? dlopen("libssl.so." AS_TEXT(OPENSSL_SHLIB_VERSION), RTLD_NOW) : NULL;
	if (!library)
		return -ENOSYS;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		functions[i] = dlsym(library, names[i]);
	memcpy(ret, functions, sizeof(*ret));
	return is_whole(ret) ? 0 : -ENOSYS;
}

#endif
