/** A machine that another server started. A failure leaves nothing running and nothing taken. */
import { adoptChild } from '../../process/child.ts';
import type { NodeView } from '../driver.ts';
import { assemble, type Launcher } from './assemble.ts';
import type { QemuEmulator } from './emulator.ts';
import { settleMigration } from './memory/migration.ts';
import { Monitor } from './monitor.ts';
import { cancelMirrors } from './move/disk-mirror.ts';
import { placesOf } from './places.ts';
import { asRecord, udpPortsOf } from './record.ts';

/** A machine that does not answer within this time is ended, so it is long: on a busy host QEMU may be slow, but it answers. */
const adoptLimitMs = 20_000;

/** Undefined when the machine no longer runs, or does not answer; then nothing of it is left running. */
export async function adopt(
  node: NodeView,
  given: Readonly<Record<string, unknown>>,
  launcher: Launcher,
): Promise<QemuEmulator | undefined> {
  const record = asRecord(given);
  if (record === undefined) return undefined;
  const { host, binaries } = launcher.facilities;
  const runDirectory = host.settings.runtimeDirectory;
  const places = placesOf(node);
  const child = await adoptChild({ ...record, logFile: places.log, runDirectory });
  const tpm = record.tpm && (await adoptChild({ ...record.tpm, logFile: places.log, runDirectory }));
  if (child === undefined) {
    await tpm?.stop({ graceMs: 0 });
    return undefined;
  }
  for (const port of udpPortsOf(record.ports)) host.udpPorts.reserve(port);
  const { emulator, throttle } = assemble(node, launcher, { child, record, tpm, cpulimit: await binaries.inPath('cpulimit') });
  await throttle.adopt();
  try {
    const monitor = await Monitor.connect(places.qmp, emulator, { limitMs: adoptLimitMs, ended: child.outcome });
    await settleMigration(monitor);
    await cancelMirrors(monitor);
    await emulator.attach(monitor);
    return emulator;
  } catch (error) {
    host.log('warning', `${node.name} (pid ${record.pid}) runs but does not answer, so it is ended: ${(error as Error).message}`);
    await emulator.stop({ now: true });
    return undefined;
  }
}
