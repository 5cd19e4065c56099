/* A bad day of the operating system, for a process that preloads this.
 *
 * CLOCK_FILE      holds a number of seconds by which the clock of the day is wrong; it may change at any time
 * BELOW           the next ones count for files below this folder only
 * READ_MOST       one read returns at most this many bytes
 * READ_FAILS_AT   the read of this number, counted from 1, and every later one fail with READ_ERRNO
 * SLOW_FSYNC_MS   fsync takes this many milliseconds longer
 * NO_LOCKS        flock and fcntl locks fail, as on some network file systems
 * SILENT_WATCHES  inotify reports nothing, as for files that another machine changes
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static long number(const char *name) {
    const char *value = getenv(name);
    return value ? atol(value) : 0;
}

static int is_below(const char *path) {
    const char *below = getenv("BELOW");
    return below && path && strncmp(path, below, strlen(below)) == 0;
}

static int is_file_below(int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* The clock */

static long wrong_seconds(void) {
    const char *path = getenv("CLOCK_FILE");
    if (!path) return 0;
    char text[32] = "";
    int file = REAL(int, "open", const char *, int, ...)(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = REAL(ssize_t, "read", int, void *, size_t)(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = REAL(int, "clock_gettime", clockid_t, struct timespec *)(clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += wrong_seconds();
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    int result = REAL(int, "gettimeofday", struct timeval *, void *)(now, zone);
    if (!result) now->tv_sec += wrong_seconds();
    return result;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}

/* Reading and writing */

static atomic_long reads;

static int read_fails(int fd) {
    long at = number("READ_FAILS_AT");
    if (!at || !is_file_below(fd) || atomic_fetch_add(&reads, 1) + 1 < at) return 0;
    errno = number("READ_ERRNO");
    return 1;
}

static size_t allowed(int fd, size_t size) {
    long most = number("READ_MOST");
    return most && size > (size_t)most && is_file_below(fd) ? (size_t)most : size;
}

ssize_t read(int fd, void *data, size_t size) {
    if (read_fails(fd)) return -1;
    return REAL(ssize_t, "read", int, void *, size_t)(fd, data, allowed(fd, size));
}

ssize_t pread(int fd, void *data, size_t size, off_t at) {
    if (read_fails(fd)) return -1;
    return REAL(ssize_t, "pread", int, void *, size_t, off_t)(fd, data, allowed(fd, size), at);
}

ssize_t pread64(int fd, void *data, size_t size, off_t at) {
    if (read_fails(fd)) return -1;
    return REAL(ssize_t, "pread64", int, void *, size_t, off_t)(fd, data, allowed(fd, size), at);
}

static void slow_down(int fd) {
    long pause = number("SLOW_FSYNC_MS");
    if (pause && is_file_below(fd)) usleep(1000 * pause);
}

int fsync(int fd) {
    slow_down(fd);
    return REAL(int, "fsync", int)(fd);
}

int fdatasync(int fd) {
    slow_down(fd);
    return REAL(int, "fdatasync", int)(fd);
}

int flock(int fd, int operation) {
    if (getenv("NO_LOCKS") && is_file_below(fd)) {
        errno = ENOLCK;
        return -1;
    }
    return REAL(int, "flock", int, int)(fd, operation);
}

#define FCNTL(name)                                                                                    \
    int name(int fd, int command, ...) {                                                               \
        va_list rest;                                                                                  \
        va_start(rest, command);                                                                       \
        void *value = va_arg(rest, void *);                                                            \
        va_end(rest);                                                                                  \
        if ((command == F_SETLK || command == F_SETLKW) && getenv("NO_LOCKS") && is_file_below(fd)) {  \
            errno = ENOLCK;                                                                            \
            return -1;                                                                                 \
        }                                                                                              \
        return REAL(int, #name, int, int, ...)(fd, command, value);                                    \
    }

FCNTL(fcntl)
FCNTL(fcntl64)

/* Watching */

int inotify_add_watch(int fd, const char *path, uint32_t events) {
    if (getenv("SILENT_WATCHES") && is_below(path)) events = IN_UNMOUNT;
    return REAL(int, "inotify_add_watch", int, const char *, uint32_t)(fd, path, events);
}
