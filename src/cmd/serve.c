/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/fmt.h"
#include "base/log.h"
#include "base/stop.h"
#include "cli/cli.h"
#include "web/engine.h"
#include "web/listen.h"
#include "web/peer_target.h"
#include "web/route.h"
#include "web/sandbox.h"
#include "web/server.h"
#include "web/tls.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum {
	RESTARTS_MOST = 5, /* of the HTTP side, each minute */
	CHANNEL_BYTES = 4 << 20,
	CHANNEL_SECONDS = 5, /* for the HTTP side to take an answer */
	END_MS = 1000,       /* for it to end */
};

struct serve_args {
	const char *listen, *local, *user, *once;
	const char *cert, *key, *client_ca;
	const char *peer_cert, *peer_key, *peer_ca;
	str_list peers, peer_tokens;
	str_list names, share, exports;
	int role, compat;
	bool insecure, always, no_flight, programs, openapi;
	u64 history;
	double budget;
};

static const char *const roles[] = { "view", "profile", "trace", "program", NULL };
static const char *const compats[] = { "own", "node", NULL };

#define AT(field) .offset = offsetof(struct serve_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct serve_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)
#define WHERE  .group = "Where"
#define WHO    .group = "Who"
#define WHAT   .group = "What"
#define OTHERS .group = "Other machines"

static const struct opt serve_options[] = {
	{ 'l', "listen", OPT_STRING, AT(listen), .arg = "ADDRESS[:PORT]", WHERE, .def = "127.0.0.1",
	  .help = "address and port; without a port 7777, or any if it is taken" },
	OPTION(0, "unix", OPT_FILE, local, "PATH",
	       "also a Unix socket, for this user and root; it needs no token", WHERE),
	OPTION(0, "name", OPT_STRINGS, names, "HOST",
	       "another name than localhost by which browsers call this host", WHERE),
	OPTION(0, "tls-cert", OPT_FILE, cert, "FILE",
	       "certificate (PEM, with those that lead to its root): serve https", WHERE),
	OPTION(0, "tls-key", OPT_FILE, key, "FILE", "its key; default: in the file of --tls-cert",
	       WHERE),
	OPTION(0, "tls-client-ca", OPT_FILE, client_ca, "FILE",
	       "clients with a certificate of these authorities have --role without a token",
	       WHERE),
	OPTION(0, "insecure", OPT_FLAG, insecure, NULL,
	       "listen on a network without encryption: tokens and data can be read there", WHERE),
	OPTION(0, "role", OPT_CHOICE, role, "ROLE", "what the printed address allows", WHO,
	       .choices = roles, .def = "trace"),
	OPTION(0, "share", OPT_STRINGS, share, "ROLE", "print another address that allows this",
	       WHO),
	OPTION(0, "user", OPT_STRING, user, "USER",
	       "of the HTTP side where root starts it; default fathom, else nobody", WHO),
	OPTION(0, "allow-programs", OPT_FLAG, programs, NULL,
	       "role program may run free text of the tracing language", WHO),
	OPTION(0, "once", OPT_FILE, once, "FILE",
	       "only show this recording, nothing of the machine", WHAT),
	OPTION(0, "history", OPT_DURATION, history, "TIME",
	       "how much of the past the charts keep, as far as 8 MB hold it", WHAT, .def = "1h"),
	OPTION(0, "always", OPT_FLAG, always, NULL, "keep the past even while no page is open",
	       WHAT),
	OPTION(0, "no-past-stacks", OPT_FLAG, no_flight, NULL,
	       "attach nothing while a page is open: no stacks of the past, no latencies of disks",
	       WHAT),
	OPTION(0, "budget", OPT_PERCENT, budget, "PERCENT",
	       "a recording that takes more of all CPUs for 5 s is ended; 0: no limit", WHAT,
	       .def = "3"),
	OPTION(0, "compat", OPT_CHOICE, compat, "NAMES",
	       "names of /metrics: fathom's, or those of node_exporter", WHAT, .choices = compats,
	       .def = "own"),
	OPTION(0, "export", OPT_STRINGS, exports, "TOOL",
	       "run this tool all the time; its histograms and counts are in /metrics", WHAT),
	OPTION(0, "peer", OPT_STRINGS, peers, "HOST:PORT",
	       "show the charts of the fathom serve there beside ours; over TLS, unless it is "
	       "a loopback address (the end of a tunnel)",
	       OTHERS),
	OPTION(0, "peer-token", OPT_STRINGS, peer_tokens, "FILE",
	       "file with the token for all peers; or one for each, in their order", OTHERS),
	OPTION(0, "peer-ca", OPT_FILE, peer_ca, "FILE",
	       "authorities that sign the certificates of peers; default: those of the system",
	       OTHERS),
	OPTION(0, "peer-cert", OPT_FILE, peer_cert, "FILE",
	       "our certificate for peers that ask for one, in place of a token", OTHERS),
	OPTION(0, "peer-key", OPT_FILE, peer_key, "FILE",
	       "its key; default: in the file of --peer-cert", OTHERS),
	OPTION(0, "openapi", OPT_FLAG, openapi, NULL,
	       "print the description of the interface, and do not serve"),
	OPT_END,
};

