/* The least that a delay can be: frames from one Unix stream socket to another, each held for the same time. The baseline of the
   fabric's delays. Arguments: path to read from, path to write to, milliseconds. Frames have 4 bytes of length in front. It asks for the
   priority that the fabric has. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ring_bytes = 1 << 26, runs_count = 1 << 16, read_bytes = 1 << 17 };
struct run { int64_t due; uint32_t length; };
static uint8_t ring[ring_bytes + read_bytes];
static struct run runs[runs_count];

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int joined(const char *path) {
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    perror(path);
    exit(1);
  }
  return fd;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int from = joined(argv[1]), to = joined(argv[2]);
  int64_t delay = (int64_t)(atof(argv[3]) * 1e6);
  uint64_t head = 0, tail = 0;
  size_t write_at = 0, read_at = 0;
  prctl(PR_SET_TIMERSLACK, 1);
  struct sched_param priority = { .sched_priority = 1 };
  sched_setscheduler(0, SCHED_RR, &priority);
  for (;;) {
    struct pollfd ready = { .fd = from, .events = POLLIN };
    struct timespec wait = { 0 }, *limit = NULL;
    if (head != tail) {
      int64_t left = runs[head % runs_count].due - now();
      if (left < 0) left = 0;
      wait.tv_sec = left / 1000000000LL;
      wait.tv_nsec = left % 1000000000LL;
      limit = &wait;
    }
    if (ppoll(&ready, 1, limit, NULL) < 0 && errno != EINTR) return 1;
    if (ready.revents) {
      ssize_t length = read(from, ring + write_at, read_bytes);
      if (length <= 0) return 0;
      runs[tail++ % runs_count] = (struct run){ now() + delay, (uint32_t)length };
      write_at += (size_t)length;
      if (write_at >= ring_bytes) write_at = 0;
    }
    while (head != tail && runs[head % runs_count].due <= now()) {
      struct run *run = &runs[head++ % runs_count];
      for (size_t done = 0; done < run->length;) {
        ssize_t length = write(to, ring + read_at + done, run->length - done);
        if (length <= 0) return 0;
        done += (size_t)length;
      }
      read_at += run->length;
      if (read_at >= ring_bytes) read_at = 0;
    }
  }
}
