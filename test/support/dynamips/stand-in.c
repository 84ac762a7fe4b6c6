/*
 * Stand-in of dynamips for tests: one process that speaks its control protocol as `recording.txt` has it, with routers that run no IOS.
 * A router answers ARP and ICMP for the addresses of its configuration, bridges its interfaces when asked to, and has a console and an
 * AUX port. Written from the recording and from what users of dynamips see; what neither has is made up and marked "made up".
 * One thread, one poll(2). Usage: dynamips -N1 -l LOG -H ADDRESS:PORT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct command { const char *module, *name; int min, max; };
static const char *modules[] = {"object_store", "vm_debug", "vm", "ethsw", "atm_bridge", "atmsw", "frsw", "nio_bridge", "nio",
  "hypervisor", "c1700", "c2600", "c2691", "c3745", "c3725", "c3600", "c7200", 0};
#define COMMANDS_OF_PLATFORM(p) {p, "list", 0, 0}, {p, "show_hardware", 1, 1}
#define MORE_OF_PLATFORM(p) {p, "set_system_id", 2, 2}, {p, "set_mac_addr", 2, 2}, {p, "get_mac_addr", 1, 1}
static const struct command commands[] = {
  {"object_store", "list", 0, 0}, {"object_store", "delete_all", 0, 0}, {"object_store", "delete", 1, 1},
  {"object_store", "rename", 2, 2}, {"object_store", "read", 1, 1}, {"object_store", "write", 2, 2},
  {"vm_debug", "pmem_cfind", 3, 5}, {"vm_debug", "pmem_r16", 3, 3}, {"vm_debug", "pmem_w16", 4, 4}, {"vm_debug", "pmem_r32", 3, 3},
  {"vm_debug", "pmem_w32", 4, 4}, {"vm_debug", "remove_cpu_breakpoint", 3, 3}, {"vm_debug", "add_cpu_breakpoint", 3, 3},
  {"vm_debug", "set_cpu_reg", 4, 4}, {"vm_debug", "show_cpu_mmu", 2, 2}, {"vm_debug", "show_cpu_regs", 2, 2},
  {"vm", "list_con_ports", 0, 0}, {"vm", "list", 0, 0}, {"vm", "slot_oir_stop", 3, 3}, {"vm", "slot_oir_start", 3, 3},
  {"vm", "slot_disable_nio", 3, 3}, {"vm", "slot_enable_nio", 3, 3}, {"vm", "slot_remove_nio_binding", 3, 3},
  {"vm", "slot_add_nio_binding", 4, 4}, {"vm", "slot_remove_binding", 3, 3}, {"vm", "slot_add_binding", 4, 4},
  {"vm", "slot_nio_bindings", 2, 2}, {"vm", "slot_bindings", 1, 1}, {"vm", "send_aux_msg", 2, 3}, {"vm", "send_con_msg", 2, 3},
  {"vm", "resume", 1, 1}, {"vm", "suspend", 1, 1}, {"vm", "cpu_usage", 2, 2}, {"vm", "cpu_info", 2, 2}, {"vm", "push_config", 2, 3},
  {"vm", "extract_config", 1, 1}, {"vm", "set_aux_tcp_port", 2, 2}, {"vm", "set_con_tcp_port", 2, 2},
  {"vm", "set_ghost_status", 2, 2}, {"vm", "set_ghost_file", 2, 2}, {"vm", "show_timer_drift", 2, 2},
  {"vm", "set_idle_sleep_time", 3, 3}, {"vm", "set_idle_max", 3, 3}, {"vm", "show_idle_pc_prop", 2, 2},
  {"vm", "get_idle_pc_prop", 2, 2}, {"vm", "set_idle_pc_online", 3, 3}, {"vm", "set_idle_pc", 2, 2}, {"vm", "set_conf_reg", 2, 2},
  {"vm", "set_disk1", 2, 2}, {"vm", "set_disk0", 2, 2}, {"vm", "set_exec_area", 2, 2}, {"vm", "set_blk_direct_jump", 2, 2},
  {"vm", "set_clock_divisor", 2, 2}, {"vm", "set_sparse_mem", 2, 2}, {"vm", "set_ram_mmap", 2, 2}, {"vm", "set_nvram", 2, 2},
  {"vm", "set_ram", 2, 2}, {"vm", "set_config", 2, 3}, {"vm", "set_ios", 2, 2}, {"vm", "set_debug_level", 2, 2},
  {"vm", "get_status", 1, 1}, {"vm", "stop", 1, 1}, {"vm", "start", 1, 1}, {"vm", "clean_delete", 1, 1}, {"vm", "delete", 1, 1},
  {"vm", "rename", 2, 2}, {"vm", "create", 3, 3},
  {"ethsw", "list", 0, 0}, {"ethsw", "show_mac_addr_table", 1, 1}, {"ethsw", "clear_mac_addr_table", 1, 1},
  {"ethsw", "set_qinq_port", 3, 4}, {"ethsw", "set_dot1q_port", 3, 3}, {"ethsw", "set_access_port", 3, 3},
  {"ethsw", "remove_nio", 2, 2}, {"ethsw", "add_nio", 2, 2}, {"ethsw", "delete", 1, 1}, {"ethsw", "rename", 2, 2},
  {"ethsw", "create", 1, 1},
  {"atm_bridge", "list", 0, 0}, {"atm_bridge", "unconfigure", 1, 1}, {"atm_bridge", "configure", 5, 5},
  {"atm_bridge", "delete", 1, 1}, {"atm_bridge", "rename", 2, 2}, {"atm_bridge", "create", 1, 1},
  {"atmsw", "list", 0, 0}, {"atmsw", "delete_vcc", 7, 7}, {"atmsw", "create_vcc", 7, 7}, {"atmsw", "delete_vpc", 5, 5},
  {"atmsw", "create_vpc", 5, 5}, {"atmsw", "delete", 1, 1}, {"atmsw", "rename", 2, 2}, {"atmsw", "create", 1, 1},
  {"frsw", "list", 0, 0}, {"frsw", "delete_vc", 5, 5}, {"frsw", "create_vc", 5, 5}, {"frsw", "delete", 1, 1},
  {"frsw", "rename", 2, 2}, {"frsw", "create", 1, 1},
  {"nio_bridge", "list", 0, 0}, {"nio_bridge", "remove_nio", 2, 2}, {"nio_bridge", "add_nio", 2, 2}, {"nio_bridge", "delete", 1, 1},
  {"nio_bridge", "rename", 2, 2}, {"nio_bridge", "create", 1, 1},
  {"nio", "list", 0, 0}, {"nio", "set_bandwidth", 2, 2}, {"nio", "reset_stats", 1, 1}, {"nio", "get_stats", 1, 1},
  {"nio", "setup_filter", 2, 10}, {"nio", "unbind_filter", 2, 2}, {"nio", "bind_filter", 3, 3}, {"nio", "set_debug", 2, 2},
  {"nio", "delete", 1, 1}, {"nio", "rename", 2, 2}, {"nio", "crossconnect_fifo", 2, 2}, {"nio", "create_fifo", 1, 1},
  {"nio", "create_null", 1, 1}, {"nio", "create_linux_eth", 2, 2}, {"nio", "create_gen_eth", 2, 2}, {"nio", "create_tap", 2, 2},
  {"nio", "create_vde", 3, 3}, {"nio", "create_unix", 3, 3}, {"nio", "connect_udp_auto", 3, 3}, {"nio", "create_udp_auto", 4, 4},
  {"nio", "create_udp", 4, 4},
  {"hypervisor", "stop", 0, 0}, {"hypervisor", "close", 0, 0}, {"hypervisor", "reset", 0, 0}, {"hypervisor", "save_config", 1, 1},
  {"hypervisor", "working_dir", 1, 1}, {"hypervisor", "cmd_list", 1, 1}, {"hypervisor", "module_list", 0, 0},
  {"hypervisor", "parser_test", 0, 10}, {"hypervisor", "version", 0, 0},
  COMMANDS_OF_PLATFORM("c1700"), MORE_OF_PLATFORM("c1700"), {"c1700", "set_iomem", 2, 2}, {"c1700", "set_chassis", 2, 2},
  COMMANDS_OF_PLATFORM("c2600"), MORE_OF_PLATFORM("c2600"), {"c2600", "set_iomem", 2, 2}, {"c2600", "set_chassis", 2, 2},
  COMMANDS_OF_PLATFORM("c2691"), MORE_OF_PLATFORM("c2691"), {"c2691", "set_iomem", 2, 2},
  COMMANDS_OF_PLATFORM("c3745"), MORE_OF_PLATFORM("c3745"), {"c3745", "set_iomem", 2, 2},
  COMMANDS_OF_PLATFORM("c3725"), MORE_OF_PLATFORM("c3725"), {"c3725", "set_iomem", 2, 2},
  COMMANDS_OF_PLATFORM("c3600"), MORE_OF_PLATFORM("c3600"), {"c3600", "set_iomem", 2, 2}, {"c3600", "set_chassis", 2, 2},
  COMMANDS_OF_PLATFORM("c7200"), {"c7200", "set_power_supply", 3, 3}, {"c7200", "set_temp_sensor", 3, 3}, MORE_OF_PLATFORM("c7200"),
  {"c7200", "set_midplane", 2, 2}, {"c7200", "set_npe", 2, 2},
  {0, 0, 0, 0}};

/* Modules and how many ports they have; the letters of the platforms that take them: w is a WIC, n a network module, p a port adapter. */
struct card { const char *name; int ports; char family; };
static const struct card cards[] = {
  {"C1700-MB-1ETH", 1, 'b'}, {"CISCO2600-MB-1E", 1, 'b'}, {"CISCO2600-MB-2E", 2, 'b'}, {"CISCO2600-MB-1FE", 1, 'b'},
  {"CISCO2600-MB-2FE", 2, 'b'}, {"GT96100-FE", 2, 'b'}, {"Leopard-2FE", 2, 'b'}, {"C7200-IO-FE", 1, 'p'}, {"C7200-IO-2FE", 2, 'p'},
  {"C7200-IO-GE-E", 1, 'p'}, {"NM-1E", 1, 'n'}, {"NM-4E", 4, 'n'}, {"NM-1FE-TX", 1, 'n'}, {"NM-16ESW", 16, 'n'}, {"NM-4T", 4, 'n'},
  {"PA-FE-TX", 1, 'p'}, {"PA-2FE-TX", 2, 'p'}, {"PA-GE", 1, 'p'}, {"PA-4E", 4, 'p'}, {"PA-8E", 8, 'p'}, {"PA-4T+", 4, 'p'},
  {"PA-8T", 8, 'p'}, {"PA-A1", 1, 'p'}, {"PA-POS-OC3", 1, 'p'}, {"WIC-1ENET", 1, 'w'}, {"WIC-1T", 1, 'w'}, {"WIC-2T", 2, 'w'}, {0, 0, 0}};

