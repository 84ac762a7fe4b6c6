/** Converts `ssh` of a node's settings to a target. Keys and known hosts are files of a temporary folder for the test. */
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isReallyBelow } from '../../../src/lib/inside.ts';
import { anyHostKey, type SshSettings } from '../definition/step-schema.ts';
import { hostAlias, type SshTarget } from './ssh-arguments.ts';

/** A mistake in `test.nodes.NODE.ssh`. */
export class SshError extends Error {
  override readonly name = 'SshError';
}

export interface SshNode {
  readonly name: string;
  readonly settings: SshSettings;
  /** User for settings without one. */
  readonly defaultUser: string;
  /** Password for settings with neither a password nor a key. */
  readonly defaultPassword: string | undefined;
  readonly viaContainer: string | undefined;
}

const passwordVariable = 'PATCHBAY_SSH_ANSWER';
/**
 * Source of the program that answers ssh's request for the password. Node runs it as an import and exits before it looks at its
 * argument, the prompt. A script in a temporary folder would not run where that folder is mounted `noexec`.
 */
const answerScript = `import { writeSync } from 'node:fs'; writeSync(1, process.env.${passwordVariable} + '\\n'); process.exit();`;
const answerOption = `--import=data:text/javascript,${encodeURIComponent(answerScript)}`;

export class SshFolder {
  #path: Promise<string> | undefined;
  #made: string | undefined;
  /** Numbers of nodes by name, used in the names of their files. */
  readonly #numbers = new Map<string, number>();
  /** Folder of the lab file. */
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  /** Returns the target of a node. @throws SshError */
  async access(node: SshNode): Promise<{ target: SshTarget; env: Record<string, string> }> {
    const { settings, viaContainer } = node;
    const secret = await this.#secret(node);
    this.#path ??= this.#make();
    const folder = await this.#path;
    const number = this.#numbers.get(node.name) ?? this.#numbers.size;
    this.#numbers.set(node.name, number);
    const place = (name: string) => join(folder, `${name}-${number}`);
    const { host_key } = settings;
    const trust = host_key === undefined ? 'first' : host_key === anyHostKey ? 'any' : 'pinned';
    const knownHosts = place('known-hosts');
    if (trust === 'pinned') await writeFile(knownHosts, `${hostAlias} ${host_key}\n`);
    const keyPath = secret.key === undefined ? undefined : place('key');
    // The client refuses a key that other users can read, and git stores keys so.
    if (keyPath !== undefined) await writeFile(keyPath, secret.key ?? '', { mode: 0o600 });
    const user = settings.user ?? node.defaultUser;
    const target = { host: settings.host, port: settings.port ?? 22, user, viaContainer, keyPath, knownHosts, trust } as const;
    if (secret.password === undefined) return { target, env: {} };
    const asking = { SSH_ASKPASS: process.execPath, SSH_ASKPASS_REQUIRE: 'force', NODE_OPTIONS: answerOption };
    return { target, env: { ...asking, [passwordVariable]: secret.password } };
  }

  close(): void {
    if (this.#made !== undefined) rmSync(this.#made, { recursive: true, force: true });
  }

  async #make(): Promise<string> {
    this.#made = await mkdtemp(join(tmpdir(), 'patchbay-ssh-'));
    return this.#made;
  }

  async #secret({ name, settings, defaultPassword }: SshNode): Promise<{ key?: Buffer; password?: string }> {
    const given = (['password_env', 'key', 'key_env'] as const).filter((field) => settings[field] !== undefined);
    if (given.length > 1) throw new SshError(`test.nodes.${name}.ssh has ${given.join(' and ')}. Leave one`);
    const { password_env, key, key_env } = settings;
    if (password_env !== undefined) return { password: variableOf(name, password_env) };
    if (key_env !== undefined) return { key: await readKey(name, variableOf(name, key_env)) };
    if (key !== undefined) {
      const path = resolve(this.#base, key);
      if (await isReallyBelow(resolve(this.#base), path)) return { key: await readKey(name, path) };
      throw new SshError(`the key ${key} of ${name} is outside of the folder of the lab file. Move it there, or use key_env`);
    }
    if (defaultPassword !== undefined) return { password: defaultPassword };
    throw new SshError(`test.nodes.${name}.ssh has no key and no password. Set key, key_env or password_env`);
  }
}

function variableOf(node: string, variable: string): string {
  const value = process.env[variable];
  if (value) return value;
  throw new SshError(`the environment variable ${variable}, which test.nodes.${node}.ssh names, is not set`);
}

async function readKey(node: string, path: string): Promise<Buffer> {
  return readFile(path).catch((cause: Error) => {
    throw new SshError(`the SSH key of ${node} cannot be read: ${cause.message}`, { cause });
  });
}
