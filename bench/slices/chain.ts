/**
 * A lab of groups of eight nodes, in a chain: a switch, PCs, and further switches in its link to the next group. The first half of a group's PCs
 * share a VLAN with the group before it, the others with the next one: a broadcast domain has few PCs, as VPCS has only 255 hardware
 * addresses, and leads over a link of the chain and all of its switches.
 */
export const groupSize = 8;
export const mostPcs = groupSize - 1;

export interface Chain {
  readonly body: { readonly nodes: readonly object[]; readonly links: readonly object[] };
  /** Address that each PC is to reach, by the index of the node; undefined for switches. */
  readonly neighbours: readonly (string | undefined)[];
}

/** The slices have about as many groups each, the first ones on the first slice. `pcs`: of a group, 2 to `mostPcs`. */
export function chainOver(slices: readonly string[], groups: number, pcs = mostPcs): Chain {
  const firstHalf = Math.floor(pcs / 2);
  const isPc = (index: number) => index % groupSize > 0 && index % groupSize <= pcs;
  const domainOf = (index: number) => groupOf(index) + (index % groupSize <= firstHalf ? 0 : 1);
  const ports_mapping = Array.from({ length: groupSize + 1 }, (_, port_number) => ({
    name: `Ethernet${port_number}`,
    port_number,
    type: 'access',
    vlan: port_number <= firstHalf ? 1 : 2,
  }));
  const indexes = Array.from({ length: groups * groupSize }, (_, index) => index);
  const nodes = indexes.map((index) => {
    const group = groupOf(index);
    const compute_id = slices[Math.floor((group * slices.length) / groups)];
    const common = { ref: String(index), compute_id };
    if (isPc(index))
      return {
        ...common,
        ...{ name: `PC${index}`, node_type: 'vpcs', properties: { startup_script: `ip ${addressOf(index)}/16\n` } },
      };
    const properties = index % groupSize === 0 ? { ports_mapping } : {};
    return { ...common, name: `S${index}`, node_type: 'ethernet_switch', properties };
  });
  const links = indexes.flatMap((index) => {
    const ofGroup = index - (index % groupSize);
    if (isPc(index)) return [{ nodes: [end(index, 0), end(ofGroup, index - ofGroup)] }];
    if (index === 0) return [];
    const before = isPc(index - 1) ? (index === ofGroup ? index - groupSize : ofGroup) : index - 1;
    return [{ nodes: [end(before, before % groupSize === 0 ? groupSize : 1), end(index, 0)] }];
  });
  const domains = Map.groupBy(indexes.filter(isPc), domainOf);
  const neighbours = indexes.map((index) => {
    if (!isPc(index)) return undefined;
    const domain = domains.get(domainOf(index)) ?? [];
    return addressOf(domain[(domain.indexOf(index) + 1) % domain.length] ?? index);
  });
  return { body: { nodes, links }, neighbours };
}

const groupOf = (index: number) => Math.floor(index / groupSize);
const addressOf = (index: number) => `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`;
const end = (index: number, port_number: number) => ({ ref: String(index), adapter_number: 0, port_number });
