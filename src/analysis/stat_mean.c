/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of repeated runs: how sure a mean is, and whether two differ. */
#include "analysis/stat.h"

#include <math.h>

enum { FRACTION_STEPS = 300, HALVINGS = 200 };

static const double confidence_miss = 0.05; /* one experiment in twenty may be outside */

/* One term of the continued fraction of the incomplete beta function; keeps it from 0. */
static double step(double term, double coefficient, bool inverse)
{
	double v = inverse ? 1 + coefficient * term : 1 + coefficient / term;

	if (fabs(v) < 1e-300)
		v = 1e-300;
	return inverse ? 1 / v : v;
}

static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = step(1, -(a + b) * x / (a + 1), true), h = d;

	for (int m = 1; m <= FRACTION_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		d = step(d, even, true);
		c = step(c, even, false);
		h *= d * c;
		d = step(d, odd, true);
		c = step(c, odd, false);
		change = d * c;
		h *= change;
		if (fabs(change - 1) < 1e-14)
			break;
	}
	return h;
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta_share(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* The probability that |t| is exceeded. */
static double student_tail(double t, double freedom)
{
	return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double stat_student(double freedom, double p)
{
	double low = 0, high = 1;

	if (!(freedom > 0) || !(p > 0) || p >= 1)
		return 0;
	while (student_tail(high, freedom) > p && high < 1e12)
		high *= 2;
	for (int i = 0; i < HALVINGS && high - low > 1e-12 * high; i++) {
		double mid = (low + high) / 2;

		if (student_tail(mid, freedom) > p)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

void stat_mean_of(const double *values, size_t n, struct stat_mean *ret)
{
	double mean = 0, squares = 0, error;

	for (size_t i = 0; i < n; i++) { /* Welford: no cancellation of large sums */
		double off = values[i] - mean;

		mean += off / (double)(i + 1);
		squares += off * (values[i] - mean);
	}
	*ret = (struct stat_mean){ .mean = mean, .low = mean, .high = mean, .runs = n };
	if (n < 2)
		return;
	ret->spread = sqrt(squares / (double)(n - 1));
	error = ret->spread / sqrt((double)n);
	ret->error = mean != 0 ? 100 * error / mean : 0;
	error *= stat_student((double)(n - 1), confidence_miss);
	ret->low = mean - error;
	ret->high = mean + error;
}

double stat_welch(const struct stat_mean *a, const struct stat_mean *b)
{
	double va, vb, sum, freedom;

	if (a->runs < 2 || b->runs < 2)
		return 1;
	va = a->spread * a->spread / (double)a->runs;
	vb = b->spread * b->spread / (double)b->runs;
	sum = va + vb;
	if (!(sum > 0)) /* each run gave the same: any difference is one */
		return a->mean == b->mean ? 1 : 0;
	freedom = sum * sum / (va * va / (double)(a->runs - 1) + vb * vb / (double)(b->runs - 1));
	return student_tail(fabs(a->mean - b->mean) / sqrt(sum), freedom);
}
