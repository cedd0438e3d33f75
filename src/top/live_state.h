/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of struct live: two threads, one for samples, one for waits. */
#ifndef TOP_LIVE_STATE_H
#define TOP_LIVE_STATE_H

#include <pthread.h>

#include "profile/profile.h"
#include "top/live.h"

struct live {
	u64 frequency, keep_ns;
	int fd; /* readable when there is a frame */
	pthread_t samples_thread, waits_thread;
	bool samples_started, waits_started;
	pthread_mutex_t lock; /* what follows */
	pthread_cond_t changed;
	struct live_request request;
	u64 serial; /* of requests */
	u32 pace;   /* times longer than a second: the budget */
	bool quit;
	struct profile_frame *profile, *cold;
	struct waits_frame *waits;
};

enum live_part { LIVE_SAMPLES, LIVE_WAITS };

/* The request as it is now; false: the thread must end. */
bool live_request(struct live *l, struct live_request *ret, u64 *ret_serial);
u32 live_pace_now(struct live *l);
/* Waits until this part is requested; false: the thread must end. */
bool live_wait_for(struct live *l, enum live_part part);
bool live_is_wanted(struct live *l, enum live_part part);
void live_publish_profile(struct live *l, struct profile_frame *f);
void live_publish_waits(struct live *l, struct waits_frame *f);

void *live_samples(void *live);
void *live_waits(void *live);

/* Is the innermost frame of @stack the function requested? */
bool live_is_function(const struct profile *p, u32 stack, const struct live_request *r);
/* Does the stack belong to what is requested: the function on it, or the module innermost? */
bool live_has_asked(const struct profile *p, u32 stack, const struct live_request *r);
/* Fills functions and boxes from the samples of @p, of @event; details of the function asked for.
 */
void profile_frame_fill(struct profile_frame *f, struct profile *p, u16 event,
			const struct live_request *r);

#endif
