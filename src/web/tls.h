/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS 1.2 and 1.3 over a socket that does not block. Keys are read before privileges are dropped;
 * after that nothing here opens a file.
 */
#ifndef WEB_TLS_H
#define WEB_TLS_H

#include "base/err.h"

struct tls;      /* keys and rules */
struct tls_link; /* one connection */

struct tls_opts {
	const char *cert; /* PEM: the certificate and those that lead to its root */
	const char *key;  /* PEM without a passphrase; NULL: in the file of @cert */
	const char *ca;   /* of the other side; NULL: a server asks for no certificate */
	bool client;      /* connects; @cert may be NULL, the other side is always checked */
};

int tls_new(struct tls **ret, const struct tls_opts *o, struct err *e);
void tls_free(struct tls *t);
/* The names and addresses of the server's certificate, one after the other; NULL: no more. */
const char *tls_name(const struct tls *t, size_t i);

/* @host: for clients, the name that the certificate must have. */
int tls_open(struct tls *t, int fd, const char *host, struct tls_link **ret, struct err *e);
/* Says good-bye, if it can without waiting. The socket stays open. */
void tls_close(struct tls_link *l);
/* 1: done; 0: later; -EPROTONOSUPPORT: the client speaks HTTP in the clear; otherwise it failed. */
int tls_handshake(struct tls_link *l);
/* Whether the step that waits needs room to write. */
bool tls_wants_write(const struct tls_link *l);
/* Why a handshake failed, in the words of the library. */
const char *tls_failure(const struct tls_link *l);
/* The other side has shown a certificate that the CA signed. */
bool tls_is_known(const struct tls_link *l);
/* As recv() and send(), with negative errno; -EAGAIN: later; 0: the end. */
ssize_t tls_read(struct tls_link *l, void *to, size_t n);
ssize_t tls_write(struct tls_link *l, const void *from, size_t n);
/* Bytes have arrived that epoll knows nothing of. */
bool tls_pending(const struct tls_link *l);

#endif
