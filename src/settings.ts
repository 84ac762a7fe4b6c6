/** Reads the settings: defaults, then the configuration file, then the command line. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parse } from 'ini';
import { isLoopback } from './schema/console-access.ts';
import { parseImageHosts } from './schema/image-hosts.ts';
import { defaultSettings, type Settings, type SettingsSections, settingsTable } from './schema/settings.ts';

interface CommandLine {
  host?: string | undefined;
  port?: number | undefined;
  dataDirectory?: string | undefined;
  configFile?: string | undefined;
  local?: boolean | undefined;
  ssl?: boolean | undefined;
  certfile?: string | undefined;
  certkey?: string | undefined;
  /** Address of the slice's controller. */
  join?: string | undefined;
}

/** An error in the configuration, which the administrator has to correct. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Values of `engine` in `[Cluster]`; the first one means none. */
const engineNames = ['', 'process', 'kubernetes', 'slurm'];
/** Longest path of a folder that holds sockets: 107 bytes less `/<node id>/<name>`. */
const longestRuntimeFolder = 60;

/** Reads the settings. @throws SettingsError naming file, section and key */
export async function readSettings(line: CommandLine): Promise<Settings> {
  const sections = defaultSettings();
  const given = line.configFile === undefined ? new Set<string>() : await readConfigFile(line.configFile, sections);
  const server = sections.Server;
  if (line.host !== undefined) server.host = line.host;
  if (line.port !== undefined) server.port = line.port;
  if (line.ssl !== undefined) server.ssl = line.ssl;
  if (line.certfile !== undefined) server.certfile = line.certfile;
  if (line.certkey !== undefined) server.certkey = line.certkey;
  if (line.local !== undefined) server.local = line.local;
  else if (!given.has('Server.local')) server.local = isLoopback(server.host);
  if (!given.has('Docker.socket_path')) sections.Docker.socket_path = dockerHostSocket() ?? sections.Docker.socket_path;
  checkRanges(sections);
  const dataDirectory = resolve(line.dataDirectory ?? defaultDataDirectory());
  server.projects_path = folder(server.projects_path, dataDirectory, 'projects');
  server.images_path = folder(server.images_path, dataDirectory, 'images');
  server.symbols_path = folder(server.symbols_path, dataDirectory, 'symbols');
  server.configs_path = folder(server.configs_path, dataDirectory, 'configs');
  server.appliances_path = folder(server.appliances_path, dataDirectory, 'appliances');
  server.resources_path = folder(server.resources_path, dataDirectory, 'resources');
  for (const section of Object.values(sections)) Object.freeze(section);
  return Object.freeze({
    ...sections,
    dataDirectory,
    runtimeDirectory: runtimeDirectoryFor(dataDirectory, line.join !== undefined),
  });
}

/**
 * Returns the socket that `DOCKER_HOST` names, as Docker's own programs do. An engine on another host (`tcp://`, `ssh://`) is not used:
 * links need the network namespaces of its containers.
 */
function dockerHostSocket(): string | undefined {
  return /^unix:\/\/(\/.+)$/.exec(process.env.DOCKER_HOST ?? '')?.[1];
}

function defaultDataDirectory(): string {
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'patchbay');
}

/**
 * Returns the runtime folder of a data directory, always the same, so that a restarted server finds the sockets of its VMs. The
 * folder of a slice is on its host: hosts may share the data, and a host that lost contact still has its sockets and lease
 * deadline.
 */
function runtimeDirectoryFor(dataDirectory: string, isSlice: boolean): string {
  const inside = join(dataDirectory, 'run');
  if (!isSlice && Buffer.byteLength(inside) <= longestRuntimeFolder) return inside;
  const hash = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12);
  return join(tmpdir(), `patchbay-${process.getuid?.() ?? 0}-${hash}`);
}

