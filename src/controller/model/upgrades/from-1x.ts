/**
 * Project files of 1.x (revisions 1 to 4, or none), whose structure was another one, as files of revision 5. Source: GNS3's
 * format's history. Ids that those files do not have are made of what they hold, so that reading twice gives the same.
 */
import { createHash } from 'node:crypto';
import { isUuid } from '../../../schema/common.ts';
import { drawingsOf } from './drawings-1x.ts';
import { convertNode, type OldNode } from './nodes-1x.ts';
import { integerOr, object, objects, type Raw, textOr } from './raw.ts';

/** @throws Error whose message names what cannot be read */
export function upgradeFrom1x(file: Raw): Raw {
  const seed = createHash('sha1').update(JSON.stringify(file)).digest('hex');
  const makeId = (what: string) => uuidOf(`${seed} ${what}`);
  const old = object(file.topology);
  const computes = computesOf(objects(old.servers), makeId);
  const nodes = objects(old.nodes).map((node, index) => {
    const given = textOr(node.vm_id, '');
    const identity = {
      node_id: isUuid(given) ? given : makeId(`node ${index}`),
      compute_id: computes.get(node.server_id)?.compute_id ?? 'local',
    };
    return convertNode(node, identity);
  });
  const projectId = textOr(file.project_id, '');
  return {
    name: textOr(file.name, 'Untitled'),
    project_id: isUuid(projectId) ? projectId : makeId('project'),
    auto_start: file.auto_start === true,
    revision: 5,
    type: 'topology',
    version: textOr(file.version, '1.0'),
    topology: {
      nodes: nodes.map(({ node }) => node),
      links: linksOf(objects(old.links), nodes, makeId),
      drawings: drawingsOf(old).map((drawing, index) => ({ ...drawing, drawing_id: makeId(`drawing ${index}`) })),
      computes: [...computes.values()].filter(({ compute_id }) => compute_id !== 'local' && compute_id !== 'vm'),
    },
  };
}

interface OldCompute {
  readonly compute_id: string;
  readonly host: string;
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
}

function computesOf(servers: readonly Raw[], makeId: (what: string) => string): Map<unknown, OldCompute> {
  return new Map(
    servers.map((server) => {
      const address = {
        host: textOr(server.host, 'localhost'),
        port: integerOr(server.port, 3080),
        protocol: textOr(server.protocol, 'http'),
      };
      const identity =
        server.local === true
          ? { compute_id: 'local', name: 'Local' }
          : server.vm === true
            ? { compute_id: 'vm', name: 'GNS3 VM' }
            : { compute_id: makeId(`compute ${server.id}`), name: `Remote ${server.id}` };
      return [server.id, { ...identity, ...address }];
    }),
  );
}

/** Converts links; those to missing nodes or ports are dropped. */
function linksOf(links: readonly Raw[], nodes: readonly OldNode[], makeId: (what: string) => string): Raw[] {
  const byOldId = new Map(nodes.map((node) => [node.oldId, node]));
  const endOf = (nodeId: unknown, portId: unknown) => {
    const node = byOldId.get(nodeId);
    const port = node?.ports.get(portId);
    return node && port && { node_id: node.node.node_id, ...port };
  };
  return links.flatMap((link, index) => {
    const ends = [endOf(link.source_node_id, link.source_port_id), endOf(link.destination_node_id, link.destination_port_id)];
    return ends.includes(undefined) ? [] : [{ link_id: makeId(`link ${index}`), nodes: ends }];
  });
}

function uuidOf(text: string): string {
  const hex = createHash('sha1').update(text).digest('hex');
  // RFC 9562, 5.5: version 5, variant 10.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
