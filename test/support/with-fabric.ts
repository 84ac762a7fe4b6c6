/** A fabric process of the test's own, in a folder of its own; both are gone when the test ends. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { TestContext } from 'node:test';
import { FabricClient } from '../../src/fabric/client.ts';
import type { FabricLinkStats, LinkSpec, PortSpec } from '../../src/fabric/protocol.ts';
import { StreamEnd } from './frame-ends.ts';

export interface FabricBed {
  readonly client: FabricClient;
  readonly folder: string;
  readonly socketPath: string;
  readonly logPath: string;
}

/** Finds or starts a fabric; the caller ends it. @throws fabric_unavailable */
export async function connectedFabric(...place: ConstructorParameters<typeof FabricClient>): Promise<FabricClient> {
  const client = new FabricClient(...place);
  await client.connect();
  return client;
}

export async function startFabric(context: TestContext, mayRunPcs?: () => boolean): Promise<FabricBed> {
  const folder = await mkdtemp(`${tmpdir()}/fabric-test-`);
  const [socketPath, logPath] = [`${folder}/control`, `${folder}/log`];
  const client = await connectedFabric({ socketPath, logPath }, mayRunPcs);
  context.after(async () => {
    await client.quit();
    // A fabric that found another one at its socket may still write its compiled code.
    await rm(folder, { recursive: true, maxRetries: 5 });
  });
  return { client, folder, socketPath, logPath };
}

/** A Unix stream server that ends with the test. */
export async function streamEnd(context: TestContext, path: string): Promise<StreamEnd> {
  const end = await StreamEnd.listen(path);
  context.after(() => end.close());
  return end;
}

export function linkOf(a: PortSpec, b: PortSpec, more: Partial<LinkSpec> = {}): LinkSpec {
  return { id: 'link', a, b, filters: {}, suspend: false, ...more };
}

/** A fabric, one link `link`, and its two ends, connected. */
export async function startLink(context: TestContext, more: Partial<LinkSpec> = {}): Promise<LinkBed> {
  const bed = await startFabric(context);
  const [a, b] = [await streamEnd(context, `${bed.folder}/a`), await streamEnd(context, `${bed.folder}/b`)];
  const change = async (changes: Partial<LinkSpec>) => {
    const failures = await bed.client.apply([linkOf(a.port, b.port, changes)]);
    if (failures.length > 0) throw new Error(failures[0]?.error);
  };
  await change(more);
  await Promise.all([a.connected(), b.connected()]);
  const stats = async () => {
    const [link] = await bed.client.stats(['link']);
    if (!link) throw new Error('the link has no counters');
    return link;
  };
  return { ...bed, a, b, change, stats };
}

export interface LinkBed extends FabricBed {
  readonly a: StreamEnd;
  readonly b: StreamEnd;
  /** Makes the link one with these filters and so on, and defaults for the rest. */
  change(changes: Partial<LinkSpec>): Promise<void>;
  stats(): Promise<FabricLinkStats>;
}
