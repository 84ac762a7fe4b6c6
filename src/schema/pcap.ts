/**
 * Numbers of the classic pcap file format, for the server that writes such files and the page that reads them; the page loads this
 * whole file. Source: the pcap chapter of the IETF draft "PCAP Capture File Format" (draft-ietf-opsawg-pcap).
 */

export const fileHeaderBytes = 24;
export const recordHeaderBytes = 16;
/** Longest part of a frame that is stored, bytes. */
export const snapLength = 65_535;
/** Magic numbers; they give the unit of fractional seconds and the byte order. */
export const microsecondMagic = 0xa1b2c3d4;
export const nanosecondMagic = 0xa1b23c4d;
export const formatVersion = { major: 2, minor: 4 } as const;

/** Link type numbers of pcap files by their names in the API. Source: tcpdump.org, "Link-layer header types". */
export const linkTypes = {
  DLT_ATM_RFC1483: 100,
  DLT_EN10MB: 1,
  DLT_FRELAY: 107,
  DLT_C_HDLC: 104,
  DLT_PPP_SERIAL: 50,
} as const;
