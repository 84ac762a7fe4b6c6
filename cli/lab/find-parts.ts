/** Finds nodes and links by their names on the command line. */
import { LabError, suggestion } from '../../lab/file/lab-error.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import type { ServerClient } from '../server-client.ts';

export interface ProjectParts {
  readonly project: Project;
  readonly path: string;
  readonly nodes: readonly Node[];
  readonly links: readonly Link[];
}

export async function readParts(api: ServerClient, project: Project): Promise<ProjectParts> {
  const path = `/v2/projects/${project.project_id}`;
  const [nodes, links] = await Promise.all([api.json<Node[]>('GET', `${path}/nodes`), api.json<Link[]>('GET', `${path}/links`)]);
  return { project, path, nodes, links };
}

/** Finds a node by name or id. @throws LabError */
export function getNode({ nodes, project }: ProjectParts, word: string): Node {
  const node = nodes.find(({ name, node_id }) => name === word || node_id === word);
  if (!node)
    throw new LabError(
      `${project.name} has no node "${word}"${suggestion(
        word,
        nodes.map(({ name }) => name),
      )}`,
    );
  return node;
}

/** Finds a link by `R1:eth0`, `R1-R2`, `R1:eth0-R2:eth1`, or its id. @throws LabError when no link matches, or several do */
export function getLink(parts: ProjectParts, word: string): Link {
  const found = parts.links.filter((link) => link.link_id === word || isLink(parts, link, word));
  const [link] = found;
  if (link && found.length === 1) return link;
  const known = (found.length > 1 ? found : parts.links).map((one) => linkName(parts, one));
  const problem = found.length > 1 ? 'means several links' : 'is no link of the project';
  throw new LabError(`"${word}" ${problem}. Name one of: ${known.slice(0, 20).join(', ') || 'none'}`);
}

/** Returns a link's name, such as `R1:eth0-R2:eth1`. */
export function linkName(parts: ProjectParts, link: Link): string {
  return endNames(parts, link)
    .map(({ node, port }) => `${node}:${port}`)
    .join('-');
}

export function endNames({ nodes }: ProjectParts, link: Link): { node: string; port: string }[] {
  return link.nodes.map(({ node_id, adapter_number, port_number }) => {
    const node = nodes.find((one) => one.node_id === node_id);
    const port = node?.ports.find((one) => one.adapter_number === adapter_number && one.port_number === port_number);
    return { node: node?.name ?? node_id, port: port?.name ?? `${adapter_number}/${port_number}` };
  });
}

function isLink(parts: ProjectParts, link: Link, word: string): boolean {
  const ends = endNames(parts, link);
  const forms = ends.map(({ node, port }) => [node, `${node}:${port}`]);
  const [one = [], other = []] = forms;
  const pairs = one.flatMap((a) => other.flatMap((b) => [`${a}-${b}`, `${b}-${a}`]));
  return pairs.includes(word) || ends.some(({ node, port }) => `${node}:${port}` === word);
}
