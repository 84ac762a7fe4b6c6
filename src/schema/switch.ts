/** Reports of switches and hubs. Not part of GNS3's API. */
import { named, nullable } from './common.ts';
import { Type } from './type.ts';

const count = Type.Integer({ minimum: 0 });

export const MacEntry = Type.Object(
  {
    mac_address: Type.String(),
    vlan: Type.Integer(),
    port_number: Type.Integer(),
    port_name: nullable(Type.String()),
    age_seconds: Type.Number(),
  },
  named('MacEntry'),
);

export const SwitchPortStats = Type.Object(
  {
    port_number: Type.Integer(),
    received: count,
    received_bytes: count,
    sent: count,
    sent_bytes: count,
    queued: count,
    dropped: Type.Record(Type.String(), count, { description: 'Frames lost, by cause' }),
  },
  named('SwitchPortStats'),
);

/** Highest limit of frames that a port floods in a second. */
export const mostFlooded = 10_000_000;
