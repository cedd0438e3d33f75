/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/tls.h"

#include "base/io.h"
#include "base/vec.h"
#include "web/openssl.h"

#ifdef HAVE_OPENSSL

#include <arpa/inet.h>

static int no_library(struct err *e)
{
	err_set(e, ENOSYS, "TLS needs the library libssl, which is not here");
	err_hint(e, "install the package libssl3 or openssl-libs, or use "
		    "ssh -L 7777:localhost:7777 HOST");
	return -ENOSYS;
}

struct tls {
	struct openssl lib;
	SSL_CTX *ctx;
	bool client;
	VEC(char *) names;
};

struct tls_link {
	const struct openssl *lib;
	SSL *ssl;
	bool wants_write;
	char failure[160];
};

static int fail(const struct openssl *lib, struct err *e, const char *what, const char *path)
{
	unsigned long code = lib->ERR_peek_last_error();
	const char *reason = lib->ERR_reason_error_string(code);

	err_set(e, EINVAL, "cannot use %s '%s': %s", what, path, reason ? reason : "unknown error");
	err_hint(e, "it has to be PEM, and a key without a passphrase");
	lib->ERR_clear_error();
	return -EINVAL;
}

/* A key with a passphrase is an error, and not a question on the terminal. */
static int no_passphrase(char *buf, int size, int writing, void *ctx)
{
	(void)buf, (void)size, (void)writing, (void)ctx;
	return -1;
}

static int check_file(const char *path, struct err *e)
{
	_cleanup_close_ int fd = -1;

	return io_open_read(path, &fd, e);
}

static int load_own(struct tls *t, const struct tls_opts *o, struct err *e)
{
	const struct openssl *lib = &t->lib;
	const char *key = o->key ? o->key : o->cert;
	int r = check_file(o->cert, e);

	if (!r)
		r = check_file(key, e);
	if (r < 0)
		return r;
	if (lib->SSL_CTX_use_certificate_chain_file(t->ctx, o->cert) != 1)
		return fail(lib, e, "certificate", o->cert);
	if (lib->SSL_CTX_use_PrivateKey_file(t->ctx, key, SSL_FILETYPE_PEM) != 1) {
		if (ERR_GET_REASON(lib->ERR_peek_last_error()) != X509_R_KEY_VALUES_MISMATCH)
			return fail(lib, e, "key", key);
		lib->ERR_clear_error();
		err_set(e, EINVAL, "key '%s' does not belong to certificate '%s'", key, o->cert);
		err_hint(e, "give the key that the certificate was made with");
		return -EINVAL;
	}
	return 0;
}

static int load_ca(struct tls *t, const struct tls_opts *o, struct err *e)
{
	const struct openssl *lib = &t->lib;
	int r = o->ca ? check_file(o->ca, e) : 0;

	if (r < 0)
		return r;
	if (o->ca && lib->SSL_CTX_load_verify_file(t->ctx, o->ca) != 1)
		return fail(lib, e, "certificates of", o->ca);
	if (!o->ca && o->client)
		(void)lib->SSL_CTX_set_default_verify_paths(t->ctx);
	if (o->ca || o->client)
		lib->SSL_CTX_set_verify(t->ctx, SSL_VERIFY_PEER, NULL);
	if (o->ca && !o->client)
		lib->SSL_CTX_set_client_CA_list(t->ctx, lib->SSL_load_client_CA_file(o->ca));
	return 0;
}

static void add_name(struct tls *t, const GENERAL_NAME *g)
{
	const struct openssl *lib = &t->lib;
	char host[INET6_ADDRSTRLEN + 2];

	if (g->type == GEN_DNS) {
		vec_push(&t->names, xstrndup((const char *)lib->ASN1_STRING_get0_data(g->d.dNSName),
					     (size_t)lib->ASN1_STRING_length(g->d.dNSName)));
	} else if (g->type == GEN_IPADD) {
		const ASN1_OCTET_STRING *ip = g->d.iPAddress;
		const void *bytes = lib->ASN1_STRING_get0_data(ip);

		if (lib->ASN1_STRING_length(ip) == 4 &&
		    inet_ntop(AF_INET, bytes, host, sizeof(host)))
			vec_push(&t->names, xstrdup(host));
		else if (lib->ASN1_STRING_length(ip) == 16 &&
			 inet_ntop(AF_INET6, bytes, host, sizeof(host)))
			vec_push(&t->names, xasprintf("[%s]", host));
	}
}

