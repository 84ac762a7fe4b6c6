/** Images that nodes name in their properties, whatever their kind. Source: GNS3's format of portable projects. */
import { basename } from 'node:path';
import type { NodeType } from '../../schema/node.ts';
import { findKind } from './node.ts';
import type { NodeEntry } from './topology.ts';

/** Properties that name an image, of those that the node has. */
export function imageProperties({ node_type, properties }: Pick<NodeEntry, 'node_type' | 'properties'>): string[] {
  const own = findKind(node_type)?.imageProperties;
  const isImage = (key: string) => own?.includes(key) ?? (key.endsWith('image') || key === 'initrd');
  return Object.entries(properties).flatMap(([key, value]) =>
    isImage(key) && typeof value === 'string' && value !== '' ? [key] : [],
  );
}

/** The folder below the images folder; undefined for kinds without images. */
export function imageFolderOf(nodeType: string): string | undefined {
  return findKind(nodeType as NodeType)?.images?.folder;
}

/** As it is on another server: images are named by their base names. */
export function withBareImages(node: NodeEntry): NodeEntry {
  const bare = imageProperties(node).map((key) => [key, basename(String(node.properties[key]))]);
  return { ...node, properties: { ...node.properties, ...Object.fromEntries(bare) } };
}
