/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/driver.h"

#include "base/clock.h"

#ifdef HAVE_NCURSES

#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <wchar.h>

/* ncurses has macros for all its functions, and names keys as we do */
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

enum { PAIRS_MOST = 4096, ESC_DELAY_MS = 25, EVENTS_MOST = 8 };
#define DOUBLE_CLICK_NS (400 * NSEC_PER_MSEC)

struct driver {
	SCREEN *screen;
	struct grid shown; /* what the terminal has */
	bool color;
	int pairs;      /* numbers given out, */
	short *pair_of; /* by foreground and background, 257 x 257 */
	bool all;       /* nothing of @shown is true */
	u64 clicked;    /* when, and where: at once the second time is a double click */
	int click_x, click_y;
	MEVENT events[EVENTS_MOST]; /* of the mouse, the last one first */
	int n_events;
};

/* --- the way out of a crash ------------------------------------------------------------------- */

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

static struct termios *saved_mode(void)
{
	static struct termios mode;

	return &mode;
}

/* Only what may be called in a handler: out of the other screen, cursor on, mouse off. */
static void on_crash(int signal)
{
	static const char text[] =
		"\033[?1000l\033[?1002l\033[?1006l\033[0m\033[?1049l\033[?25h\r\n";
	ssize_t r = write(STDOUT_FILENO, text, sizeof(text) - 1);

	(void)r;
	tcsetattr(STDIN_FILENO, TCSANOW, saved_mode());
	raise(signal);
}

static void guard_crashes(bool on)
{
	struct sigaction action = { .sa_handler = on ? on_crash : SIG_DFL,
				    .sa_flags = (int)SA_RESETHAND };

	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		sigaction(crashes[i], &action, NULL);
}

/* --- life ------------------------------------------------------------------------------------- */

static int check_terminal(struct err *e)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(e, ENOTTY, "standard input and output are no terminal");
		err_hint(e, "--once prints one frame");
		return -ENOTTY;
	}
	if (!term || !*term || streq(term, "dumb")) {
		err_set(e, ENOTSUP, "TERM is '%s': the terminal cannot place its cursor",
			term ? term : "");
		err_hint(e, "--once prints one frame");
		return -ENOTSUP;
	}
	return 0;
}

static void prepare_screen(struct driver *d)
{
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(ESC_DELAY_MS);
	leaveok(stdscr, TRUE);
	curs_set(0);
	mousemask(ALL_MOUSE_EVENTS | REPORT_MOUSE_POSITION, NULL);
	mouseinterval(0);
	if (d->color) {
		start_color();
		use_default_colors();
		d->pair_of = xcalloc(257ul * 257, sizeof(*d->pair_of));
	}
}

int driver_open(struct driver **ret, struct err *e)
{
	int r = check_terminal(e);
	struct driver *d;

	if (r < 0)
		return r;
	/* runes become bytes by the locale; a locale that knows ASCII alone gets that */
	if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
		setlocale(LC_CTYPE, "C.UTF-8");
	tcgetattr(STDIN_FILENO, saved_mode());
	d = xcalloc(1, sizeof(*d));
	d->screen = newterm(NULL, stdout, stdin);
	if (!d->screen) {
		free(d);
		err_set(e, ENOTSUP, "terminfo does not know the terminal '%s'", getenv("TERM"));
		err_hint(e, "set TERM to xterm-256color, or use --once");
		return -ENOTSUP;
	}
	set_term(d->screen);
	d->color = has_colors();
	prepare_screen(d);
	guard_crashes(true);
	d->all = true;
	d->shown.theme = theme_plain();
	*ret = d;
	return 0;
}

void driver_close(struct driver *d)
{
	if (!d)
		return;
	guard_crashes(false);
	curs_set(1);
	endwin();
	delscreen(d->screen);
	grid_release(&d->shown);
	free(d->pair_of);
	free(d);
}

