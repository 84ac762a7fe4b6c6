/** The command line of `patchbay`: what it takes and what `--help` says. */
import { parseArgs } from 'node:util';
import { defaultDataDirectory } from './settings.ts';

export const help = `Usage: patchbay [serve] [options]
       patchbay doctor
       patchbay openapi

A network-emulation server: projects of virtual machines and links, driven over HTTP.

Commands
  serve               start the server (what is done when no command is given)
  doctor              tell what is installed, whether KVM is usable, and how to get what is missing
  openapi             print the routes as an OpenAPI 3.1 document

Options of serve
  --host HOST         address to listen on (default 127.0.0.1)
  --port PORT         port to listen on (default 3080; 0 takes a free one)
  --data-dir FOLDER   where projects, images and state are kept (default ${defaultDataDirectory()})
  --config FILE       settings in INI form: [Server] host, port, local, auth, user, password, images_path,
                      projects_path, console_start_port_range, udp_start_port_range, run_as (the user that
                      emulators run as when the server is root), …; [VPCS];
                      [Qemu] sandbox (whether machines filter their own system calls), ….
                      The command line wins over the file
  --ssl               answer HTTPS, with --certfile FILE and --certkey FILE (PEM), or certfile and certkey of the
                      configuration
  --local, --no-local whether clients run on this machine and may name any path on it
                      (default: local when the host is a loopback address)
  --stop-nodes        end the virtual machines and links when the server ends (default: they go on running,
                      and the next server on the same data directory takes them over)
  --log-level LEVEL   trace, debug, info, warn (default), error or silent; the log goes to standard error
  --version           print the version and end
  --help              print this and end

When the server answers it prints one line with its address. SIGTERM and SIGINT (Ctrl-C) end it; SIGHUP
has it look at the projects folder again, as POST /v2/reload does.`;

export interface Invocation {
  command: 'serve' | 'doctor' | 'openapi' | 'help' | 'version';
  host?: string | undefined;
  port?: number | undefined;
  dataDirectory?: string | undefined;
  configFile?: string | undefined;
  local?: boolean | undefined;
  ssl?: boolean | undefined;
  certfile?: string | undefined;
  certkey?: string | undefined;
  stopNodes: boolean;
  logLevel: string;
  /** What comes behind the command, for commands that read it themselves. */
  rest: string[];
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** @throws UsageError with a sentence for people */
export function parseCommandLine(argv: readonly string[]): Invocation {
  const [first] = argv;
  if (first === 'doctor' || first === 'openapi') return { command: first, stopNodes: false, logLevel: 'warn', rest: argv.slice(1) };
  const { values } = parse(first === 'serve' ? argv.slice(1) : argv);
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
        'log-level': text,
        ssl: flag,
        certfile: text,
        certkey: text,
        local: flag,
        'no-local': flag,
        'stop-nodes': flag,
        version: flag,
        help: flag,
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nRun with --help to see what is understood.`);
  }
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) throw new UsageError(`--port takes a number from 0 to 65535, not "${text}"`);
  return Number(text);
}

/** Address for people and clients. */
export function urlOf(host: string, port: number, isSecure = false): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http${isSecure ? 's' : ''}://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
