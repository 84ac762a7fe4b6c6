/** Captures as they are asked for. Beside the established keys there are some of our own, all optional. */
import { Name, oneOf, strict, Text } from './common.ts';
import { type Static, Type } from './type.ts';

/** Names of the API to link types of pcap files. Source: tcpdump.org, "Link-layer header types". */
export const linkTypes = {
  DLT_ATM_RFC1483: 100,
  DLT_EN10MB: 1,
  DLT_FRELAY: 107,
  DLT_C_HDLC: 104,
  DLT_PPP_SERIAL: 50,
} as const;
export type DataLinkType = keyof typeof linkTypes;
const dataLinkTypes = Object.keys(linkTypes) as DataLinkType[];

export const captureSides = ['before', 'after'] as const;
export type CaptureSide = (typeof captureSides)[number];

const options = {
  data_link_type: Type.Optional(oneOf(dataLinkTypes)),
  max_bytes: Type.Optional(Type.Integer({ minimum: 24, description: 'The capture ends before its file is longer' })),
  max_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'The capture ends after this time' })),
  nanoseconds: Type.Optional(Type.Boolean({ description: 'Time stamps in nanoseconds instead of microseconds' })),
  side: Type.Optional(oneOf(captureSides, { description: 'Frames as they come in, or as the filters send them on (default)' })),
};

/** Of a compute. */
export const CaptureStart = Type.Object({ ...options, capture_file_name: Name() }, strict);
export type CaptureStart = Static<typeof CaptureStart>;

/** Of a link. */
export const LinkCaptureStart = Type.Object({ ...options, capture_file_name: Type.Optional(Text()) }, strict);
export type LinkCaptureStart = Static<typeof LinkCaptureStart>;

/** A capture as a compute lists it. */
export interface CaptureEntry {
  node_id: string;
  adapter_number: number;
  port_number: number;
  capture_file_name: string;
  pcap_file_path: string;
}
