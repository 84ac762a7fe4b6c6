/*
 * Stands in for an IOU image, of which none may be given away: the same command line, NETMAP, sockets, frames, licence file, NVRAM and
 * console. Its first Ethernet port answers ARP and ICMP echo at the address of the configuration; frames of its other Ethernet ports, and
 * of its serial ports, are bridged. A licence is valid when it is the number of the host (gethostid), in hexadecimal, twice.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BAYS 16
#define UNITS 4
#define HEADER 8
#define MAX_CONFIG 8192

static int id, ethernets = 2, serials = 2, nvram_kib = 64, sock;
static char host[64] = "Router", config[MAX_CONFIG] = "", private_config[MAX_CONFIG] = "";
static uint32_t address;
/* Of each port: id and port of the other end; 0: none. */
static int peer_id[BAYS * UNITS], peer_port[BAYS * UNITS];

static void say(const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t wrote = write(1, text, length);
    if (wrote <= 0) exit(3);
    text += wrote;
    length -= (size_t)wrote;
  }
}

static uint32_t get(const uint8_t *at, int bytes) {
  uint32_t value = 0;
  while (bytes-- > 0) value = value << 8 | *at++;
  return value;
}

static void put(uint8_t *at, uint32_t value, int bytes) {
  while (bytes-- > 0) {
    at[bytes] = (uint8_t)value;
    value >>= 8;
  }
}

/* --- licence --- */

#ifndef UNLICENSED
static void check_license(void) {
  char name[256] = "", line[512], wanted[32];
  const char *path = getenv("IOURC");
  FILE *file = path ? fopen(path, "r") : NULL;
  int inside = 0;
  if (!file) {
    say("IOURC: Could not open iourc file\r\n");
    exit(1);
  }
  gethostname(name, sizeof name - 1);
  snprintf(wanted, sizeof wanted, "%08lx%08lx;", gethostid() & 0xffffffffL, gethostid() & 0xffffffffL);
  while (fgets(line, sizeof line, file)) {
    char key[256], value[256];
    if (line[0] == '[') inside = strncmp(line, "[license]", 9) == 0;
    else if (inside && sscanf(line, " %255[^= ] = %255s", key, value) == 2 && strcasecmp(key, name) == 0 && strcmp(value, wanted) == 0) {
      fclose(file);
      return;
    }
  }
  say("IOU License Error: invalid license\r\n");
  exit(1);
}
#endif

/* --- NVRAM: see src/emulators/ios-nvram/nvram.ts for the format --- */

static uint16_t checksum(const uint8_t *nvram, size_t half) {
  uint32_t sum = 0;
  for (size_t at = 0; at + 1 < half; at += 2)
    if (at != 4) sum += get(nvram + at, 2);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return (uint16_t)~sum;
}

static void nvram_name(char *name) { sprintf(name, "nvram_%05d", id); }

static void parse_config(void) {
  char copy[MAX_CONFIG], *save = NULL;
  address = 0;
  strcpy(copy, config);
  for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    char text[64];
    if (sscanf(line, "hostname %63s", text) == 1) strcpy(host, text);
    if (sscanf(line, " ip address %63s", text) == 1 && address == 0) address = ntohl(inet_addr(text));
  }
}

static void load_nvram(void) {
  char name[32];
  nvram_name(name);
  int file = open(name, O_RDONLY);
  if (file < 0) return;
  size_t size = (size_t)lseek(file, 0, SEEK_END);
  uint8_t *nvram = malloc(size + 1);
  if (pread(file, nvram, size, 0) != (ssize_t)size) exit(4);
  close(file);
  if (size >= 36 && get(nvram, 2) == 0xabcd) {
    if (checksum(nvram, size / 2) != get(nvram + 4, 2)) say("%NVRAM: checksum error\r\n");
    size_t length = get(nvram + 16, 4), at = (36 + length + 3) & ~(size_t)3;
    snprintf(config, sizeof config, "%.*s", (int)length, (char *)nvram + 36);
    if (get(nvram + at, 2) != 0xfedc) at += 4;
    if (get(nvram + at, 2) == 0xfedc) snprintf(private_config, sizeof private_config, "%.*s", (int)get(nvram + at + 12, 4), (char *)nvram + at + 16);
  }
  free(nvram);
  parse_config();
}

/* Without a configuration in the NVRAM, that of the file counts. */
static void load_file(const char *name) {
  FILE *file = config[0] ? NULL : fopen(name, "r");
  if (!file) return;
  config[fread(config, 1, sizeof config - 1, file)] = 0;
  fclose(file);
  parse_config();
}