void driver_size(const struct driver *d, int *ret_width, int *ret_height)
{
	(void)d;
	*ret_width = getmaxx(stdscr);
	*ret_height = getmaxy(stdscr);
}

bool driver_has_color(const struct driver *d)
{
	return d->color;
}

int driver_fd(const struct driver *d)
{
	(void)d;
	return STDIN_FILENO;
}

/* --- output ----------------------------------------------------------------------------------- */

static int fold_color(int color)
{
	static const short of_cube[8] = { COLOR_BLACK, COLOR_BLUE,    COLOR_GREEN,  COLOR_CYAN,
					  COLOR_RED,   COLOR_MAGENTA, COLOR_YELLOW, COLOR_WHITE };
	int i;

	if (color < 0 || color < COLORS)
		return color;
	if (color >= 232)
		return color < 244 ? COLOR_BLACK : COLOR_WHITE;
	i = color - 16;
	return of_cube[(i / 36 > 2) << 2 | (i / 6 % 6 > 2) << 1 | (i % 6 > 2)];
}

static int pair_for(struct driver *d, const struct cell *c)
{
	int fg = fold_color(c->fg), bg = fold_color(c->bg);
	short *pair;

	if (!d->color || (fg < 0 && bg < 0))
		return 0;
	pair = &d->pair_of[(fg + 1) * 257 + bg + 1];
	if (!*pair && d->pairs + 1 < MIN(COLOR_PAIRS, PAIRS_MOST)) {
		*pair = (short)++d->pairs;
		init_pair(*pair, (short)fg, (short)bg);
	}
	return *pair;
}

static void set_look(struct driver *d, const struct cell *c)
{
	attr_t attr = 0;

	attr |= c->attr & ATTR_BOLD ? A_BOLD : 0;
	attr |= c->attr & ATTR_DIM ? A_DIM : 0;
	attr |= c->attr & ATTR_REVERSE ? A_REVERSE : 0;
	attr |= c->attr & ATTR_UNDERLINE ? A_UNDERLINE : 0;
	attr_set(attr, (short)pair_for(d, c), NULL);
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->rune == b->rune && a->width == b->width && a->attr == b->attr && a->fg == b->fg &&
	       a->bg == b->bg;
}

static void show_cell(struct driver *d, int x, int y, const struct cell *c)
{
	wchar_t text[3] = { (wchar_t)c->rune, 0, 0 };

	if (!c->width)
		return;
	/* the terminal must agree on the width, or the line would shift */
	if (c->rune > 0x7e && wcwidth((wchar_t)c->rune) != c->width) {
		text[0] = L'?';
		text[1] = c->width == 2 ? L' ' : 0;
	}
	set_look(d, c);
	mvaddnwstr(y, x, text, -1);
}

void driver_show(struct driver *d, const struct grid *g)
{
	if (d->shown.width != g->width || d->shown.height != g->height || d->all) {
		grid_resize(&d->shown, g->width, g->height);
		clear();
		d->all = true;
	}
	for (int y = 0; y < g->height; y++) {
		for (int x = 0; x < g->width; x++) {
			const struct cell *c = grid_at(g, x, y);

			if (d->all || !same(c, grid_at(&d->shown, x, y)))
				show_cell(d, x, y, c);
		}
	}
	memcpy(d->shown.cells, g->cells, (size_t)g->width * (size_t)g->height * sizeof(*g->cells));
	d->all = false;
	refresh();
}

void driver_redraw(struct driver *d)
{
	d->all = true;
	clearok(stdscr, TRUE);
}

/* --- input ------------------------------------------------------------------------------------ */

/* ncurses would hold every click back to wait for a second one. */
static u32 click_of(struct driver *d, const MEVENT *event)
{
	u64 now = clock_mono_ns();
	bool again = d->clicked && now - d->clicked < DOUBLE_CLICK_NS && event->x == d->click_x &&
		     event->y == d->click_y;

	d->clicked = again ? 0 : now;
	d->click_x = event->x;
	d->click_y = event->y;
	return again ? TUI_DOUBLE_CLICK : TUI_CLICK;
}

