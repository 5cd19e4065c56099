/* Makes the Nth write, fsync or rename below a folder fail, for a process that preloads it.
 *
 * FAIL_CALL  write | fsync | rename
 * FAIL_AT    which call of that sort fails, counted from 1
 * FAIL_ERRNO the error it fails with
 * FAIL_BELOW only calls on files below this folder count
 * FAIL_ONCE  set: only that call fails; unset: every later one too, as on a broken disk
 * FAIL_WHEN  set: calls fail only while this file exists, and logs are spared, so that they can tell of it
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static int is_below(const char *path) {
    const char *below = getenv("FAIL_BELOW");
    if (getenv("FAIL_WHEN") && path && strstr(path, "/logs/")) return 0;
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

static int fails(const char *call) {
    const char *chosen = getenv("FAIL_CALL");
    const char *when = getenv("FAIL_WHEN");
    if (!chosen || strcmp(chosen, call) != 0 || (when && access(when, F_OK) != 0)) return 0;
    long at = atol(getenv("FAIL_AT")), now = atomic_fetch_add(&calls, 1) + 1;
    if (now != at && (now < at || getenv("FAIL_ONCE"))) return 0;
    errno = atoi(getenv("FAIL_ERRNO"));
    return 1;
}

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

ssize_t write(int fd, const void *data, size_t size) {
    if (is_file_below(fd) && fails("write")) return -1;
    return REAL(ssize_t, "write", int, const void *, size_t)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    if (is_file_below(fd) && fails("write")) return -1;
    return REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
    if (is_file_below(fd) && fails("write")) return -1;
    return REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t)(fd, data, size, at);
}

ssize_t writev(int fd, const struct iovec *data, int count) {
    if (is_file_below(fd) && fails("write")) return -1;
    return REAL(ssize_t, "writev", int, const struct iovec *, int)(fd, data, count);
}

int fsync(int fd) {
    if (is_file_below(fd) && fails("fsync")) return -1;
    return REAL(int, "fsync", int)(fd);
}

int fdatasync(int fd) {
    if (is_file_below(fd) && fails("fsync")) return -1;
    return REAL(int, "fdatasync", int)(fd);
}

int rename(const char *old, const char *new) {
    if (is_below(new) && fails("rename")) return -1;
    return REAL(int, "rename", const char *, const char *)(old, new);
}

int renameat(int old_folder, const char *old, int new_folder, const char *new) {
    if (is_below(new) && fails("rename")) return -1;
    return REAL(int, "renameat", int, const char *, int, const char *)(old_folder, old, new_folder, new);
}

int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
    if (is_below(new) && fails("rename")) return -1;
    return REAL(int, "renameat2", int, const char *, int, const char *, unsigned)(old_folder, old, new_folder, new, flags);
}
