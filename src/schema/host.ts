/** Reports of a compute about its host. Source: the GNS3 2.2 compute API. */

import { named, nullable, oneOf } from './common.ts';
import { LateCounts } from './link-stats.ts';
import { nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

const bytes = Type.Integer({ minimum: 0, description: 'Bytes' });
const percent = Type.Integer({ minimum: 0, maximum: 100 });
const port = Type.Integer();

/** Fidelity of a compute's emulation: the delay of its fabric, and features that the host lacks. */
export const ComputeFidelity = Type.Object(
  {
    fabric_pid: nullable(
      Type.Integer({ description: 'Process id of the fabric: a new id means a restart; null: the compute does not report it' }),
    ),
    loop_late: nullable({
      ...LateCounts,
      description: 'How late the event loop of the fabric was, every 20 ms; measured while this is requested at least every 90 s',
    }),
    cpu_ticks: Type.Integer({ description: 'Time of all processors since the boot; 0: unknown' }),
    stolen_ticks: Type.Integer({ description: 'Part of cpu_ticks that the hypervisor gave to other machines' }),
  },
  named('ComputeFidelity'),
);

export const HostStatistics = Type.Object(
  {
    memory_total: bytes,
    memory_free: bytes,
    memory_used: bytes,
    swap_total: bytes,
    swap_free: bytes,
    swap_used: bytes,
    cpu_usage_percent: percent,
    memory_usage_percent: percent,
    swap_usage_percent: percent,
    disk_usage_percent: percent,
    load_average_percent: Type.Array(Type.Integer(), { description: 'Over 1, 5 and 15 minutes, by processors' }),
  },
  named('HostStatistics'),
);

export const TakenPorts = Type.Object(
  {
    console_port_range: Type.Array(port),
    console_ports: Type.Array(port),
    udp_port_range: Type.Array(port),
    udp_ports: Type.Array(port),
  },
  named('TakenPorts'),
);

export const NetworkInterface = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    ip_address: Type.String(),
    netmask: Type.String(),
    mac_address: Type.String(),
    type: oneOf(['ethernet', 'tap']),
    special: Type.Boolean(),
  },
  named('NetworkInterface'),
);

export const Image = Type.Object(
  { filename: Type.String(), path: Type.String(), md5sum: nullable(Type.String()), filesize: bytes },
  named('Image'),
);

/** An image of any kind. Not part of GNS3's API. */
export const StoredImage = Type.Object(
  {
    ...Image.properties,
    md5sum: nullable(Type.String({ description: 'null while the sum of a large file is being computed' })),
    node_type: oneOf(nodeTypes),
    folder: Type.String({ description: 'Folder of the kind, below the image folder' }),
    based_on: nullable(Type.String({ description: 'File name of the disk of which this one holds the differences' })),
    created_at: Type.Integer({ description: 'Milliseconds since 1970' }),
    modified_at: Type.Integer({ description: 'Milliseconds since 1970' }),
  },
  named('StoredImage'),
);
export type StoredImage = Static<typeof StoredImage>;

export const Binary = Type.Object({ path: Type.String(), version: Type.String() }, named('Binary'));
