// Loaded before Redis: the calendar is a number in a file, and chance is a file, so that one seed is one history.
//
//   WORLD_CLOCK   a file of 8 bytes: the time, epoch us
//   WORLD_CHANCE  what /dev/urandom gives
//
// The monotonic clock stays real: only the event loop of Redis uses it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *clock_us;

static int64_t now(void) {
  if (!clock_us) {
    int file = open(getenv("WORLD_CLOCK"), O_RDONLY);
    clock_us = mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
    close(file);
  }
  return *clock_us;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
  int64_t us = now();
  tv->tv_sec = us / 1000000;
  tv->tv_usec = us % 1000000;
  return 0;
}

time_t time(time_t *seconds) {
  time_t found = now() / 1000000;
  if (seconds) *seconds = found;
  return found;
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return syscall(SYS_clock_gettime, clock, ts);
  int64_t us = now();
  ts->tv_sec = us / 1000000;
  ts->tv_nsec = us % 1000000 * 1000;
  return 0;
}

static FILE *opened(const char *path, const char *mode, const char *name) {
  FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, name);
  return real(strcmp(path, "/dev/urandom") ? path : getenv("WORLD_CHANCE"), mode);
}

FILE *fopen(const char *path, const char *mode) { return opened(path, mode, "fopen"); }
FILE *fopen64(const char *path, const char *mode) { return opened(path, mode, "fopen64"); }

// INFO tells it.
pid_t getpid(void) { return 1; }
