/** PCs of the driver "vpcs" over a fabric of the test's own: all of it is gone when the test ends. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Driver, Emulator, NodeView } from '../../src/emulators/driver.ts';
import type { Host } from '../../src/emulators/host/host.ts';
import { vpcsDriver } from '../../src/emulators/vpcs/driver.ts';
import { FabricClient } from '../../src/fabric/client.ts';
import { contractHost } from './contract-bench.ts';

export class PcBench {
  readonly folder: string;
  readonly fabric: FabricClient;
  readonly warnings: string[] = [];
  /** States for the next starts, by node. */
  readonly saved = new Map<string, unknown>();
  readonly host: Host;
  driver: Driver;

  private constructor(folder: string) {
    this.folder = folder;
    this.fabric = new FabricClient({ socketPath: join(folder, 'fabric'), logPath: join(folder, 'fabric.log') });
    this.host = { ...contractHost(folder, 31_700), pcs: this.fabric };
    this.driver = vpcsDriver(this.host);
  }

  static async open(context: TestContext): Promise<PcBench> {
    const folder = await mkdtemp(join(tmpdir(), 'pb-pc-'));
    const bench = new PcBench(folder);
    context.after(async () => {
      await bench.fabric.quit();
      await bench.host.images.close();
      await rm(folder, { recursive: true, maxRetries: 5 });
    });
    return bench;
  }

  /** Makes a driver anew, as a server does that starts again. */
  restart(): void {
    this.driver = vpcsDriver(this.host);
  }

  async view(nodeId: string): Promise<NodeView> {
    const directory = join(this.folder, 'project', 'vpcs', nodeId);
    await mkdir(directory, { recursive: true });
    return {
      projectId: 'project',
      projectDirectory: join(this.folder, 'project'),
      nodeId,
      name: nodeId,
      directory,
      runtimeDirectory: join(this.folder, 'run'),
      properties: {},
      numbers: { from: 0, lastCommandLine: '' },
      console: { type: 'telnet', port: null, host: '127.0.0.1' },
      carrier: () => true,
      requireLease: () => undefined,
      warn: (message) => void this.warnings.push(message),
    };
  }

  /** Starts the node. The start-up script is written unless the node has one. */
  async start(nodeId: string, startup_script?: string): Promise<Emulator> {
    const view = await this.view(nodeId);
    await this.driver.populate?.(view.directory, { startup_script }, view.name);
    return this.driver.start(view, {}, this.saved.get(nodeId));
  }
}
