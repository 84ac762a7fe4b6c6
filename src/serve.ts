/** Builds the server of its parts and runs it until a signal. */
import { chmod, readFile, realpath, stat } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import type { Route } from './api/route.ts';
import { Tickets } from './api/tickets.ts';
import { prepareValidators } from './api/validate.ts';
import { type Invocation, UsageError, urlOf } from './command-line.ts';
import { HostCompute } from './compute/compute.ts';
import { Controller } from './controller/controller.ts';
import { declareRoutes } from './declare-routes.ts';
import { describeAccess, describeSetUp } from './describe-access.ts';
import { keepFindings } from './doctor/kept-findings.ts';
import { createHttpServer, type HttpLimits } from './http/server.ts';
import { DiskFloor } from './lib/disk-floor.ts';
import { endCompilation } from './lib/end-compilation.ts';
import { type InstanceLock, lockInstance } from './lib/instance-lock.ts';
import { makeFolders } from './lib/make-folders.ts';
import { setAside } from './lib/set-aside.ts';
import { Accounts } from './people/accounts.ts';
import { SetUp } from './people/set-up.ts';
import { PeopleStore, StoreBroken } from './people/store.ts';
import { isLoopback } from './schema/console-access.ts';
import type { Settings } from './schema/settings.ts';
import { readSettings } from './settings.ts';
import type { Slice, SliceParts } from './slice/slice.ts';
import { apiVersion, version } from './version.ts';

/** Longest clean shutdown, ms; then the process ends anyway, which loses no acknowledged change. */
const endWithinMs = 1800;
/** Longest shutdown that stops nodes, because guests need time to shut down. Ms. */
const stopNodesWithinMs = 120_000;
/** Longest shutdown after a failed start: the fabric may still be starting on a busy machine. Ms. */
const giveUpWithinMs = 45_000;
/** Delay until the validators of first requests are made, which need not wait for them then. Ms. */
const warmUpAfterMs = 300;
/** Paths of the first requests that change something: projects, nodes and links, of the controller and of this process's compute. */
const firstPaths = /^\/v2\/(compute\/)?projects(\/\{project_id\}(\/(\w+\/)?(nodes|links)(\/\{\w+\}(\/adapters\/.*\/nio)?)?)?)?$/;
/** Built by `scripts/build-page.mjs`. */
const pageFolder = join(import.meta.dirname, '../.cache/page');
const appliancesFolder = join(import.meta.dirname, '../appliances');

export async function serve(invocation: Invocation): Promise<undefined> {
  const { join: joinUrl } = invocation;
  // Only the controller uses a slice's address, so a slice may listen on any.
  const place =
    joinUrl === undefined ? invocation : { ...invocation, host: invocation.host ?? '0.0.0.0', port: invocation.port ?? 0 };
  const given = await readSettings(place);
  const tls = await readCertificate(given);
  const log = pino({ level: invocation.logLevel }, pino.destination({ dest: 2, sync: false }));
  await prepareFolders(given);
  const lock = await lockDataDirectory(given);
  // Loaded on the first request, which most servers never get.
  const findings = keepFindings(async () => (await import('./doctor/doctor.ts')).doctor(compute.host));
  const slice = joinUrl === undefined ? undefined : await openSlice(joinUrl, given, log);
  const settings = slice ? slice.withCredentials(given) : given;
  const accounts = await openAccounts(settings, log);
  const compute = await HostCompute.open({ settings, log, version: apiVersion, findings, leaseDeadline: await slice?.deadline() });
  const asked = Promise.withResolvers<void>();
  const controller = await Controller.open({ settings, log, version: apiVersion, compute, appliancesFolder, end: asked.resolve });
  const { auth, console_without_credentials: openConsoles } = settings.Server;
  const tickets = new Tickets();
  const setUp = new SetUp(accounts);
  const routes = declareRoutes({ controller, compute, accounts, setUp, tickets, settings, log });
  const epoch = slice && { currentEpoch: () => compute.leased.epoch };
  const app = await createHttpServer({
    routes,
    versions: { program: version, api: apiVersion },
    log,
    collectors: [() => controller.metrics(), () => compute.metrics()],
    serverHeader: `Patchbay/${version} GNS3/${apiVersion}`,
    pages: { folder: pageFolder, webUi: settings.Server.web_ui || undefined },
    allowedOrigins: listOf(settings.Server.allowed_origins),
    allowedHosts: [settings.Server.host, ...listOf(settings.Server.allowed_hosts)],
    limits: limitsOf(settings),
    ...(tls && { tls }),
    authenticator: accounts,
    ...(auth && { credentials: { authenticator: accounts, tickets, openConsoles, ...epoch } }),
  });
  // Stores compiled code now, because the process may end without notice: 4 ms when everything was stored before.
  flushCompileCache();
  const url = await listen(app, settings).catch(async (error: unknown) => {
    endCompilation();
    const released = controller.close().then(() => compute.stop());
    await Promise.race([released.catch((cause: unknown) => log.error(cause)), wait(giveUpWithinMs)]);
    await lock.release();
    throw error;
  });
  await controller.listening(url);
  warmUp(routes);
  if (invocation.untilStdinEnds) process.stdin.resume().once('close', asked.resolve);
  endWhenAsked({ app, compute, controller, lock, slice, ...endingOf(invocation, slice) }, asked.promise);
  const lines = slice ? [] : [describeAccess(settings.Server), ...describeSetUp(url, settings.Server.user, setUp.begin())];
  process.stdout.write(`${[`Patchbay ${version} listening on ${url}`, ...lines].join('\n')}\n`);
  if (!slice) return undefined;
  await joinController(slice, { machines: compute.leased, findings, url, end: asked.resolve }, invocation.advertise);
  return undefined;
}

