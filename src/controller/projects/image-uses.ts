/** Lists the templates and nodes, of open and closed projects, that name an image of a compute. */
import { basename } from 'node:path';
import { fault } from '../../api/faults.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import type { ImageUse, ImageUses } from '../../schema/image-use.ts';
import type { NodeType } from '../../schema/node.ts';
import type { Templates } from '../catalog/templates.ts';
import { localComputeId } from '../computes/compute.ts';
import { topologyOf } from '../log/project-state.ts';
import { imageFolderOf, imageProperties } from '../model/node-images.ts';
import type { NodeEntry } from '../model/topology.ts';
import type { KnownProject } from './project.ts';

interface ImageUsers {
  readonly templates: Pick<Templates, 'list'>;
  readonly projects: Iterable<KnownProject>;
}

/** A template without a compute counts for the local one. Closed projects are read from their files. */
export async function imageUses({ templates, projects }: ImageUsers, computeId: string): Promise<ImageUses> {
  const uses = new Map<string, ImageUse>();
  const unread: string[] = [];
  const usesOf = (item: Pick<NodeEntry, 'node_type' | 'properties'>): ImageUse[] => {
    const folder = imageFolderOf(item.node_type);
    if (folder === undefined) return [];
    const names = new Set(imageProperties(item).map((key) => basename(String(item.properties[key]))));
    return Array.from(names, (image) => {
      const key = `${folder}/${image}`;
      const use = uses.get(key) ?? { node_type: item.node_type, image, templates: [], nodes: [] };
      uses.set(key, use);
      return use;
    });
  };
  for (const template of templates.list()) {
    const { template_id, name, template_type, compute_id } = template;
    if ((compute_id || localComputeId) !== computeId) continue;
    for (const use of usesOf({ node_type: template_type, properties: template })) use.templates.push({ template_id, name });
  }
  await forEachBounded([...projects], concurrency, async (project) => {
    const nodes = await nodesOf(project).catch(() => undefined);
    if (!nodes) unread.push(project.name);
    for (const node of nodes ?? []) {
      if (node.compute_id !== computeId) continue;
      const { node_id, name } = node;
      for (const use of usesOf(node)) use.nodes.push({ project_id: project.id, project: project.name, node_id, name });
    }
  });
  return { images: [...uses.values()], unread };
}

async function nodesOf(project: KnownProject): Promise<readonly NodeEntry[]> {
  const live = await project.findLive();
  return (live ? live.topology() : topologyOf(await project.stored())).nodes;
}

/** A project that cannot be read may use any image. @throws `image_in_use` */
export function requireUnused({ images, unread }: ImageUses, nodeType: NodeType, image: string): void {
  const folder = imageFolderOf(nodeType);
  const use = images.find((one) => one.image === image && imageFolderOf(one.node_type) === folder);
  const users = [
    ...(use?.templates ?? []).map(({ name }) => `the template "${name}"`),
    ...(use?.nodes ?? []).map(({ name, project }) => `"${name}" of the project "${project}"`),
    ...unread.map((name) => `the project "${name}", which cannot be read,`),
  ];
  if (users.length === 0) return;
  const more = users.length - mostNamed;
  throw fault('image_in_use', { image, users: `${users.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}` });
}

/** Most nodes that a message names. */
const mostNamed = 5;