struct serving {
	struct context *ctx;
	const struct serve_args *args;
	struct web_guard guard;
	struct web_address address;
	struct tls *tls, *peer_tls;
	struct peer_targets peers;
	int tcp, local;
	pid_t pid; /* of the HTTP side */
	int channel;
};

/* --- the HTTP side ---------------------------------------------------------------------------- */

NORETURN static void be_http_side(struct serving *s, int channel, pid_t parent)
{
	_cleanup_err_ struct err e = ERR_INIT;
	const int keep[] = { s->tcp, s->local, channel, stop_fd() };
	struct web_server_opts o = { .guard = &s->guard,
				     .tcp = s->tcp,
				     .tls = s->tls,
				     .local = s->local,
				     .channel = channel,
				     .owner = geteuid(),
				     .local_role = (enum web_role)(s->args->role + ROLE_VIEW),
				     .quiet = s->ctx->common.quiet,
				     .page = "web/serve.html",
				     .peers = &s->peers,
				     .peer_tls = s->peer_tls,
				     .peer_history = s->args->history,
				     .peers_always = s->args->always };
	_cleanup_buf_ struct buf time = BUF_INIT;
	int r;

	/* reads the time zone, which it cannot do later */
	fmt_iso_time(&time, clock_wall_ns());
	prctl(PR_SET_NAME, "fathom-http");
	/* the library writes to sockets that may be closed */
	(void)signal(SIGPIPE, SIG_IGN);
	r = web_sandbox(s->args->user, keep, ARRAY_SIZE(keep), parent, s->peers.all.len > 0, &e);
	if (!r)
		r = web_server_run(&o, &e);
	if (r < 0)
		log_warn("%s", e.what);
	_exit(r < 0 ? EXIT_FAILED : 0);
}

static int start_http_side(struct serving *s, struct err *e)
{
	int pair[2];
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, errno, "cannot make a socket pair");
	for (int i = 0; i < 2; i++)
		(void)setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &(int){ CHANNEL_BYTES },
				 sizeof(int));
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO,
			 &(struct timeval){ .tv_sec = CHANNEL_SECONDS }, sizeof(struct timeval));
	s->pid = fork();
	if (s->pid < 0) {
		close(pair[0]);
		close(pair[1]);
		return err_sys(e, errno, "cannot start a process");
	}
	if (!s->pid) {
		close(pair[0]);
		be_http_side(s, pair[1], parent);
	}
	close(pair[1]);
	s->channel = pair[0];
	return 0;
}

/* It ends with the channel; one that does not is killed. */
static int end_http_side(struct serving *s)
{
	_cleanup_close_ int fd = -1;
	int status = 0;

	if (s->channel >= 0)
		close(s->channel);
	s->channel = -1;
	if (s->pid > 0)
		fd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (fd >= 0 && poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, END_MS) <= 0)
		(void)kill(s->pid, SIGKILL);
	while (s->pid > 0 && waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	s->pid = 0;
	return status;
}

/* --- addresses -------------------------------------------------------------------------------- */

static int check_network(const struct serving *s, struct err *e)
{
	if (s->address.loopback || s->args->insecure || s->tls)
		return 0;
	err_set(e, EINVAL, "'%s' can be reached by others, and nothing would be encrypted",
		s->args->listen);
	err_hint(e, "give --tls-cert and --tls-key; or stay on loopback and use "
		    "ssh -L 7777:localhost:7777 HOST; or --insecure");
	return -EINVAL;
}

static void add_name(struct serving *s, const char *name)
{
	vec_push(&s->guard.names, xstrdup(name));
}

static int add_tokens(struct serving *s, struct err *e)
{
	int r = web_guard_add_token(&s->guard, (enum web_role)(s->args->role + ROLE_VIEW), e);

	for (size_t i = 0; i < s->args->share.len && !r; i++) {
		enum web_role role = web_role_find(s->args->share.items[i]);

		if (role == ROLE_NONE) {
			err_set(e, EINVAL, "unknown role '%s'", s->args->share.items[i]);
			err_hint(e, "view, profile, trace or program");
			return -EINVAL;
		}
		r = web_guard_add_token(&s->guard, role, e);
	}
	return r;
}

