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
    default_nat_interface: 'virbr0',
    allowed_interfaces: '',
    enable_builtin_templates: true,
    /** Ours: duplication for clients of a server that is not local. */
    remote_duplicate: false,
  },
  Qemu: {
    enable_hardware_acceleration: true,
    require_hardware_acceleration: false,
    allow_unsafe_options: false,
    /** Ours: `auto` asks a tiny probe guest, `on` and `off` override its verdict. */
    acceleration: 'auto',
  },
  VPCS: { vpcs_path: 'vpcs' },
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
