/** Parses the command line of `patchbay` and prints `--help`. */
import { parseArgs } from 'node:util';
import { settingsTable } from './schema/settings.ts';

export interface Option {
  /** The option's value, in capitals; absent: the option has none. */
  readonly value?: string;
  /** Description for `--help` and the documents: one sentence in Markdown. */
  readonly description: string;
}

/** Options of `serve`. The parser, `--help` and `docs/configuration.md` follow from this table. */
export const serveOptions = {
  host: { value: 'HOST', description: 'Address to listen on (default 127.0.0.1)' },
  port: { value: 'PORT', description: 'Port to listen on (default 3080; 0 takes a free one)' },
  'data-dir': { value: 'FOLDER', description: 'Where projects, images and state are kept (default $XDG_DATA_HOME/patchbay)' },
  config: { value: 'FILE', description: 'Settings in INI form, as listed below; options of the command line win over the file' },
  ssl: { description: 'Answer HTTPS, with --certfile and --certkey, or certfile and certkey of the configuration' },
  certfile: { value: 'FILE', description: 'Certificate in PEM form' },
  certkey: { value: 'FILE', description: 'Private key in PEM form' },
  local: { description: 'Clients run on this machine and may name any path on it (default when the host is a loopback address)' },
  'no-local': { description: 'Clients may name paths inside the configured folders only' },
  'stop-nodes': {
    description:
      'Stop the nodes when the server ends (default: they keep running, and the next server on the same data directory adopts them)',
  },
  'until-stdin-ends': {
    description:
      'End when standard input ends: for a program that starts a server and must not leave it behind, however it ends. No project is frozen at the end',
  },
  join: {
    value: 'URL',
    description:
      'For `compute`: register with the controller at this address; the token of an invitation is in `PATCHBAY_JOIN` of the environment. The server then listens on all addresses and a free port by default, and stops its nodes when it ends',
  },
  advertise: {
    value: 'HOST',
    description:
      'For `compute`: address by which the controller and other slices reach this host (default: that from which it reaches the controller)',
  },
  'log-level': {
    value: 'LEVEL',
    description: 'trace, debug, info, warn (default), error or silent; the log goes to standard error',
  },
  version: { description: 'Print the version and end' },
  help: { description: 'Print this and end' },
} as const satisfies Record<string, Option>;

const helpColumns = 100;

export const help = `Usage: patchbay [serve] [options]
       patchbay compute --join URL [options]
       patchbay slices COMMAND
       patchbay lab COMMAND
       patchbay test [FILE]
       patchbay bisect
       patchbay mcp
       patchbay user | group | role | acl COMMAND
       patchbay images [SOCKET]
       patchbay doctor
       patchbay openapi
       patchbay configuration

A network emulator with an HTTP API compatible with GNS3 2.2.

Commands
${helpRow('serve', 'Start the server (the default)')}
${helpRow('compute', 'Start a compute that registers itself with a controller (docs/cluster.md)')}
${helpRow('slices', 'List such computes, or invite one')}
${helpRow('lab', 'Labs as files: apply, plan, diff, export, run, …; patchbay lab lists them')}
${helpRow('test', 'Run the checks of a lab file; exit code 0 only if all hold')}
${helpRow('bisect', 'Find the first checkpoint of a lab on which a check fails')}
${helpRow('mcp', 'Give agents the commands of labs as tools (Model Context Protocol); read-only by default')}
${helpRow('user', 'Accounts: list, add, passwd, …; with --data-dir also while no server runs (docs/people.md)')}
${helpRow('group', 'Groups of accounts')}
${helpRow('role, acl', 'Roles, who has which one where, and why a request is refused')}
${helpRow('images', "Make the container images of the worked labs out of Debian's packages, for the Docker engine at SOCKET")}
${helpRow('completion', 'Print the script that completes these commands in bash, zsh or fish')}
${helpRow('doctor', 'Report what is installed, whether KVM is usable, and how to get what is missing')}
${helpRow('openapi', 'Print the routes as an OpenAPI 3.1 document')}
${helpRow('configuration', 'Print all settings and options with their defaults, as Markdown')}

Options of serve and compute
${Object.entries<Option>(serveOptions)
  .map(([name, option]) => helpRow(optionUsage(name, option), option.description))
  .join('\n')}

Settings of the file that --config names
${Object.entries(settingsTable)
  .map(([section, keys]) => helpRow(`[${section}]`, Object.keys(keys).join(', ')))
  .join('\n')}

When the server answers it prints its address, and who may use it and its consoles. SIGTERM and SIGINT (Ctrl-C) end it; SIGHUP
makes it scan the projects folder again, as POST /v2/reload does.`;

