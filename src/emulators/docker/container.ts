/** Makes the request with which the engine makes a node's container, and finds the container again. */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isBelow, isReallyBelow } from '../../lib/inside.ts';
import { runMarker } from '../../process/child.ts';
import type { ContainerState, DockerEngine, DockerImage } from './engine.ts';
import { iolInside, iolLabel, iolMounts } from './iol.ts';
import { withIolNumber } from './iol-environment.ts';
import { type DockerProperties, type EnvironmentNames, environmentLines, hostLines, splitCommand } from './properties.ts';
import { resourcesInside, volumesInside } from './resources.ts';
import { display, socketsInside } from './screen.ts';

/** The id of the node. */
export const nodeLabel = 'patchbay.node';
const configLabel = 'patchbay.config';

export interface ContainerPlace extends EnvironmentNames {
  /** The node's folder. */
  readonly directory: string;
  /** Folder that is seen at `/patchbay`. */
  readonly resources: string;
  /** Capabilities that this host lacks. */
  readonly missing: readonly string[];
  /** Folder that is seen at `/tmp/.X11-unix`; undefined without a screen. */
  readonly screen: string | undefined;
  /** Number of an IOL image; absent: it is none. */
  readonly iol?: number | undefined;
  /** The server's runtime folder. */
  readonly runDirectory: string;
}

/** The body of `POST /containers/create`. @throws docker_failed */
export function containerBody(properties: DockerProperties, image: DockerImage, place: ContainerPlace) {
  const { Entrypoint, Cmd, User, Volumes } = image.Config ?? { Entrypoint: null, Cmd: null, User: '', Volumes: null };
  const given = splitCommand(properties.start_command ?? '');
  const command = given.length > 0 ? given : [...(Cmd ?? [])];
  const entry = [...(Entrypoint ?? [])];
  const volumes = keptVolumes([...Object.keys(Volumes ?? {}), ...properties.extra_volumes]);
  const iolFiles = place.iol === undefined ? [] : iolMounts(place.directory, place.iol);
  const body = {
    Image: properties.image,
    Hostname: hostName(place.name),
    Tty: true,
    OpenStdin: true,
    StdinOnce: false,
    User: 'root',
    Entrypoint: [`${resourcesInside}/busybox`, 'sh', `${resourcesInside}/init`, ...entry],
    Cmd: entry.length + command.length > 0 ? command : ['/bin/sh'],
    Env: [
      'container=docker',
      ...withIolNumber(environmentLines(properties.environment, place), place.iol),
      ...(place.screen === undefined ? [] : ['QT_GRAPHICSSYSTEM=native', `DISPLAY=${display}`]),
      `PATCHBAY_ADAPTERS=${properties.adapters}`,
      `PATCHBAY_VOLUMES=${volumes.join(':')}`,
      `PATCHBAY_HOSTS=${hostLines(properties.extra_hosts).join('\n')}`,
      `PATCHBAY_USER=${User}`,
    ],
    HostConfig: {
      NetworkMode: 'none',
      CapAdd: ['ALL'],
      CapDrop: [...place.missing],
      SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined', 'label=disable'],
      // Network systems set kernel parameters of their own namespace.
      MaskedPaths: [],
      ReadonlyPaths: [],
      Mounts: [
        { Type: 'bind', Source: place.resources, Target: resourcesInside, ReadOnly: true },
        ...(place.screen === undefined ? [] : [{ Type: 'bind', Source: place.screen, Target: socketsInside, ReadOnly: true }]),
        ...volumes.map((path) => ({
          Type: 'bind',
          Source: volumeFolder(place.directory, path),
          Target: `${volumesInside}${path}`,
        })),
        ...iolFiles.map(({ source, target }) => ({ Type: 'bind', Source: source, Target: target })),
      ],
    },
  };
  const config = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  // The marker lets a guard find the containers of a server that has died.
  const labels = { [nodeLabel]: place.nodeId, [configLabel]: config, [runMarker]: place.runDirectory };
  return { ...body, Labels: { ...labels, ...(place.iol !== undefined && { [iolLabel]: String(place.iol) }) } };
}

export type ContainerBody = ReturnType<typeof containerBody>;

/** Where a volume is kept. */
function volumeFolder(directory: string, path: string): string {
  return join(directory, path);
}

/** Folders on this host that the container needs. */
export function foldersOf({ HostConfig }: ContainerBody): string[] {
  const isFolder = (target: string) => target !== resourcesInside && !target.startsWith(`${iolInside}/`);
  return HostConfig.Mounts.filter(({ Target }) => isFolder(Target)).map(({ Source }) => Source);
}

/**
 * Makes those folders. A volume of an earlier run may hold links, which the engine would follow on this host: into none of them.
 * @throws docker_failed
 */
export async function makeFolders(body: ContainerBody, directory: string): Promise<void> {
  for (const folder of foldersOf(body)) {
    if (isBelow(directory, folder) && !(await isReallyBelow(directory, folder))) {
      const volume = folder.slice(directory.length);
      throw fault('docker_failed', {
        reason: `The volume "${volume}" points outside the folder of the node by a symbolic link: remove the link, or the volume`,
      });
    }
    await mkdir(folder, { recursive: true });
  }
}

/** `/etc/network` always; one that lies in another is part of that. */
function keptVolumes(paths: readonly string[]): string[] {
  const all = [...new Set(['/etc/network', ...paths].map((path) => path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')))].sort();
  return all.filter((path) => path !== '/' && !all.some((other) => other !== '/' && path.startsWith(`${other}/`)));
}

/** RFC 1123: letters, digits and hyphens, at most 63. */
function hostName(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63);
  return plain === '' ? 'node' : plain;
}

/** The id of the node's container; it is made anew when it would be another one now. */
export async function ensureContainer(engine: DockerEngine, body: ContainerBody): Promise<string> {
  const nodeId = body.Labels[nodeLabel] ?? '';
  const there = await findContainer(engine, nodeId);
  if (there?.Config.Labels?.[configLabel] === body.Labels[configLabel]) return there.Id;
  await removeContainer(engine, nodeId);
  const made = await engine.post<{ Id: string }>(`/containers/create?name=${nameOf(nodeId)}`, body);
  return made.Id;
}

export function findContainer(engine: DockerEngine, nodeIdOrId: string): Promise<ContainerState | undefined> {
  return engine.find<ContainerState>(`/containers/${nameOf(nodeIdOrId)}/json`);
}

/** Ends it, too. */
export function removeContainer(engine: DockerEngine, nodeId: string): Promise<void> {
  return engine.delete(`/containers/${nameOf(nodeId)}?force=1&v=1`);
}

/** Node ids are unique, and say in `docker ps` what it is. */
export function nameOf(nodeId: string): string {
  return `patchbay.${nodeId}`;
}
