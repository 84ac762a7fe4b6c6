/** Failures of traces and of traffic: a part of the table in `faults.ts`. */
export const traceFaults = {
  trace_same_node: { status: 400, says: 'A packet travels between two nodes: {name} is both' },
  trace_not_joined: { status: 409, says: 'No links lead from {from} to {to}: join them first' },
  trace_no_address: {
    status: 409,
    says: '{name} has no address that is known here: give the address to which the packet is sent',
  },
  trace_too_many: {
    status: 409,
    says: '{most} packets are being traced on this compute: wait until one has arrived',
  },
  trace_not_found: {
    status: 404,
    says: 'There is no trace {trace_id}: its time is over, or the fabric was restarted',
  },
  traffic_not_found: { status: 404, says: 'There is no traffic {traffic_id}: it was removed, or the fabric was restarted' },
  traffic_too_many: {
    status: 409,
    says: 'There are {most} flows of traffic on this compute already: wait until one ends, or delete one',
  },
  traffic_two_computes: {
    status: 409,
    says: 'Traffic from {source} to {sink} cannot be measured: they are on two computes, whose clocks differ',
  },
} as const;
