/** The kind of node that an unknown image is for, by its first bytes. */
import type { App } from '../state/app.ts';
import { imageKinds } from './catalog.ts';

/** Machines of ELF programs that are IOS for routers: MIPS, PowerPC, PowerPC 64. Source: the ELF specification, `e_machine`. */
const routerMachines: ReadonlySet<number> = new Set([8, 20, 21]);

/** Programs are IOS of a router or of a PC; anything else is a disk. */
export async function kindByContent(app: App, file: File): Promise<string> {
  const head = new DataView(await file.slice(0, 20).arrayBuffer());
  const isProgram = head.byteLength === 20 && head.getUint32(0) === 0x7f454c46;
  const isLittleEndian = isProgram && head.getUint8(5) === 1;
  const kind = !isProgram ? undefined : routerMachines.has(head.getUint16(18, isLittleEndian)) ? 'dynamips' : 'iou';
  return imageKinds(app).find((one) => one === kind) ?? app.server.mainType ?? '';
}