enum { maxVms = 8, maxBindings = 16, maxPorts = 80, maxNios = 160, maxPeers = 64, text = 65536 };
enum { inactive = 0, running = 2, suspended = 3 };
struct nio { char name[64]; int fd; struct sockaddr_in peer; unsigned long in, out, inBytes, outBytes; };
struct binding { int slot, sub; char name[32]; };
struct port { int slot, port, enabled; struct nio *nio; struct in_addr address; int partner, seen; unsigned char last[64]; int lastLength; };
struct vm {
  char name[64], platform[16], image[1024], startup[512], private_[512], ghost[1024]; int id, status, ghostStatus, ram, disk0, disk1;
  unsigned long long idle; int listeners[2], numbers[2];
  struct binding bindings[maxBindings]; int bindingCount; struct port ports[maxPorts]; int portCount;
  char config[text], privateConfig[text];
};
/* A connection: of the control protocol (`vm` is null), or of the console (0) or AUX port (1) of a router. */
struct peer { int fd, which, telnet; struct vm *vm; char line[text * 2]; size_t length; };
static struct vm *vms[maxVms];
static struct nio *nios[maxNios];
static struct peer *peers[maxPeers];
static char workingDir[1024] = ".";

static void answer(int fd, const char *format, ...) {
  char line[text * 3];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(line, sizeof line - 2, format, list);
  va_end(list);
  memcpy(line + length, "\r\n", 2);
  for (size_t at = 0; at < (size_t)length + 2;) {
    ssize_t sent = send(fd, line + at, length + 2 - at, MSG_NOSIGNAL);
    if (sent <= 0) return;
    at += sent;
  }
}
static struct vm *findVm(const char *name) {
  for (int i = 0; i < maxVms; i++) if (vms[i] && !strcmp(vms[i]->name, name)) return vms[i];
  return 0;
}
static struct nio **findNio(const char *name) {
  for (int i = 0; i < maxNios; i++) if (nios[i] && !strcmp(nios[i]->name, name)) return &nios[i];
  return 0;
}
static const struct card *findCard(const char *name) {
  for (int i = 0; cards[i].name; i++) if (!strcmp(cards[i].name, name)) return &cards[i];
  return 0;
}
static int fits(struct vm *vm, const struct card *card, int sub) {
  if (!card) return 0;
  if (sub > 0) return card->family == 'w';
  if (!strcmp(vm->platform, "c7200")) return card->family == 'p';
  return card->family == 'n' && strcmp(vm->platform, "c1700");
}
static int bind_(struct vm *vm, int slot, int sub, const char *name) {
  for (int i = 0; i < vm->bindingCount; i++) if (vm->bindings[i].slot == slot && vm->bindings[i].sub == sub) return 0;
  if (vm->bindingCount == maxBindings) return 0;
  struct binding *to = &vm->bindings[vm->bindingCount++];
  *to = (struct binding){.slot = slot, .sub = sub};
  snprintf(to->name, sizeof to->name, "%s", name);
  return 1;
}
static int hasPort(struct vm *vm, int slot, int port) {
  for (int i = 0; i < vm->bindingCount; i++) {
    struct binding *one = &vm->bindings[i];
    const struct card *card = findCard(one->name);
    if (one->slot == slot && card && port >= one->sub && port < one->sub + card->ports) return 1;
  }
  return 0;
}
/* Port of a router, made when it is wanted and not there. */
static struct port *portOf(struct vm *vm, int slot, int port, int make) {
  for (int i = 0; i < vm->portCount; i++) if (vm->ports[i].slot == slot && vm->ports[i].port == port) return &vm->ports[i];
  if (!make || vm->portCount == maxPorts) return 0;
  vm->ports[vm->portCount] = (struct port){.slot = slot, .port = port, .partner = -1};
  return &vm->ports[vm->portCount++];
}

