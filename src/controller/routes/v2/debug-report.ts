/** Attachments of a bug report: texts in `<data>/debug/`, without the passwords of the server and its computes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { freemem, loadavg, networkInterfaces, release, totalmem, uptime, version } from 'node:os';
import { join } from 'node:path';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { Controller } from '../../controller.ts';
import { storageFailed } from '../../log/project-log.ts';

/** Written anew each time. @throws storage_failed */
export async function writeDebugReport(controller: Controller): Promise<void> {
  const folder = join(controller.settings.dataDirectory, 'debug');
  const computes = [...controller.computes.all()];
  const texts = await Promise.all([
    controllerText(controller).then((text) => ['controller.txt', text] as const),
    ...computes.map(async (compute) => [`compute_${safe(compute.id)}.txt`, await computeText(compute)] as const),
  ]);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await Promise.all(texts.map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })));
  } catch (error) {
    throw storageFailed(error);
  }
}

async function controllerText({ version: own, computes, projects }: Controller): Promise<string> {
  const addresses = Object.entries(networkInterfaces()).flatMap(([name, all]) =>
    (all ?? []).map(({ address }) => `${name} ${address}`),
  );
  const live = await Promise.all([...projects.all()].map(async (project) => ({ project, open: await project.findLive() })));
  return [
    section('Server', {
      version: own,
      node: process.version,
      uptime_s: Math.round(process.uptime()),
      memory: process.memoryUsage(),
    }),
    section('Host', {
      system: `${version()} ${release()}`,
      uptime_s: Math.round(uptime()),
      load: loadavg(),
      memory_bytes: { total: totalmem(), free: freemem() },
      addresses,
    }),
    section('Computes', computes.list()),
    ...live.map(({ project, open }) =>
      section(`Project ${project.name}`, {
        ...project.object,
        nodes: open?.nodes.list() ?? [],
        links: open?.links.entries() ?? [],
      }),
    ),
  ].join('\n');
}

const questions = [
  'GET /v2/compute/capabilities',
  'GET /v2/compute/statistics',
  'GET /v2/compute/network/ports',
  'GET /v2/compute/projects',
] as const;

/** The replies of a compute, or why it has none. */
async function computeText({ transport }: RegisteredCompute): Promise<string> {
  const answers = questions.map(async (key) => {
    const answer = await transport.call(key, { timeoutMs: 10_000 }).catch((error: Error) => error.message);
    return section(key, answer);
  });
  return (await Promise.all(answers)).join('\n');
}

function section(title: string, content: unknown): string {
  return `${title}\n${'='.repeat(title.length)}\n${JSON.stringify(content, null, 2)}\n`;
}

/** Ids of computes may be any text. */
function safe(id: string): string {
  return id.replace(/[^\w-]/g, '_').slice(0, 100);
}
