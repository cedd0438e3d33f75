/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that cannot be used safely become compile errors here. base/ has the replacement:
 * buf for strings, parse for numbers, clock for time, io for files.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(f) sorry_##f##_is_banned

#undef strcpy
#define strcpy(d, s) BANNED(strcpy)
#undef strcat
#define strcat(d, s) BANNED(strcat)
#undef strncpy
#define strncpy(d, s, n) BANNED(strncpy)
#undef strncat
#define strncat(d, s, n) BANNED(strncat)
#undef strtok
#define strtok(s, d) BANNED(strtok)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef gets
#define gets(s) BANNED(gets)
#undef atoi
#define atoi(s) BANNED(atoi)
#undef atol
#define atol(s) BANNED(atol)
#undef atoll
#define atoll(s) BANNED(atoll)
#undef atof
#define atof(s) BANNED(atof)
#undef localtime
#define localtime(t) BANNED(localtime)
#undef gmtime
#define gmtime(t) BANNED(gmtime)
#undef ctime
#define ctime(t) BANNED(ctime)
#undef asctime
#define asctime(t) BANNED(asctime)
#undef system
#define system(c) BANNED(system)
#undef mktemp
#define mktemp(t) BANNED(mktemp)
#undef tmpnam
#define tmpnam(s) BANNED(tmpnam)

#endif