/* ---- frames ---- */
static unsigned short checksum(const unsigned char *bytes, int length) {
  unsigned sum = 0;
  for (int i = 0; i < length; i++) sum += i % 2 ? bytes[i] : bytes[i] << 8;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}
static void transmit(struct port *port, const unsigned char *frame, int length) {
  struct nio *nio = port->nio;
  if (!nio || !port->enabled) return;
  if (sendto(nio->fd, frame, length, 0, (struct sockaddr *)&nio->peer, sizeof nio->peer) == length) nio->out++, nio->outBytes += length;
}
static void received(struct vm *vm, struct port *port, unsigned char *frame, int length) {
  port->seen++;
  port->lastLength = length > (int)sizeof port->last ? (int)sizeof port->last : length;
  memcpy(port->last, frame, port->lastLength);
  if (port->partner >= 0) transmit(&vm->ports[port->partner], frame, length);
  unsigned char mac[6] = {0xca, 1, 0, vm->id, port->slot, port->port};
  if (length < 42 || !port->address.s_addr) return;
  if (frame[12] == 8 && frame[13] == 6 && frame[21] == 1 && !memcmp(frame + 38, &port->address, 4)) {
    memcpy(frame + 32, frame + 22, 10), memcpy(frame + 28, &port->address, 4), memcpy(frame + 22, mac, 6), frame[21] = 2;
  } else if (frame[12] == 8 && frame[13] == 0 && frame[23] == 1 && frame[34] == 8 && !memcmp(frame + 30, &port->address, 4)) {
    memcpy(frame + 30, frame + 26, 4), memcpy(frame + 26, &port->address, 4), frame[34] = 0, frame[36] = frame[37] = 0;
    int end = 14 + (frame[16] << 8 | frame[17]);
    unsigned short sum = checksum(frame + 34, (end < length ? end : length) - 34);
    frame[36] = sum >> 8, frame[37] = sum & 255;
  } else return;
  memcpy(frame, frame + 6, 6), memcpy(frame + 6, mac, 6);
  transmit(port, frame, length);
}
static void readNio(struct nio *nio) {
  unsigned char frame[65536];
  ssize_t length = recv(nio->fd, frame, sizeof frame, MSG_DONTWAIT);
  if (length <= 0) return;
  nio->in++, nio->inBytes += length;
  for (int i = 0; i < maxVms; i++)
    for (int p = 0; vms[i] && vms[i]->status == running && p < vms[i]->portCount; p++)
      if (vms[i]->ports[p].nio == nio && vms[i]->ports[p].enabled) return received(vms[i], &vms[i]->ports[p], frame, length);
}

