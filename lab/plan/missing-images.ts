/** Images that the nodes of a plan name and their computes do not have, with size and checksum where an appliance knows them. */
import { basename, isAbsolute } from 'node:path';
import { md5OfImage } from '../../src/schema/appliance.ts';
import type { KindFacts } from '../../src/schema/kind.ts';
import type { Node, NodeType } from '../../src/schema/node.ts';
import type { LabApi } from '../state/lab-api.ts';
import { bounded, type LabCatalog, type LabProjectState } from '../state/lab-state.ts';
import type { LabPlan } from './lab-plan.ts';

export interface MissingImage {
  /** File name, or the name of a container image. */
  readonly image: string;
  readonly kind: NodeType;
  readonly compute: string;
  /** Names of the nodes that need it. */
  readonly nodes: readonly string[];
  /** Bytes, as an appliance says. */
  readonly size?: number;
  /** MD5 checksum, as an appliance or the project says. */
  readonly md5?: string;
  /** Address to download it from, as an appliance says. */
  readonly url?: string;
}

/** An image as computes list it: a file, or an image of a container engine. */
interface AvailableImage {
  readonly filename?: string;
  readonly path?: string;
  readonly image?: string;
}

interface ImageNeed {
  readonly image: string;
  readonly kind: NodeType;
  readonly compute: string;
  readonly node: string;
  readonly md5: string | undefined;
}

/** Lists missing images. A compute that does not answer, or lists no images of a kind, is left out. */
export async function missingImages(
  api: Pick<LabApi, 'json'>,
  plan: LabPlan,
  { state, catalog }: { readonly state: LabProjectState | undefined; readonly catalog: Pick<LabCatalog, 'kinds'> },
): Promise<MissingImage[]> {
  const needs = [...wantedNodes(plan, state?.nodes ?? [])].flatMap((node) => needsOf(node, catalog.kinds.get(node.node_type)));
  const missing: MissingImage[] = [];
  const places = Map.groupBy(needs, ({ compute, kind }) => `${compute} ${kind}`);
  await bounded(places.values(), async (here) => {
    const { compute = '', kind = '' } = here[0] ?? {};
    const images = await api
      .json<AvailableImage[]>('GET', `/v2/computes/${encodeURIComponent(compute)}/${kind}/images`)
      .catch(() => undefined);
    if (!Array.isArray(images)) return;
    const known = new Set(images.flatMap(namesOf));
    // A file may be in a folder. The name of a container image before the last slash says whose image it is.
    const isFile = catalog.kinds.get(kind as NodeType)?.engine_images !== true;
    for (const [image, of] of Map.groupBy(here, (need) => need.image)) {
      if (known.has(image) || (isFile && !isAbsolute(image) && known.has(basename(image)))) continue;
      const md5 = of.find((need) => need.md5)?.md5;
      const nodes = [...new Set(of.map(({ node }) => node))];
      missing.push({ image, kind: kind as NodeType, compute, nodes, ...(md5 && { md5 }) });
    }
  });
  return missing.length === 0 ? missing : withFacts(api, missing);
}

interface ImageOwner extends Pick<Node, 'name' | 'node_type' | 'compute_id'> {
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Returns the nodes as they will be after the plan. */
function* wantedNodes({ nodes }: LabPlan, present: readonly Node[]): Generator<ImageOwner> {
  const steps = new Map(nodes.flatMap((step) => (step.id === undefined ? [] : [[step.id, step]])));
  for (const node of present) {
    const step = steps.get(node.node_id);
    if (step?.action === 'delete' || step?.action === 'replace') continue;
    yield { ...node, properties: { ...node.properties, ...step?.update?.properties } };
  }
  for (const { name, create } of nodes) {
    if (!create) continue;
    const compute_id = create.compute_id === 'auto' ? 'local' : create.compute_id;
    yield { name, node_type: create.node_type, compute_id, properties: create.properties ?? {} };
  }
}

function needsOf(
  { name, node_type: kind, compute_id: compute, properties }: ImageOwner,
  facts: KindFacts | undefined,
): ImageNeed[] {
  if (!facts?.images && !facts?.engine_images) return [];
  const keys = facts.engine_images ? [facts.lab.image ?? ''] : facts.image_properties;
  return keys.flatMap((key) => {
    const image = properties[key];
    if (typeof image !== 'string' || image === '') return [];
    const md5 = properties[`${key}_md5sum`];
    return [{ image, kind, compute, node: name, md5: typeof md5 === 'string' && md5 !== '' ? md5 : undefined }];
  });
}

/** Names by which nodes may mean an image; a container image without a tag is its latest one. */
function namesOf({ filename, path, image }: AvailableImage): string[] {
  const names = [filename, path, image].filter((name) => name !== undefined);
  return [...names, ...names.filter((name) => name.endsWith(':latest')).map((name) => name.slice(0, -':latest'.length))];
}

interface KnownImage {
  readonly filename?: string;
  readonly filesize?: number;
  readonly md5sum?: string;
  readonly checksum?: string;
  readonly direct_download_url?: string;
  readonly download_url?: string;
}

async function withFacts(api: Pick<LabApi, 'json'>, missing: readonly MissingImage[]): Promise<MissingImage[]> {
  const appliances = await api.json<{ images?: unknown }[]>('GET', '/v2/appliances').catch(() => []);
  // Files of users are listed as they are.
  const images = appliances.flatMap(({ images: of }) => (Array.isArray(of) ? (of as (KnownImage | null)[]) : []));
  const facts = new Map(images.flatMap((image) => (image ? [[image.filename, image] as const] : [])));
  return missing
    .map((one): MissingImage => {
      const known = facts.get(basename(one.image)) ?? {};
      const { filesize, direct_download_url, download_url } = known;
      const md5sum = md5OfImage(known);
      const url = direct_download_url || download_url;
      return { ...one, ...(filesize && { size: filesize }), ...(md5sum && { md5: one.md5 ?? md5sum }), ...(url && { url }) };
    })
    .sort((one, other) => (one.image < other.image ? -1 : 1));
}