static void save_nvram(void) {
  char name[32];
  size_t size = (size_t)nvram_kib * 1024, length = strlen(config), end = 36 + length, at = (end + 3) & ~(size_t)3;
  uint8_t *nvram = calloc(1, size);
  if (at != end && size >= 128 * 1024) at += 4;
  put(nvram, 0xabcd, 2);
  put(nvram + 2, 1, 2);
  put(nvram + 6, 0x0f04, 2);
  put(nvram + 16, (uint32_t)length, 4);
  memcpy(nvram + 36, config, length);
  put(nvram + at, 0xfedc, 2);
  put(nvram + at + 2, 1, 2);
  put(nvram + at + 12, (uint32_t)strlen(private_config), 4);
  memcpy(nvram + at + 16, private_config, strlen(private_config));
  put(nvram + 4, checksum(nvram, size / 2), 2);
  nvram_name(name);
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, nvram, size) != (ssize_t)size) say("%NVRAM: cannot be written\r\n");
  else say("[OK]\r\n");
  close(file);
  free(nvram);
}

/* --- frames --- */

static void read_netmap(void) {
  FILE *file = fopen("NETMAP", "r");
  char line[256];
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    int id1, bay1, unit1, id2, bay2, unit2;
    if (sscanf(line, "%d:%d/%d %d:%d/%d", &id1, &bay1, &unit1, &id2, &bay2, &unit2) != 6) continue;
    if (id1 == id) { peer_id[bay1 * UNITS + unit1] = id2; peer_port[bay1 * UNITS + unit1] = bay2 + 16 * unit2; }
    if (id2 == id) { peer_id[bay2 * UNITS + unit2] = id1; peer_port[bay2 * UNITS + unit2] = bay1 + 16 * unit1; }
  }
  fclose(file);
}

static void socket_name(struct sockaddr_un *name, int of) {
  memset(name, 0, sizeof *name);
  name->sun_family = AF_UNIX;
  snprintf(name->sun_path, sizeof name->sun_path, "/tmp/netio%d/%d", (int)getuid(), of);
}

static void open_socket(void) {
  struct sockaddr_un name;
  char folder[64];
  snprintf(folder, sizeof folder, "/tmp/netio%d", (int)getuid());
  mkdir(folder, 0700);
  socket_name(&name, id);
  unlink(name.sun_path);
  sock = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (bind(sock, (struct sockaddr *)&name, sizeof name) != 0) {
    say("netio: cannot bind\r\n");
    exit(5);
  }
}

static void transmit(int port, const uint8_t *frame, size_t length) {
  uint8_t datagram[HEADER + 65536];
  struct sockaddr_un name;
  if (peer_id[port] == 0) return;
  put(datagram, (uint32_t)peer_id[port], 2);
  put(datagram + 2, (uint32_t)id, 2);
  datagram[4] = (uint8_t)peer_port[port];
  datagram[5] = (uint8_t)(port / UNITS + 16 * (port % UNITS));
  datagram[6] = 1;
  datagram[7] = 0;
  memcpy(datagram + HEADER, frame, length);
  socket_name(&name, peer_id[port]);
  sendto(sock, datagram, HEADER + length, 0, (struct sockaddr *)&name, sizeof name);
}

static void answer(uint8_t *frame, size_t length) {
  static const uint8_t arp[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 1};
  uint8_t own[6] = {0xaa, 0xbb, 0xcc, 0, (uint8_t)id, 0};
  if (length >= 42 && memcmp(frame + 12, arp, sizeof arp) == 0 && get(frame + 38, 4) == address) {
    uint32_t asker = get(frame + 28, 4);
    memcpy(frame, frame + 6, 6);
    memcpy(frame + 6, own, 6);
    frame[21] = 2;
    memcpy(frame + 32, frame, 6);
    put(frame + 38, asker, 4);
    memcpy(frame + 22, own, 6);
    put(frame + 28, address, 4);
    transmit(0, frame, length);
  } else if (length >= 42 && get(frame + 12, 2) == 0x0800 && frame[23] == 1 && frame[34] == 8 && get(frame + 30, 4) == address) {
    uint32_t asker = get(frame + 26, 4), sum = get(frame + 36, 2) + 0x0800;
    memcpy(frame, frame + 6, 6);
    memcpy(frame + 6, own, 6);
    put(frame + 26, address, 4);
    put(frame + 30, asker, 4);
    frame[34] = 0;
    put(frame + 36, (sum & 0xffff) + (sum >> 16), 2);
    transmit(0, frame, length);
  }
}

