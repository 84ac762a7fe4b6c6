/**
 * Retries a request that a compute refused for lack of an image, once this server has sent its copy of the image there. A compute gets only
 * images that the node names: its answers are not trusted to choose among those of this server.
 */
import { type Fault, isFault } from '../../../api/faults.ts';
import { canonical } from '../../model/canonical.ts';
import { findKind, kindOf, lackIn } from '../../model/node.ts';
import { imageProperties, namesImage } from '../../model/node-images.ts';
import type { NodeEntry } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';
import type { OpenNode } from './open-node.ts';

/** A node has so many properties that name images, and more. */
const maxSent = 16;

/** Choices of the request that makes a node. */
export interface Lenience {
  /** A node whose image or program its compute does not have becomes part of the project all the same, and is made there at its start. */
  readonly mayLack?: boolean;
  /** A node whose compute makes it without its image is refused as well. */
  readonly isStrict?: boolean;
  /** A node that its compute cannot make now becomes part of the project all the same, and is made there later. */
  readonly isKept?: boolean;
}

/** Returns the choices by `strict` of a request; by default a node is made where GNS3 makes one, or its compute does. */
export const lenienceOf = (strict: boolean | undefined): Lenience => ({ mayLack: strict === false, isStrict: strict === true });

/**
 * `sent`: properties that the node gets by this call. The answer of a compute that made the node without its image counts as a refusal.
 * @throws what `call` throws; `image_missing` when this server has not got the image either, or another one of that name
 */
export async function withImages<T>(
  host: Pick<ProjectContext, 'computes' | 'notify'>,
  node: OpenNode,
  call: () => Promise<T>,
  sent: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const compute = node.requireCompute();
  const { node_type } = node.entry;
  const wantedNode = node.withProperties(sent);
  const tried = new Set<string>();
  const send = async (image: unknown): Promise<boolean> => {
    const canSend = typeof image === 'string' && !compute.isLocal && findKind(node_type)?.images !== undefined;
    if (!canSend || !namesImage(wantedNode, image) || tried.has(image) || tried.size >= maxSent) return false;
    tried.add(image);
    const wanted = { compute, nodeType: node_type, image, md5sum: expectedSum(node, image) };
    return host.computes.images.send(wanted, (action, event) => host.notify(action, event));
  };
  for (;;) {
    try {
      const answer = await call();
      const { command_line = null } = (answer ?? {}) as { readonly command_line?: string | null };
      const lacked = lackIn(command_line) === undefined ? [] : imageProperties(wantedNode).map((key) => wantedNode.properties[key]);
      if (!(await sendAny(lacked, send))) return answer;
    } catch (error) {
      if (!(await send(isFault(error, 'image_missing') ? error.extra.image : undefined))) throw error;
    }
  }
}

/** Whether one of the images was sent; why another one could not be is said when its node starts. */
async function sendAny(images: readonly unknown[], send: (image: unknown) => Promise<boolean>): Promise<boolean> {
  for (const image of images) if (await send(image).catch(() => false)) return true;
  return false;
}

/**
 * Returns whether a compute refused a node for something that its users can bring later: an image, a program, an engine. Such a node can be part of
 * a project all the same; its start says what to bring.
 */
export function isLack(error: unknown): error is Fault {
  if (isFault(error, 'docker_failed')) return typeof error.extra.image === 'string';
  return lacks.some((code) => isFault(error, code));
}

const lacks = ['image_missing', 'qemu_binary_missing', 'docker_engine_missing', 'tool_missing', 'capability_missing'] as const;

/** Throws an error again, unless it says what a node lacks. */
export function unlessLacking(error: unknown): void {
  if (!isLack(error)) throw error;
}

/** Completes a node that its compute does not have yet: its properties have the values that a compute would choose. */
export function lacking(node: OpenNode, { message }: Error): void {
  const { entry } = node;
  const { nodeDefaults = {} } = kindOf(entry.node_type);
  node.setEntry(canonical<NodeEntry>({ ...entry, properties: { ...nodeDefaults, ...entry.properties } }));
  node.problem = message;
}

/** Returns the checksum that the project has for the image: another image of the same name has another one. */
function expectedSum({ entry }: OpenNode, image: string): string | undefined {
  const key = imageProperties(entry).find((property) => entry.properties[property] === image);
  const sum = key === undefined ? undefined : entry.properties[`${key}_md5sum`];
  return typeof sum === 'string' && sum !== '' ? sum : undefined;
}