/* ---- configurations ---- */
static const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static char *encode(const char *from) {
  size_t length = strlen(from);
  char *out = calloc(length * 2 + 8, 1), *to = out;
  for (size_t i = 0; i < length; i += 3) {
    unsigned a = (unsigned char)from[i], b = i + 1 < length ? (unsigned char)from[i + 1] : 0, c = i + 2 < length ? (unsigned char)from[i + 2] : 0;
    *to++ = letters[a >> 2], *to++ = letters[(a & 3) << 4 | b >> 4];
    *to++ = i + 1 < length ? letters[(b & 15) << 2 | c >> 6] : '=', *to++ = i + 2 < length ? letters[c & 63] : '=';
  }
  return out;
}
static void fileOf(struct vm *vm, const char *what, char *path, size_t size) {
  snprintf(path, size, "%s/%s_i%d_%s", workingDir, vm->platform, vm->id, what);
}
static int readText(const char *path, char *to, size_t size) {
  char full[2100];
  snprintf(full, sizeof full, "%s%s%s", *path == '/' ? "" : workingDir, *path == '/' ? "" : "/", path);
  FILE *file = fopen(full, "r");
  if (!file) return 0;
  to[fread(to, 1, size - 1, file)] = 0;
  fclose(file);
  return 1;
}
static void makeFile(struct vm *vm, const char *what, const char *content, size_t length) {
  char path[1200];
  fileOf(vm, what, path, sizeof path);
  FILE *file = fopen(path, "w");
  if (!file) return;
  fwrite(content, 1, length, file);
  fclose(file);
}
static void saveNvram(struct vm *vm) {
  static char both[text * 2 + 2];
  int length = snprintf(both, sizeof both, "%s", vm->config) + 1;
  length += snprintf(both + length, sizeof both - length, "%s", vm->privateConfig);
  makeFile(vm, "nvram", both, length);
}
static int readNvram(struct vm *vm, char *startup, char *private_) {
  static char both[text * 2 + 2];
  char path[1200];
  fileOf(vm, "nvram", path, sizeof path);
  memset(both, 0, sizeof both);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  fread(both, 1, sizeof both - 2, file);
  fclose(file);
  snprintf(startup, text, "%s", both);
  snprintf(private_, text, "%s", both + strlen(both) + 1);
  return 1;
}
/* Lines `interface FastEthernet1/0` and `ip address 10.0.0.1 …` give ports their addresses. */
static void applyConfig(struct vm *vm) {
  struct port *port = 0;
  char copy[text], *save = 0;
  snprintf(copy, sizeof copy, "%s", vm->config);
  for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(0, "\n", &save)) {
    int slot, number;
    char address[32];
    while (*line == ' ') line++;
    if (sscanf(line, "interface %*[A-Za-z]%d/%d", &slot, &number) == 2) port = portOf(vm, slot, number, 1);
    if (port && sscanf(line, "ip address %31s", address) == 1) inet_aton(address, &port->address);
  }
}
static void hostname(struct vm *vm, char *to, size_t size) {
  char *at = strstr(vm->config, "hostname ");
  if (!at || sscanf(at + 9, "%63s", to) != 1) snprintf(to, size, "Router");
}

