/** The appliances of the server, and the images of a compute by kind of node. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Appliance, type ApplianceImage, appliancesOf, isEmptyDisk, kindOf } from '../../src/schema/appliance.ts';
import type { App } from '../state/app.ts';
import { useReadings } from '../ui/readings.ts';
import { type ImageFile, imagesPath } from './images.ts';

export type ImagesByKind = ReadonlyMap<string, readonly ImageFile[]>;

export interface Catalog {
  readonly appliances: Signal<readonly Appliance[] | undefined>;
  readonly images: Signal<ImagesByKind>;
  readonly readAppliances: () => Promise<void>;
  readonly readImages: () => Promise<void>;
}

/** Types whose images are files. */
export const imageKinds = ({ server }: App): string[] =>
  [...server.kinds.value.values()].flatMap(({ node_type, images }) => (images ? [node_type] : []));

export async function readAppliances({ api }: App): Promise<readonly Appliance[]> {
  const listed = await api.get<readonly unknown[]>('/v2/appliances');
  return listed.flatMap(appliancesOf).toSorted((one, other) => one.name.localeCompare(other.name));
}

/** A kind whose list fails has no images here. */
export async function readImages(app: App, computeId: string): Promise<ImagesByKind> {
  const lists = imageKinds(app).map(async (kind) => {
    const files = await app.api.get<readonly ImageFile[]>(imagesPath(computeId, kind)).catch(() => []);
    return [kind, files] as const;
  });
  return new Map(await Promise.all(lists));
}

export function useCatalog(app: App, computeId: string): Catalog {
  const appliances = useSignal<readonly Appliance[] | undefined>(undefined);
  const images = useSignal<ImagesByKind>(new Map());
  const kinds = imageKinds(app).join(' ');
  const begin = useReadings();
  const catalog: Catalog = {
    appliances,
    images,
    readAppliances: async () => {
      appliances.value = await readAppliances(app);
    },
    readImages: async () => {
      const inOrder = begin();
      const read = await readImages(app, computeId);
      inOrder(() => (images.value = read));
    },
  };
  useEffect(() => void app.toasts.attempt(catalog.readAppliances), []);
  useEffect(() => void app.toasts.attempt(catalog.readImages), [computeId, kinds]);
  return catalog;
}

/** Origins from which the server downloads images; none while they are not known. */
export function useImageHosts({ api }: App): Signal<readonly string[]> {
  const hosts = useSignal<readonly string[]>([]);
  const read = async () => {
    hosts.value = await api.get<readonly string[]>('/v2/image_hosts').catch(() => []);
  };
  useEffect(() => void read(), []);
  return hosts;
}

export type ImageState = 'here' | 'unchecked' | 'made' | 'missing' | 'differs';

/** Whether a compute has a file of an appliance, and under which name: by its checksum, or by its name while that is unknown. */
export function stateOf({ filename, md5sum }: ApplianceImage, files: readonly ImageFile[]): { state: ImageState; name: string } {
  const same = files.find((file) => md5sum !== undefined && file.md5sum === md5sum);
  if (same) return { state: 'here', name: same.filename };
  const named = files.find((file) => file.filename === filename);
  if (named && md5sum !== undefined && named.md5sum) return { state: 'differs', name: filename };
  if (named) return { state: md5sum === undefined ? 'here' : 'unchecked', name: filename };
  return { state: isEmptyDisk(filename) ? 'made' : 'missing', name: filename };
}

export const isPresent = (state: ImageState) => state === 'here' || state === 'unchecked' || state === 'made';

/** The appliance that knows a file of this checksum, and its description there. */
export function findByChecksum(app: App, appliances: readonly Appliance[], md5sum: string) {
  for (const appliance of appliances) {
    const image = appliance.images?.find((one) => one.md5sum === md5sum);
    const kind = kindOf(appliance, app.server.kinds.value.keys());
    if (image && kind) return { appliance, image, kind };
  }
  return undefined;
}

/** Addresses in files come from anywhere. */
export const webAddress = (text: string | undefined) => (text !== undefined && /^https?:\/\//i.test(text) ? text : undefined);
