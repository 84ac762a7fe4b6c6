/**
 * The server's settings: GNS3's sections and keys, so that existing files work, and Patchbay's own. The configuration reader,
 * `--help` and `docs/configuration.md` use this one table.
 */

type Value = string | number | boolean;
type Widen<T> = T extends string ? string : T extends number ? number : T extends boolean ? boolean : never;

export interface Setting<T extends Value = Value> {
  /** Default; an empty path stands for a folder of the data directory. */
  readonly value: T;
  /** Description for `--help` and the documents: one sentence in Markdown. */
  readonly description: string;
  /** The key exists in GNS3 2.2 as well. */
  readonly isGns3: boolean;
}

const gns3 = <T extends Value>(value: T, description: string): Setting<Widen<T>> => setting(value, description, true);
const ours = <T extends Value>(value: T, description: string): Setting<Widen<T>> => setting(value, description, false);

function setting<T extends Value>(value: T, description: string, isGns3: boolean): Setting<Widen<T>> {
  return { value: value as unknown as Widen<T>, description, isGns3 };
}

const table = {
  Server: {
    host: gns3('127.0.0.1', 'Address to listen on'),
    port: gns3(3080, 'Port to listen on; 0 takes a free one'),
    local: gns3(
      true,
      'Whether clients run on this machine and may name any path on it; by default so when `host` is a loopback address',
    ),
    auth: gns3(false, 'Require a login for every request'),
    user: gns3('', 'With `auth`: name of the first administrator'),
    password: gns3(
      '',
      'Password of that user; empty: it is stored as a hash, and the server prints an address to set it at the first start',
    ),
    ssl: gns3(false, 'Answer HTTPS'),
    certfile: gns3('', 'Certificate in PEM form, for `ssl`'),
    certkey: gns3('', 'Private key in PEM form, for `ssl`'),
    console_without_credentials: ours(
      false,
      'With `auth`: consoles need no credentials, as with GNS3: neither their WebSockets nor their ports',
    ),
    allowed_origins: ours(
      'https://gns3.github.io',
      'Comma-separated origins of web pages from other servers that may use this one; the default is GNS3’s web client',
    ),
    allowed_hosts: ours(
      '',
      'Comma-separated names by which clients may address this server without `auth`, and pages of containers always, beside IP addresses, `host` and the machine’s own name',
    ),
    web_ui: ours(
      '',
      'Absolute path of a folder with a build of GNS3’s web UI (`index.html` and its files), which is served at `/static/web-ui/` to everybody who reaches the server: its login is a part of it. Empty: that address leads to the page',
    ),
    image_hosts: ours(
      'appliances',
      'Comma-separated hosts from which images may be downloaded to this server: `[http://|https://]NAME[:PORT]`, `*.NAME` for all below it, https by default; `appliances`: those of the built-in appliances; a host of a private network also needs its address in the list',
    ),
    request_timeout: ours(30, 'Seconds for the headers of a request, and for a body in JSON'),
    upload_idle_timeout: ours(60, 'Seconds that an upload may pause'),
    max_connections_per_client: ours(
      2000,
      'Connections of one client address at a time, WebSockets and event streams among them; 0: unlimited. A proxy in front is one client',
    ),
    max_requests_per_client: ours(2000, 'Requests of one client address that are answered at a time; 0: unlimited'),
    max_uploads_per_client: ours(100, 'Uploads of one client address at a time; 0: unlimited'),
    min_free_bytes: ours(268_435_456, 'Bytes that uploads, copies and captures leave free on the server’s disks; 0: none'),
    allow_remote_console: gns3(false, 'Consoles listen on all addresses, not only on `host`'),
    projects_path: gns3('', 'Folder of projects'),
    images_path: gns3('', 'Folder of images'),
    additional_images_path: gns3('', 'Further folders of images, separated by `;`; read only'),
    symbols_path: gns3('', 'Folder of your own symbols'),
    configs_path: gns3('', 'Folder of start-up configurations that templates name'),
    appliances_path: gns3('', 'Folder of your own appliance files (`.gns3a`), with its subfolders'),
    install_builtin_appliances: gns3(true, 'List the built-in appliances, too'),
    resources_path: gns3('', 'Folder of files that containers are given, such as a static busybox'),
    console_start_port_range: gns3(5000, 'First TCP port of telnet consoles'),
    console_end_port_range: gns3(19999, 'Last TCP port of telnet consoles'),
    vnc_console_start_port_range: gns3(5900, 'First TCP port of VNC and SPICE consoles, 5900 or higher'),
    vnc_console_end_port_range: gns3(10000, 'Last TCP port of VNC and SPICE consoles'),
    udp_start_port_range: gns3(20000, 'First port of links between computes (UDP, and TCP with `link_streams`)'),
    udp_end_port_range: gns3(30000, 'Last port of links between computes'),
    link_streams: ours(true, 'Links between two Patchbay computes use TCP; off: UDP datagrams only'),
    link_encryption: ours(
      'preferred',
      'Links between two Patchbay computes that go over TCP are encrypted; `required`: no link to another compute carries frames in the clear; `off`',
    ),
    clear_credentials: ours(false, 'Send user and password to computes over plain HTTP also at addresses that are not private'),
    snapshot_archives: ours(
      false,
      'Snapshots are GNS3’s archives, which a stock server that opens the project folder can restore; off: folders, which need no packing',
    ),
    same_compute_version: ours(
      true,
      'A remote compute must have the version of this server (what follows a `-` does not count), as GNS3’s releases demand; off: the same major and minor number are enough, as for a `2.2.60.dev1`',
    ),
    default_nat_interface: gns3('virbr0', 'Interface name that NAT nodes show for their port'),
    allowed_interfaces: gns3('', 'Comma-separated interfaces that cloud nodes may use; empty: all'),
    enable_builtin_templates: gns3(true, 'List the built-in templates'),
    answer_client_version: ours(true, 'Answer a GNS3 2.2 client the version that it names itself, as it works with no other'),
    remote_duplicate: ours(false, 'Allow duplication of projects on a server that is not `local`'),
    auto_close_grace: ours(5, 'Seconds after which a project with `auto_close` is closed when its last listener has left'),
    auto_close_running: ours(false, 'Close it even while its nodes run; they are stopped then'),
    run_as: ours(
      '',
      'User that the emulators of a root server run as; empty: `patchbay` if it exists, else one of its own for each node; `root`: root',
    ),
    console_ports: ours(
      true,
      'With `auth`: local users open consoles and screens on their ports, too; off: only by WebSocket, as the page and `patchbay lab console` do',
    ),
    console_users: ours('', 'Comma-separated local users that may open consoles and screens when `auth` is on'),
  },
  Cluster: {
    lease_seconds: ours(
      20,
      'A slice (`patchbay compute --join`) that has not reached the controller for so long pauses its machines; after twice as long it ends them; after three times they are started elsewhere; 5 to 3600',
    ),
    copy_seconds: ours(
      300,
      'While a node runs on a slice whose disks end with its host, its files are copied to this server after so many seconds; 0: only when it stops; up to 86400',
    ),
    engine: ours(
      '',
      '`kubernetes`, `slurm` or `process` (this host): slices are ordered there, as its section says; empty: slices are started by hand',
    ),
    relay_port: ours(
      0,
      'TCP port of the relay for links between computes that do not reach each other; 0: a free port. It is opened when a link may need it',
    ),
    join_url: ours('', 'Address of this server for slices that it places, such as `http://10.0.0.1:3080`; empty: where it listens'),
  },
  Kubernetes: {
    socket: ours(
      '',
      'Unix socket of `kubectl proxy --unix-socket`; empty: the service account of the pod that this server runs in',
    ),
    namespace: ours('', 'Namespace of slices; empty: that of the pod, or `default` through the socket'),
    image: ours('patchbay:latest', 'Image of slices'),
    command: ours('patchbay', 'Program in the image, with its first arguments; blanks separate'),
    claim: ours('', 'Claim (ReadWriteMany) for the disks of slices; empty: disks end with their slice'),
    kvm_resource: ours('', 'Resource of the device plugin that gives `/dev/kvm`, such as `devices.kubevirt.io/kvm`; empty: no KVM'),
    priority_class: ours('', 'Priority class of slices'),
    owner_config_map: ours('', 'ConfigMap of the namespace; when it is deleted, Kubernetes ends the slices'),
    grace: ours(30, 'Seconds between the request to end a slice and its enforcement'),
    largest_cpus: ours(4, 'Processors of the largest slice, where nodes may not be listed'),
    largest_memory: ours(8192, 'MiB of the largest slice, where nodes may not be listed'),
  },
  Slurm: {
    command: ours('patchbay', 'Program on the nodes, with its first arguments; blanks separate'),
    data_folder: ours('', 'Folder that all nodes share, for the disks of slices; empty: disks end with their slice'),
    output_folder: ours('/tmp', 'Folder on the nodes for the output of jobs'),
    partition: ours('', 'Partition; empty: the default one'),
    account: ours('', 'Account'),
    qos: ours('', 'Quality of service'),
    licenses: ours('', 'Licences that each slice takes'),
    kvm_feature: ours('', 'Feature of nodes with `/dev/kvm`; empty: no KVM'),
    minutes: ours(0, 'Time limit of a slice; 0: that of the partition'),
    grace: ours(30, 'Seconds between the request to end a slice and its enforcement'),
  },
  Qemu: {
    enable_hardware_acceleration: gns3(true, 'Use KVM where it works'),
    require_hardware_acceleration: gns3(false, 'Refuse to start a machine without KVM'),
    allow_unsafe_options: gns3(false, 'Accept any QEMU option in a node’s `options`, which then reach the host'),
    acceleration: ours('auto', '`auto` runs a tiny probe guest under KVM, `on` and `off` override its verdict'),
    sandbox: ours(true, 'QEMU filters its own system calls and starts no programs (`-sandbox`)'),
  },
  VPCS: {
    vpcs_path: gns3('vpcs', 'Not used: PCs run inside the fabric'),
    confine: ours(true, 'Not used: PCs run inside the fabric'),
  },
  IOU: {
    iourc_path: gns3(
      '',
      'Licence file of IOU images (`iourc`); empty: what a client has given, or `.iourc` in the server’s home folder',
    ),
    license_check: gns3(true, 'IOU nodes start only with a licence for this host; off: the image decides'),
  },
  Dynamips: {
    dynamips_path: gns3('dynamips', 'The dynamips program'),
    allocate_aux_console_ports: gns3(false, 'Every router has an AUX port, not only one whose `aux` is set'),
    mmap_support: gns3(true, 'Routers may have their RAM in a file that is mapped (`mmap`)'),
    sparse_memory_support: gns3(true, 'Routers may take RAM as they use it (`sparsemem`)'),
    ghost_ios_support: gns3(true, 'Routers with the same image share its memory; needs `mmap_support`'),
  },
  Docker: {
    socket_path: ours(
      '/var/run/docker.sock',
      'Unix socket of the Docker engine; not set: that of `DOCKER_HOST` where this is `unix://…`, else this one',
    ),
  },
  NAT: {
    engine: ours(
      'auto',
      '`qemu` (its user network, any number of guests), `passt` (one guest), or `auto`: the first of them that can serve',
    ),
    passt_path: ours('passt', 'The passt program'),
    qemu_path: ours('', 'The QEMU program for NAT; empty: that of this machine’s architecture'),
    dns_server: ours('', 'Address of the resolver for guests; empty: that of this host. Needs passt'),
    host_access: ours(false, 'Guests may connect to services on this host’s loopback address, through their gateway’s address'),
  },
} satisfies Record<string, Record<string, Setting>>;

type DeclaredSettings = typeof table;
type Sections = {
  -readonly [S in keyof DeclaredSettings]: {
    -readonly [K in keyof DeclaredSettings[S]]: DeclaredSettings[S][K] extends Setting<infer T> ? T : never;
  };
};

/** Complete settings; empty paths have been replaced by folders of the data directory. Frozen. */
export interface Settings extends Sections {
  /** Folder of all server data outside projects: state, runtime records. Absolute. */
  dataDirectory: string;
  /** Short private folder for sockets. */
  runtimeDirectory: string;
}

export type SettingsSections = Sections;
export const settingsTable: Readonly<Record<string, Readonly<Record<string, Setting>>>> = table;

/** Returns all settings at their defaults. */
export function defaultSettings(): SettingsSections {
  const sections = Object.entries(settingsTable).map(([name, keys]) => [name, valuesOf(keys)]);
  return Object.fromEntries(sections) as SettingsSections;
}

function valuesOf(keys: Readonly<Record<string, Setting>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(keys).map(([key, { value }]) => [key, value]));
}
