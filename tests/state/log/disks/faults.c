/* Makes one system call of a process fail, for files below one directory.
 *
 * Loaded by LD_PRELOAD. The process arms it by name: faults_arm(root, at, kind), where `kind` is the number of the error, or 0
 * for a write that writes half and says so. faults_disarm() returns how many calls there were that could have failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char root[PATH_MAX];
static long at = -1, seen;
static int kind;

void faults_arm(const char *below, long number, int error)
{
	snprintf(root, sizeof root, "%s", below);
	seen = 0;
	at = number;
	kind = error;
}

long faults_disarm(void)
{
	root[0] = 0;
	return seen;
}

static int is_below(const char *path)
{
	return root[0] && strncmp(path, root, strlen(root)) == 0;
}

static int is_file_below(int fd)
{
	char link[64], path[PATH_MAX];
	if (!root[0])
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length < 0)
		return 0;
	path[length] = 0;
	return is_below(path);
}

/* Whether this call is the one. */
static int fails(int counts)
{
	if (!counts || seen++ != at)
		return 0;
	if (kind)
		errno = kind;
	return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t size)
{
	if (fails(is_file_below(fd))) {
		/* Of a write that fails, half is done too. */
		ssize_t half = REAL(write)(fd, bytes, (size + 1) / 2);
		if (kind)
			errno = kind;
		return kind ? -1 : half;
	}
	return REAL(write)(fd, bytes, size);
}

#define ON_FILE(result, name, parameters, arguments) \
	result name parameters \
	{ \
		if (fails(is_file_below(fd)) && kind) \
			return -1; \
		return REAL(name) arguments; \
	}

ON_FILE(int, fsync, (int fd), (fd))
ON_FILE(int, fdatasync, (int fd), (fd))
ON_FILE(int, ftruncate, (int fd, off_t size), (fd, size))
ON_FILE(int, ftruncate64, (int fd, off64_t size), (fd, size))
ON_FILE(ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, kind ? size : (size + 1) / 2))

#define ON_PATH(result, name, parameters, arguments) \
	result name parameters \
	{ \
		if (fails(is_below(path)) && kind) \
			return -1; \
		return REAL(name) arguments; \
	}

ON_PATH(int, rename, (const char *path, const char *to), (path, to))
ON_PATH(int, unlink, (const char *path), (path))
ON_PATH(int, mkdir, (const char *path, mode_t mode), (path, mode))

#define OPENS(name) \
	int name(const char *path, int flags, ...) \
	{ \
		va_list rest; \
		va_start(rest, flags); \
		mode_t mode = va_arg(rest, mode_t); \
		va_end(rest); \
		if (fails(is_below(path)) && kind) \
			return -1; \
		return REAL(name)(path, flags, mode); \
	}

OPENS(open)
OPENS(open64)
