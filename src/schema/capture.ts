/**
 * Captures of links. A link has a list of captures; the first one, with a fixed id, is the capture of GNS3's API. Fields beyond
 * GNS3's are optional.
 */
import { Name, named, nullable, oneOf, Text, Uuid } from './common.ts';
import { linkTypes } from './pcap.ts';
import { type Static, Type } from './type.ts';

/** Id of the capture that `start_capture` and `stop_capture` control. Fields for the id of any capture hold null for this one. */
export const gns3CaptureId = 'gns3';

type DataLinkType = keyof typeof linkTypes;
const dataLinkTypes = Object.keys(linkTypes) as DataLinkType[];

export const captureSides = ['before', 'after'] as const;
export type CaptureSide = (typeof captureSides)[number];

const options = {
  append: Type.Optional(Type.Boolean({ description: 'Append to a file of that name, instead of replacing it' })),
  data_link_type: Type.Optional(oneOf(dataLinkTypes)),
  max_bytes: Type.Optional(Type.Integer({ minimum: 24, description: 'The capture ends before its file is longer' })),
  max_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'The capture ends after this time' })),
  nanoseconds: Type.Optional(Type.Boolean({ description: 'Time stamps in nanoseconds instead of microseconds' })),
  side: Type.Optional(oneOf(captureSides, { description: 'Frames as they come in, or as the filters send them on (default)' })),
};

/** Starts GNS3's capture of a port at a compute. */
export const CaptureStart = Type.Object({ ...options, capture_file_name: Name() }, named('CaptureStart'));
export type CaptureStart = Static<typeof CaptureStart>;

/** Starts a further capture of a port at a compute, beyond GNS3's API. */
export const CaptureStartWithId = Type.Object(
  { ...options, capture_file_name: Name(), capture_id: Uuid },
  named('CaptureStartWithId'),
);

export type CaptureStartWithId = Static<typeof CaptureStartWithId>;

/** Starts a capture of a link. */
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
/** Options of a capture: the form of its records, and when it ends by itself. */
export const CaptureOptions = Type.Object(made, named('CaptureOptions'));
export type CaptureOptions = Readonly<Static<typeof CaptureOptions>>;

/** A capture of a link in the controller's API; GNS3's capture is shown in the link's own fields instead. */
export const LinkCapture = Type.Object(
  {
    ...made,
    capture_id: Uuid,
    capture_compute_id: nullable(Type.String()),
    capture_file_name: Type.String(),
    capture_file_path: Type.String(),
    capturing: Type.Boolean({
      description: 'False while it waits for one of the nodes to be started, or for its compute to answer',
    }),
    link_id: Uuid,
    project_id: Uuid,
  },
  named('LinkCapture'),
);
export type LinkCapture = Readonly<Static<typeof LinkCapture>>;

/** A capture file of a project. */
export const CaptureFile = Type.Object(
  {
    name: Type.String({ description: 'Without a folder' }),
    size: nullable(Type.Integer({ description: 'In bytes; null when only a remote compute has the file' })),
    modified: nullable(Type.String({ description: 'ISO 8601, UTC' })),
    started: nullable(Type.String({ description: 'Time of its first frame, ISO 8601, UTC; null when it has none' })),
    link_id: nullable(Type.String({ description: 'The link that shows it as its capture' })),
    capturing: Type.Boolean({ description: 'Whether the capture is being written' }),
  },
  named('CaptureFile'),
);
export type CaptureFile = Readonly<Static<typeof CaptureFile>>;

/** A capture as a compute lists it. */
export const CaptureEntry = Type.Object(
  {
    ...made,
    capture_id: nullable(Type.String({ description: 'Null for the one that start_capture started' })),
    node_id: Uuid,
    adapter_number: Type.Integer(),
    port_number: Type.Integer(),
    capture_file_name: Type.String(),
    pcap_file_path: Type.String(),
  },
  named('CaptureEntry'),
);
export type CaptureEntry = Readonly<Static<typeof CaptureEntry>>;

/** Event of a compute's `capture.stopped`; older versions send no id. */
export const CaptureStopped = Type.Object(
  {
    capture_id: Type.Optional(nullable(Type.String())),
    node_id: Uuid,
    adapter_number: Type.Integer(),
    port_number: Type.Integer(),
  },
  { title: 'CaptureStopped' },
);
export type CaptureStopped = Readonly<Static<typeof CaptureStopped>>;

/** Returns the API's name for a link type of pcap files. */
export function dataLinkTypeOf(linkType: number): DataLinkType {
  return dataLinkTypes.find((name) => linkTypes[name] === linkType) ?? 'DLT_EN10MB';
}
