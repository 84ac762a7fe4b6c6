/** The driver of the kind "qemu": checks, starts and takes over virtual machines. */
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { Mutex } from '../../lib/mutex.ts';
import type { Driver, Properties } from '../driver.ts';
import { ConfinedTools } from '../host/confined-tools.ts';
import type { Host } from '../host/host.ts';
import type { ImageFolder } from '../host/images.ts';
import { Acceleration } from './acceleration.ts';
import { adopt } from './assemble.ts';
import { Binaries } from './binaries.ts';
import { ImageConverter } from './convert.ts';
import { prepareDisk } from './disks.ts';
import { type Limits, standardLimits } from './emulator.ts';
import type { QemuFacilities } from './facilities.ts';
import { diskNode, imgFor } from './find-files.ts';
import { ImageMaker } from './img.ts';
import { qemuImages, qemuKind } from './kind.ts';
import { launch } from './launch.ts';
import { MemoryKey } from './memory/key.ts';
import { checkSavedMemory } from './memory/restore.ts';
import { VerifiedFiles } from './memory/verified-files.ts';
import { findSharedDisk } from './move/offer.ts';
import { checkStoredOptions } from './options-check.ts';
import { nativePlatforms, type Platform } from './platforms.ts';
import { asQemu, defaults, imageKeys, merge } from './properties.ts';
import { QemuImg } from './qemu-img.ts';
import { RawDisks } from './raw-disks.ts';
import { type QemuTools, qemuRoutes } from './routes.ts';
import { Sandboxes } from './sandbox.ts';
import { reselectEmulator, selectEmulator } from './selection.ts';
import { qemuSeries } from './version.ts';

interface QemuDriver extends Driver, QemuTools {
  readonly acceleration: Acceleration;
}

export interface QemuDriverOptions {
  readonly limits?: Partial<Limits>;
  /** Datagrams for adapters whatever the version of QEMU. For tests. */
  readonly datagrams?: boolean;
  /** Folder of the firmware in place of Debian's. For tests. */
  readonly firmwareFolder?: string;
  readonly binaries?: Binaries;
}

export function qemuDriver(host: Host, options: QemuDriverOptions = {}): QemuDriver {
  const facilities = facilitiesOf(host, options);
  const { binaries, acceleration, rawDisks, tools, memoryKey, verified } = facilities;
  void tools.recover();
  const launcher = { facilities, limits: { ...standardLimits, ...options.limits } };
  const images = host.images.of(qemuImages);
  const acceptable = new EmptyDisks(images, binaries, tools);
  const where = () => ({ binaries, settings: host.settings });

  const driver: QemuDriver = {
    kind: qemuKind,
    binaries,
    acceleration,
    imageMaker: new ImageMaker(host, binaries, rawDisks, tools),
    converter: new ImageConverter(host, { binaries, rawDisks, tools }),
    async create(input, node) {
      const selection = await selectEmulator(input, where());
      const properties = merge({ ...defaults, ...selection }, input, node.nodeId);
      const accepted = await acceptImages(acceptable, properties, {}, node.projectDirectory);
      // Found out in the background, once, so that the first start does not wait for it.
      if (mayAccelerate(host, properties)) void acceleration.verdict();
      return Object.freeze({ ...properties, ...accepted });
    },
    async update(current, changes, node) {
      const before = asQemu(current);
      const selection = await reselectEmulator(before, changes, where());
      const properties = merge({ ...before, ...selection }, changes, node.nodeId);
      // Options from an old project may stay unchecked until the node starts.
      if (properties.options !== before.options) checkStoredOptions(properties.options, host.settings);
      return Object.freeze({ ...properties, ...(await acceptImages(acceptable, properties, current, node.projectDirectory)) });
    },
    present(properties) {
      const { linked_clone: _, custom_adapters: __, ...shown } = asQemu(properties);
      const sums = imageKeys.map((key) => [`${key}_md5sum`, images.md5(shown[key])]);
      return { ...shown, ...Object.fromEntries(sums) };
    },
    start: (node, wish) => launch(node, launcher, { portable: wish?.portable_memory === true }),
    memory: {
      check(folder, name) {
        const findSeries = async (program: string) => qemuSeries(await binaries.version(program));
        return checkSavedMemory(folder, { key: memoryKey, name, findSeries, verified });
      },
      findSharedDisk,
      receive: (node, arrival) => launch(node, launcher, { arrival }),
    },
    adopt: (node, record) => adopt(node, record, launcher),
    capabilities: async () => ({ kvm: (await isAccelerated(facilities)) ? [...nativePlatforms()] : [] }),
    async resizeDisk(node, slot, mebibytes) {
      const properties = asQemu(node.properties);
      const img = await imgFor(properties.qemu_path, { binaries, tools });
      const disk = await prepareDisk({ ...diskNode(node), properties }, slot, { images, img, binaries, rawDisks, tools });
      if (disk === undefined) throw fault('qemu_failed', { reason: `${node.name} has no disk ${slot}` });
      await img.grow(disk, mebibytes, disk.format);
    },
    routes: (nodes) => qemuRoutes(driver, nodes),
  };
  return driver;
}

