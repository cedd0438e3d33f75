/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of OpenSSL that TLS needs. Its tables are full of pointers: to relocate
 * them would be half of the page faults of every start. The shared library is opened when someone
 * asks for TLS; in the static program, where nothing is relocated, it is linked in.
 */
#ifndef WEB_OPENSSL_H
#define WEB_OPENSSL_H

#ifdef HAVE_OPENSSL

#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* scripts/features reads this list, too: a line for each function. */
#define OPENSSL_CALLS(X)                      \
	X(ASN1_STRING_get0_data)              \
	X(ASN1_STRING_length)                 \
	X(ERR_clear_error)                    \
	X(ERR_peek_error)                     \
	X(ERR_peek_last_error)                \
	X(ERR_reason_error_string)            \
	X(GENERAL_NAMES_free)                 \
	X(OPENSSL_sk_num)                     \
	X(OPENSSL_sk_value)                   \
	X(RAND_bytes)                         \
	X(SSL_CTX_ctrl)                       \
	X(SSL_CTX_free)                       \
	X(SSL_CTX_get0_certificate)           \
	X(SSL_CTX_load_verify_file)           \
	X(SSL_CTX_new)                        \
	X(SSL_CTX_set_cipher_list)            \
	X(SSL_CTX_set_client_CA_list)         \
	X(SSL_CTX_set_default_passwd_cb)      \
	X(SSL_CTX_set_default_verify_paths)   \
	X(SSL_CTX_set_options)                \
	X(SSL_CTX_set_verify)                 \
	X(SSL_CTX_use_PrivateKey_file)        \
	X(SSL_CTX_use_certificate_chain_file) \
	X(SSL_ctrl)                           \
	X(SSL_do_handshake)                   \
	X(SSL_free)                           \
	X(SSL_get0_param)                     \
	X(SSL_get0_peer_certificate)          \
	X(SSL_get_error)                      \
	X(SSL_get_verify_result)              \
	X(SSL_is_init_finished)               \
	X(SSL_load_client_CA_file)            \
	X(SSL_new)                            \
	X(SSL_pending)                        \
	X(SSL_read)                           \
	X(SSL_set1_host)                      \
	X(SSL_set_accept_state)               \
	X(SSL_set_connect_state)              \
	X(SSL_set_fd)                         \
	X(SSL_shutdown)                       \
	X(SSL_write)                          \
	X(TLS_client_method)                  \
	X(TLS_server_method)                  \
	X(X509_VERIFY_PARAM_set1_ip_asc)      \
	X(X509_get_ext_d2i)                   \
	X(X509_verify_cert_error_string)

struct openssl {
#define MEMBER(name) __typeof__(&name) name;
	OPENSSL_CALLS(MEMBER)
#undef MEMBER
};

/* -ENOSYS: the library is not here. It stays open. */
int openssl_open(struct openssl *ret);

#endif
#endif