static int open_tls(struct serving *s, struct err *e)
{
	const struct tls_opts o = { .cert = s->args->cert,
				    .key = s->args->key,
				    .ca = s->args->client_ca };
	const char *name;
	int r;

	if (!o.cert && (o.key || o.ca)) {
		err_set(e, EINVAL, "--tls-%s needs --tls-cert", o.key ? "key" : "client-ca");
		return -EINVAL;
	}
	r = o.cert ? tls_new(&s->tls, &o, e) : 0;
	for (size_t i = 0; !r && s->tls && (name = tls_name(s->tls, i)); i++)
		add_name(s, name);
	return r;
}

static int add_peer_tokens(struct serving *s, struct err *e)
{
	const str_list *files = &s->args->peer_tokens;
	size_t n = s->peers.all.len;
	int r = 0;

	if (files->len > 1 && files->len != n)
		return err_set(e, EINVAL, "%zu files of --peer-token for %zu peers", files->len, n);
	for (size_t i = 0; i < n && files->len && !r; i++)
		r = peer_target_token(&s->peers.all.items[i], files->items[files->len > 1 ? i : 0],
				      e);
	return r;
}

/* What is sent in the clear can be read, tokens first. */
static int check_peers(const struct serving *s, struct err *e)
{
	vec_each(t, &s->peers.all) {
		if (t->tls || t->loopback || s->args->insecure)
			continue;
		err_set(e, EINVAL, "nothing would be encrypted on the way to '%s'", t->name);
		err_hint(e, "https://%s; or ssh -L 8001:localhost:%u %s and --peer 127.0.0.1:8001",
			 t->name, t->port, t->host);
		return -EINVAL;
	}
	return 0;
}

static int open_peers(struct serving *s, struct err *e)
{
	const struct tls_opts o = { .cert = s->args->peer_cert,
				    .key = s->args->peer_key,
				    .ca = s->args->peer_ca,
				    .client = true };
	bool tls = false;
	int r = 0;

	for (size_t i = 0; i < s->args->peers.len && !r; i++)
		r = peer_target_add(&s->peers, s->args->peers.items[i], e);
	if (!r)
		r = check_peers(s, e);
	if (!r)
		r = add_peer_tokens(s, e);
	vec_each(t, &s->peers.all)
		tls |= t->tls;
	return r < 0 ? r : tls ? tls_new(&s->peer_tls, &o, e) : 0;
}

static int open_sockets(struct serving *s, struct err *e)
{
	bool local = false;
	u16 port;
	int fd, r;

	if (web_listen_inherited(&fd, &local, &port) == 0) {
		*(local ? &s->local : &s->tcp) = fd;
		s->address.port = port;
		return 0;
	}
	r = check_network(s, e);
	if (!r)
		r = web_listen(&s->address, &s->tcp, e);
	if (!r && s->args->local)
		r = web_listen_local(s->args->local, &s->local, e);
	return r;
}

/* What browsers have to ask for, where the socket listens on every address. */
static const char *public_name(const struct serving *s)
{
	const char *own = s->tls ? tls_name(s->tls, 0) : NULL;

	if (s->args->names.len)
		return s->args->names.items[0];
	if (s->address.loopback || !s->address.host[0])
		return s->tls && own ? own : s->address.v6 ? "[::1]" : "127.0.0.1";
	return own ? own : s->address.host;
}

static int print_addresses(struct serving *s)
{
	const char *name = public_name(s), *scheme = s->tls ? "https" : "http";
	bool bracket = strchr(name, ':') && name[0] != '[';
	const struct web_address *a = &s->address;
	FILE *out = s->ctx->out;

	vec_each(t, &s->guard.tokens) {
		if (s->tcp < 0)
			break;
		fprintf(out, "%s://%s%s%s:%u/#token=%s", scheme, bracket ? "[" : "", name,
			bracket ? "]" : "", a->port, t->text);
		fprintf(out, "  (%s)\n", web_role_name(t->role));
	}
	if (s->args->local)
		fprintf(out, "unix:%s  (%s)\n", s->args->local, roles[s->args->role]);
	return fflush(out) == EOF ? -errno : 0;
}

/* --- the command ------------------------------------------------------------------------------ */

/* The HTTP side may crash: it is restarted, and its requests are cancelled. */
static int serve(struct serving *s, struct web_engine *en, struct err *e)
{
	u64 minute = clock_mono_ns();
	int restarts = 0, r;

	while ((r = web_engine_run(en, e)) == 1) {
		int status = end_http_side(s);
		u64 now = clock_mono_ns();

		if (stop_requested())
			return 0;
		if (now - minute > 60 * NSEC_PER_SEC) {
			minute = now;
			restarts = 0;
		}
		if (WIFEXITED(status) || ++restarts > RESTARTS_MOST)
			return err_set(e, EIO, "the HTTP side ended %s",
				       WIFEXITED(status) ? "with an error" : "again and again");
		log_warn("the HTTP side was ended by signal %d; it is started again",
			 WTERMSIG(status));
		r = start_http_side(s, e);
		if (r < 0)
			return r;
		web_engine_set_channel(en, s->channel);
	}
	return r;
}

