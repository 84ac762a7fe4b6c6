/*
 * Stands in for the program of number 513 in a containerized IOL: moves frames between the image's socket and the interfaces of the container
 * that iouyap.ini names. NETMAP says to which port of the image a port of 513 leads.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define OWN 513
#define MOST 64
#define HEADER 8

/* Of each interface: its socket, the port of 513, and the image's id and port. */
static int count, interfaces[MOST], own_port[MOST], image_id[MOST], image_port[MOST];

static struct sockaddr_un name_of(int id) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof name.sun_path, "/tmp/netio%d/%d", (int)getuid(), id);
  return name;
}

static int open_interface(const char *device) {
  int sock = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
  struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(device)};
  struct packet_mreq promiscuous = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
  if (address.sll_ifindex == 0 || bind(sock, (struct sockaddr *)&address, sizeof address) != 0) {
    fprintf(stderr, "no interface %s\n", device);
    exit(1);
  }
  setsockopt(sock, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof promiscuous);
  return sock;
}

static void read_files(void) {
  char line[256], device[64], path[200] = "";
  int id, bay = 0, unit = 0, far_bay, far_unit;
  FILE *file = fopen("iouyap.ini", "r");
  while (file && fgets(line, sizeof line, file)) {
    sscanf(line, "netmap = %199s", path);
    if (sscanf(line, "[%d:%d/%d]", &id, &bay, &unit) == 3 && id != OWN) exit(2);
    if (count < MOST && sscanf(line, "eth_dev = %63s", device) == 1) {
      own_port[count] = bay + 16 * unit;
      interfaces[count++] = open_interface(device);
    }
  }
  file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    int own;
    if (sscanf(line, "%d:%d/%d %d:%d/%d", &id, &far_bay, &far_unit, &own, &bay, &unit) != 6 || own != OWN) continue;
    for (int at = 0; at < count; at++)
      if (own_port[at] == bay + 16 * unit) {
        image_id[at] = id;
        image_port[at] = far_bay + 16 * far_unit;
      }
  }
}

int main(void) {
  static uint8_t data[HEADER + 65536];
  struct pollfd ready[MOST + 1];
  char folder[64];
  read_files();
  snprintf(folder, sizeof folder, "/tmp/netio%d", (int)getuid());
  mkdir(folder, 0700);
  struct sockaddr_un own = name_of(OWN);
  unlink(own.sun_path);
  int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (bind(sock, (struct sockaddr *)&own, sizeof own) != 0) return 3;
  for (int at = 0; at < count; at++) ready[at] = (struct pollfd){.fd = interfaces[at], .events = POLLIN};
  ready[count] = (struct pollfd){.fd = sock, .events = POLLIN};
  for (;;) {
    poll(ready, (nfds_t)count + 1, -1);
    if (ready[count].revents) {
      ssize_t length = recv(sock, data, sizeof data, 0);
      for (int at = 0; at < count; at++)
        if (length > HEADER && data[4] == own_port[at] && data[2] * 256 + data[3] == image_id[at])
          send(interfaces[at], data + HEADER, (size_t)length - HEADER, 0);
    }
    for (int at = 0; at < count; at++) {
      if (!ready[at].revents) continue;
      struct sockaddr_ll from;
      socklen_t size = sizeof from;
      ssize_t length = recvfrom(interfaces[at], data + HEADER, sizeof data - HEADER, 0, (struct sockaddr *)&from, &size);
      if (length <= 0 || from.sll_pkttype == PACKET_OUTGOING) continue;
      struct sockaddr_un image = name_of(image_id[at]);
      uint8_t header[HEADER] = {(uint8_t)(image_id[at] >> 8), (uint8_t)image_id[at], OWN >> 8, OWN & 255, (uint8_t)image_port[at],
                                (uint8_t)own_port[at], 1, 0};
      memcpy(data, header, HEADER);
      sendto(sock, data, (size_t)length + HEADER, 0, (struct sockaddr *)&image, sizeof image);
    }
  }
}
