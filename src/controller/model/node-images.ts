/** Images that nodes name in their properties, whatever their kind. Source: GNS3's format of portable projects. */
import { basename } from 'node:path';
import type { NodeType } from '../../schema/node.ts';
import { type ComputeNodeObject, findKind } from './node.ts';
import type { NodeEntry } from './topology.ts';

type NodeWithImages = Pick<NodeEntry, 'node_type' | 'properties'>;

/** Properties that name an image, of those that the node has. */
export function imageProperties({ node_type, properties }: NodeWithImages): string[] {
  const own = findKind(node_type)?.imageProperties;
  const isImage = (key: string) => own?.includes(key) ?? isImageProperty(key);
  return Object.entries(properties).flatMap(([key, value]) =>
    isImage(key) && typeof value === 'string' && value !== '' ? [key] : [],
  );
}

/** Whether a property of a kind that lists none of its own names an image. */
export function isImageProperty(key: string): boolean {
  return key.endsWith('image') || key === 'initrd';
}

/** The folder below the images folder; undefined for kinds without images. */
export function imageFolderOf(nodeType: string): string | undefined {
  return findKind(nodeType as NodeType)?.images?.folder;
}

/** Names the node's images by their base names, as another server needs them. */
export function withBareImages(node: NodeEntry): NodeEntry {
  const bare = imageProperties(node).map((key) => [key, basename(String(node.properties[key]))]);
  return { ...node, properties: { ...node.properties, ...Object.fromEntries(bare) } };
}

/** Whether the node names an image of that name; computes show the same image with another folder. */
export function namesImage(node: NodeWithImages, image: string): boolean {
  return imageProperties(node).some((key) => baseNameOf(String(node.properties[key])) === baseNameOf(image));
}

/** The answer of a remote compute, without images that the node does not name: this server would send what a compute puts in there. */
export function withNamedImages(node: NodeWithImages, answer: ComputeNodeObject): ComputeNodeObject {
  const added = imageProperties({ node_type: node.node_type, properties: answer }).filter(
    (key) => !namesImage(node, String(answer[key])),
  );
  if (added.length === 0) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([key]) => !added.includes(key))) as ComputeNodeObject;
}

/** Computes on Windows separate folders by backslashes. */
function baseNameOf(reference: string): string {
  return reference.split(/[/\\]/).at(-1) ?? '';
}
