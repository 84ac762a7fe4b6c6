/**
 * Project files of 1.x (revisions 1 to 4, or none), whose structure was another one, as files of revision 5. Source: GNS3's
 * format's history. Ids that those files do not have are made of what they hold, so that reading twice gives the same.
 */
import { createHash } from 'node:crypto';
import { isUuid } from '../../../schema/common.ts';
import { ForeignMap } from '../../../schema/foreign-map.ts';
import { drawingKeys, fileKeys, linkKeys, nodeKeys, serverKeys, topologyKeys } from '../../../schema/project-1x.ts';
import { drawingsOf } from './drawings-1x.ts';
import { convertNode, type OldNode, type OldNodeMap } from './nodes-1x.ts';
import { integerOr, type Raw, textOr } from './raw.ts';

interface UpgradedProject {
  readonly raw: Raw;
  /** Parts of the file without a counterpart: keys, nodes' ports and links. */
  readonly lost: readonly string[];
}

/** @throws Error whose message names what cannot be read */
export function upgradeFrom1x(given: Raw): UpgradedProject {
  const seed = createHash('sha1').update(JSON.stringify(given)).digest('hex');
  const makeId = (what: string) => uuidOf(`${seed} ${what}`);
  const file = new ForeignMap(given, fileKeys);
  const old = file.map('topology', topologyKeys);
  const lost: string[] = [];
  const computes = computesOf(old.maps('servers', serverKeys), makeId);
  const nodes = old.maps('nodes', nodeKeys).map((node, index) => {
    const id = textOr(node.raw('vm_id'), '');
    const compute_id = computes.get(node.raw('server_id'))?.compute_id ?? 'local';
    return { map: node, ...convertNode(node, { node_id: isUuid(id) ? id : makeId(`node ${index}`), compute_id }) };
  });
  const projectId = textOr(file.raw('project_id'), '');
  const name = textOr(file.raw('name'), 'Untitled');
  const drawings = (['ellipses', 'rectangles', 'notes', 'images'] as const).flatMap((list) =>
    drawingsOf(list, old.maps(list, drawingKeys)),
  );
  const topology = {
    nodes: nodes.map(({ node }) => node),
    links: linksOf(old.maps('links', linkKeys), nodes, makeId, lost),
    drawings: drawings.map((drawing, index) => ({ ...drawing, drawing_id: makeId(`drawing ${index}`) })),
    computes: [...computes.values()].filter(({ compute_id }) => compute_id !== 'local' && compute_id !== 'vm'),
  };
  const raw = {
    name,
    project_id: isUuid(projectId) ? projectId : makeId('project'),
    auto_start: file.raw('auto_start') === true,
    revision: 5,
    type: 'topology',
    version: textOr(file.raw('version'), '1.0'),
    topology,
  };
  for (const { node, map, lost: ofNode } of nodes)
    lost.push(...[...map.unread(), ...ofNode].map((one) => `${String(node.name).slice(0, 100)}: ${one}`));
  // Nodes have reported their own keys.
  return { raw, lost: [...file.unread().filter((one) => !one.startsWith('topology.nodes[')), ...lost] };
}

interface OldCompute {
  readonly compute_id: string;
  readonly host: string;
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
}

function computesOf(
  servers: readonly ForeignMap<keyof typeof serverKeys>[],
  makeId: (what: string) => string,
): Map<unknown, OldCompute> {
  return new Map(
    servers.map((server) => {
      const address = {
        host: textOr(server.raw('host'), 'localhost'),
        port: integerOr(server.raw('port'), 3080),
        protocol: textOr(server.raw('protocol'), 'http'),
      };
      const [id, isLocal, isVm] = [server.raw('id'), server.raw('local') === true, server.raw('vm') === true];
      const identity = isLocal
        ? { compute_id: 'local', name: 'Local' }
        : isVm
          ? { compute_id: 'vm', name: 'GNS3 VM' }
          : { compute_id: makeId(`compute ${id}`), name: `Remote ${id}` };
      return [id, { ...identity, ...address }];
    }),
  );
}

/** Converts links; those to missing nodes or ports are dropped and named. */
function linksOf(
  links: readonly ForeignMap<keyof typeof linkKeys>[],
  nodes: readonly (OldNode & { readonly map: OldNodeMap })[],
  makeId: (what: string) => string,
  lost: string[],
): Raw[] {
  const byOldId = new Map(nodes.map((node) => [node.oldId, node]));
  const endOf = (nodeId: unknown, portId: unknown) => {
    const node = byOldId.get(nodeId);
    const port = node?.ports.get(portId);
    return node && port && { node_id: node.node.node_id, ...port };
  };
  return links.flatMap((link, index) => {
    const ends = [
      endOf(link.raw('source_node_id'), link.raw('source_port_id')),
      endOf(link.raw('destination_node_id'), link.raw('destination_port_id')),
    ];
    if (!ends.includes(undefined)) return [{ link_id: makeId(`link ${index}`), nodes: ends }];
    lost.push(`links[${index}]: a node or port of it does not exist`);
    return [];
  });
}

function uuidOf(text: string): string {
  const hex = createHash('sha1').update(text).digest('hex');
  // RFC 9562, 5.5: version 5, variant 10.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
