/** Prints the OpenAPI document of a server that is built on an empty folder, never listens, and leaves nothing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Tickets } from './api/tickets.ts';
import { HostCompute } from './compute/compute.ts';
import { Controller } from './controller/controller.ts';
import { declareRoutes } from './declare-routes.ts';
import { createHttpServer } from './http/server.ts';
import { Accounts } from './people/accounts.ts';
import { PeopleStore } from './people/store.ts';
import { readSettings } from './settings.ts';
import { apiVersion, version } from './version.ts';

export async function printOpenApi(): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'pb-'));
  const log = pino({ level: 'silent' });
  try {
    const common = { settings: await readSettings({ dataDirectory }), log, version: apiVersion };
    const compute = await HostCompute.open({ ...common, findings: async () => [] });
    const controller = await Controller.open({ ...common, compute, end: () => undefined });
    const accounts = await Accounts.open(await PeopleStore.open(dataDirectory), { isLoopback: true });
    const app = await createHttpServer({
      routes: declareRoutes({ ...common, controller, compute, accounts, tickets: new Tickets() }),
      versions: { program: version, api: apiVersion },
      log,
      serverHeader: 'Patchbay',
      allowedOrigins: [],
    });
    const { body } = await app.inject('/openapi.json');
    await app.close();
    await controller.close();
    await compute.stop();
    await print(`${body}\n`);
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

/** A reader such as `head` may close the pipe early, which is not an error. */
async function print(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.on('error', (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? resolve() : reject(error)));
    process.stdout.write(text, () => resolve());
  });
}
