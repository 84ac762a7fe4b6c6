/**
 * Containers of an IOL image, as vrnetlab builds them for containerlab's kind `cisco_iol`: they read files in `/iol`, and their first process
 * gets the number of the image in `IOL_PID`. A node is one when its environment has this variable. Sources: README.md beside this file.
 */
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { importConfigs, numberedFiles } from '../ios-nvram/configs.ts';
import { readNodeFile, writeNodeFile } from '../ios-nvram/node-files.ts';
import type { ContainerState } from './engine.ts';
import { iolPort } from './iol-environment.ts';
import type { DockerProperties } from './properties.ts';

/** Label of a container with the number of its image. */
export const iolLabel = 'patchbay.iol';
/** Number of the program that moves frames between the image and the interfaces. */
const bridgeNumber = 513;
/** Folder of the image's files in the container. */
export const iolInside = '/iol';
const mostPorts = 64;
const appending = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** KiB. */
const nvramSize = 1024;
const maxConfigBytes = 4 * 1024 * 1024;
/** Start-up configuration of an image that has neither NVRAM nor a configuration. */
const emptyConfig = 'hostname IOL\nend\n';

interface IolMount {
  readonly source: string;
  readonly target: string;
}

function iolNetmap(number: number, adapters: number): string {
  const ports = Array.from({ length: adapters }, (_, adapter) => iolPort(adapter));
  return ports.map((port) => `${number}:${port} ${bridgeNumber}:${port}\n`).join('');
}

function iolBridges(adapters: number): string {
  const ports = Array.from(
    { length: adapters },
    (_, adapter) => `[${bridgeNumber}:${iolPort(adapter)}]\neth_dev = eth${adapter}\n`,
  );
  return [`[default]\nbase_port = 49000\nnetmap = ${iolInside}/NETMAP\n`, ...ports].join('\n');
}

/** Returns the IOL number of a container; undefined: its image is no IOL. */
export function iolNumberOf({ Config }: ContainerState): number | undefined {
  const label = Config.Labels?.[iolLabel];
  return label === undefined ? undefined : Number(label);
}

export interface IolPlace {
  readonly properties: DockerProperties;
  /** The node's folder. */
  readonly directory: string;
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
  // Empty until IOS saves its configuration and its VLANs: the engine mounts only what exists.
  for (const name of numberedFiles(number)) await touch(directory, name);
}

/** The engine would follow a link to a file outside the folder. */
async function touch(directory: string, name: string): Promise<void> {
  const file = await open(join(directory, name), appending, 0o644).catch((cause: Error) => {
    const reason = `IOL cannot write ${name} in the node's folder: ${cause.message}. Remove it`;
    throw fault('docker_failed', { reason }, { cause });
  });
  await file.close();
}

/** Where the image looks for the files of the node's folder. */
export function iolMounts(directory: string, number: number): IolMount[] {
  const names = ['NETMAP', 'iouyap.ini', 'config.txt', ...numberedFiles(number)];
  return names.map((name) => ({ source: join(directory, name), target: `${iolInside}/${name}` }));
}
