/** A machine that continues here: it takes its disks and its memory from streams, and is paused when it has all. */
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fault } from '../../../api/faults.ts';
import { openLog } from '../../../process/open-log.ts';
import { connectSocket } from '../../../process/unix-socket.ts';
import { consoleStream, type MoveOffer, memoryStream } from '../../../schema/move.ts';
import type { MachineArrival, MoveStream, NodeView } from '../../driver.ts';
import { ask, BlockDevices } from '../answers.ts';
import { ignoreShared, migrated } from '../memory/migration.ts';
import { bufferBytes } from '../memory/stream-socket.ts';
import type { Monitor } from '../monitor.ts';
import { placesOf } from '../places.ts';

/** The machine waits for its state (`-incoming defer -S`). @throws qemu_failed, move_refused */
export async function receiveMachine(monitor: Monitor, node: NodeView, { offer, ready, signal }: MachineArrival): Promise<void> {
  const places = { nbd: join(node.runtimeDirectory, 'nbd'), memory: join(node.runtimeDirectory, 'in') };
  const given = new Error('its move was given up');
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  signal.addEventListener('abort', () => aborted.reject(given), { once: true });
  signal.throwIfAborted();
  await ignoreShared(monitor, false);
  // Announcements are off, because the neighbours have not seen the machine move. By default each card broadcasts its address five times.
  await monitor.execute('migrate-set-parameters', { 'announce-rounds': 0 });
  if (offer.drives.length > 0) await exportDrives(monitor, offer, places.nbd);
  await monitor.execute('migrate-incoming', { uri: `unix:${places.memory}` });
  const console = (await openLog(placesOf(node).consoleLog, { append: true })).createWriteStream();
  const printed = finished(console);
  printed.catch(() => undefined);
  const sockets = new Map<string, Socket>();
  ready((name): MoveStream => {
    if (name === consoleStream) return { into: console };
    const isDrive = offer.drives.some((drive) => drive.name === name);
    if (name !== memoryStream && !isDrive) throw fault('move_refused', { name: node.name, reason: 'there is no such stream' });
    // The stream shares one socket for both directions.
    const path = isDrive ? places.nbd : places.memory;
    // Whether QEMU has what it needs, QEMU is asked.
    const socket = sockets.get(name) ?? connectSocket(path, { highWaterMark: bufferBytes }).on('error', () => undefined);
    sockets.set(name, socket);
    return { from: socket, into: socket };
  });
  try {
    await Promise.race([Promise.all([migrated(monitor), printed]), aborted.promise]);
  } finally {
    console.destroy();
  }
  if (offer.drives.length > 0) await monitor.execute('nbd-server-stop');
}

/** @throws qemu_failed, move_refused */
async function exportDrives(monitor: Monitor, { drives }: MoveOffer, path: string): Promise<void> {
  await monitor.execute('nbd-server-start', { addr: { type: 'unix', data: { path } } });
  const devices = await ask(monitor, 'query-block', BlockDevices);
  for (const { name, bytes } of drives) {
    const { inserted } = devices.find(({ device }) => device === name) ?? {};
    const here = inserted?.image['virtual-size'];
    if (here !== bytes) throw fault('qemu_failed', { reason: `its disk ${name} has ${bytes} bytes, and ${here} here` });
    await monitor.execute('block-export-add', {
      ...{ type: 'nbd', id: `move-${name}`, name, writable: true },
      'node-name': inserted?.['node-name'],
    });
  }
}