/** Prepares the first requests, when the first page has loaded. */
function warmUp(routes: readonly Route[]): void {
  const first = routes.filter(({ template }) => firstPaths.test(template));
  setTimeout(() => {
    // Node loads what they use when it is first called.
    crypto.randomUUID();
    isDeepStrictEqual({}, {});
    void prepareValidators(first);
  }, warmUpAfterMs).unref();
}

/** Opens the accounts. @throws UsageError when they cannot be read, and logins are required: the server stays shut */
async function openAccounts({ dataDirectory, Server: { auth, user, password, host } }: Settings, log: Logger): Promise<Accounts> {
  const warn = (message: string) => log.warn(message);
  const configured = auth ? { configured: { user: user.trim(), password: password.trim() } } : {};
  const open = async () =>
    Accounts.open(await PeopleStore.open(dataDirectory), { ...configured, isLoopback: isLoopback(host), warn });
  return open().catch(async (error: unknown) => {
    if (!(error instanceof StoreBroken)) throw error;
    const { path } = error;
    if (auth)
      throw new UsageError(
        `${error.message}. The server stays shut, because the accounts and rights in it may be incomplete: restore ${path} from a backup, or continue with what can be read: patchbay user repair --data-dir ${dataDirectory}`,
      );
    warn(
      `${error.message}. It was moved to ${await setAside(path)}: this server requires no logins, and continues without accounts`,
    );
    return open();
  });
}

/** Locks the data directory. @throws UsageError when another server holds it */
async function lockDataDirectory({ dataDirectory }: Settings): Promise<InstanceLock> {
  const lock = await lockInstance(await realpath(dataDirectory));
  if (typeof lock !== 'number') return lock;
  const holder = lock > 0 ? `process ${lock}` : 'another process';
  throw new UsageError(`The data directory ${dataDirectory} is in use by ${holder}: end it, or choose another with --data-dir`);
}

/** Joins the controller. A refused slice ends with exit code 1. */
async function joinController(slice: Slice, parts: SliceParts, advertised: string | undefined): Promise<void> {
  try {
    process.stdout.write(`Joined as ${await slice.begin(parts, advertised)}\n`);
  } catch (error) {
    process.stderr.write(`patchbay: ${(error as Error).message}\n`);
    process.exitCode = 1;
    parts.end();
  }
}

async function openSlice(joinUrl: string, settings: Settings, log: Logger): Promise<Slice> {
  const { Slice } = await import('./slice/slice.ts');
  return Slice.open(joinUrl, settings, log).catch((error: Error) => {
    throw new UsageError(error.message);
  });
}

function listOf(text: string): string[] {
  return text.split(',').map((one) => one.trim());
}

function limitsOf({ Server, dataDirectory }: Settings): HttpLimits {
  const floor = new DiskFloor([dataDirectory, Server.projects_path, Server.images_path], Server.min_free_bytes);
  return {
    requestMs: Server.request_timeout * 1000,
    uploads: { idleMs: Server.upload_idle_timeout * 1000, floor },
    clients: {
      connections: Server.max_connections_per_client,
      requests: Server.max_requests_per_client,
      uploads: Server.max_uploads_per_client,
    },
  };
}

