/**
 * Lists every failure that clients see: a code for programs, an HTTP status, a sentence for users. Domain code throws them; only
 * `http/reply-errors.ts` turns them into answers. `docs/errors.md` explains each; a test compares the two lists.
 */

import { accountFaults } from './account-faults.ts';
import { gns3Faults } from './gns3-faults.ts';
import { presentFaults } from './present-faults.ts';
import { traceFaults } from './trace-faults.ts';

interface Row {
  readonly status: number;
  /** The sentence; `{name}` stands for a field of the fault. */
  readonly says: string;
  /** Value of the key `exception` in answers of the compute API, which controllers act on. */
  readonly exception?: string;
}

const table = {
  ...accountFaults,
  ...gns3Faults,
  // Requests
  invalid_request: { status: 400, says: 'Invalid request: {reason}' },
  malformed_json: { status: 400, says: 'The request body is not valid JSON: {reason}' },
  body_too_large: { status: 413, says: 'The request body exceeds the limit of {limit} bytes' },
  body_too_many_values: { status: 413, says: 'The request body has more than {limit} values: send it in parts' },
  too_many_at_once: { status: 429, says: 'This address has {limit} {what} already: close some, or raise {setting} in [Server]' },
  answers_unread: { status: 429, says: 'Answers of {bytes} bytes to this address were not read: read them, or disconnect' },
  path_too_long: { status: 414, says: 'A part of the request path has more than {limit} characters: shorten it' },
  body_late: { status: 408, says: 'The request body did not arrive within {seconds} s' },
  upload_idle: { status: 408, says: 'Nothing of the upload arrived for {seconds} s: send it again' },
  host_refused: {
    status: 403,
    says: 'This server is not known as "{host}": use its IP address, or add the name to allowed_hosts in [Server]',
  },
  origin_refused: { status: 403, says: 'Pages of {origin} may not use this server: add the origin to allowed_origins in [Server]' },
  upgrade_required: { status: 400, says: 'This address answers WebSocket connections only' },
  not_local: { status: 403, says: 'This needs a local server: start it with --local, or set local = True in [Server] ({what})' },

  version_differs: { status: 409, says: 'The client has version {version}, the server {own}' },

  // Storage
  storage_failed: { status: 507, says: 'The change could not be written and was not made: {reason}' },
  disk_floor: {
    status: 507,
    says: 'There is too little space left on the disk: {reason}. Make room, or lower min_free_bytes in [Server]',
  },
  files_exhausted: {
    status: 503,
    says: 'The server cannot open another file or connection ({code}): raise its limit of open files (ulimit -n, or LimitNOFILE of systemd)',
  },
  project_damaged: { status: 409, says: 'The project file or log of "{name}" is damaged and was left as it is: {reason}' },
  path_forbidden: { status: 403, says: 'The path "{path}" is not allowed: {reason}' },
  file_not_found: { status: 404, says: 'Not Found: the file "{path}" was not found in this project' },

  // Projects
  project_not_found: { status: 404, says: "Project ID {project_id} doesn't exist" },
  project_closed: { status: 403, says: 'The project "{name}" is not opened: open it first' },
  project_name_taken: { status: 409, says: 'There is a project named "{name}" already' },
  project_name_invalid: { status: 400, says: 'The project name is not usable: {reason}' },
  project_file_missing: { status: 409, says: 'There is no project file {path}. Correct the path' },
  project_file_is_copy: {
    status: 409,
    says: 'This is a copy of the project "{name}" in {path}: open that one, delete it first, or load this as a copy with new ids (copy: true)',
  },
  project_id_taken: { status: 409, says: 'There is a project with the id {project_id} already' },
  project_path_taken: { status: 403, says: 'The folder "{path}" exists already' },
  project_newer: {
    status: 409,
    says: 'The project "{name}" was written by a newer program (revision {revision}; this one reads up to {known}): use a newer version',
  },
  project_copy_failed: { status: 409, says: 'The project "{name}" could not be copied: {reason}' },
  project_export_failed: { status: 409, says: 'The project "{name}" could not be exported: {reason}' },
  archive_invalid: { status: 409, says: 'The archive cannot be used: {reason}' },
  archive_image_differs: {
    status: 409,
    says: 'The archive brings the image "{image}", but this server has a different image of that name: rename or remove it first',
  },
  project_delete_failed: { status: 409, says: 'The project "{name}" could not be deleted: {reason}' },

  // Snapshots
  snapshot_not_found: { status: 404, says: "Snapshot ID {snapshot_id} doesn't exist" },
  snapshot_name_taken: { status: 409, says: 'The project has a snapshot named "{name}" already' },
  snapshot_name_invalid: { status: 409, says: 'The snapshot name is not usable: {reason}' },
  snapshot_failed: { status: 409, says: 'The snapshot "{name}" could not be {what}: {reason}' },
  ...presentFaults,
  snapshots_damaged: { status: 409, says: 'The list of snapshots (snapshots.conf) is damaged and was left as it is: {reason}' },
  checkpoint_skipped: { status: 409, says: 'No checkpoint of the project "{name}" was taken: {reason}' },
  freeze_busy: { status: 409, says: 'The project "{name}" is being frozen already: wait until that is done' },

  // Nodes
  ...traceFaults,
  node_not_found: { status: 404, says: "Node ID {node_id} doesn't exist" },
  node_type_unavailable: { status: 409, says: 'Nodes of type {node_type} cannot be created on this compute: {reason}' },
  node_locked: { status: 409, says: 'Node {name} cannot be deleted because it is locked: unlock it first' },
  node_name_exhausted: { status: 409, says: 'No free name is left for "{name}"' },
  node_name_format: { status: 409, says: 'The name format "{format}" is not valid: {reason}' },
  node_running: { status: 409, says: 'Node {name} is running: stop it first to {what}', exception: 'NodeError' },
  memory_not_kept: { status: 409, says: 'The project "{name}" stays open, as its memory could not be kept: {reason}' },
  machine_not_kept: { status: 409, says: 'The machine of {name} cannot be kept for a template: {reason}', exception: 'NodeError' },
  machine_not_found: { status: 404, says: 'There is no machine {machine_id} that was kept for a template' },
  memory_refused: { status: 409, says: 'The saved memory of {name} cannot be restored: {reason}', exception: 'NodeError' },
  node_moving: { status: 409, says: 'Wait until node {name} of "{project}" has been moved to its other compute' },
  move_refused: { status: 409, says: 'Node {name} cannot be moved while it runs: {reason}', exception: 'NodeError' },
  node_not_started: { status: 409, says: 'Node {name} is not started', exception: 'NodeError' },
  node_failed: { status: 409, says: 'Node {name} failed: {reason}', exception: 'NodeError' },
  node_not_convertible: {
    status: 409,
    says: '{name} cannot be converted: nodes of type {node_type} run here, or have no disks',
  },
  node_not_duplicable: { status: 409, says: 'Node {name} cannot be duplicated: nodes of type {node_type} cannot be copied' },
  console_unavailable: {
    status: 409,
    says: 'The console cannot listen on {host} port {port}: {reason}. Choose another console port, or stop the program that uses it',
    exception: 'NodeError',
  },
  node_console: {
    status: 409,
    says: 'The console of node {name} cannot be reached: {reason}',
    exception: 'NodeError',
  },
  node_id_taken: { status: 409, says: 'There is another node with the id {node_id} already', exception: 'NodeError' },

  // Templates
  template_not_found: { status: 404, says: "Template ID {template_id} doesn't exist" },
  template_id_taken: { status: 409, says: 'There is a template with the id {template_id} already' },
  template_name_taken: { status: 409, says: 'The name "{name}" is taken by a template of the same version: choose another' },
  template_built_in: { status: 409, says: 'The template "{name}" is built in and cannot be {what}' },

  // Symbols and appliances
  symbol_unreadable: { status: 404, says: 'The symbol "{symbol_id}" cannot be read: {reason}' },
  appliance_not_found: { status: 404, says: "Appliance ID {appliance_id} doesn't exist" },
  appliance_version_not_found: { status: 404, says: 'The appliance {name} has no version {version}' },
  appliance_conflict: { status: 409, says: 'The appliance {name} cannot be changed or installed so: {reason}' },
  appliance_invalid: { status: 400, says: 'The appliance "{file}" is refused: {reason}' },
  appliances_full: { status: 409, says: 'Too many appliances: {count} of {bytes} bytes, at most {most}. Remove some of {folder}' },
  theme_not_found: { status: 404, says: 'There is no symbol theme "{theme}". Known themes: {known}' },
  appliances_not_fetched: { status: 409, says: 'This server fetches no appliances: put their files (.gns3a) into {folder}' },

  // Links, ports, NIOs
  link_not_found: { status: 404, says: "Link ID {link_id} doesn't exist" },
  link_id_taken: { status: 409, says: 'There is a link with the id {link_id} already' },
  link_ends: { status: 400, says: 'A link has exactly two ends in "nodes", but {count} were given. Name two ports of two nodes' },
  link_itself: { status: 409, says: 'Node {name} cannot be linked to itself. Choose a port of another node' },
  link_types_differ: { status: 409, says: 'A {one} port cannot be connected to a {other} port' },
  link_no_common_network: {
    status: 409,
    says: 'The computes {one} and {other} have no network in common: give them addresses that reach each other',
  },
  link_unfiltered: {
    status: 409,
    says: 'The link between {one} and {other} can have neither filters nor a suspension: both are switches of a GNS3 compute. Place one of them on this server',
  },
  port_not_found: { status: 404, says: 'Port {adapter_number}/{port_number} for {name} not found' },
  port_taken: { status: 409, says: 'Port {adapter_number}/{port_number} of {name} is already used' },
  ports_exhausted: {
    status: 409,
    says: 'No free {what} port left between {first} and {last}: widen the range in the configuration',
  },
  host_unknown: {
    status: 409,
    says: 'The address of the host "{host}" could not be found: {reason}. Correct the name, or use an IP address',
  },
  udp_port_taken: { status: 409, says: 'UDP port {lport} is used by another node already: choose another port' },
  nio_type: { status: 409, says: 'A NIO of type {type} is not supported by {node_type} nodes' },
  nio_missing: { status: 409, says: 'Port {adapter_number}/{port_number} of {name} is not connected', exception: 'NodeError' },
  adapter_missing: {
    status: 409,
    says: 'Port {adapter_number}/{port_number} does not exist on {name}, which has {count} port(s)',
    exception: 'NodeError',
  },
  uplink_to_uplink: { status: 409, says: 'Both {one} and {other} are uplinks: link each of them to a machine or switch instead' },
  ports_connected: {
    status: 409,
    says: 'The ports of this {kind} cannot be changed while one of them is connected: delete its links first',
    exception: 'NodeError',
  },
  schedule_invalid: { status: 400, says: 'The schedule cannot be used: {reason}' },
  schedule_missing: { status: 404, says: 'Link {link_id} has no schedule' },
  schedule_unsupported: {
    status: 409,
    says: 'Link {link_id} cannot have a schedule: the compute of {name} does not run any. Use a link with an end on a Patchbay compute',
  },
  mirror_missing: { status: 404, says: 'Link {link_id} is not mirrored' },
  mirror_node: {
    status: 409,
    says: 'Frames cannot be mirrored to {name}, which is of kind {kind}: choose a machine or a container',
    exception: 'NodeError',
  },
  mirror_port: {
    status: 409,
    says: 'Frames cannot be mirrored to port {adapter_number}/{port_number} of {name}: both it and the link must be Ethernet',
  },
  mirror_unsupported: {
    status: 409,
    says: 'Link {link_id} cannot be mirrored to {name}: neither of its ends is on a Patchbay compute that mirrors links',
  },
  filter_invalid: { status: 400, says: 'Filter {name}: {reason}. Known filters: {known}' },
  capture_active: {
    status: 409,
    says: 'Port {adapter_number}/{port_number} of {name} is being captured already: stop that capture first',
    exception: 'NodeError',
  },
  capture_missing: { status: 409, says: 'Port {adapter_number}/{port_number} of {name} is not captured', exception: 'NodeError' },
  capture_file_invalid: { status: 400, says: '"{file}" is not a valid name of a capture file: {reason}' },
  capture_file_taken: { status: 409, says: 'Another capture writes to "{file}": choose another name', exception: 'NodeError' },
  capture_file_active: { status: 409, says: 'A capture writes to "{file}": stop it first' },
  capture_id_taken: { status: 409, says: 'There is a capture with the id {capture_id} already' },
  captures_full: { status: 409, says: 'The link {link_id} has {most} captures: stop one of them first' },
  capture_not_found: { status: 404, says: 'The link {link_id} has no capture with the id {capture_id}' },
  capture_no_end: { status: 409, says: 'This link cannot be captured: neither {one} nor {other} is running. Start one of them' },
  capture_link_active: { status: 409, says: 'The link {link_id} is being captured already: stop that capture first' },
  capture_link_missing: { status: 409, says: 'The link {link_id} is not captured: start a capture first' },
  link_failed: { status: 409, says: 'The link could not be created: {reason}' },
  fabric_unavailable: { status: 409, says: 'The fabric does not answer: {reason}. Try again in a second' },
  statistics_failed: { status: 409, says: 'The statistics of this host could not be read: {reason}' },

  drawing_not_found: { status: 404, says: "Drawing ID {drawing_id} doesn't exist" },
  drawing_id_taken: { status: 409, says: 'There is a drawing with the id {drawing_id} already' },
  drawing_locked: { status: 409, says: 'The drawing {drawing_id} cannot be deleted because it is locked: unlock it first' },
  nothing_to_undo: { status: 409, says: 'There is nothing to {what}' },
  undo_conflict: { status: 409, says: 'The step cannot be reverted: {reason}. Nothing was changed' },

  // Labs
  lab_invalid: { status: 400, says: 'The lab file cannot be used: {reason}' },
  images_busy: { status: 409, says: 'Images of containers are being made already: wait until that is done' },
  checks_running: { status: 409, says: 'The checks of {name} run already: wait for their verdict' },
  checks_busy: { status: 429, says: 'The checks of {limit} projects run already: wait until those of one have ended' },

  // Computes
  compute_not_found: { status: 404, says: "Compute ID {compute_id} doesn't exist" },
  compute_name_taken: { status: 409, says: 'There is a compute named "{name}" already' },
  compute_id_reserved: { status: 400, says: 'The compute id or name "{name}" is reserved' },
  compute_unreachable: { status: 409, says: "Cannot connect to compute '{name}' with request {request}: {reason}" },
  credentials_in_clear: {
    status: 409,
    says: "The user and password of compute '{name}' would cross the network in the clear to {address}: use https, or set clear_credentials = True in [Server]",
  },
  compute_refused: { status: 409, says: "Compute '{name}' cannot be used: {reason}" },
  compute_reply_invalid: {
    status: 409,
    says: "Compute '{name}' answered {request} with a reply that cannot be used: {reason}. Run the same version on both servers",
  },
  compute_error: { status: 409, says: '{message}' },
  compute_bad_request: { status: 400, says: 'Bad request {request}: {message}' },
  compute_unauthorized: { status: 401, says: "Compute '{name}' does not accept the user and password it was registered with" },
  compute_forbidden: { status: 403, says: '{message}' },
  compute_route_missing: { status: 404, says: '{request} not found' },
  compute_timeout: { status: 408, says: "Compute '{name}' did not answer {request} in time" },
  compute_failed: { status: 500, says: "Compute '{name}' failed on {request}: {message}" },
  vm_engine_missing: {
    status: 409,
    says: 'The engine {engine} is not available: this server runs no GNS3 VM. Register a running one as a compute',
  },
  slice_token_refused: { status: 403, says: 'The token is unknown, expired or used: make one with patchbay slices invite' },
  slice_not_found: { status: 404, says: "Slice {compute_id} doesn't exist: it never joined, or its compute was deleted" },
  slice_in_use: { status: 409, says: 'Slice {name} is used by {projects}: drain it, close these, or delete it with ?force=true' },
  no_compute_fits: { status: 409, says: 'No compute has room for a {node_type} node of {memory} MiB: add or name one' },
  engine_missing: { status: 409, says: 'This server has no engine "{engine}" (it has {known}): set engine in [Cluster]' },
  engine_refused: { status: 409, says: 'The engine {engine} does not place this slice: {reason}' },
  slice_refused: { status: 403, says: 'The secret of slice {compute_id} is wrong, or another process of it takes its place' },
  lease_expired: { status: 503, says: 'Node {name} cannot be started while its compute has lost its controller' },
  request_outdated: {
    status: 409,
    says: 'This request is of epoch {epoch} of the slice, which was lost since: its epoch is {current}. Send it again',
  },
  compute_busy: { status: 503, says: "Compute '{name}' cannot answer {request} now: {message}" },

  // Emulators
  qemu_failed: { status: 409, says: '{reason}', exception: 'QemuError' },
  qemu_binary_missing: {
    status: 409,
    says: 'The emulator "{path}" was not found on this compute: install it ({package}) or choose one of: {known}',
    exception: 'QemuError',
  },
  qemu_option_unsafe: {
    status: 409,
    says: 'The QEMU option {option} is refused: {reason}. Remove it, or set allow_unsafe_options = True in [Qemu] of the server',
    exception: 'QemuError',
  },
  image_missing: {
    status: 409,
    says: 'The image "{image}" was not found: upload it to this compute, or correct the path',
    exception: 'ImageMissingError',
  },
  image_not_found: { status: 404, says: 'There is no image "{image}" on this server' },
  image_damaged: { status: 409, says: "The image {image} arrived damaged at compute '{name}': upload it there again" },
  image_transfer_missing: { status: 404, says: 'Transfer {transfer_id} of an image is not under way' },
  image_host_refused: { status: 403, says: 'Images are not downloaded from {host}: {reason}' },
  download_failed: { status: 409, says: 'The image could not be downloaded from {host}: {reason}' },
  image_refused: { status: 409, says: 'The image "{image}" is refused: {reason}', exception: 'NodeError' },
  form_invalid: {
    status: 400,
    says: 'The form cannot be used: {reason}. Send the file as a file of the form (curl -F file=@FILE), or by itself as the body (curl --data-binary @FILE)',
  },
  image_in_use: { status: 409, says: 'The image "{image}" is used by {users}: delete them first, or change their images' },
  image_not_allowed: {
    status: 409,
    says: 'The image "{image}" lies outside the image folders of this server: upload it, or use its name only',
    exception: 'NodeError',
  },
  tool_missing: { status: 409, says: '{tool} was not found on this compute: install it (package {package})' },
  run_as_failed: {
    status: 409,
    says: 'Emulators cannot run without the rights of root: {reason}. Correct run_as in [Server]; run_as = root runs them as root',
    exception: 'NodeError',
  },
  docker_failed: { status: 409, says: '{reason}', exception: 'DockerError' },
  docker_engine_missing: {
    status: 409,
    says: 'There is no Docker engine at {socket} ({reason}): install it (Debian: apt install docker.io), or set socket_path in [Docker]',
    exception: 'DockerError',
  },
  nat_failed: { status: 409, says: 'The NAT uplink could not be opened: {reason}', exception: 'NodeError' },
  interface_unavailable: { status: 409, says: 'The interface "{interface}" cannot be used: {reason}', exception: 'NodeError' },
  capability_missing: {
    status: 409,
    says: '{what} needs the capability {capability}, which this server does not have: {remedy}',
    exception: 'NodeError',
  },
  emulator_absent: { status: 409, says: 'This compute cannot {what}: {reason}' },
  router_platform: {
    status: 409,
    says: 'A router of platform {platform} cannot have these properties: {reason}',
    exception: 'DynamipsError',
  },
  address_invalid: { status: 409, says: '"{address}" is not an IPv4 address: write four numbers with dots between them' },
  node_number_taken: {
    status: 409,
    says: 'Another node has the {property} {number} already: choose another, or omit it',
    exception: 'NodeError',
  },
  node_numbers_exhausted: {
    status: 409,
    says: 'No number is left for another {node_type} node (1 to {last}): delete one',
    exception: 'NodeError',
  },
  confinement_failed: {
    status: 409,
    says: '{program} cannot be confined on this compute: {reason}. Install bubblewrap and permit namespaces',
    exception: 'NodeError',
  },
  iou_failed: { status: 409, says: '{reason}', exception: 'IOUError' },
  dynamips_failed: { status: 409, says: '{reason}', exception: 'DynamipsError' },
  idlepc_not_found: {
    status: 409,
    says: 'No idle-PC value was found for {name}: none of {count} proposals lets the processor idle. Let the router boot, then try again',
    exception: 'DynamipsError',
  },
  vpcs_failed: { status: 409, says: '{reason}', exception: 'VPCSError' },
} as const satisfies Record<string, Row>;

