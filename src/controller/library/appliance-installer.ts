/** Makes templates of appliances whose images are on this server, or can be downloaded to it. */
import { type Fault, fault, isFault } from '../../api/faults.ts';
import { templateFacts } from '../../emulators/kinds.ts';
import {
  type Appliance,
  type ApplianceImage,
  type ApplianceVersion,
  appliancesOf,
  imagesOf,
  isEmptyDisk,
  kindOf,
  sectionOf,
  templateOf,
} from '../../schema/appliance.ts';
import type { StoredImage } from '../../schema/host.ts';
import type { NodeType } from '../../schema/node.ts';
import type { Settings } from '../../schema/settings.ts';
import { type Template, type TemplateCreate, wholeTemplate } from '../../schema/template.ts';
import { type ApplianceContent, type Appliances, standardTheme } from '../catalog/appliances.ts';
import type { Templates } from '../catalog/templates.ts';
import { localComputeId } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { DownloadRequester, ImageDownloads } from '../computes/image-downloads.ts';
import { imageFolderOf } from '../model/node-images.ts';
import { checkRequested } from '../model/requested-properties.ts';
import type { ImageLibrary } from './image-library.ts';

interface InstallerParts {
  readonly images: ImageLibrary;
  readonly appliances: Appliances;
  readonly templates: Templates;
  readonly computes: Pick<Computes, 'local'>;
  readonly downloads: ImageDownloads;
  readonly settings: Settings;
}

/** The part of an appliance that is about one emulator, in a version; undefined: the appliance has no versions. */
interface Choice {
  readonly appliance: Appliance;
  readonly kind: NodeType;
  readonly version: ApplianceVersion | undefined;
}

export class ApplianceInstaller {
  readonly #parts: InstallerParts;

  constructor(parts: InstallerParts) {
    this.#parts = parts;
  }

  /**
   * Makes the template of a version. Images that are missing are downloaded where the appliance says from where.
   * @throws appliance_not_found, appliance_invalid, appliance_version_not_found, appliance_conflict, template_name_taken,
   * download_failed, image_host_refused, storage_failed
   */
  async install(applianceId: string, versionName: string | undefined, requester: DownloadRequester): Promise<Template> {
    const choice = chosenFrom(await this.#parts.appliances.get(applianceId), versionName);
    return this.#make(choice, (image) => this.#download(choice, image, requester));
  }

  /**
   * Makes the templates of all versions whose images are here and that need one of `images`. Versions that cannot be installed, or are
   * already, are left out.
   */
  async installAllOf(images: readonly StoredImage[]): Promise<Template[]> {
    const sums = new Set(images.flatMap(({ md5sum }) => md5sum ?? []));
    const made: Template[] = [];
    if (sums.size === 0) return made;
    for (const content of await this.#parts.appliances.listIdentified(standardTheme))
      for (const choice of choicesOf(content)) {
        const isMeant = imagesOf(choice.appliance, choice.version).some(({ md5sum }) => md5sum !== undefined && sums.has(md5sum));
        if (!isMeant) continue;
        try {
          made.push(await this.#make(choice));
        } catch (error) {
          if (!isFault(error)) throw error;
        }
      }
    return made;
  }

  async #make(choice: Choice, download?: (image: ApplianceImage) => Promise<string>): Promise<Template> {
    const { appliance, kind, version } = choice;
    const { images, templates, settings } = this.#parts;
    const here = (await images.list()).filter(({ folder }) => folder === imageFolderOf(kind));
    const fileNames = new Map<string, string>();
    for (const image of imagesOf(appliance, version)) {
      if (isEmptyDisk(image.filename)) continue;
      const { md5sum, filename } = image;
      const found = here.find((one) => (md5sum === undefined ? one.filename === filename : one.md5sum === md5sum));
      const name = found?.filename ?? (await download?.(image));
      if (name === undefined) throw lacking(appliance, image);
      fileNames.set(filename, name);
    }
    const section = sectionOf(appliance, kind, version);
    const known = keysOf(kind, { ...section, platform: section.arch ?? section.platform });
    const parts = { name: appliance.name, kind, computeId: localComputeId, version, fileNames, known };
    const body = templateOf(appliance, parts) as unknown as TemplateCreate;
    checkRequested({ node_type: kind, properties: body }, settings);
    return templates.create(body, { isNamedOnce: true, details: { version: version?.name ?? null } });
  }

  /** Returns the name of the image. @throws appliance_conflict, download_failed, image_host_refused, image_refused */
  async #download({ appliance, kind }: Choice, image: ApplianceImage, requester: DownloadRequester): Promise<string> {
    const { filename, filesize, md5sum, direct_download_url: url, compression } = image;
    if (!url || md5sum === undefined || compression) throw lacking(appliance, image);
    const compute = this.#parts.computes.local;
    const size = filesize === undefined ? {} : { filesize };
    const started = await this.#parts.downloads.begin({ node_type: kind, url, filename, md5sum, ...size, compute }, requester);
    await started.finish(() => undefined);
    return filename;
  }
}

function lacking({ name }: Appliance, { filename, md5sum }: ApplianceImage): Fault {
  const image = md5sum === undefined ? filename : `${filename} (MD5 checksum ${md5sum})`;
  return fault('appliance_conflict', { name, reason: `it needs the image ${image}: upload it` });
}

function choicesOf(content: ApplianceContent): Choice[] {
  return appliancesOf(content).flatMap((appliance): Choice[] => {
    const kind = kindOf(appliance, templateFacts.keys()) as NodeType | undefined;
    if (kind === undefined) return [];
    const { versions } = appliance;
    return versions ? versions.map((version) => ({ appliance, kind, version })) : [{ appliance, kind, version: undefined }];
  });
}

/** @throws appliance_invalid, appliance_version_not_found */
function chosenFrom(content: ApplianceContent, wanted: string | undefined): Choice {
  const { name } = content;
  const choices = choicesOf(content);
  const [first] = choices;
  if (!first) throw fault('appliance_invalid', { file: name, reason: 'it is for no type of node that this server has' });
  if (first.version === undefined) return first;
  if (wanted === undefined) throw fault('appliance_invalid', { file: name, reason: 'choose one of its versions' });
  const chosen = choices.find(({ version }) => version?.name === wanted);
  if (!chosen) throw fault('appliance_version_not_found', { name, version: wanted });
  return chosen;
}

/** Keys of a template of the kind; some depend on others, such as the platform. */
function keysOf(kind: NodeType, settings: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const facts = templateFacts.get(kind);
  const { properties } = wholeTemplate({ ...facts?.properties, ...facts?.more?.(settings) }) as { readonly properties?: object };
  return new Set(Object.keys(properties ?? {}));
}