static void read_names(struct tls *t)
{
	const struct openssl *lib = &t->lib;
	X509 *cert = lib->SSL_CTX_get0_certificate(t->ctx);
	GENERAL_NAMES *all =
		cert ? lib->X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL) : NULL;

	for (int i = 0; all && i < lib->OPENSSL_sk_num((const OPENSSL_STACK *)all); i++)
		add_name(t, lib->OPENSSL_sk_value((const OPENSSL_STACK *)all, i));
	lib->GENERAL_NAMES_free(all);
}

int tls_new(struct tls **ret, const struct tls_opts *o, struct err *e)
{
	struct tls *t = xcalloc(1, sizeof(*t));
	const struct openssl *lib = &t->lib;
	u8 seed[16];
	int r = 0;

	if (openssl_open(&t->lib) < 0) {
		free(t);
		return no_library(e);
	}
	t->client = o->client;
	t->ctx = lib->SSL_CTX_new(o->client ? lib->TLS_client_method() : lib->TLS_server_method());
	/* the first number opens what later ones need */
	if (!t->ctx || lib->RAND_bytes(seed, sizeof(seed)) != 1)
		r = err_set(e, EIO, "cannot prepare TLS");
	if (!r) {
		lib->SSL_CTX_set_default_passwd_cb(t->ctx, no_passphrase);
		lib->SSL_CTX_ctrl(t->ctx, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
		lib->SSL_CTX_set_cipher_list(t->ctx, "ECDHE+AESGCM:ECDHE+CHACHA20");
		lib->SSL_CTX_set_options(t->ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
							 SSL_OP_NO_TICKET |
							 SSL_OP_IGNORE_UNEXPECTED_EOF);
		lib->SSL_CTX_ctrl(t->ctx, SSL_CTRL_MODE,
				  SSL_MODE_ENABLE_PARTIAL_WRITE |
					  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					  SSL_MODE_RELEASE_BUFFERS,
				  NULL);
		lib->SSL_CTX_ctrl(t->ctx, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
		r = o->cert ? load_own(t, o, e) : 0;
	}
	if (!r)
		r = load_ca(t, o, e);
	if (r < 0) {
		tls_free(t);
		return r;
	}
	read_names(t);
	*ret = t;
	return 0;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	if (t->ctx)
		t->lib.SSL_CTX_free(t->ctx);
	vec_each(name, &t->names)
		free(*name);
	vec_release(&t->names);
	free(t);
}

const char *tls_name(const struct tls *t, size_t i)
{
	return i < t->names.len ? t->names.items[i] : NULL;
}

/* A number in place of a name is compared with the addresses of the certificate. */
static void expect_host(const struct openssl *lib, SSL *ssl, const char *host)
{
	struct in6_addr address;
	bool number =
		inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;

	if (number) {
		lib->X509_VERIFY_PARAM_set1_ip_asc(lib->SSL_get0_param(ssl), host);
		return;
	}
	lib->SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
		      (void *)(uintptr_t)host);
	lib->SSL_set1_host(ssl, host);
}

int tls_open(struct tls *t, int fd, const char *host, struct tls_link **ret, struct err *e)
{
	const struct openssl *lib = &t->lib;
	struct tls_link *l = xcalloc(1, sizeof(*l));

	l->lib = lib;
	l->ssl = lib->SSL_new(t->ctx);
	if (!l->ssl || lib->SSL_set_fd(l->ssl, fd) != 1) {
		tls_close(l);
		return err_set(e, ENOMEM, "cannot begin a TLS connection");
	}
	if (t->client) {
		expect_host(lib, l->ssl, host);
		lib->SSL_set_connect_state(l->ssl);
	} else {
		lib->SSL_set_accept_state(l->ssl);
	}
	*ret = l;
	return 0;
}

void tls_close(struct tls_link *l)
{
	const struct openssl *lib;

	if (!l)
		return;
	lib = l->lib;
	if (l->ssl && lib->SSL_is_init_finished(l->ssl) && !l->failure[0])
		(void)lib->SSL_shutdown(l->ssl);
	lib->SSL_free(l->ssl);
	lib->ERR_clear_error();
	free(l);
}

/* What a call that returned @r <= 0 means. */
static int outcome(struct tls_link *l, int r)
{
	const struct openssl *lib = l->lib;
	int code = lib->SSL_get_error(l->ssl, r), saved = errno;

	l->wants_write = code == SSL_ERROR_WANT_WRITE;
	switch (code) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE: return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN: return 0;
	case SSL_ERROR_SYSCALL:
		snprintf(l->failure, sizeof(l->failure), "%s",
			 saved ? err_words(saved) : "the other side has closed the connection");
		return saved ? -saved : -ECONNRESET;
	default: break;
	}
	return -EPROTO;
}

