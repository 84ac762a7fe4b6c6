/**
 * Containers of an IOL image, as vrnetlab builds them for containerlab's kind `cisco_iol`: they read files in `/iol`, and their first process
 * gets the number of the image in `IOL_PID`. A node is one when its environment has this variable. Sources: README.md beside this file.
 */
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { importConfigs, nvramFile } from '../ios-nvram/configs.ts';
import { readNodeFile, writeNodeFile } from '../ios-nvram/node-files.ts';
import type { ContainerState, DockerEngine } from './engine.ts';
import { iolPort, iolWord, maxIolNumber } from './iol-environment.ts';
import type { DockerProperties } from './properties.ts';

/** On a container: the number of its image. */
export const iolLabel = 'patchbay.iol';
/** Of the program that moves frames between the image and the interfaces. */
const bridgeNumber = 513;
/** Its folder in the container. */
export const iolInside = '/iol';
const mostPorts = 64;
/** KiB. */
const nvramSize = 1024;
const maxConfigBytes = 4 * 1024 * 1024;
/** For an image that has neither NVRAM nor start-up configuration. */
const emptyConfig = 'hostname IOL\nend\n';

export interface IolMount {
  readonly source: string;
  readonly target: string;
}

export function iolNetmap(number: number, adapters: number): string {
  const ports = Array.from({ length: adapters }, (_, adapter) => iolPort(adapter));
  return ports.map((port) => `${number}:${port} ${bridgeNumber}:${port}\n`).join('');
}

export function iolBridges(adapters: number): string {
  const ports = Array.from(
    { length: adapters },
    (_, adapter) => `[${bridgeNumber}:${iolPort(adapter)}]\neth_dev = eth${adapter}\n`,
  );
  return [`[default]\nbase_port = 49000\nnetmap = ${iolInside}/NETMAP\n`, ...ports].join('\n');
}

/**
 * The number of a node's image: the one in its environment; for `auto` that of its container, else that of its NVRAM if it is free, else the
 * first free one. The engine knows which are free: those of its containers are not.
 * @throws docker_failed
 */
export async function chooseIolNumber(engine: DockerEngine, nodeId: string, place: IolPlace): Promise<number> {
  const word = iolWord(place.properties.environment);
  if (word !== 'auto') return Number(word);
  const filters = encodeURIComponent(JSON.stringify({ label: [iolLabel] }));
  const containers = await engine.get<{ Labels: Record<string, string> }[]>(`/containers/json?all=1&filters=${filters}`);
  const own = containers.find(({ Labels }) => Labels['patchbay.node'] === nodeId);
  if (own) return Number(own.Labels[iolLabel]);
  const taken = new Set(containers.map(({ Labels }) => Number(Labels[iolLabel])));
  const before = (await nvramNumbers(place.directory)).find((number) => !taken.has(number));
  if (before !== undefined) return before;
  for (let free = 1; free <= maxIolNumber; free++) if (!taken.has(free)) return free;
  throw fault('docker_failed', { reason: `All ${maxIolNumber} numbers of IOL images are taken: delete some nodes` });
}

/** Of a container; undefined: its image is no IOL. */
export function iolNumberOf({ Config }: ContainerState): number | undefined {
  const label = Config.Labels?.[iolLabel];
  return label === undefined ? undefined : Number(label);
}

export interface IolPlace {
  readonly properties: DockerProperties;
  /** The node's folder. */
  readonly directory: string;
}

async function nvramNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(() => []);
  const numbers = names.map((name) => Number(/^nvram_(\d{5})$/.exec(name)?.[1] ?? 0));
  return numbers.filter((number) => number >= 1 && number <= maxIolNumber);
}

/** Writes the files that the image reads; its start-up configuration is that of the node's folder. @throws docker_failed, iou_failed */
export async function prepareIol({ properties, directory }: IolPlace, number: number): Promise<void> {
  const { adapters } = properties;
  if (adapters > mostPorts)
    throw fault('docker_failed', { reason: `IOL has ${mostPorts} ports, and ${adapters} adapters are set` });
  await mkdir(directory, { recursive: true });
  await importConfigs(directory, { application_id: number, nvram: nvramSize });
  const startup = await readNodeFile(join(directory, 'startup-config.cfg'), maxConfigBytes);
  await writeNodeFile(join(directory, 'NETMAP'), iolNetmap(number, adapters));
  await writeNodeFile(join(directory, 'iouyap.ini'), iolBridges(adapters));
  await writeNodeFile(join(directory, 'config.txt'), startup?.length ? startup : emptyConfig);
  // An empty one until IOS saves its configuration: the engine mounts only what exists.
  await (await open(nvramFile(directory, number), 'a', 0o644)).close();
}

/** Where the image looks for the files of the node's folder. */
export function iolMounts(directory: string, number: number): IolMount[] {
  const nvram = nvramFile(directory, number);
  return [
    ...['NETMAP', 'iouyap.ini', 'config.txt'].map((name) => ({ source: join(directory, name), target: `${iolInside}/${name}` })),
    { source: nvram, target: `${iolInside}/${nvram.slice(directory.length + 1)}` },
  ];
}