type FaultTable = typeof table;
export type FaultCode = keyof FaultTable;
type FieldNames<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | FieldNames<Rest> : never;
type FaultFields<C extends FaultCode> = Record<FieldNames<FaultTable[C]['says']>, string | number>;

/** A failure of the table with its fields filled in. `message` is the sentence for users. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly status: number;
  readonly exception: string | undefined;
  /** Keys added to the answer's body, such as `image` of a missing image. */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: FaultCode, message: string, options: { cause?: unknown; extra?: Record<string, unknown> }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const row: Row = table[code];
    this.name = 'Fault';
    this.code = code;
    this.status = row.status;
    this.exception = row.exception;
    this.extra = options.extra ?? {};
  }
}

/** Makes the fault `code`. Fields longer than 5,000 characters are cut. */
export function fault<C extends FaultCode>(
  code: C,
  fields: FaultFields<C>,
  options: { cause?: unknown; extra?: Record<string, unknown> } = {},
): Fault {
  const values = fields as Record<string, string | number>;
  const message = table[code].says.replace(/\{(\w+)\}/g, (_, name: string) => shorten(String(values[name] ?? '')));
  return new Fault(code, message, options);
}

export function isFault(error: unknown, code?: FaultCode): error is Fault {
  return error instanceof Fault && (code === undefined || error.code === code);
}

/** Lists the table's rows, for documents and tests. */
export function faultRows(): { code: FaultCode; status: number; says: string }[] {
  return Object.entries(table).map(([code, row]) => ({ code: code as FaultCode, status: row.status, says: row.says }));
}

/** Limits a field: reasons contain the last 4 KiB of an emulator's output, but a name from a client must not fill the screen. */
function shorten(text: string): string {
  return text.length <= 5000 ? text : `${text.slice(0, 5000)}…`;
}