static const char *reason_of(struct tls_link *l, unsigned long code)
{
	const struct openssl *lib = l->lib;
	long verify = lib->SSL_get_verify_result(l->ssl);

	if (ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED && verify != X509_V_OK)
		return lib->X509_verify_cert_error_string(verify);
	return lib->ERR_reason_error_string(code);
}

int tls_handshake(struct tls_link *l)
{
	const struct openssl *lib = l->lib;
	unsigned long code;
	const char *reason;
	int r;

	lib->ERR_clear_error();
	errno = 0;
	r = lib->SSL_do_handshake(l->ssl);
	if (r == 1)
		return 1;
	r = outcome(l, r);
	if (r == -EAGAIN)
		return 0;
	code = lib->ERR_peek_error();
	reason = reason_of(l, code);
	if (!l->failure[0])
		snprintf(l->failure, sizeof(l->failure), "%s", reason ? reason : "it broke off");
	lib->ERR_clear_error();
	if (ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST)
		return -EPROTONOSUPPORT;
	return r < 0 ? r : -ECONNRESET;
}

bool tls_wants_write(const struct tls_link *l)
{
	return l->wants_write;
}

const char *tls_failure(const struct tls_link *l)
{
	return l->failure;
}

bool tls_is_known(const struct tls_link *l)
{
	const struct openssl *lib = l->lib;
	return lib->SSL_get0_peer_certificate(l->ssl) &&
	       lib->SSL_get_verify_result(l->ssl) == X509_V_OK;
}

ssize_t tls_read(struct tls_link *l, void *to, size_t n)
{
	const struct openssl *lib = l->lib;
	int r;

	lib->ERR_clear_error();
	errno = 0;
	r = lib->SSL_read(l->ssl, to, (int)MIN(n, (size_t)INT32_MAX));
	return r > 0 ? r : outcome(l, r);
}

ssize_t tls_write(struct tls_link *l, const void *from, size_t n)
{
	const struct openssl *lib = l->lib;
	int r;

	lib->ERR_clear_error();
	errno = 0;
	r = lib->SSL_write(l->ssl, from, (int)MIN(n, (size_t)INT32_MAX));
	if (r > 0)
		return r;
	r = outcome(l, r);
	return r ? r : -EPIPE;
}

bool tls_pending(const struct tls_link *l)
{
	const struct openssl *lib = l->lib;
	return lib->SSL_pending(l->ssl) > 0;
}

#else

int tls_new(struct tls **ret, const struct tls_opts *o, struct err *e)
{
	(void)ret, (void)o;
	err_set(e, ENOSYS, "this build has no TLS");
	err_hint(e, "install libssl-dev and build again, or use ssh -L 7777:localhost:7777 HOST");
	return -ENOSYS;
}

void tls_free(struct tls *t)
{
	(void)t;
}

const char *tls_name(const struct tls *t, size_t i)
{
	(void)t, (void)i;
	return NULL;
}

int tls_open(struct tls *t, int fd, const char *host, struct tls_link **ret, struct err *e)
{
	(void)t, (void)fd, (void)host, (void)ret;
	return err_set(e, ENOSYS, "this build has no TLS");
}

void tls_close(struct tls_link *l)
{
	(void)l;
}

int tls_handshake(struct tls_link *l)
{
	(void)l;
	return -ENOSYS;
}

bool tls_wants_write(const struct tls_link *l)
{
	(void)l;
	return false;
}

const char *tls_failure(const struct tls_link *l)
{
	(void)l;
	return "this build has no TLS";
}

bool tls_is_known(const struct tls_link *l)
{
	(void)l;
	return false;
}

ssize_t tls_read(struct tls_link *l, void *to, size_t n)
{
	(void)l, (void)to, (void)n;
	return -ENOSYS;
}

ssize_t tls_write(struct tls_link *l, const void *from, size_t n)
{
	(void)l, (void)from, (void)n;
	return -ENOSYS;
}

bool tls_pending(const struct tls_link *l)
{
	(void)l;
	return false;
}

#endif
