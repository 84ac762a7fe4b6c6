/**
 * Export of a project as an archive. What goes into it is copied first (machines that run are paused for that instant), so that the
 * project is free while a client reads the archive, however slowly. The copy goes when the client has it, or has gone.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { fault, isFault } from '../../api/faults.ts';
import { Stream } from '../../api/route.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import { writeStream } from '../../lib/stream-file.ts';
import { mapInTurns } from '../../lib/turns.ts';
import type { Settings } from '../../schema/settings.ts';
import { localComputeId } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { canonical } from '../model/canonical.ts';
import { withoutMacAddresses } from '../model/fresh-ids.ts';
import type { FileForm } from '../model/gns3-revision.ts';
import { findKind } from '../model/node.ts';
import { imageFolderOf, imageProperties, withBareImages } from '../model/node-images.ts';
import type { NodeEntry, Topology } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import { copyTree } from '../projects/copy-tree.ts';
import type { KnownProject } from '../projects/project.ts';
import { stagingPrefix } from '../projects/registry.ts';
import type { StagingFolders } from '../projects/staging-folders.ts';
import { projectEntry } from '../zip/archive-entries.ts';
import { type Archive, type ArchiveCompression, archiveFolder } from '../zip/write-archive.ts';
import { collectFiles } from './collect.ts';
import { type Announce, makeProgress } from './progress.ts';
import { snapshotSuffix } from './snapshot-index.ts';

export interface ExportWanted {
  readonly includeImages: boolean;
  readonly includeSnapshots: boolean;
  readonly resetMacAddresses: boolean;
  readonly keepComputeIds: boolean;
  readonly compression: ArchiveCompression;
  /** Format of the project file; absent: that of GNS3 2.2. */
  readonly form?: FileForm;
}
export interface ExportOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly computes: Computes;
  readonly staging: StagingFolders;
  readonly announce: Announce;
}

/** @throws project_export_failed, and why a compute cannot be used; nothing is left behind then */
export async function exportProject(source: KnownProject, wanted: ExportWanted, options: ExportOptions): Promise<Stream> {
  const headers = { 'content-disposition': disposition(`${source.name}.gns3project`) };
  const { promise, resolve, reject } = Promise.withResolvers<Archive>();
  const folder = join(options.settings.Server.projects_path, `${stagingPrefix}export-${randomUUID()}`);
  options.staging
    .use(folder, async (stagingPath) => {
      const archive = await makeArchive(source, { stagingPath, wanted, options });
      resolve(archive);
      await finished(archive.output).catch(() => undefined);
    })
    .catch((error: unknown) => reject(error));
  const { output } = await promise.catch((error: unknown) => {
    if (isFault(error)) throw error;
    throw fault('project_export_failed', { name: source.name, reason: (error as Error).message }, { cause: error });
  });
  return new Stream('application/gns3project', output, headers);
}

interface Making {
  readonly stagingPath: string;
  readonly wanted: ExportWanted;
  readonly options: ExportOptions;
}

async function makeArchive(source: KnownProject, { stagingPath, wanted, options }: Making): Promise<Archive> {
  const { computes, version } = options;
  const topology = await source.freeze(async (frozen) => {
    const other = frozen.topology.nodes.find((node) => findKind(node.node_type)?.isExternal);
    if (other)
      throw fault('project_export_failed', { name: source.name, reason: `the node ${other.name} is of type ${other.node_type}` });
    await collectFiles({ source, frozen, computes, withSnapshots: wanted.includeSnapshots }, stagingPath);
    return frozen.topology;
  });
  if (wanted.includeImages) for (const node of topology.nodes) await addImages(node, stagingPath, options);
  const file = await topologyText(await portable(topology, wanted), wanted.form ?? version);
  const report = makeProgress(options.announce, { project_id: source.id, what: 'export' });
  const archive: Archive = await archiveFolder(
    stagingPath,
    new Map([[projectEntry, Buffer.concat(file)]]),
    { compression: wanted.compression, onBytes: (doneBytes) => report(doneBytes, archive.totalBytes) },
    // Other programs know snapshots as archives.
    (path) => /^snapshots\/[^/]+$/.test(path) && path.endsWith(snapshotSuffix),
  );
  const [first] = archive.leftOut;
  if (first !== undefined) {
    const message = `The archive of ${source.name} lacks links that point outside the project (${archive.leftOut.length}), such as ${first}`;
    options.announce('log.warning', { message });
  }
  return archive;
}

async function portable(topology: Topology, wanted: ExportWanted): Promise<Topology> {
  const { keepComputeIds, resetMacAddresses } = wanted;
  const nodes = await mapInTurns(topology.nodes, (node) => {
    const moved = keepComputeIds ? node : withBareImages({ ...node, compute_id: localComputeId });
    return canonical<NodeEntry>(resetMacAddresses ? { ...moved, properties: withoutMacAddresses(moved.properties) } : moved);
  });
  return { ...topology, nodes, ...(!keepComputeIds && { computes: [] }) };
}

/** Images that are not there are left out: the node cannot start here either. */
async function addImages(node: NodeEntry, stagingPath: string, { computes, settings }: ExportOptions): Promise<void> {
  const folder = imageFolderOf(node.node_type);
  const compute = computes.find(node.compute_id);
  if (folder === undefined || !compute) return;
  for (const key of imageProperties(node)) {
    const image = String(node.properties[key]);
    const target = join(stagingPath, 'images', folder, basename(image));
    if (await isFile(target)) continue;
    await mkdir(join(stagingPath, 'images', folder), { recursive: true });
    if (compute.isLocal) {
      const found = await findImage(image, folder, settings);
      if (found !== undefined) await copyTree(found, target);
    } else {
      const { body } = await compute.transport.raw('GET', `/v2/compute/${node.node_type}/images/${basename(image)}`);
      await writeStream(target, body instanceof Readable ? body : Readable.from([Buffer.from(body)]));
    }
  }
}

/** Finds an image. Unless the server is local, only the image folders are searched, because project files come from any source. */
async function findImage(image: string, folder: string, { Server }: Settings): Promise<string | undefined> {
  const { images_path, additional_images_path, local } = Server;
  const roots = [images_path, ...additional_images_path.split(';').filter((path) => path !== '')];
  const places = isAbsolute(image) ? [image] : [join(images_path, folder, image), ...roots.map((root) => join(root, image))];
  for (const place of places) {
    const isAllowed =
      (isAbsolute(image) && local) || (await Promise.all(roots.map((root) => isReallyBelow(root, place)))).includes(true);
    if (isAllowed && (await isFile(place))) return realpath(place);
  }
  return undefined;
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
}

/** RFC 6266: names outside ASCII in a form of their own. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encoded}`}`;
}