/* ---- console ---- */
static void say(struct peer *peer, const char *format, ...) {
  char line[text + 64];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  send(peer->fd, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1, MSG_NOSIGNAL);
}
static void prompt(struct peer *peer) {
  char name[64];
  hostname(peer->vm, name, sizeof name);
  say(peer, "%s#", name);
}
static void typed(struct peer *peer, char *line) {
  struct vm *vm = peer->vm;
  int slot, port, slot2, port2;
  char word[text];
  if (vm->status != running) return;
  if (sscanf(line, "hostname %63s", word) == 1) {
    char rest[text], *at = strstr(vm->config, "hostname ");
    snprintf(rest, sizeof rest, "%s", at && strchr(at, '\n') ? strchr(at, '\n') + 1 : "");
    if (at) *at = 0;
    size_t length = strlen(vm->config);
    snprintf(vm->config + length, text - length, "hostname %.63s\n%s", word, rest);
  } else if (!strcmp(line, "write memory")) {
    saveNvram(vm);
    say(peer, "Building configuration...\r\n[OK]\r\n");
  } else if (!strcmp(line, "show ports")) {
    for (int i = 0; i < vm->portCount; i++)
      say(peer, "%d/%d %s %s\r\n", vm->ports[i].slot, vm->ports[i].port, inet_ntoa(vm->ports[i].address), vm->ports[i].nio ? "linked" : "free");
  } else if (!strcmp(line, "show settings")) {
    say(peer, "ram %d disk0 %d disk1 %d ghost %d idle 0x%llx\r\n", vm->ram, vm->disk0, vm->disk1, vm->ghostStatus, vm->idle);
  } else if (sscanf(line, "bridge %d/%d %d/%d", &slot, &port, &slot2, &port2) == 4) {
    struct port *one = portOf(vm, slot, port, 1), *other = portOf(vm, slot2, port2, 1);
    if (one && other) one->partner = (int)(other - vm->ports), other->partner = (int)(one - vm->ports);
  } else if (sscanf(line, "send %d/%d %s", &slot, &port, word) == 3) {
    unsigned char frame[2048];
    int length = 0;
    for (; length < 2048 && sscanf(word + length * 2, "%2hhx", &frame[length]) == 1; length++) {}
    struct port *from = portOf(vm, slot, port, 0);
    if (from) transmit(from, frame, length);
    say(peer, "sent %d bytes\r\n", length);
  } else if (sscanf(line, "received %d/%d", &slot, &port) == 2) {
    struct port *at = portOf(vm, slot, port, 0);
    say(peer, "%d frames, last ", at ? at->seen : 0);
    for (int i = 0; at && i < at->lastLength; i++) say(peer, "%02x", at->last[i]);
    say(peer, "\r\n");
  } else if (!strcmp(line, "halt")) {
    vm->status = inactive;
    return;
  } else if (*line) say(peer, "%% Unknown command\r\n");
  prompt(peer);
}
static void readConsole(struct peer *peer, unsigned char *bytes, ssize_t length) {
  for (ssize_t i = 0; i < length; i++) {
    unsigned char byte = bytes[i];
    if (peer->telnet > 0) peer->telnet--;
    else if (byte == 255) peer->telnet = 2;
    else if (byte == '\r') {
      peer->line[peer->length] = 0, peer->length = 0;
      say(peer, "\r\n");
      typed(peer, peer->line);
    } else if (byte >= ' ' && byte < 127 && peer->length < 2000) {
      peer->line[peer->length++] = byte;
      say(peer, "%c", byte);
    }
  }
}