/** Fills `sections` and returns the keys that the file sets. Unknown sections and keys belong to other programs and are ignored. */
async function readConfigFile(path: string, sections: SettingsSections): Promise<Set<string>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`The configuration file ${path} cannot be read: ${(error as Error).message}`);
  }
  const given = new Set<string>();
  for (const [section, values] of Object.entries(parse(text) as Record<string, unknown>)) {
    const known = settingsTable[section];
    if (!known || typeof values !== 'object' || values === null) continue;
    for (const [key, value] of Object.entries(values as Record<string, unknown>)) {
      const name = key.toLowerCase();
      const standard = known[name]?.value;
      if (standard === undefined) continue;
      const place = `${path}, [${section}] ${name}`;
      (sections as unknown as Record<string, Record<string, unknown>>)[section as string] = {
        ...(sections as unknown as Record<string, Record<string, unknown>>)[section as string],
        [name]: convert(value, standard, place),
      };
      given.add(`${section}.${name}`);
    }
  }
  return given;
}

function convert(value: unknown, standard: string | number | boolean, place: string): string | number | boolean {
  const text = String(value).trim();
  if (typeof standard === 'string') return text;
  if (typeof standard === 'number') {
    if (!/^\d{1,15}$/.test(text)) throw new SettingsError(`${place}: "${text}" is not a whole number`);
    return Number(text);
  }
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  throw new SettingsError(`${place}: "${text}" is neither True nor False`);
}

function checkRanges({ Server: server, Cluster: cluster }: SettingsSections): void {
  const ranges = [
    ['console', server.console_start_port_range, server.console_end_port_range, 1],
    ['vnc_console', server.vnc_console_start_port_range, server.vnc_console_end_port_range, 5900],
    ['udp', server.udp_start_port_range, server.udp_end_port_range, 1],
  ] as const;
  for (const [name, first, last, lowest] of ranges) {
    if (first < lowest || last > 65535 || first >= last) {
      throw new SettingsError(
        `[Server] ${name}_start_port_range..${name}_end_port_range must be ascending within ${lowest}..65535`,
      );
    }
  }
  if (server.port > 65535) throw new SettingsError(`[Server] port ${server.port} is not a port`);
  if (server.ssl && (server.certfile === '' || server.certkey === ''))
    throw new SettingsError('[Server] ssl is on, so certfile and certkey must be given');
  checkCredentials(server);
  if (server.web_ui !== '' && !isAbsolute(server.web_ui))
    throw new SettingsError(`[Server] web_ui is an absolute path, not "${server.web_ui}"`);
  checkImageHosts(server.image_hosts);
  if (cluster.lease_seconds < 5 || cluster.lease_seconds > 3600)
    throw new SettingsError(`[Cluster] lease_seconds is 5 to 3600 seconds, not ${cluster.lease_seconds}`);
  if (cluster.copy_seconds < 0 || cluster.copy_seconds > 86_400)
    throw new SettingsError(`[Cluster] copy_seconds is 0 to 86400 seconds, not ${cluster.copy_seconds}`);
  if (!engineNames.includes(cluster.engine))
    throw new SettingsError(`[Cluster] engine is ${engineNames.slice(1).join(', ')} or empty, not "${cluster.engine}"`);
  if (cluster.join_url !== '' && !/^https?:$/.test(URL.parse(cluster.join_url)?.protocol ?? ''))
    throw new SettingsError(`[Cluster] join_url is no address: "${cluster.join_url}"`);
  for (const key of ['request_timeout', 'upload_idle_timeout'] as const) {
    if (server[key] < 1 || server[key] > 86_400)
      throw new SettingsError(`[Server] ${key} is 1 to 86400 seconds, not ${server[key]}`);
  }
  if (!['preferred', 'required', 'off'].includes(server.link_encryption))
    throw new SettingsError(`[Server] link_encryption is preferred, required or off, not "${server.link_encryption}"`);
}

function checkImageHosts(text: string): void {
  try {
    parseImageHosts(text);
  } catch (error) {
    throw new SettingsError(`[Server] image_hosts: ${(error as Error).message}`);
  }
}

/** Refuses logins without an administrator, and consoles that are both closed and open. */
function checkCredentials({ auth, user, console_ports, console_without_credentials }: SettingsSections['Server']): void {
  if (!auth) return;
  if (user.trim() === '')
    throw new SettingsError('[Server] auth is on and user is empty: name the first administrator, or set auth = False');
  if (!console_ports && console_without_credentials)
    throw new SettingsError('[Server] console_ports is off and console_without_credentials is on: leave out one of them');
}

function folder(configured: string, dataDirectory: string, name: string): string {
  if (configured === '') return join(dataDirectory, name);
  return resolve(configured.startsWith('~/') ? join(homedir(), configured.slice(2)) : configured);
}
