/** Appliances in GNS3's `.gns3a` format, registry versions up to 6: the image files that a version needs, and the template that it makes. */
import type { NodeType } from '../../src/schema/node.ts';

/** A file that an appliance knows. */
export interface ApplianceImage {
  readonly filename: string;
  readonly version?: string;
  readonly md5sum?: string;
  /** Bytes. */
  readonly filesize?: number;
  readonly download_url?: string;
  readonly direct_download_url?: string;
  /** Compression of the file at `direct_download_url`. */
  readonly compression?: string;
}

export interface ApplianceVersion {
  readonly name: string;
  /** Idle-PC value of IOS routers. */
  readonly idlepc?: string;
  /** Property of a node to the name of a file. */
  readonly images?: Readonly<Record<string, string>>;
}

interface ApplianceSource {
  readonly vendor_name?: string;
  readonly vendor_url?: string;
  readonly product_name?: string;
  readonly product_url?: string;
  readonly documentation_url?: string;
  readonly availability?: string;
}

interface ApplianceFacts {
  readonly name: string;
  readonly category?: string;
  readonly description?: string;
  readonly usage?: string;
  readonly symbol?: string;
  readonly builtin?: boolean;
  readonly registry_version?: number;
  readonly images?: readonly ApplianceImage[];
  readonly versions?: readonly ApplianceVersion[];
}

export type Appliance = ApplianceFacts & ApplianceSource;

type Properties = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Properties => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === 'string';
const isMissingOr = (value: unknown, holds: (value: unknown) => boolean) => value === undefined || holds(value);
const isListOf = (value: unknown, holds: (item: Properties) => boolean) =>
  Array.isArray(value) && value.every((item) => isObject(item) && holds(item));

/** Files come from anywhere. */
export function isAppliance(value: unknown): value is Appliance {
  if (!isObject(value) || !isText(value.name)) return false;
  const hasImages = isMissingOr(value.images, (list) =>
    isListOf(
      list,
      (image) => isText(image.filename) && isMissingOr(image.filesize, Number.isFinite) && hasTexts(image, imageTexts),
    ),
  );
  const hasVersions = isMissingOr(value.versions, (list) =>
    isListOf(
      list,
      ({ name, images }) => isText(name) && isMissingOr(images, (files) => isObject(files) && Object.values(files).every(isText)),
    ),
  );
  return hasImages && hasVersions && hasTexts(value, ownTexts);
}

const ownTexts = [
  ...['category', 'description', 'usage', 'symbol', 'availability', 'vendor_name', 'vendor_url'],
  ...['product_name', 'product_url', 'documentation_url'],
];
const imageTexts = ['version', 'md5sum', 'download_url', 'direct_download_url', 'compression'];
const hasTexts = (value: Properties, keys: readonly string[]) => keys.every((key) => isMissingOr(value[key], isText));

/** The kind of its nodes: the section that the file has. Undefined for a newer format or an unknown emulator. */
export function kindOf(appliance: Appliance, kinds: Iterable<string>): NodeType | undefined {
  return [...kinds].find((kind) => isObject((appliance as unknown as Properties)[kind])) as NodeType | undefined;
}

/** Files of a version, each once. Files that the appliance does not describe have a name only. */
export function imagesOf({ images = [] }: Appliance, version: ApplianceVersion | undefined): readonly ApplianceImage[] {
  const names = new Set(Object.values(version?.images ?? {}));
  return Array.from(names, (filename) => images.find((image) => image.filename === filename) ?? { filename });
}

/** The compute creates these disks itself. */
export const isEmptyDisk = (filename: string) => /^empty\d+[GT]\.qcow2$/.test(filename);

/** The newest version that needs a file of this checksum. */
export function versionWith(appliance: Appliance, md5sum: string): ApplianceVersion | undefined {
  const names = new Set((appliance.images ?? []).flatMap((image) => (image.md5sum === md5sum ? [image.filename] : [])));
  return appliance.versions?.find(({ images }) => Object.values(images ?? {}).some((name) => names.has(name)));
}

export interface TemplateParts {
  readonly name: string;
  readonly kind: NodeType;
  readonly computeId: string;
  readonly version: ApplianceVersion | undefined;
  /** Name of a file in the appliance to its name on the compute. */
  readonly fileNames: ReadonlyMap<string, string>;
  /** Properties that a template of the kind has. */
  readonly known: ReadonlySet<string>;
}

const shared = ['usage', 'symbol', 'port_name_format', 'port_segment_size', 'first_port_name', 'linked_clone'];

/** The body that creates the template; properties that this server does not know are left out. */
export function templateOf(appliance: Appliance, { name, kind, computeId, version, fileNames, known }: TemplateParts): Properties {
  const file = appliance as unknown as Properties;
  const { arch, image, ...section } = file[kind] as Properties;
  const files = Object.entries(version?.images ?? {}).map(([key, filename]) => [
    known.has(key) ? key : 'path',
    fileNames.get(filename) ?? filename,
  ]);
  const all: Record<string, unknown> = {
    ...section,
    ...(arch !== undefined && { platform: arch }),
    ...(image !== undefined && { image }),
    ...Object.fromEntries(shared.flatMap((key) => (key in file ? [[key, file[key]]] : []))),
    ...(version?.idlepc && { idlepc: version.idlepc }),
    ...Object.fromEntries(files),
  };
  const kept = Object.entries(all).filter(([key]) => known.has(key) || key === 'symbol');
  const category = appliance.category === 'multilayer_switch' ? 'switch' : appliance.category;
  return { ...Object.fromEntries(kept), ...(category && { category }), name, template_type: kind, compute_id: computeId };
}