/** Formats an option as the user types it. */
export function optionUsage(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** Formats a term and its description, wrapped beside it. */
function helpRow(term: string, description: string): string {
  const indent = 22;
  const lines: string[] = [];
  let line = '';
  for (const word of description.replaceAll('`', '').split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > helpColumns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return `  ${term.padEnd(indent - 2)}${lines.join(`\n${' '.repeat(indent)}`)}`;
}

interface TlsOptions {
  ssl?: boolean | undefined;
  certfile?: string | undefined;
  certkey?: string | undefined;
}

export interface Invocation extends TlsOptions {
  command: 'serve' | 'lab' | 'images' | 'doctor' | 'openapi' | 'configuration' | 'help' | 'version';
  host?: string | undefined;
  port?: number | undefined;
  dataDirectory?: string | undefined;
  configFile?: string | undefined;
  local?: boolean | undefined;
  stopNodes: boolean;
  /** Ends the server when its standard input ends, which happens however the parent program ends. */
  untilStdinEnds?: boolean | undefined;
  /** The controller with which this compute registers itself. */
  join?: string | undefined;
  advertise?: string | undefined;
  logLevel: string;
  /** Arguments after the command, for commands that parse them. */
  rest: string[];
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const cliWords: ReadonlySet<string> = new Set([
  ...['lab', 'slices', 'test', 'bisect', 'mcp', 'completion'],
  ...['user', 'group', 'role', 'acl'],
]);
/** Commands that parse their own arguments, but for `--help`. */
const others = ['images', 'doctor', 'openapi', 'configuration'] as const;
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** @throws UsageError with a sentence for users */
export function parseCommandLine(argv: readonly string[]): Invocation {
  const [first] = argv;
  if (first !== undefined && cliWords.has(first)) return { command: 'lab', stopNodes: false, logLevel: 'warn', rest: [...argv] };
  const other = others.find((word) => word === first);
  const isHelp = argv[1] === '--help' || argv[1] === '-h';
  if (other !== undefined && !isHelp) return { command: other, stopNodes: false, logLevel: 'warn', rest: argv.slice(1) };
  const { values } = parse(other !== undefined || first === 'serve' || first === 'compute' ? argv.slice(1) : argv);
  if (first === 'compute' && !values.help && !values.join)
    throw new UsageError('patchbay compute needs --join URL: the address of its controller');
  if (first !== 'compute' && (values.join !== undefined || values.advertise !== undefined))
    throw new UsageError('--join and --advertise belong to patchbay compute');
  const logLevel = values['log-level'] ?? 'warn';
  if (!logLevels.includes(logLevel)) throw new UsageError(`--log-level takes one of ${logLevels.join(', ')}, not "${logLevel}"`);
  return {
    command: values.help ? 'help' : values.version ? 'version' : 'serve',
    host: values.host,
    port: values.port === undefined ? undefined : portNumber(values.port),
    dataDirectory: values['data-dir'],
    configFile: values.config,
    local: values.local ? true : values['no-local'] ? false : undefined,
    ssl: values.ssl,
    certfile: values.certfile,
    certkey: values.certkey,
    stopNodes: values['stop-nodes'] ?? false,
    untilStdinEnds: values['until-stdin-ends'],
    join: values.join,
    advertise: values.advertise,
    logLevel,
    rest: [],
  };
}

function parse(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...argv],
      options: {
        host: text,
        port: text,
        'data-dir': text,
        config: text,
        join: text,
        advertise: text,
        'log-level': text,
        ssl: flag,
        certfile: text,
        certkey: text,
        local: flag,
        'no-local': flag,
        'stop-nodes': flag,
        'until-stdin-ends': flag,
        version: flag,
        help: { ...flag, short: 'h' },
      } satisfies Record<keyof typeof serveOptions, typeof text | (typeof flag & { readonly short?: string })>,
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nRun with --help to see what is understood.`);
  }
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) throw new UsageError(`--port takes a number from 0 to 65535, not "${text}"`);
  return Number(text);
}

/** Formats a server's address for users and clients. */
export function urlOf(host: string, port: number, isSecure = false): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http${isSecure ? 's' : ''}://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
