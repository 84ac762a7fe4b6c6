/** The network that guests see: the one of libvirt's default bridge, which GNS3's NAT uses. */
export const network = {
  subnet: '192.168.122.0',
  bits: 24,
  gateway: '192.168.122.1',
  /** QEMU's user network makes it of the gateway's address, and passt gets the same. */
  mac: '52:55:c0:a8:7a:01',
  /** The first that is given to a guest. */
  firstGuest: '192.168.122.100',
  /** Where QEMU's user network answers for the resolver of this host. */
  nameServer: '192.168.122.2',
  nameServerMac: '52:55:c0:a8:7a:02',
} as const;
