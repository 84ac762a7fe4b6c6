/* Refuses netlink sockets, by which Chromium notices interfaces that come and go. Loaded into its processes by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>

int socket(int domain, int type, int protocol) {
  static int (*next)(int, int, int);
  if (domain == AF_NETLINK) {
    errno = EAFNOSUPPORT;
    return -1;
  }
  if (!next) next = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  return next(domain, type, protocol);
}