/** Builds the facilities that the parts of the driver share. */
function facilitiesOf(host: Host, options: QemuDriverOptions): QemuFacilities {
  const binaries = options.binaries ?? new Binaries();
  const native = `qemu-system-${nativePlatforms()[0]}`;
  const state = join(host.settings.dataDirectory, 'state');
  return {
    host,
    binaries,
    acceleration: new Acceleration(
      () => host.settings,
      () => binaries.inPath(native),
    ),
    sandboxes: new Sandboxes(),
    rawDisks: new RawDisks(join(state, 'raw-disks.json')),
    tools: new ConfinedTools(() => host.settings),
    memoryKey: new MemoryKey(join(state, 'memory.key')),
    verified: new VerifiedFiles(),
    spawning: new Mutex(),
    datagrams: options.datagrams ?? false,
    firmwareFolder: options.firmwareFolder ?? '/usr/share/OVMF',
  };
}

/** Whether machines of this host's platforms run on KVM unless their options say otherwise. */
async function isAccelerated({ host, acceleration }: QemuFacilities): Promise<boolean> {
  const { enable_hardware_acceleration, acceleration: wish } = host.settings.Qemu;
  if (!enable_hardware_acceleration || wish === 'off') return false;
  return wish === 'on' || (await acceleration.verdict()).usable;
}

/** Whether the probe guest's verdict will be asked for. */
function mayAccelerate({ settings }: Host, { platform, options }: { platform: Platform; options: string }): boolean {
  const { enable_hardware_acceleration, acceleration } = settings.Qemu;
  const isOpen = enable_hardware_acceleration && acceleration === 'auto' && nativePlatforms().includes(platform);
  return isOpen && !options.includes('accel');
}

/** Images that changed are looked for, and kept in the form that is shown. */
async function acceptImages(
  images: EmptyDisks,
  wanted: Readonly<Record<(typeof imageKeys)[number], string>>,
  current: Properties,
  projectDirectory: string,
): Promise<Record<string, string>> {
  const accepted: Record<string, string> = {};
  for (const key of imageKeys) {
    const reference = wanted[key];
    if (reference !== '' && reference !== current[key]) accepted[key] = await images.accept(reference, projectDirectory);
  }
  return accepted;
}

/** Sizes of the empty disks that GNS3's appliances name: `empty8G.qcow2` to `empty1T.qcow2`. */
const emptyDiskSizes = ['8G', '10G', '20G', '30G', '40G', '50G', '100G', '150G', '200G', '250G', '500G', '1T'];

/** Makes the empty disks that appliances name in the image folder, when a node asks for one. */
class EmptyDisks {
  readonly #images: ImageFolder;
  readonly #binaries: Pick<Binaries, 'inPath'>;
  readonly #tools: ConfinedTools;
  readonly #making = new Mutex();

  constructor(images: ImageFolder, binaries: Pick<Binaries, 'inPath'>, tools: ConfinedTools) {
    this.#images = images;
    this.#binaries = binaries;
    this.#tools = tools;
  }

  /**
   * Accepts an image like `images.accept`, and makes the empty disk that the reference names. @throws image_missing, image_not_allowed,
   * qemu_failed
   */
  async accept(reference: string, projectDirectory: string): Promise<string> {
    const size = emptyDiskSizes.find((one) => reference === `empty${one}.qcow2`);
    if (size !== undefined) await this.#making.run(() => this.#provide(reference, size));
    return this.#images.accept(reference, projectDirectory);
  }

  async #provide(name: string, size: string): Promise<void> {
    const isMissing = await this.#images.resolve(name).then(
      () => false,
      (error: unknown) => isFault(error, 'image_missing'),
    );
    const program = isMissing ? await this.#binaries.inPath('qemu-img') : undefined;
    if (program === undefined) return;
    await makeFolders(this.#images.directory);
    await new QemuImg(program, this.#tools).create(join(this.#images.directory, name), 'qcow2', [], size);
  }
}
