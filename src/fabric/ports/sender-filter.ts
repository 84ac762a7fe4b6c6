/**
 * A program with which the kernel receives datagrams of UDP over IPv4 from one address and port only, and drops others without waking
 * the process.
 *
 * @see socket(7) on SO_ATTACH_FILTER, linux/filter.h, Documentation/networking/filter.rst of the kernel
 */
import type { UdpAddress } from './datagram-messages.ts';
import type { AddressIn } from './io-vectors.ts';

export const attachFilter = 26;
/** Where the program sees the header of IP; its own memory begins with the header of UDP. */
const networkHeader = 0xfff0_0000;
const senderAddressAt = 12;
const senderPortAt = 0;
const loadWord = 0x20;
const loadHalf = 0x28;
const jumpIfEqual = 0x15;
const answer = 0x06;
const wholeDatagram = 0xffff_ffff;

/** `struct sock_filter`: code, how many instructions to skip if equal and if not, a number. */
type Instruction = readonly [code: number, skipIf: number, skipElse: number, value: number];
const instructionBytes = 8;
/** `struct sock_fprog`: the number of instructions, and at 8 their address. */
const programBytes = 16;

/** The value for `attachFilter`, and the memory that it points to, which must be there when it is used. */
export function senderFilter({ bytes }: UdpAddress, addressIn: AddressIn): { program: Buffer; instructions: Buffer } {
  const all: readonly Instruction[] = [
    [loadWord, 0, 0, networkHeader + senderAddressAt],
    [jumpIfEqual, 0, 3, bytes.readUInt32BE(4)],
    [loadHalf, 0, 0, senderPortAt],
    [jumpIfEqual, 0, 1, bytes.readUInt16BE(2)],
    [answer, 0, 0, wholeDatagram],
    [answer, 0, 0, 0],
  ];
  const instructions = Buffer.allocUnsafeSlow(all.length * instructionBytes);
  for (const [index, [code, skipIf, skipElse, value]] of all.entries()) {
    const at = index * instructionBytes;
    instructions.writeUInt16LE(code, at);
    instructions.writeUInt8(skipIf, at + 2);
    instructions.writeUInt8(skipElse, at + 3);
    instructions.writeUInt32LE(value, at + 4);
  }
  const program = Buffer.alloc(programBytes);
  program.writeUInt16LE(all.length);
  program.writeBigUInt64LE(BigInt(addressIn(instructions)), 8);
  return { program, instructions };
}
