/** Failures of requests that only `/v3` has: rows of the table in `faults.ts`. */
export const gns3Faults = {
  compute_registered: { status: 400, says: 'The compute "{name}" is registered already, as {compute_id}' },
  symbol_fixed: { status: 403, says: 'The symbol "{symbol_id}" cannot be deleted: it is built in, or there is none' },
  wrong_node_type: { status: 400, says: 'Nodes of type {node_type} cannot do this: {request}' },
  compression_level: { status: 400, says: 'The compression {compression} has {levels}: correct compression_level' },
  link_no_uplink: { status: 409, says: 'The link {link_id} has no end on an interface or tunnel of a cloud or NAT node' },
} as const;
