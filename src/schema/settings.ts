/**
 * The server's settings: sections and keys of the established configuration file, so that existing files work, and the few of ours.
 * One table; the configuration reader, `--help` and the documents follow from it.
 */
const table = {
  Server: {
    host: '127.0.0.1',
    port: 3080,
    local: true,
    auth: false,
    user: '',
    password: '',
    ssl: false,
    certfile: '',
    certkey: '',
    /** Ours: who may open consoles in a browser without credentials when `auth` is on, as on the established server. */
    console_without_credentials: false,
    /** Ours: comma-separated origins of pages from elsewhere that may use this server; this one is GNS3's web client. */
    allowed_origins: 'https://gns3.github.io',
    /** Ours: comma-separated names by which this server may be addressed, beside the machine's own, `host`, and IP addresses. */
    allowed_hosts: '',
    /** Ours: seconds for the headers of a request, and for a body in JSON. */
    request_timeout: 30,
    /** Ours: the longest time in seconds without a byte of an upload. */
    upload_idle_timeout: 60,
    /** Ours: what one client address may have at a time; 0: any number. A proxy in front counts as one client. */
    max_connections_per_client: 2000,
    max_requests_per_client: 2000,
    max_uploads_per_client: 100,
    /** Ours: bytes that uploads and copies leave free on the disks of the server; 0: none. */
    min_free_bytes: 256 * 2 ** 20,
    allow_remote_console: false,
    projects_path: '',
    images_path: '',
    additional_images_path: '',
    symbols_path: '',
    configs_path: '',
    appliances_path: '',
    resources_path: '',
    console_start_port_range: 5000,
    console_end_port_range: 10000,
    vnc_console_start_port_range: 5900,
    vnc_console_end_port_range: 10000,
    udp_start_port_range: 20000,
    udp_end_port_range: 30000,
    /** Ours: links to other computes that can it, too, go over TCP, at ports of the same range; off: as datagrams only. */
    link_streams: true,
    default_nat_interface: 'virbr0',
    allowed_interfaces: '',
    enable_builtin_templates: true,
    /** Ours: a 2.2 client that names its version is told the same one, for it works with no other. */
    answer_client_version: true,
    /** Ours: duplication for clients of a server that is not local. */
    remote_duplicate: false,
    /** Ours: seconds after which a project with `auto_close` is closed when nobody listens to it any more. */
    auto_close_grace: 5,
    /** Ours: whether it is closed, and its nodes stopped, even while nodes run. */
    auto_close_running: false,
    /** Ours: name of the user that emulators of a server that is root run as; empty: root, too. */
    run_as: '',
  },
  Qemu: {
    enable_hardware_acceleration: true,
    require_hardware_acceleration: false,
    allow_unsafe_options: false,
    /** Ours: `auto` asks a tiny probe guest, `on` and `off` override its verdict. */
    acceleration: 'auto',
    /** Ours: whether QEMU filters its own system calls, where it can. */
    sandbox: true,
  },
  VPCS: { vpcs_path: 'vpcs' },
  Docker: { socket_path: '/var/run/docker.sock' },
  NAT: {
    /** Ours: `qemu`, its user network, for any number of guests; `passt`, for one; `auto`: the first of them that can serve. */
    engine: 'auto',
    passt_path: 'passt',
    /** Ours: empty: the emulator of this machine's architecture. */
    qemu_path: '',
    /** Ours: the address of the resolver for guests; empty: this host's. Only passt can ask another one. */
    dns_server: '',
    /** Ours: guests may connect to what listens on this host's loopback, through the address of their gateway. */
    host_access: false,
  },
} as const satisfies Record<string, Record<string, string | number | boolean>>;

type Widen<T> = T extends string ? string : T extends number ? number : T extends boolean ? boolean : never;
type Sections = { -readonly [S in keyof typeof table]: { -readonly [K in keyof (typeof table)[S]]: Widen<(typeof table)[S][K]> } };

/** Complete settings; empty path values were replaced by folders of the data directory. Frozen. */
export interface Settings extends Sections {
  /** Everything of the server that is not a project: state, runtime records. Absolute. */
  dataDirectory: string;
  /** Short private folder for sockets. */
  runtimeDirectory: string;
}

export type SettingsTable = Record<string, Record<string, string | number | boolean>>;
export const settingsTable: SettingsTable = table;
export type SettingsSections = Sections;
