/* A disk that breaks and heals while a process runs that preloads this.
 *
 * BROKEN_BELOW  what lies below this folder is on that disk, but for logs/
 * BROKEN_WHEN   it is broken while this file exists; the file holds the number of the error
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static int breaks(const char *path) {
    const char *below = getenv("BROKEN_BELOW"), *when = getenv("BROKEN_WHEN");
    if (!below || !when || !path || strncmp(path, below, strlen(below)) != 0 || strstr(path, "/logs/")) return 0;
    int file = REAL(int, "open", const char *, int, ...)(when, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char number[16] = "";
    ssize_t length = read(file, number, sizeof number - 1);
    close(file);
    errno = length > 0 ? atoi(number) : EIO;
    return 1;
}

static int breaks_at(int folder, const char *name) {
    char link[64], path[2 * PATH_MAX];
    if (name && name[0] == '/') return breaks(name);
    if (folder == AT_FDCWD) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, PATH_MAX);
    if (length < 0) return 0;
    snprintf(path + length, sizeof path - length, "%s%s", name ? "/" : "", name ? name : "");
    return breaks(path);
}

/* A disk that may only be read opens nothing for writing; a full one makes no new files. */
static int refuses(int folder, const char *path, int flags) {
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    if (!writes || !breaks_at(folder, path)) return 0;
    int error = errno, is_new = (flags & O_CREAT) && faccessat(folder, path, F_OK, 0) != 0;
    errno = error;
    return error == EROFS || is_new;
}

#define OPEN(name)                                                                    \
    int name(const char *path, int flags, ...) {                                      \
        va_list rest;                                                                 \
        va_start(rest, flags);                                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;       \
        va_end(rest);                                                                 \
        if (refuses(AT_FDCWD, path, flags)) return -1;                                \
        return REAL(int, #name, const char *, int, ...)(path, flags, mode);           \
    }

#define OPENAT(name)                                                                  \
    int name(int folder, const char *path, int flags, ...) {                          \
        va_list rest;                                                                 \
        va_start(rest, flags);                                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;       \
        va_end(rest);                                                                 \
        if (refuses(folder, path, flags)) return -1;                                  \
        return REAL(int, #name, int, const char *, int, ...)(folder, path, flags, mode);\
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t size) {
    if (breaks_at(fd, NULL)) return -1;
    return REAL(ssize_t, "write", int, const void *, size_t)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    if (breaks_at(fd, NULL)) return -1;
    return REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
    if (breaks_at(fd, NULL)) return -1;
    return REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t)(fd, data, size, at);
}

ssize_t writev(int fd, const struct iovec *data, int count) {
    if (breaks_at(fd, NULL)) return -1;
    return REAL(ssize_t, "writev", int, const struct iovec *, int)(fd, data, count);
}

int mkdir(const char *path, mode_t mode) {
    if (breaks_at(AT_FDCWD, path)) return -1;
    return REAL(int, "mkdir", const char *, mode_t)(path, mode);
}

int rename(const char *old, const char *new) {
    if (breaks_at(AT_FDCWD, new) && errno == EROFS) return -1;
    return REAL(int, "rename", const char *, const char *)(old, new);
}

int unlink(const char *path) {
    if (breaks_at(AT_FDCWD, path) && errno == EROFS) return -1;
    return REAL(int, "unlink", const char *)(path);
}
