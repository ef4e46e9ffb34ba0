/* Gives a process a wall clock of its own: the system's, and beside it what the file says that SHARE_STATE_WALL_CLOCK names, a
 * number of nanoseconds. The file is shared with whoever sets the clock. The monotonic clock stays the system's.
 *
 * Loaded by LD_PRELOAD. A wait for a moment of the wall clock (pthread_cond_timedwait) still ends by the system's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static volatile const int64_t *beside;
static int (*of_system)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("SHARE_STATE_WALL_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *beside, PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		abort();
	close(fd);
	of_system = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	beside = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int failed = of_system ? of_system(clock, now) : (int)syscall(SYS_clock_gettime, clock, now);
	if (!failed && beside && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
		int64_t time = now->tv_sec * SECOND + now->tv_nsec + *beside;
		now->tv_sec = time / SECOND;
		now->tv_nsec = time % SECOND;
	}
	return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec time;
	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &time))
		return -1;
	now->tv_sec = time.tv_sec;
	now->tv_usec = time.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *seconds)
{
	struct timespec now;
	if (clock_gettime(CLOCK_REALTIME, &now))
		return -1;
	if (seconds)
		*seconds = now.tv_sec;
	return now.tv_sec;
}
