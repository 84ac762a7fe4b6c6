/**
 * Reads appliances in GNS3's `.gns3a` format: the image files that a version needs, and the template that it makes. Files of registry
 * version 8, which keep the settings of emulators in a list, are converted to the form of version 6, one appliance for each emulator of
 * the file. The page, plans of labs and the server read them through this file. Source: the description of the format in GNS3's public
 * registry.
 */

type ApplianceFields = Readonly<Record<string, unknown>>;

/** Settings of one emulator. A version of the appliance names them, else those are used that are marked as default. */
interface ApplianceSettings {
  readonly name?: string;
  readonly default?: boolean;
  /** Whether the default settings of the same emulator count where these say nothing (default true). */
  readonly inherit_default_properties?: boolean;
  readonly template_type: string;
  readonly template_properties: ApplianceFields;
}

const isObject = (value: unknown): value is ApplianceFields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the settings of an appliance. Files come from anywhere: entries of another form are left out. */
export function settingsOfAppliance(appliance: object): readonly ApplianceSettings[] {
  const { settings } = appliance as ApplianceFields;
  return Array.isArray(settings) ? settings.filter(isSettings) : [];
}

function isSettings(value: unknown): value is ApplianceSettings {
  return isObject(value) && typeof value.template_type === 'string' && isObject(value.template_properties);
}

/** Returns the MD5 checksum of an image file: `md5sum` up to version 6, `checksum` in version 8. */
export function md5OfImage(image: { readonly md5sum?: unknown; readonly checksum?: unknown; readonly checksum_type?: unknown }) {
  const { md5sum, checksum, checksum_type = 'md5' } = image;
  const sum = md5sum ?? (checksum_type === 'md5' ? checksum : undefined);
  return typeof sum === 'string' && sum !== '' ? sum.toLowerCase() : undefined;
}

/** Returns the settings that a version names, else the default ones, else the only ones. */
function settingsOfVersion(all: readonly ApplianceSettings[], name: unknown): ApplianceSettings | undefined {
  return all.find((one) => one.name !== undefined && one.name === name) ?? all.find((one) => one.default === true) ?? all[0];
}

/** Returns the properties of a template: those of the settings over those of the default settings of the same emulator. */
function templateProperties(all: readonly ApplianceSettings[], chosen: ApplianceSettings): ApplianceFields {
  const inherits = chosen.default !== true && chosen.inherit_default_properties !== false;
  const base = inherits ? all.find((one) => one.default === true && one.template_type === chosen.template_type) : undefined;
  return { ...base?.template_properties, ...chosen.template_properties };
}

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
  /** ApplianceFields of the template, in place of the appliance's. */
  readonly section?: ApplianceFields;
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

const isText = (value: unknown) => typeof value === 'string';
const isMissingOr = (value: unknown, holds: (value: unknown) => boolean) => value === undefined || holds(value);
const isListOf = (value: unknown, holds: (item: ApplianceFields) => boolean) =>
  Array.isArray(value) && value.every((item) => isObject(item) && holds(item));

/** Returns the appliances of a file: one for each emulator, none for other JSON. Files come from anywhere. */
export function appliancesOf(content: unknown): Appliance[] {
  if (!isAppliance(content)) return [];
  const settings = settingsOfAppliance(content);
  const types = [...new Set(settings.map((one) => one.template_type))].filter(isNoField).slice(0, mostEmulators);
  return types.length === 0 ? [content] : types.map((type) => ofEmulator(content, settings, type, types.length > 1));
}

/** Most emulators of one file that are read. */
const mostEmulators = 8;

function isAppliance(value: unknown): value is Appliance {
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
      (version) =>
        isText(version.name) &&
        isMissingOr(version.images, (files) => isObject(files) && Object.values(files).every(isText)) &&
        hasTexts(version, loginTexts),
    ),
  );
  return hasImages && hasVersions && hasTexts(value, ownTexts);
}

const loginTexts = ['usage', 'installation_instructions', 'default_username', 'default_password'];
const ownTexts = [
  ...['category', 'description', 'symbol', 'availability', 'vendor_name', 'vendor_url'],
  ...['product_name', 'product_url', 'documentation_url', ...loginTexts],
];
/** The part about an emulator stands under its name, which must not be that of another field. */
const isNoField = (type: string): boolean => !['name', 'images', 'versions', ...ownTexts].includes(type);
const imageTexts = ['version', 'md5sum', 'checksum', 'download_url', 'direct_download_url', 'compression'];
const hasTexts = (value: ApplianceFields, keys: readonly string[]) => keys.every((key) => isMissingOr(value[key], isText));

