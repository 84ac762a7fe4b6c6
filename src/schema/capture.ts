/** Captures as they are asked for. Besides GNS3's keys there are some of our own, all optional. */
import { Name, named, nullable, oneOf, Text, Uuid } from './common.ts';
import { linkTypes } from './pcap.ts';
import { type Static, Type } from './type.ts';

export type DataLinkType = keyof typeof linkTypes;
const dataLinkTypes = Object.keys(linkTypes) as DataLinkType[];

export const captureSides = ['before', 'after'] as const;
export type CaptureSide = (typeof captureSides)[number];

const options = {
  append: Type.Optional(Type.Boolean({ description: 'Go on behind what a file of that name holds, instead of replacing it' })),
  data_link_type: Type.Optional(oneOf(dataLinkTypes)),
  max_bytes: Type.Optional(Type.Integer({ minimum: 24, description: 'The capture ends before its file is longer' })),
  max_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'The capture ends after this time' })),
  nanoseconds: Type.Optional(Type.Boolean({ description: 'Time stamps in nanoseconds instead of microseconds' })),
  side: Type.Optional(oneOf(captureSides, { description: 'Frames as they come in, or as the filters send them on (default)' })),
};

/** Of a compute. */
export const CaptureStart = Type.Object({ ...options, capture_file_name: Name() }, named('CaptureStart'));
export type CaptureStart = Static<typeof CaptureStart>;

/** Of a compute, beside the port's own. */
export const FurtherCaptureStart = Type.Object(
  { ...options, capture_file_name: Name(), capture_id: Uuid },
  named('FurtherCaptureStart'),
);
export type FurtherCaptureStart = Static<typeof FurtherCaptureStart>;

/** Of a link. */
export const LinkCaptureStart = Type.Object({ ...options, capture_file_name: Type.Optional(Text()) }, named('LinkCaptureStart'));
export type LinkCaptureStart = Static<typeof LinkCaptureStart>;

export const CaptureStarted = Type.Object({ pcap_file_path: Type.String() }, named('CaptureStarted'));

const made = {
  data_link_type: oneOf(dataLinkTypes),
  side: oneOf(captureSides),
  nanoseconds: Type.Boolean(),
  max_bytes: nullable(Type.Integer()),
  ends_at: nullable(Type.String({ description: 'ISO 8601, UTC' })),
};
/** How a capture is made, as far as it is known while it goes on. */
export const CaptureOptions = Type.Object(made, named('CaptureOptions'));
export type CaptureOptions = Readonly<Static<typeof CaptureOptions>>;

/** A capture of a link beside its own, as the controller shows it. */
export const LinkCapture = Type.Object(
  {
    ...made,
    capture_id: Uuid,
    capture_compute_id: nullable(Type.String()),
    capture_file_name: Type.String(),
    capture_file_path: Type.String(),
    capturing: Type.Boolean({
      description: 'False while it waits, after its project was opened, for one of the nodes to be started',
    }),
    link_id: Uuid,
    project_id: Uuid,
  },
  named('LinkCapture'),
);
export type LinkCapture = Readonly<Static<typeof LinkCapture>>;

/** A capture as a compute lists it. */
export const CaptureEntry = Type.Object(
  {
    ...made,
    capture_id: nullable(Type.String({ description: "Null of the port's own, which start_capture began" })),
    node_id: Uuid,
    adapter_number: Type.Integer(),
    port_number: Type.Integer(),
    capture_file_name: Type.String(),
    pcap_file_path: Type.String(),
  },
  named('CaptureEntry'),
);
export type CaptureEntry = Readonly<Static<typeof CaptureEntry>>;

/** The API's name for a link type of pcap files. */
export function dataLinkTypeOf(linkType: number): DataLinkType {
  return dataLinkTypes.find((name) => linkTypes[name] === linkType) ?? 'DLT_EN10MB';
}