/* ---- control protocol ---- */
static int listenOn(const char *address, int number) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(number)};
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  inet_aton(address, &at.sin_addr);
  if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0) return fd;
  close(fd);
  return -1;
}
/* Words between spaces; one in double quotes may hold spaces. A quote within a word is an error. -1: the error was answered. */
static int split(int fd, char *line, char **words) {
  int count = 0;
  for (char *at = line; *at;) {
    while (*at == ' ' || *at == '\t') at++;
    if (!*at) break;
    if (count == 16) return count;
    int quoted = *at == '"';
    words[count++] = at += quoted;
    while (*at && (quoted ? *at != '"' : *at != ' ')) {
      if (*at == '"') return answer(fd, "200-Parse error: unexpected quote"), -1;
      at++;
    }
    if (*at) *at++ = 0;
  }
  return count;
}
static void stopVm(struct vm *vm) {
  vm->status = inactive;
  char path[1200];
  fileOf(vm, "lock", path, sizeof path);
  unlink(path);
  for (int i = 0; i < 2; i++) if (vm->listeners[i] >= 0) close(vm->listeners[i]), vm->listeners[i] = -1;
  for (int i = 0; i < maxPeers; i++)
    if (peers[i] && peers[i]->vm == vm) close(peers[i]->fd), free(peers[i]), peers[i] = 0;
}
static void deleteVm(struct vm *vm) {
  stopVm(vm);
  for (int i = 0; i < maxVms; i++) if (vms[i] == vm) vms[i] = 0;
  free(vm);
}
/* What is wrong with its image, or null. */
static const char *load(struct vm *vm) {
  unsigned char head[7] = {0};
  int fd = open(vm->image, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "no such image";
  ssize_t length = read(fd, head, sizeof head);
  close(fd);
  if (length != 7 || memcmp(head, "\x7f" "ELF\x01\x02\x01", 7)) return "not a 32-bit big-endian ELF file";
  if (vm->ghostStatus == 1) {
    FILE *file = fopen(vm->ghost, "w");
    if (!file) return "cannot write the ghost file";
    fputs("ghost", file), fclose(file);
  }
  return vm->ghostStatus == 2 && access(vm->ghost, R_OK) ? "no ghost file" : 0;
}
static int startVm(struct vm *vm) {
  const char *wrong = load(vm);
  if (wrong) return printf("VM '%s': failed to load Cisco IOS image '%s': %s\n", vm->name, vm->image, wrong), fflush(stdout), 0;
  *vm->config = *vm->privateConfig = 0;
  readNvram(vm, vm->config, vm->privateConfig);
  if (*vm->startup && !readText(vm->startup, vm->config, text)) return 0;
  if (*vm->private_ && !readText(vm->private_, vm->privateConfig, text)) return 0;
  if (*vm->startup || *vm->private_) saveNvram(vm);
  makeFile(vm, "lock", "", 0), makeFile(vm, "log.txt", "", 0);
  if (vm->disk0) makeFile(vm, "disk0", "disk", 4);
  if (vm->disk1) makeFile(vm, "disk1", "disk", 4);
  applyConfig(vm);
  for (int i = 0; i < 2; i++) if (vm->numbers[i]) vm->listeners[i] = listenOn("127.0.0.1", vm->numbers[i]);
  for (int i = 0; i < vm->portCount; i++) vm->ports[i].enabled = 1;
  vm->status = running;
  return 1;
}
static void ofVm(int fd, const char *command, char **args, int count) {
  struct vm *vm = findVm(args[0]);
  if (!strcmp(command, "create")) {
    int slot = 0;
    const char *platforms = " c1700 c2600 c2691 c3745 c3725 c3600 c7200 ";
    char padded[40];
    snprintf(padded, sizeof padded, " %.30s ", args[2]);
    while (slot < maxVms && vms[slot]) slot++;
    if (vm || !strstr(platforms, padded) || slot == maxVms) return answer(fd, "206-unable to create VM instance '%s'", args[0]);
    vm = vms[slot] = calloc(1, sizeof *vm);
    snprintf(vm->name, sizeof vm->name, "%s", args[0]), snprintf(vm->platform, sizeof vm->platform, "%.15s", args[2]);
    vm->id = atoi(args[1]), vm->listeners[0] = vm->listeners[1] = -1;
    if (!strcmp(args[2], "c1700")) bind_(vm, 0, 0, "C1700-MB-1ETH");
    else if (!strcmp(args[2], "c2600")) bind_(vm, 0, 0, "CISCO2600-MB-1E");
    else if (strcmp(args[2], "c3600") && strcmp(args[2], "c7200")) bind_(vm, 0, 0, "GT96100-FE");
    return answer(fd, "100-VM '%s' created", args[0]);
  }
  if (!strcmp(command, "list")) {
    for (int i = 0; i < maxVms; i++) if (vms[i]) answer(fd, "101 %s (%s)", vms[i]->name, vms[i]->platform);
    return answer(fd, "100-OK");
  }
  if (!strcmp(command, "list_con_ports")) return answer(fd, "100-OK");
  if (!vm) return answer(fd, "207-unable to find VM '%s'", args[0]); /* made up */
  if (!strcmp(command, "delete") || !strcmp(command, "clean_delete")) {
    if (vm->status) return answer(fd, "206-unable to delete VM instance '%s'", args[0]); /* made up */
    deleteVm(vm);
    return answer(fd, "100-VM '%s' deleted", args[0]);
  }
  if (!strcmp(command, "rename")) {
    snprintf(vm->name, sizeof vm->name, "%s", args[1]);
    return answer(fd, "100-VM '%s' renamed to '%s'", args[0], args[1]);
  }
  if (!strcmp(command, "start")) {
    if (vm->status || !startVm(vm)) return answer(fd, "209-unable to start VM instance '%s'", args[0]);
    return answer(fd, "100-VM '%s' started", args[0]);
  }
  if (!strcmp(command, "stop")) return stopVm(vm), answer(fd, "100-VM '%s' stopped", args[0]);
  if (!strcmp(command, "suspend") || !strcmp(command, "resume")) {
    if (vm->status) vm->status = *command == 's' ? suspended : running;
    return answer(fd, "100-VM '%s' %s", args[0], *command == 's' ? "suspended" : "resumed");
  }
  if (!strcmp(command, "get_status")) return answer(fd, "100-%d", vm->status);
  if (!strcmp(command, "set_ios")) return snprintf(vm->image, sizeof vm->image, "%s", args[1]), answer(fd, "100-IOS image set for '%s'", args[0]);
  if (!strcmp(command, "set_config")) {
    snprintf(vm->startup, sizeof vm->startup, "%s", args[1]), snprintf(vm->private_, sizeof vm->private_, "%s", count > 2 ? args[2] : "");
    return answer(fd, "100-IOS config file set for '%s'", args[0]);
  }
  if (!strcmp(command, "push_config")) return answer(fd, "100-IOS config file pushed tm VM '%s'", args[0]);
  if (!strcmp(command, "extract_config")) {
    char *startup = calloc(text, 1), *private_ = calloc(text, 1);
    if (!readNvram(vm, startup, private_)) answer(fd, "206-unable to extract config of VM '%s'", args[0]);
    else answer(fd, "100-conf '%s' %s %s", args[0], encode(startup), encode(private_)); /* made up */
    free(startup), free(private_);
    return;
  }
  if (!strcmp(command, "set_con_tcp_port")) vm->numbers[0] = atoi(args[1]);
  if (!strcmp(command, "set_aux_tcp_port")) vm->numbers[1] = atoi(args[1]);
  if (!strcmp(command, "set_ram")) vm->ram = atoi(args[1]);
  if (!strcmp(command, "set_disk0")) vm->disk0 = atoi(args[1]);
  if (!strcmp(command, "set_disk1")) vm->disk1 = atoi(args[1]);
  if (!strcmp(command, "set_ghost_status")) vm->ghostStatus = atoi(args[1]);
  if (!strcmp(command, "set_ghost_file")) snprintf(vm->ghost, sizeof vm->ghost, "%s%s%s", *args[1] == '/' ? "" : workingDir, *args[1] == '/' ? "" : "/", args[1]);
  if (!strcmp(command, "set_idle_pc")) vm->idle = strtoull(args[1], 0, 0);
  if (!strcmp(command, "set_idle_pc_online")) vm->idle = strtoull(args[2], 0, 0);
  if (strstr(command, "send_") == command) return answer(fd, "204-Invalid parameter");
  if (!strcmp(command, "get_idle_pc_prop") || !strcmp(command, "show_idle_pc_prop")) {
    if (!vm->status) return answer(fd, "212-Bad CPU specified");
    answer(fd, "101 0x60b5c9d4 [60]"), answer(fd, "101 0x60200f3c [40]"); /* made up */
    return answer(fd, "100-OK");
  }
  if (!strcmp(command, "cpu_usage")) return answer(fd, "100-%d", vm->idle == 0x60200f3c ? 12 : 98); /* made up */
  if (!strcmp(command, "slot_bindings")) {
    for (int i = 0; i < vm->bindingCount; i++) answer(fd, "101 %d/%d: %s", vm->bindings[i].slot, vm->bindings[i].sub, vm->bindings[i].name);
    return answer(fd, "100-OK");
  }
  if (!strcmp(command, "slot_nio_bindings")) {
    for (int i = 0; i < vm->portCount; i++)
      if (vm->ports[i].slot == atoi(args[1]) && vm->ports[i].nio) answer(fd, "101 %d: %s", vm->ports[i].port, vm->ports[i].nio->name);
    return answer(fd, "100-OK");
  }
  if (strstr(command, "slot_") == command) {
    int slot = atoi(args[1]), at = atoi(args[2]);
    struct port *port = portOf(vm, slot, at, 0);
    if (!strcmp(command, "slot_add_binding")) {
      if (!fits(vm, findCard(args[3]), at) || !bind_(vm, slot, at, args[3])) return answer(fd, "205-VM %s: unable to add binding for slot %d/%d", args[0], slot, at);
    } else if (!strcmp(command, "slot_remove_binding")) {
      int i = 0;
      while (i < vm->bindingCount && (vm->bindings[i].slot != slot || vm->bindings[i].sub != at)) i++;
      if (i == vm->bindingCount) return answer(fd, "205-VM %s: unable to remove binding for slot %d/%d", args[0], slot, at); /* made up */
      vm->bindings[i] = vm->bindings[--vm->bindingCount];
    } else if (!strcmp(command, "slot_add_nio_binding")) {
      struct nio **nio = findNio(args[3]);
      if (!nio || !hasPort(vm, slot, at) || !(port = portOf(vm, slot, at, 1)) || port->nio)
        return answer(fd, "205-VM %s: unable to add NIO binding for slot %d/%d", args[0], slot, at); /* made up */
      port->nio = *nio, port->enabled = 0;
    } else if (!strcmp(command, "slot_remove_nio_binding")) {
      if (!port || !port->nio) return answer(fd, "205-VM %s: unable to remove NIO binding for slot %d/%d", args[0], slot, at); /* made up */
      port->nio = 0, port->enabled = 0;
    } else if (!strcmp(command, "slot_enable_nio") || !strcmp(command, "slot_disable_nio")) {
      const char *verb = command[5] == 'e' ? "enable" : "disable";
      if (!vm->status || !port || !port->nio) return answer(fd, "205-VM %s: unable to %s NIO for slot %d/%d", args[0], verb, slot, at);
      port->enabled = *verb == 'e';
    } else if (!vm->status || strcmp(vm->platform, "c7200")) return answer(fd, "205-VM %s: unable to trigger OIR event for slot %d/%d", args[0], slot, at); /* made up */
  }
  answer(fd, "100-OK");
}
static void ofNio(int fd, const char *command, char **args) {
  if (!strcmp(command, "list")) {
    for (int i = 0; i < maxNios; i++) if (nios[i]) answer(fd, "101 %s", nios[i]->name);
    return answer(fd, "100-OK");
  }
  struct nio **found = findNio(args[0]);
  if (!strcmp(command, "create_udp")) {
    int free_ = 0;
    while (free_ < maxNios && nios[free_]) free_++;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(args[1])), .sin_addr.s_addr = htonl(INADDR_ANY)};
    int number = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (found || free_ == maxNios || bind(number, (struct sockaddr *)&at, sizeof at)) {
      close(number);
      return answer(fd, "206-unable to create UDP NIO"); /* made up */
    }
    struct nio *nio = nios[free_] = calloc(1, sizeof *nio);
    snprintf(nio->name, sizeof nio->name, "%s", args[0]);
    nio->fd = number, nio->peer.sin_family = AF_INET, nio->peer.sin_port = htons(atoi(args[3]));
    inet_aton(args[2], &nio->peer.sin_addr);
    return answer(fd, "100-NIO '%s' created", args[0]);
  }
  if (!found) return answer(fd, "207-unable to find NIO '%s'", args[0]); /* made up */
  if (!strcmp(command, "get_stats")) return answer(fd, "100-%lu %lu %lu %lu", (*found)->in, (*found)->out, (*found)->inBytes, (*found)->outBytes);
  if (!strcmp(command, "delete")) {
    for (int i = 0; i < maxVms; i++)
      for (int p = 0; vms[i] && p < vms[i]->portCount; p++) if (vms[i]->ports[p].nio == *found) return answer(fd, "206-NIO '%s' is in use", args[0]); /* made up */
    close((*found)->fd), free(*found), *found = 0;
    return answer(fd, "100-NIO '%s' deleted", args[0]);
  }
  answer(fd, "100-OK");
}
static void ofPlatform(int fd, const char *command, char **args) {
  struct vm *vm = findVm(args[0]);
  if (!vm) return answer(fd, "207-unable to find VM '%s'", args[0]); /* made up */
  if (!strcmp(command, "set_chassis") && !strcmp(vm->platform, "c2600")) {
    char last = args[1][3];
    vm->bindingCount = 0;
    bind_(vm, 0, 0, args[1][2] == '1' && !args[1][4] ? (last == '1' ? "CISCO2600-MB-2E" : "CISCO2600-MB-1E") : last == '1' ? "CISCO2600-MB-2FE" : "CISCO2600-MB-1FE");
  }
  if (!strcmp(command, "set_chassis") && !strcmp(args[1], "3660")) vm->bindingCount = 0, bind_(vm, 0, 0, "Leopard-2FE");
  answer(fd, "100-OK");
}
static void handle(struct peer *peer, char *line) {
  char *words[16];
  int fd = peer->fd, count = split(fd, line, words), known = 0;
  if (count < 0) return;
  if (count < 2) return answer(fd, "200-At least a module and a command must be specified"); /* made up */
  for (int i = 0; modules[i]; i++) known |= !strcmp(modules[i], words[0]);
  if (!known) return answer(fd, "201-Unknown module '%s'", words[0]);
  const struct command *found = commands;
  while (found->name && (strcmp(found->module, words[0]) || strcmp(found->name, words[1]))) found++;
  if (!found->name) return answer(fd, "202-Unknown command '%s'", words[1]);
  if (count - 2 < found->min || count - 2 > found->max) return answer(fd, "203-Bad number of parameters (%d with min/max=%d/%d)", count - 2, found->min, found->max);
  char **args = words + 2;
  if (!strcmp(words[0], "vm")) return ofVm(fd, words[1], args, count - 2);
  if (!strcmp(words[0], "nio")) return ofNio(fd, words[1], args);
  if (words[0][0] == 'c') return ofPlatform(fd, words[1], args);
  if (!strcmp(words[0], "hypervisor")) {
    if (!strcmp(words[1], "version")) return answer(fd, "100-0.2.24-amd64");
    if (!strcmp(words[1], "module_list")) for (int i = 0; modules[i]; i++) answer(fd, "101 %s", modules[i]);
    if (!strcmp(words[1], "cmd_list"))
      for (found = commands; found->name; found++) if (!strcmp(found->module, args[0])) answer(fd, "101 %s (min/max args: %d/%d)", found->name, found->min, found->max);
    if (!strcmp(words[1], "working_dir")) snprintf(workingDir, sizeof workingDir, "%s", args[0]);
    if (!strcmp(words[1], "reset"))
      for (int i = 0; i < maxVms; i++) if (vms[i]) deleteVm(vms[i]);
    answer(fd, "100-OK");
    if (!strcmp(words[1], "stop")) exit(0);
    return;
  }
  answer(fd, "100-OK");
}

