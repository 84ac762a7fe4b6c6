/**
 * The licence of IOU images: a file in the INI format, whose section `[license]` has a line `host = 16 hexadecimal digits;` for each host.
 * Whether the digits are right is for the image to say, which ends with its own words when they are not.
 */
import { readFile, stat } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import type { Settings } from '../../schema/settings.ts';
import type { StartOptions } from '../driver.ts';
import { readNodeFile } from '../ios-nvram/node-files.ts';

const maxLicenseBytes = 65_536;

/** Where the licence is kept that clients give with a start. */
const givenFile = (settings: Settings) => join(settings.dataDirectory, 'state', 'iourc');

/**
 * The licence that a node gets, checked where it is to be; undefined when there is none and none is needed.
 * @throws iou_failed
 */
export async function findLicense(settings: Settings, directory: string, options: StartOptions): Promise<string | undefined> {
  const given = typeof options.iourc_content === 'string' ? options.iourc_content : '';
  const kept = givenFile(settings);
  if (given.trim() !== '' && (await readText(kept)) !== given) await writeFileAtomic(kept, given, 0o600);
  const { iourc_path, license_check } = settings.IOU;
  const places = [...(iourc_path === '' ? [] : [iourc_path]), kept, join(homedir(), '.iourc')];
  const found = (await firstOf(places)) ?? (await ofNode(join(directory, 'iourc')));
  if (!license_check || options.license_check === false) return found?.text;
  if (found === undefined) {
    const named = iourc_path === '' ? '' : `; ${iourc_path}, which iourc_path in [IOU] names, cannot be read`;
    throw refused(
      `There is no licence for IOU images on this compute: enter one in the server's settings, or set iourc_path in [IOU]${named}`,
    );
  }
  const problem = licenseProblem(found.text, hostname());
  if (problem !== undefined) throw refused(`The licence for IOU images (${found.path}) cannot be used: ${problem}`);
  return found.text;
}

/** Why images on this host cannot use it, for people. */
export function licenseProblem(text: string, host: string): string | undefined {
  const lines = new Map<string, string>();
  let section = '';
  let hasSection = false;
  for (const line of text.split(/\r?\n/).map((raw) => raw.trim())) {
    const heading = /^\[(.*)\]$/.exec(line)?.[1];
    if (heading !== undefined) {
      section = heading.trim().toLowerCase();
      hasSection ||= section === 'license';
    }
    const equals = line.indexOf('=');
    const key = line.slice(0, Math.max(0, equals)).trim().toLowerCase();
    if (section === 'license' && key !== '' && !/[#;]/.test(key)) lines.set(key, line.slice(equals + 1).trim());
  }
  if (!hasSection) return 'it has no section [license]';
  const value = lines.get(host.toLowerCase());
  if (value === undefined) {
    const others = [...lines.keys()].join(', ');
    return `it has no line for this host, ${host}${others === '' ? '' : ` (only for ${others})`}`;
  }
  return /^[0-9a-f]{16}\s*;?$/i.test(value) ? undefined : `the value for ${host} is not 16 hexadecimal digits and a semicolon`;
}

interface License {
  readonly path: string;
  readonly text: string;
}

async function firstOf(places: readonly string[]): Promise<License | undefined> {
  for (const path of places) {
    const text = await readText(path);
    if (text !== undefined) return { path, text };
  }
  return undefined;
}

async function ofNode(path: string): Promise<License | undefined> {
  const bytes = await readNodeFile(path, maxLicenseBytes);
  return bytes && bytes.length > 0 ? { path, text: bytes.toString('utf8') } : undefined;
}

async function readText(path: string): Promise<string | undefined> {
  const facts = await stat(path).catch(() => undefined);
  if (!facts?.isFile() || facts.size > maxLicenseBytes || facts.size === 0) return undefined;
  return readFile(path, 'utf8').catch(() => undefined);
}

function refused(reason: string): Error {
  return fault('iou_failed', { reason });
}