/* Events that came together are given back by ncurses from the last to the first. */
static void read_mouse(struct driver *d)
{
	while (d->n_events < EVENTS_MOST && getmouse(&d->events[d->n_events]) == OK)
		d->n_events++;
}

static bool take_mouse(struct driver *d, struct input *ret)
{
	const MEVENT event = d->events[--d->n_events];

	ret->x = event.x;
	ret->y = event.y;
	/* those that were read at once */
	if (event.bstate & (BUTTON1_DOUBLE_CLICKED | BUTTON1_TRIPLE_CLICKED))
		ret->key = TUI_DOUBLE_CLICK;
	else if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
		ret->key = click_of(d, &event);
	else if (event.bstate & BUTTON4_PRESSED)
		ret->key = TUI_WHEEL_UP;
	else if (event.bstate & BUTTON5_PRESSED)
		ret->key = TUI_WHEEL_DOWN;
	else if (event.bstate & REPORT_MOUSE_POSITION)
		ret->key = TUI_DRAG;
	return ret->key != 0;
}

static u32 key_of(int code)
{
	static const struct {
		int code;
		u32 key;
	} keys[] = {
		{ KEY_UP, TUI_UP },
		{ KEY_DOWN, TUI_DOWN },
		{ KEY_LEFT, TUI_LEFT },
		{ KEY_RIGHT, TUI_RIGHT },
		{ KEY_HOME, TUI_HOME },
		{ KEY_END, TUI_END },
		{ KEY_PPAGE, TUI_PAGE_UP },
		{ KEY_NPAGE, TUI_PAGE_DOWN },
		{ KEY_IC, TUI_INSERT },
		{ KEY_DC, TUI_DELETE },
		{ KEY_BTAB, TUI_BACKTAB },
		{ KEY_ENTER, TUI_ENTER },
		{ KEY_BACKSPACE, TUI_BACKSPACE },
		{ KEY_RESIZE, TUI_RESIZE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	if (code > KEY_F0 && code <= KEY_F0 + 12)
		return TUI_F1 + (u32)(code - KEY_F0 - 1);
	return 0;
}

bool driver_input(struct driver *d, struct input *ret)
{
	wint_t code;
	int kind;

	*ret = (struct input){ 0 };
	for (;;) {
		while (d->n_events)
			if (take_mouse(d, ret))
				return true;
		kind = get_wch(&code);
		if (kind == ERR)
			return false;
		if (kind == KEY_CODE_YES && code == KEY_MOUSE) {
			read_mouse(d);
			continue;
		}
		ret->key = kind == KEY_CODE_YES ? key_of((int)code) : (u32)code;
		if (ret->key == '\n')
			ret->key = TUI_ENTER;
		if (ret->key == 8)
			ret->key = TUI_BACKSPACE;
		if (ret->key)
			return true;
	}
}

#else

int driver_open(struct driver **ret, struct err *e)
{
	(void)ret;
	err_set(e, ENOTSUP, "built without ncurses");
	err_hint(e, "--once prints one frame; install libncurses-dev and build again");
	return -ENOTSUP;
}

void driver_close(struct driver *d)
{
	(void)d;
}

void driver_size(const struct driver *d, int *ret_width, int *ret_height)
{
	(void)d;
	*ret_width = 80;
	*ret_height = 24;
}

bool driver_has_color(const struct driver *d)
{
	(void)d;
	return false;
}

void driver_show(struct driver *d, const struct grid *g)
{
	(void)d;
	(void)g;
}

void driver_redraw(struct driver *d)
{
	(void)d;
}

int driver_fd(const struct driver *d)
{
	(void)d;
	return -1;
}

bool driver_input(struct driver *d, struct input *ret)
{
	(void)d;
	(void)ret;
	return false;
}

#endif
