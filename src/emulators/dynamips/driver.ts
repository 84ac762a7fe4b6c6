/** The verbs of routers. A node is one Dynamips process with one router in it, so that a crash, or a guest that breaks out, is one node's. */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../api/faults.ts';
import type { Driver, NodePlace, NodeView, Properties } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { storageOnlyDriver } from '../storage-only/storage-only-driver.ts';
import { DynamipsBinaries } from './binary.ts';
import { renameRouter } from './configs.ts';
import type { RouterEmulator, RouterRecord } from './emulator.ts';
import { GhostImages } from './ghosts.ts';
import { idlePcTimes } from './idle-pc.ts';
import { failed } from './launch.ts';
import { type PluggedModule, pluggedModules } from './router-commands.ts';
import { idlePcRoutes } from './routes.ts';
import { adoptRouter, type DynamipsFacilities, startRouter } from './start-router.ts';
import { dynamipsStorage } from './storage.ts';

export function dynamipsDriver(host: Host, times = idlePcTimes): Driver {
  const facilities: DynamipsFacilities = { host, binaries: new DynamipsBinaries(), ghosts: new GhostImages(host) };
  const stored = storageOnlyDriver(dynamipsStorage, host);
  const running = new Map<string, RouterEmulator>();
  const keep = (nodeId: string, emulator: RouterEmulator): RouterEmulator => {
    running.set(nodeId, emulator);
    stored.clearLack(nodeId);
    void emulator.ended.then(() => running.get(nodeId) === emulator && running.delete(nodeId));
    return emulator;
  };
  return {
    ...stored,
    async update(current: Properties, changes: Properties, node: NodePlace) {
      const next = await stored.update(current, changes, node);
      if (running.has(node.nodeId)) requireLive(current, next, node.name ?? 'the router');
      return next;
    },
    present: (properties, nodeId = '') => {
      const aux = running.get(nodeId)?.auxiliary()?.port;
      return { ...stored.present(properties, nodeId), ...(aux !== undefined && { aux }) };
    },
    renamed: (directory, _from, to) => renameRouter(directory, to),
    start: async (node) => keep(node.nodeId, await startRouter(facilities, node)),
    async adopt(node, record) {
      const emulator = await adoptRouter(facilities, node, record as RouterRecord);
      return emulator && keep(node.nodeId, emulator);
    },
    routes: (nodes) =>
      idlePcRoutes(nodes, {
        running: (nodeId) => running.get(nodeId),
        start: (node: NodeView) => startRouter(facilities, node, { endsWithServer: true }),
        times,
      }),
  };
}

/**
 * Refuses a change of a running router's modules, except on c7200 and there of its I/O controller. @throws node_running, dynamips_failed
 * for what is no port adapter
 */
function requireLive(before: Properties, after: Properties, name: string): void {
  const [old, next] = [pluggedModules(before), pluggedModules(after)];
  const isIn = (list: readonly PluggedModule[], one: PluggedModule) => list.some((other) => isDeepStrictEqual(one, other));
  const added = next.filter((one) => !isIn(old, one));
  const changed = [...old.filter((one) => !isIn(next, one)), ...added];
  if (!changed.every(({ slot, sub }) => before.platform === 'c7200' && slot > 0 && sub === 0))
    throw fault('node_running', { name, what: 'change its modules' });
  // The router would refuse it when the change is stored already.
  const unfit = added.find(({ module }) => !module.startsWith('PA-'));
  if (unfit)
    throw failed(`Slot ${unfit.slot} cannot take ${unfit.module} in this router: a c7200 has slots for port adapters (PA-…)`);
}