/**
 * Creates the folders. @throws UsageError when one cannot be made, or another user owns the runtime folder, and so perhaps its
 * sockets
 */
async function prepareFolders(settings: Settings): Promise<void> {
  const { dataDirectory, runtimeDirectory, Server } = settings;
  for (const folder of [dataDirectory, Server.projects_path, Server.images_path, runtimeDirectory]) {
    await makeFolders(folder).catch((error: Error) => {
      throw new UsageError(`The folder ${folder} cannot be made: ${error.message}. Choose another with --data-dir`);
    });
  }
  const { uid } = await stat(runtimeDirectory);
  if (uid !== process.getuid?.())
    throw new UsageError(`The folder ${runtimeDirectory} belongs to another user: remove it, or choose a shorter --data-dir`);
  await chmod(runtimeDirectory, 0o700);
}

/** Reads the configured key and certificate. @throws UsageError */
async function readCertificate({
  Server: { ssl, certfile, certkey },
}: Settings): Promise<{ key: Buffer; cert: Buffer } | undefined> {
  if (!ssl) return undefined;
  const read = (file: string, what: string) =>
    readFile(file).catch((error: Error) => {
      throw new UsageError(
        `The ${what} ${file} cannot be read: ${error.message}. Correct ${what === 'key' ? 'certkey' : 'certfile'}`,
      );
    });
  const [cert, key] = await Promise.all([read(certfile, 'certificate'), read(certkey, 'key')]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new UsageError(`${certfile} and ${certkey} are no certificate and its key: ${(error as Error).message}`);
  }
  return { cert, key };
}

async function listen(app: FastifyInstance, settings: Settings): Promise<string> {
  const { host, port } = settings.Server;
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE')
      throw new UsageError(
        `Port ${port} on ${host} is in use: end what uses it, or choose another with --port (0 takes a free one)`,
      );
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new UsageError(`${host} is no address of this machine: correct --host`);
    if (code === 'EACCES')
      throw new UsageError(`Port ${port} needs more rights than this user has: choose one above 1023 with --port`);
    throw error;
  }
  return urlOf(host, (app.server.address() as AddressInfo).port, settings.Server.ssl);
}

/** Decides how the server ends. A server that ends with its parent program loses its data with it, so nothing is frozen. */
function endingOf({ stopNodes, untilStdinEnds = false }: Invocation, slice: Slice | undefined) {
  return { stopNodes: stopNodes || slice !== undefined, freezes: !untilStdinEnds };
}

interface ServerParts {
  app: FastifyInstance;
  compute: HostCompute;
  controller: Controller;
  lock: InstanceLock;
  slice: Slice | undefined;
  stopNodes: boolean;
  /** Freezes the projects with `on_close: freeze`. */
  freezes: boolean;
}

/** Ends the server on a signal, on an API request, or when standard input ends. */
function endWhenAsked(parts: ServerParts, asked: Promise<void>): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    void endAll(parts).then(
      () => process.exit(),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) process.on(signal, end);
  // SIGHUP does the same as `POST /v2/reload`.
  process.on('SIGHUP', () => void parts.controller.projects.reload().catch((error: unknown) => parts.app.log.error(error)));
  void asked.then(end);
}

/** Ends each part after the one before, also when that failed: a fabric that is not ended would stay. @throws the first error */
async function endAll({ app, compute, controller, lock, slice, stopNodes, freezes }: ServerParts): Promise<void> {
  const steps = [
    () => (freezes ? controller.keep(stopNodes) : undefined),
    // The controller moves the slice's nodes to other slices first, within the time that the engine allows.
    () => slice?.stop(),
    () => {
      endCompilation();
      setTimeout(() => process.exit(0), stopNodes ? stopNodesWithinMs : endWithinMs).unref();
      for (const socket of app.websocketServer.clients) socket.close(1001, 'the server ends');
    },
    () => app.close(),
    () => controller.close(),
    () => compute.stop({ stopNodes }),
    () => slice?.leave(),
    () => lock.release(),
  ];
  const failed: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failed.push(error);
      app.log.error(error);
    }
  }
  if (failed.length > 0) throw failed[0];
}
