/* Both ends of a path whose delay is measured: listens on two Unix stream sockets, sends frames at an even pace through the first and
   takes the time when each comes out of the second. Arguments: the two paths, frames per second, how many, a file for the results. Prints
   "ready" when it listens, then its scheduling policy, "real-time" or "ordinary". The results are one double for each frame received:
   microseconds from just before its write to just after its read.

   Both threads ask for the priority that the fabric has, so that they do not wait for a processor while it does not. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { frame_bytes = 100, step = 4 + frame_bytes, stamp_at = 16, read_bytes = 1 << 17 };
static uint8_t buffer[step + read_bytes];
static int from, to;
static int64_t total, interval;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int listening(const char *path) {
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1) != 0) fail(path);
  return fd;
}

static void *send_all(void *unused) {
  uint8_t frame[step] = { 0, 0, 0, frame_bytes, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };
  int64_t began = now() + 10000000;
  prctl(PR_SET_TIMERSLACK, 1);
  for (int64_t sent = 0; sent < total; sent += 1) {
    int64_t due = began + sent * interval, stamp;
    struct timespec at = { due / 1000000000LL, due % 1000000000LL };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    stamp = now();
    memcpy(frame + stamp_at, &stamp, sizeof stamp);
    for (size_t done = 0; done < step;) {
      ssize_t length = write(from, frame + done, step - done);
      if (length <= 0) fail("write");
      done += (size_t)length;
    }
  }
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  int one = listening(argv[1]), other = listening(argv[2]);
  interval = 1000000000LL / atoll(argv[3]);
  total = atoll(argv[4]);
  double *times = calloc((size_t)total, sizeof *times);
  FILE *results = fopen(argv[5], "w");
  if (!times || !results) fail("results");
  puts("ready");
  fflush(stdout);
  from = accept(one, NULL, NULL);
  to = accept(other, NULL, NULL);
  if (from < 0 || to < 0) fail("accept");
  struct sched_param priority = { .sched_priority = 1 };
  int ordinary = sched_setscheduler(0, SCHED_RR, &priority);
  mlockall(MCL_CURRENT);
  puts(ordinary ? "ordinary" : "real-time");
  fflush(stdout);
  /* What is never received is not waited for longer than this. */
  struct timeval patience = { .tv_sec = 2 };
  setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  pthread_t sender;
  if (pthread_create(&sender, NULL, send_all, NULL) != 0) fail("thread");
  int64_t received = 0;
  for (size_t held = 0; received < total;) {
    ssize_t length = read(to, buffer + held, read_bytes);
    int64_t at = now(), stamp;
    if (length <= 0) break;
    size_t end = held + (size_t)length, frame = 0;
    for (; frame + step <= end && received < total; frame += step) {
      memcpy(&stamp, buffer + frame + stamp_at, sizeof stamp);
      times[received++] = (double)(at - stamp) / 1000;
    }
    held = end - frame;
    memmove(buffer, buffer + frame, held);
  }
  pthread_join(sender, NULL);
  fwrite(times, sizeof *times, (size_t)received, results);
  return fclose(results) == 0 ? 0 : 1;
}