static void receive(void) {
  uint8_t datagram[HEADER + 65536];
  ssize_t length = recv(sock, datagram, sizeof datagram, 0);
  if (length <= HEADER || get(datagram, 2) != (uint32_t)id || datagram[6] != 1) return;
  int bay = datagram[4] & 15, port = bay * UNITS + (datagram[4] >> 4), edge = ethernets * UNITS, end = edge + serials * UNITS;
  /* A frame must come from where NETMAP says. */
  if (port >= end || (int)get(datagram + 2, 2) != peer_id[port] || datagram[5] != peer_port[port]) return;
  if (port == 0) {
    answer(datagram + HEADER, (size_t)length - HEADER);
    return;
  }
  for (int other = port < edge ? 1 : edge; other < (port < edge ? edge : end); other++)
    if (other != port) transmit(other, datagram + HEADER, (size_t)length - HEADER);
}

/* --- console --- */

static void prompt(void) {
  say(host);
  say(">");
}

static void command(char *line) {
  char text[128], *lines;
  if (strcmp(line, "show startup") == 0) {
    for (lines = config; *lines; lines++) {
      char one[2] = {*lines, 0};
      say(*lines == '\n' ? "\r\n" : one);
    }
  } else if (strcmp(line, "show private") == 0) say(private_config);
  else if (strcmp(line, "show interfaces") == 0) {
    sprintf(text, "%d ethernet %d serial %d nvram\r\n", ethernets, serials, nvram_kib);
    say(text);
  } else if (sscanf(line, "hostname %63s", host) == 1) {
    snprintf(config, sizeof config, "hostname %.63s\ninterface Ethernet0/0\n ip address %u.%u.%u.%u 255.255.255.0\nend\n", host,
             address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
    strcpy(private_config, "crypto key\n");
  } else if (strncmp(line, "vlan ", 5) == 0 || strcmp(line, "show vlan") == 0) {
    /* An image keeps its VLANs in a file of their own, in place. */
    sprintf(text, "vlan.dat-%05d", id);
    FILE *vlans = fopen(text, line[0] == 's' ? "r" : "a");
    if (vlans && line[0] == 'v') fprintf(vlans, "%s\r\n", line);
    else while (vlans && fgets(text, sizeof text, vlans)) say(text);
    if (vlans) fclose(vlans);
    say("done\r\n");
  } else if (strcmp(line, "write") == 0) save_nvram();
  else if (strcmp(line, "crash") == 0) abort();
  else if (line[0]) say("% Unknown command\r\n");
}

static void typed(void) {
  static char line[128];
  static size_t length;
  char input[128];
  ssize_t count = read(0, input, sizeof input);
  if (count <= 0) exit(0);
  for (ssize_t at = 0; at < count; at++) {
    char one[2] = {input[at], 0};
    if (input[at] == '\r' || input[at] == '\n') {
      say("\r\n");
      line[length] = 0;
      length = 0;
      command(line);
      prompt();
    } else if (isprint((unsigned char)input[at]) && length < sizeof line - 1) {
      line[length++] = input[at];
      say(one);
    }
  }
}

int main(int count, char **arguments) {
  int option;
  const char *config_file = NULL;
  while ((option = getopt(count, arguments, "e:s:n:m:b:c:d:qlLuh")) != -1) {
    if (option == 'e') ethernets = atoi(optarg);
    else if (option == 's') serials = atoi(optarg);
    else if (option == 'n') nvram_kib = atoi(optarg);
    else if (option == 'c') config_file = optarg;
    else if (option == '?' || option == 'h') {
      say("Usage: stand-in [options] <application id>\r\n");
      return 2;
    }
  }
  id = optind < count ? atoi(arguments[optind]) : 0;
  if (id < 1 || id > 1024 || ethernets + serials > BAYS) {
    say("Usage: stand-in [options] <application id>\r\n");
    return 2;
  }
#ifndef UNLICENSED
  check_license();
#endif
  if (!isatty(0) || !isatty(1)) say("the console is no terminal\r\n");
  read_netmap();
  load_nvram();
  if (config_file) load_file(config_file);
  open_socket();
  say("Press RETURN to get started!\r\n");
  prompt();
  for (;;) {
    struct pollfd ready[2] = {{.fd = 0, .events = POLLIN}, {.fd = sock, .events = POLLIN}};
    poll(ready, 2, -1);
    if (ready[0].revents) typed();
    if (ready[1].revents) receive();
  }
}
