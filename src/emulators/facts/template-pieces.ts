/** Pieces that the template schemas of several kinds are made of, each filled in where a client gives nothing. */
import { LongText, Mac, nullable, oneOf, Text } from '../../schema/common.ts';
import { CustomAdapters } from '../../schema/node.ts';
import { filled, textOf } from '../../schema/template.ts';
import { Type } from '../../schema/type.ts';

export const flag = (standard: boolean) => filled(Type.Boolean(), standard);
export const empty = (description: string) => filled(textOf(description), '');
export const whole = (standard: number, unit: string, minimum = 0, maximum = 2 ** 31 - 1) =>
  filled(Type.Integer({ minimum, maximum, description: unit }), standard);
export const word = <const T extends readonly string[]>(words: T, standard: T[number]) => filled(oneOf(words), standard);
export const symbol = (name: string) => `:/symbols/${name}.svg`;

export const usage = { usage: filled(LongText({ description: 'Notes for its users' }), '') };
export const autoStart = { console_auto_start: flag(false) };
export const customAdapters = { custom_adapters: filled(CustomAdapters, []) };
export const macAddress = { mac_address: filled(nullable(Type.Union([Mac, Type.Literal('')])), '') };
export const portNames = {
  first_port_name: empty('Name of the first port, outside the numbering'),
  port_name_format: filled(Text(), 'Ethernet{0}'),
  port_segment_size: whole(0, 'Ports in a segment', 0, 10_000),
};
export const telnetOrNone = ['telnet', 'none'] as const;
export const closeActions = ['power_off', 'shutdown_signal', 'save_vm_state'] as const;
