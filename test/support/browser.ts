/** Debian's Chromium for tests: headless, with a profile of its own, and nothing of it left afterwards. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, afterEach } from 'node:test';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { quietNetwork } from './quiet-network/quiet-network.ts';

export interface Tab {
  readonly page: Page;
  /** Errors in the page: errors of scripts, violations of its policy. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

export interface TabOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Enables animations; otherwise the page uses reduced motion. */
  readonly motion?: boolean;
  /** Whether the tab has a touch screen. */
  readonly touch?: boolean;
}

const switches = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Chromium without the window system's part, in half the processor time for a test; distributions derived from Debian may lack it. */
const [headlessShell, fullBrowser] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

export function browserProgram(): string {
  return process.env.PATCHBAY_TEST_CHROMIUM ?? (existsSync(headlessShell) ? headlessShell : fullBrowser);
}

/** Limit of one wait: a machine under other load takes several seconds for some. */
const limitMs = 60_000;

/** A window of its own, as if another person had opened it. Closed after the tests of the file. */
export async function openTab(
  url: string,
  { width = 1280, height = 800, dark = false, motion = false, touch = false }: TabOptions = {},
): Promise<Tab> {
  const env = { ...process.env, ...(await quietNetwork()) };
  const profile = await mkdtemp(join(tmpdir(), 'pb-chromium-'));
  const context = await chromium
    .launchPersistentContext(profile, {
      executablePath: browserProgram(),
      env,
      headless: true,
      timeout: limitMs,
      args: switches,
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: motion ? 'no-preference' : 'reduce',
      hasTouch: touch,
    })
    .catch(async (error: Error) => {
      await rm(profile, { recursive: true, force: true });
      throw error;
    });
  const close = closing(context, profile);
  after(close);
  const problems: string[] = [];
  const [page = await context.newPage()] = context.pages();
  page.setDefaultTimeout(limitMs);
  await slowDown(context);
  afterEach(async (test) => {
    if (!('passed' in test) || test.passed || page.isClosed()) return;
    const file = join(tmpdir(), 'patchbay-failures', `${test.fullName.replaceAll(/\W+/g, '-')}-${basename(profile)}.png`);
    await page.screenshot({ path: file });
    test.diagnostic(`the page as the test left it: ${file}`);
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) problems.push(message.text());
  });
  await page.goto(url);
  return { page, problems, close };
}

function closing(context: BrowserContext, profile: string): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= context.close().then(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
    return closed;
  };
}

/** Makes the scripts of all pages slower by the factor `PATCHBAY_TEST_SLOWDOWN`, if it is set: the search for races uses it. */
async function slowDown(context: BrowserContext): Promise<void> {
  const rate = Number(process.env.PATCHBAY_TEST_SLOWDOWN ?? 1);
  if (!(rate > 1)) return;
  const slow = async (page: Page) => (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate });
  context.on('page', (page) => void slow(page));
  await Promise.all(context.pages().map(slow));
}

/** Saves a screenshot of the page, if `PATCHBAY_TEST_SCREENSHOTS=FOLDER` is set. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PATCHBAY_TEST_SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