/** Fields of a version that replace those of the appliance in its template. */
const versionFields = ['category', 'symbol', 'first_port_name', 'port_name_format', 'port_segment_size'];

/** Returns the part of a file of version 8 that is about one emulator, in the form of version 6. */
function ofEmulator(file: Appliance, settings: readonly ApplianceSettings[], type: string, isOneOfSeveral: boolean): Appliance {
  const { settings: _settings, images, versions, ...facts } = file as Appliance & { settings: unknown };
  const own = settings.filter((one) => one.template_type === type);
  const base = settingsOfVersion(own, undefined);
  const usage = usageOf(file, {});
  const ownVersions = (versions as readonly (ApplianceVersion & ApplianceFields)[] | undefined)?.flatMap((version) => {
    const chosen = settingsOfVersion(settings, version.settings);
    if (chosen?.template_type !== type) return [];
    const fields = Object.fromEntries(versionFields.flatMap((key) => (key in version ? [[key, version[key]]] : [])));
    const text = usageOf(file, version);
    return [{ ...version, section: { ...templateProperties(settings, chosen), ...fields, ...(text && { usage: text }) } }];
  });
  const used = new Set(ownVersions?.flatMap((version) => Object.values(version.images ?? {})));
  return {
    ...facts,
    name: isOneOfSeveral ? `${file.name} (${type})` : file.name,
    ...(usage && { usage }),
    [type]: base && templateProperties(settings, base),
    ...(images && { images: images.filter(({ filename }) => !isOneOfSeveral || used.has(filename)).map(withMd5) }),
    ...(ownVersions && { versions: ownVersions }),
  } as Appliance;
}

function withMd5(image: ApplianceImage): ApplianceImage {
  const { md5sum: _md5sum, ...others } = image;
  const md5sum = md5OfImage(image);
  return { ...others, ...(md5sum !== undefined && { md5sum }) };
}

/** Returns how a machine is used, with how its image is got and its first login. */
function usageOf(file: Appliance, version: ApplianceFields): string {
  const {
    usage,
    installation_instructions,
    default_username: user,
    default_password: password,
  } = {
    ...file,
    ...version,
  } as ApplianceFields;
  const login = [user && `User name: ${user}`, password && `Password: ${password}`].filter(Boolean).join('. ');
  return [usage, installation_instructions, login].filter(Boolean).join('\n');
}

/** The kind of its nodes: the section that the file has. Undefined for a newer format or an unknown emulator. */
export function kindOf<Kind extends string>(appliance: Appliance, kinds: Iterable<Kind>): Kind | undefined {
  return [...kinds].find((kind) => isObject((appliance as unknown as ApplianceFields)[kind]));
}

/** Returns the properties of the template of a version. */
export function sectionOf(appliance: Appliance, kind: string, version: ApplianceVersion | undefined): ApplianceFields {
  return version?.section ?? ((appliance as unknown as ApplianceFields)[kind] as ApplianceFields);
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

interface ApplianceTemplateParts {
  readonly name: string;
  readonly kind: string;
  readonly computeId: string;
  readonly version: ApplianceVersion | undefined;
  /** Name of a file in the appliance to its name on the compute. */
  readonly fileNames: ReadonlyMap<string, string>;
  /** ApplianceFields that a template of the kind has. */
  readonly known: ReadonlySet<string>;
}

const shared = ['usage', 'symbol', 'port_name_format', 'port_segment_size', 'first_port_name', 'linked_clone'];

/** The body that creates the template; properties that this server does not know are left out. */
export function templateOf(
  appliance: Appliance,
  { name, kind, computeId, version, fileNames, known }: ApplianceTemplateParts,
): ApplianceFields {
  const file = appliance as unknown as ApplianceFields;
  const { arch, image, category: ofSection, ...section } = sectionOf(appliance, kind, version);
  const files = Object.entries(version?.images ?? {}).map(([key, filename]) => [
    known.has(key) ? key : 'path',
    fileNames.get(filename) ?? filename,
  ]);
  const all: Record<string, unknown> = {
    ...Object.fromEntries(shared.flatMap((key) => (key in file ? [[key, file[key]]] : []))),
    ...section,
    ...(arch !== undefined && { platform: arch }),
    ...(image !== undefined && { image }),
    ...(version?.idlepc && { idlepc: version.idlepc }),
    ...Object.fromEntries(files),
  };
  const kept = Object.entries(all).filter(([key]) => known.has(key) || key === 'symbol');
  const category = typeof ofSection === 'string' ? ofSection : appliance.category;
  const word = category === 'multilayer_switch' ? 'switch' : category;
  return { ...Object.fromEntries(kept), ...(word && { category: word }), name, template_type: kind, compute_id: computeId };
}
