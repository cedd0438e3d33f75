/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests with markers: cc -O2 -g -Iinclude -o marks docs/examples/marks.c */
#include <unistd.h>

#include "fathom.h"

static void serve(long id)
{
	FATHOM_BEGIN("request", id);
	if (id % 7 == 3) {
		FATHOM_MARK("cache miss", id);
		usleep(30000);
	}
	usleep(1000);
	FATHOM_END("request", id);
}

int main(void)
{
	for (long id = 0; id < 20; id++)
		serve(id);
	return 0;
}
