/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/chance.h"

#include <math.h>

enum { EXACT_MOST = 400 }; /* beyond it the binomial is the normal distribution */

/* P(X = k) of n trials. */
static double probability(u64 n, u64 k, double p)
{
	double dn = (double)n, dk = (double)k;

	return exp(lgamma(dn + 1) - lgamma(dk + 1) - lgamma(dn - dk + 1) + dk * log(p) +
		   (dn - dk) * log1p(-p));
}

/* P(X <= k); each term follows from the one before. */
static double lower_tail(u64 n, u64 k, double p)
{
	double term = probability(n, 0, p), sum = term;

	for (u64 i = 1; i <= k; i++) {
		term *= (double)(n - i + 1) / (double)i * p / (1 - p);
		sum += term;
	}
	return sum;
}

static double exact(u64 n, u64 k, double p)
{
	double below = lower_tail(n, k, p);
	double above = 1 - below + probability(n, k, p);

	return fmin(1, 2 * fmin(below, above));
}

double chance_of(u64 after, u64 before, double share)
{
	u64 n = after + before;
	double mean = (double)n * share, sigma = sqrt(mean * (1 - share));
	double off = fabs((double)after - mean) - 0.5;

	if (!n || share <= 0 || share >= 1)
		return 1;
	/* the first term of the tail must not vanish */
	if (n <= EXACT_MOST && (double)n * log1p(-share) > -600)
		return exact(n, after, share);
	return off > 0 ? erfc(off / sigma / M_SQRT2) : 1;
}
