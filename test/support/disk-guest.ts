/**
 * A guest in a boot sector: prints `=` and the first character of the sector at 1 MiB of its disk, then fills that sector with each character
 * that it reads from its serial console, and prints `W` and the character when that is on the disk. It halts in between.
 */
import assert from 'node:assert/strict';
import { waitFor } from './wait-for.ts';
import { openWebSocket } from './web-socket.ts';

/** Code of x86 in real mode, at 0x7c00; the drive's number is kept at 0x7dfd. */
const program = [
  '31c0 8ed8 8ec0 8ed0 bc007c 8816fd7d', // xor ax,ax; mov ds,ax; mov es,ax; mov ss,ax; mov sp,0x7c00; mov [0x7dfd],dl
  'b442 e83400 b03d e83b00 a00080 e83500', // mov ah,0x42 (read); call disk; mov al,'='; call putc; mov al,[0x8000]; call putc
  'fb f4 bafd03 ec a801 74f6', // again: sti; hlt; in al,0x3fd; test al,1; jz again
  'baf803 ec bf0080 b90002 fc f3aa', // in al,0x3f8; mov di,0x8000; mov cx,512; cld; rep stosb
  'b443 e80d00 b057 e81400 a00080 e80e00 ebd7', // mov ah,0x43 (write); call disk; mov al,'W'; call putc; mov al,[0x8000]; call putc; jmp again
  'b000 8a16fd7d be637c cd13 c3', // disk: mov al,0; mov dl,[0x7dfd]; mov si,address; int 0x13; ret
  '50 bafd03 ec a820 74fb 58 baf803 ee c3', // putc: push ax; wait: in al,0x3fd; test al,0x20; jz wait; pop ax; out 0x3f8,al; ret
  '10000100 00800000 0008000000000000', // address: one sector, to or from 0:0x8000, at 2048
]
  .join('')
  .replaceAll(' ', '');

/** The character that `=` shows before anything was written. */
export const untouched = 'o';

/** A raw disk image of 2 MiB. */
export function diskGuestImage(): Buffer {
  const image = Buffer.alloc(2 << 20);
  image.write(program, 'hex');
  image.writeUInt16LE(0xaa55, 510);
  image.fill(untouched, 1 << 20, (1 << 20) + 512);
  return image;
}

export const diskGuestProperties = {
  ram: 16,
  adapters: 0,
  boot_priority: 'c',
  hda_disk_interface: 'ide',
  // The firmware would read the serial console itself with `graphics=off`.
  options: '-nodefaults -machine accel=tcg',
};

/** `url`: of the node's WebSocket console. */
export async function readDisk(url: string): Promise<string> {
  return onConsole(url, (_, printed) => /=(\w)/.exec(printed())?.[1]);
}

/** Writes the character to the guest's disk; it is there when this resolves. */
export async function writeDisk(url: string, character: string): Promise<void> {
  assert.equal(character.length, 1);
  await onConsole(url, (send, printed) => {
    if (printed().includes(`W${character}`)) return true;
    send(character);
    return undefined;
  });
}

async function onConsole<T>(url: string, look: (send: (text: string) => void, printed: () => string) => T | undefined): Promise<T> {
  // A machine that has just been moved is not at its new place at once.
  const open = () => openWebSocket(url).catch(() => undefined);
  const console = await waitFor(open, { what: 'a console', everyMs: 300, limitMs: 120_000 });
  try {
    const send = (text: string) => console.send(Buffer.from(text));
    const printed = () => console.messages.map(String).join('');
    return await waitFor(() => look(send, printed), { what: 'an answer of the guest', everyMs: 300, limitMs: 120_000 });
  } finally {
    console.close();
  }
}