static void join(int listener, struct vm *vm, int which) {
  int fd = accept4(listener, 0, 0, SOCK_CLOEXEC), free_ = 0;
  while (free_ < maxPeers && peers[free_]) free_++;
  if (fd < 0 || free_ == maxPeers) return (void)close(fd);
  struct peer *peer = peers[free_] = calloc(1, sizeof *peer);
  peer->fd = fd, peer->vm = vm, peer->which = which;
  if (!vm) return;
  say(peer, "\xff\xfb\x01\xff\xfb\x03\xff\xfd\x18");
  say(peer, "Connected to Dynamips VM \"%s\" (ID %d, type %s) - %s port\r\nPress ENTER to get the prompt.\r\n", vm->name, vm->id, vm->platform, which ? "AUX" : "Console");
}
/* False when the connection has ended. */
static int readPeer(struct peer *peer) {
  unsigned char bytes[4096];
  ssize_t length = recv(peer->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (length <= 0) return 0;
  if (peer->vm) return readConsole(peer, bytes, length), 1;
  for (ssize_t i = 0; i < length; i++) {
    if (bytes[i] != '\n' && peer->length < sizeof peer->line - 1) peer->line[peer->length++] = bytes[i];
    if (bytes[i] != '\n') continue;
    while (peer->length && peer->line[peer->length - 1] == '\r') peer->length--;
    peer->line[peer->length] = 0, peer->length = 0;
    handle(peer, peer->line);
  }
  return 1;
}
int main(int argc, char **argv) {
  int control = -1;
  for (int i = 1; i < argc; i++) {
    char *colon;
    if (strcmp(argv[i], "-H") || i + 1 == argc || !(colon = strchr(argv[i + 1], ':'))) continue;
    *colon = 0;
    control = listenOn(argv[i + 1], atoi(colon + 1));
  }
  printf("Cisco Router Simulation Platform (version 0.2.24-amd64/Linux)\n"), fflush(stdout);
  if (control < 0) return 1;
  for (;;) {
    struct pollfd fds[2 + maxPeers + maxNios + maxVms * 2];
    int count = 0;
    fds[count++] = (struct pollfd){.fd = control, .events = POLLIN};
    for (int i = 0; i < maxPeers; i++) fds[count++] = (struct pollfd){.fd = peers[i] ? peers[i]->fd : -1, .events = POLLIN};
    for (int i = 0; i < maxNios; i++) fds[count++] = (struct pollfd){.fd = nios[i] ? nios[i]->fd : -1, .events = POLLIN};
    for (int i = 0; i < maxVms * 2; i++) fds[count++] = (struct pollfd){.fd = vms[i / 2] ? vms[i / 2]->listeners[i % 2] : -1, .events = POLLIN};
    if (poll(fds, count, -1) < 0) continue;
    if (fds[0].revents) join(control, 0, 0);
    for (int i = 0; i < maxPeers; i++)
      if (fds[1 + i].revents && peers[i] && peers[i]->fd == fds[1 + i].fd && !readPeer(peers[i]) && peers[i]) close(peers[i]->fd), free(peers[i]), peers[i] = 0;
    for (int i = 0; i < maxNios; i++) if (fds[1 + maxPeers + i].revents && nios[i]) readNio(nios[i]);
    for (int i = 0; i < maxVms * 2; i++)
      if (fds[1 + maxPeers + maxNios + i].revents && vms[i / 2] && vms[i / 2]->listeners[i % 2] >= 0) join(vms[i / 2]->listeners[i % 2], vms[i / 2], i % 2);
  }
}
