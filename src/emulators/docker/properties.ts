/** The properties of a container, and what their texts mean. */
import { fault } from '../../api/faults.ts';
import type { CustomAdapters } from '../../schema/node.ts';
import type { ProjectVariable, Properties } from '../driver.ts';
import { macPlus } from '../facts/mac-address.ts';
import { iolWord, isIolWord, maxIolNumber } from './iol-environment.ts';

export interface DockerProperties {
  readonly image: string;
  readonly adapters: number;
  readonly aux: number | null;
  readonly mac_address: string;
  readonly custom_adapters: CustomAdapters;
  readonly start_command: string | null;
  readonly environment: string | null;
  readonly extra_hosts: string | null;
  readonly extra_volumes: readonly string[];
  readonly console_resolution: string;
  readonly console_http_port: number;
  readonly console_http_path: string;
  readonly usage: string;
  /** False: its links always go through the fabric. Absent otherwise, as GNS3 knows no such property. */
  readonly kernel_path?: boolean;
}

export function asDocker(properties: Properties): DockerProperties {
  return properties as unknown as DockerProperties;
}

/** Properties of a node whose creation request leaves them out. */
export const defaults = {
  adapters: 1,
  aux: null,
  custom_adapters: [] as CustomAdapters,
  start_command: null,
  environment: null,
  extra_hosts: null,
  extra_volumes: [],
  console_resolution: '1024x768',
  console_http_port: 80,
  console_http_path: '/',
  usage: '',
} as const;

/** @throws docker_failed for texts that mean nothing */
export function newDocker(input: Properties, nodeId: string): DockerProperties {
  const { container_id: _ignored, image, ...given } = input as unknown as DockerProperties & { container_id?: string };
  return checked({ ...defaults, mac_address: '', ...sound(given), image: withTag(image) }, nodeId);
}

/** The image stays. @throws docker_failed */
export function changedDocker(current: DockerProperties, changes: Properties, nodeId: string): DockerProperties {
  const { container_id: _ignored, node_id: _id, image: _image, ...given } = changes as Record<string, unknown>;
  return checked({ ...current, ...sound(given) }, nodeId);
}

function checked(properties: DockerProperties, nodeId: string): DockerProperties {
  splitCommand(properties.start_command ?? '');
  hostLines(properties.extra_hosts);
  const iol = iolWord(properties.environment);
  if (iol !== undefined && !isIolWord(iol)) {
    throw refused(`IOL_PID of its environment is "${iol}": set "auto", or a number from 1 to ${maxIolNumber}`);
  }
  for (const volume of properties.extra_volumes) {
    if (!volume.startsWith('/') || volume.split('/').includes('..') || /[:\n]/.test(volume)) {
      throw refused(`the volume "${volume}" must be an absolute path without ".." and ":"`);
    }
  }
  const { kernel_path, ...known } = properties;
  const mac_address = known.mac_address === '' ? ownMac(nodeId) : known.mac_address;
  return { ...known, mac_address, ...(kernel_path === false && { kernel_path }) };
}

/** Drops keys that say nothing, and takes blank texts as none. */
function sound(given: object): object {
  const blank = (key: string, value: unknown) =>
    /^(start_command|environment|extra_hosts)$/.test(key) && !String(value ?? '').trim();
  const entries = Object.entries(given).map(([key, value]) => [key, blank(key, value) ? null : value] as const);
  const nullable = new Set(['aux', 'start_command', 'environment', 'extra_hosts']);
  return Object.fromEntries(
    entries.flatMap(([key, value]) =>
      value !== null || nullable.has(key) ? [[key, value]] : key === 'mac_address' ? [[key, '']] : [],
    ),
  );
}

/** `02:42:`, three bytes of the node's id, and 0 for the first adapter. */
function ownMac(nodeId: string): string {
  const hex = nodeId.toLowerCase();
  return `02:42:${hex.slice(2, 4)}:${hex.slice(4, 6)}:${hex.slice(6, 8)}:00`;
}

export function macOf({ mac_address, custom_adapters }: DockerProperties, adapter: number): string | undefined {
  const own = (custom_adapters ?? []).find(({ adapter_number }) => adapter_number === adapter)?.mac_address;
  return own ?? (mac_address ? macPlus(mac_address, adapter) : undefined);
}

export function withTag(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return name.includes(':') || name.includes('@') ? image : `${image}:latest`;
}

/** Lines `host:address` as lines of a hosts file. @throws docker_failed */
export function hostLines(text: string | null): string[] {
  const lines = (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.map((line) => {
    const [, host, address] = /^([^:\s]+):([0-9a-fA-F.:]+)$/.exec(line) ?? [];
    if (host === undefined) throw refused(`"${line}" of extra_hosts is not host:address`);
    return `${address}\t${host}`;
  });
}

/** Words as a shell would make them, without its other powers. @throws docker_failed for a quote that is not closed */
export function splitCommand(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const match of text.matchAll(/\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|(['"\\])|[^\s'"\\]+/gs)) {
    const [whole, single, double, escaped, broken] = match;
    if (broken !== undefined) throw refused(`the quotes of the command ${text} are not closed`);
    if (/^\s/.test(whole)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? whole);
  }
  return word === undefined ? words : [...words, word];
}

/** Values of a node and its project that an environment may refer to. */
export interface EnvironmentNames {
  readonly name: string;
  readonly nodeId: string;
  readonly projectId: string;
  readonly projectDirectory: string;
  readonly variables: readonly ProjectVariable[];
}

/**
 * The project's variables, and lines `KEY=VALUE`, in which `${NAME}` stands for a variable of the project and `%vm-name%` and the like for
 * the node's own; lines without a key are left out.
 */
export function environmentLines(text: string | null, names: EnvironmentNames): string[] {
  const values: Record<string, string> = {
    '%vm-name%': names.name,
    '%vm-id%': names.nodeId,
    '%project-id%': names.projectId,
    '%project-path%': names.projectDirectory,
    ...Object.fromEntries(names.variables.map(({ name, value = '' }) => [`\${${name}}`, value])),
  };
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  // A name holds no brace: a long line of nothing but `${` would be read to its end from each of them.
  const filled = lines.map((line) => line.replace(/%[a-z-]+%|\$\{[^{}]+\}/g, (key) => values[key] ?? key));
  const ofProject = names.variables.map(({ name, value = '' }) => `${name}=${value}`);
  return [...ofProject, ...filled].filter((line) => /^[^=\s]+=/.test(line) && !/^(GNS3|PATCHBAY)_/.test(line));
}

function refused(reason: string): Error {
  return fault('docker_failed', { reason: `The container cannot be made: ${reason}` });
}