static int run_engine(struct serving *s, struct err *e)
{
	struct web_engine_opts o = { .channel = s->channel,
				     .history = s->args->history,
				     .always = s->args->always,
				     .no_flight = s->args->no_flight,
				     .programs = s->args->programs,
				     .budget = s->args->budget,
				     .once = s->args->once,
				     .exports = (const char *const *)s->args->exports.items,
				     .exports_n = s->args->exports.len,
				     .node_names = s->args->compat == 1 };
	struct web_engine *en = NULL;
	int r = web_sandbox_engine(e);

	vec_each(t, &s->guard.tokens)
		o.role_most = MAX(o.role_most, t->role);
	if (!r)
		r = web_engine_new(&en, &o, e);
	if (!r)
		r = print_addresses(s);
	if (!r)
		r = serve(s, en, e);
	web_engine_free(en);
	return r;
}

static int serve_openapi(struct context *ctx)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	web_openapi(&text);
	return cli_print(ctx, &text);
}

static int serve_run(struct context *ctx, void *args)
{
	struct serving s = { .ctx = ctx, .args = args, .tcp = -1, .local = -1, .channel = -1 };
	int r;

	if (s.args->openapi)
		return serve_openapi(ctx);
	r = web_address_parse(&s.address, s.args->listen, &ctx->err);
	if (!r)
		r = add_tokens(&s, &ctx->err);
	if (r < 0)
		return EXIT_USAGE;
	for (size_t i = 0; i < s.args->names.len; i++)
		add_name(&s, s.args->names.items[i]);
	if (!s.address.loopback)
		add_name(&s, s.address.host);
	r = open_tls(&s, &ctx->err);
	if (!r)
		r = open_peers(&s, &ctx->err);
	if (!r)
		r = open_sockets(&s, &ctx->err);
	if (!r)
		r = start_http_side(&s, &ctx->err);
	if (!r)
		r = run_engine(&s, &ctx->err);
	(void)end_http_side(&s);
	if (s.args->local && s.local >= 0)
		(void)unlink(s.args->local);
	if (s.tcp >= 0)
		close(s.tcp);
	if (s.local >= 0)
		close(s.local);
	tls_free(s.tls);
	tls_free(s.peer_tls);
	peer_targets_release(&s.peers);
	web_guard_release(&s.guard);
	return r;
}

static const struct example serve_examples[] = {
	{ "fathom serve", "prints an address to open in a browser on this machine" },
	{ "fathom serve --unix /run/fathom.sock", "also for curl --unix-socket, without a token" },
	{ "fathom serve --share view", "and an address for read-only users" },
	{ "fathom serve --listen 0.0.0.0 --tls-cert box.pem --tls-key box.key",
	  "for other machines, encrypted" },
	{ "fathom serve --peer 127.0.0.1:8001 --peer-token other.token",
	  "beside ours, the charts of the machine that a tunnel leads to" },
	{ "fathom serve --once fathom.data --role profile",
	  "a recording for someone else to read" },
	{ "fathom serve --openapi", "the interface as an OpenAPI file" },
	{ 0 },
};

const struct command cmd_serve = {
	.name = "serve",
	.summary = "the machine in a browser: live charts, flame graphs on demand",
	.description =
		"Prints an address and serves it on loopback: charts of the machine's counters "
		"each second, with the past to rewind; a span that is dragged in them, or a "
		"recording, as a flame graph of the same viewer as 'fathom flame -o x.html'; the "
		"tools of the library as forms; /metrics for Prometheus. docs/serve.md describes "
		"the interface.\n\n"
		"The address holds a token that is made at each start. Roles say what it allows: "
		"view (charts), profile (also recordings of at most 60 s), trace (also tools), "
		"program (also free text, with --allow-programs). From elsewhere: ssh -L "
		"7777:localhost:7777 HOST.\n\n"
		"Network input is parsed by a process without privileges; another one records. "
		"Nothing is read and nothing is attached while no page is open, unless --always "
		"is given.",
	.question = Q_MACHINE,
	.options = serve_options,
	.args_size = sizeof(struct serve_args),
	.only_form = "pages",
	.examples = serve_examples,
	.notes = "Stacks of the past are recorded 49 times a second, and each wait with its stack, "
		 "while a page is open whose role allows recordings; --no-past-stacks turns that "
		 "off.",
	.see_also = "fathom-record fathom-flame fathom-counters",
	.run = serve_run,
};
