/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Field numbers of pprof's profile.proto, for the one who reads and the one who writes it. */
#ifndef PROFILE_PPROF_H
#define PROFILE_PPROF_H

enum pprof_field {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE,
};

#endif
