/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * orders [--journal each|batched] [--prices list|sorted] [ORDERS]
 *
 * The program of docs/tutorial.md: four workers price orders and write them to a journal. Its two
 * faults are the defaults of its two options.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 4, ARTICLES = 20000, BATCH = 64 };

struct article {
	unsigned id;
	unsigned price;
};

static struct article articles[ARTICLES]; /* by id */
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int journal;
static unsigned written;
static atomic_uint next_order;
static unsigned orders = 400;
static int batched, sorted;

static __attribute__((noinline)) unsigned find_in_list(unsigned id)
{
	for (unsigned i = 0; i < ARTICLES; i++) {
		if (articles[i].id == id)
			return articles[i].price;
	}
	return 0;
}

static __attribute__((noinline)) unsigned find_sorted(unsigned id)
{
	unsigned low = 0, high = ARTICLES;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (articles[middle].id == id)
			return articles[middle].price;
		if (articles[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

static __attribute__((noinline)) unsigned long price_order(unsigned order)
{
	unsigned long total = 0;

	for (unsigned line = 0; line < 100; line++) {
		unsigned id = (order * 7919u + line * 104729u) % ARTICLES * 3;

		total += sorted ? find_sorted(id) : find_in_list(id);
	}
	return total;
}

static __attribute__((noinline)) void journal_sync(void)
{
	if (fsync(journal))
		perror("fsync");
}

/* An order must be on disk before it is confirmed; batched: before the batch is. */
static __attribute__((noinline)) void journal_append(unsigned order, unsigned long total)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%u %lu\n", order, total), full;

	pthread_mutex_lock(&journal_lock);
	if (write(journal, line, (size_t)n) != n)
		perror("write");
	full = ++written % BATCH == 0 || written == orders;
	if (!batched)
		journal_sync();
	pthread_mutex_unlock(&journal_lock);
	if (batched && full)
		journal_sync();
}

static void *worker(void *unused)
{
	for (;;) {
		unsigned order = atomic_fetch_add(&next_order, 1);

		if (order >= orders)
			return unused;
		journal_append(order, price_order(order));
	}
}

int main(int argc, char **argv)
{
	char path[] = "orders.journal";
	pthread_t threads[WORKERS];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--journal") && i + 1 < argc)
			batched = !strcmp(argv[++i], "batched");
		else if (!strcmp(argv[i], "--prices") && i + 1 < argc)
			sorted = !strcmp(argv[++i], "sorted");
		else
			orders = (unsigned)strtoul(argv[i], NULL, 0);
	}
	for (unsigned i = 0; i < ARTICLES; i++)
		articles[i] = (struct article){ i * 3, i % 997 + 1 };
	journal = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (journal < 0)
		return perror(path), 1;
	for (int i = 0; i < WORKERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "worker-%d", i);
		if (pthread_create(&threads[i], NULL, worker, NULL))
			return 1;
		pthread_setname_np(threads[i], name);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	unlink(path);
	printf("%u orders\n", orders);
	return 0;
}
