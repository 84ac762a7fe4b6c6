#!/usr/bin/env node
/** The program: the only file that knows all the parts. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { help, parseCommandLine, UsageError } from './command-line.ts';
import { SettingsError } from './settings.ts';
import { version } from './version.ts';

// Modules imported from here on are compiled once and cached: the second start takes half the time.
enableCompileCache();

/**
 * Keeps V8's space for new objects small during the start: garbage of the start would grow it from 2 to 32 MB, which an idle server
 * would keep. Requests may grow it later.
 */
async function withSmallHeap<T>(start: () => Promise<T>): Promise<T> {
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await start();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
    saveMemoryWhileIdle();
  }
}

/** Delay until V8 has collected the start's garbage, which takes it some ten seconds without load. Ms. */
const settlingMs = 30_000;
const firstRequest = 'http.server.request.start';

/**
 * Lets V8 return unused memory and discard code that ran once, until the first request: saves 15 MB. It would slow down a busy
 * server.
 */
function saveMemoryWhileIdle(): void {
  const end = () => {
    unsubscribe(firstRequest, end);
    clearTimeout(timer);
    setFlagsFromString('--no-optimize-for-size');
  };
  const timer = setTimeout(end, settlingMs).unref();
  subscribe(firstRequest, end);
  setFlagsFromString('--optimize-for-size');
}

async function main(): Promise<number | undefined> {
  const invocation = parseCommandLine(process.argv.slice(2));
  switch (invocation.command) {
    case 'help':
      process.stdout.write(`${help}\n`);
      return 0;
    case 'version':
      process.stdout.write(`${version}\n`);
      return 0;
    case 'lab':
      return (await import('../cli/run-cli.ts')).runCli(invocation.rest);
    case 'doctor':
      return (await import('./doctor/doctor.ts')).runDoctor(invocation.rest);
    case 'images':
      return (await import('./lab-images.ts')).makeLabImages(invocation.rest);
    case 'openapi':
      await (await import('./print-openapi.ts')).printOpenApi();
      return 0;
    case 'configuration':
      process.stdout.write((await import('./configuration-page.ts')).configurationPage());
      return 0;
    case 'serve': {
      // Loaded under V8's own flags, those of its compiled code (`scripts/bundle-loader.cjs`).
      const { serve } = await import('./serve.ts');
      // `serve` returns while the server runs; the process ends when the server is stopped.
      return withSmallHeap(() => serve(invocation));
    }
  }
}

main().then(
  (code) => {
    if (code !== undefined) process.exitCode = code;
  },
  (error: Error) => {
    const expected = error instanceof UsageError || error instanceof SettingsError;
    process.stderr.write(`patchbay: ${expected ? error.message : error.stack}\n`);
    process.exit(expected ? 2 : 1);
  },
);
