/** Texts of the sample labs, loaded with them. */
interface SampleText {
  readonly title: string;
  readonly about: string;
  /** Programs and images that the sample needs beside this package; empty: none. */
  readonly needs: string;
}

const image = (name: string) => `Docker, and the image ${name}.`;

const labs = {
  campus: {
    title: 'Campus with VLANs',
    about: 'Two floors, staff and guests in VLANs of their own, trunks to the core. Nine nodes.',
    needs: '',
  },
  'lossy-wan': {
    title: 'Lossy WAN',
    about: 'Two sites on a line with 140 ms of delay, 3 % loss and 2 Mbit/s. Six nodes.',
    needs: '',
  },
  'vlan-trunk': {
    title: 'VLANs on a lossy trunk',
    about: 'Two switches and a trunk that loses one frame in ten. Five nodes.',
    needs: '',
  },
  'ospf-failover': {
    title: 'Three FRR routers with OSPF',
    about: 'A ring of three routers. Suspend the direct link, and OSPF finds the way around it.',
    needs: image('patchbay-frr'),
  },
  'bgp-filters': {
    title: 'BGP filters',
    about: 'A customer, its provider and another network. A prefix list keeps an internal prefix from leaking.',
    needs: image('patchbay-frr'),
  },
  'vrrp-split-brain': {
    title: 'VRRP split brain',
    about: 'Two gateways share an address. Cut the link between the switches, and both believe to be the master.',
    needs: image('patchbay-keepalived'),
  },
  'dns-satellite': {
    title: 'DNS over a satellite line',
    about: 'A client resolves names over 280 ms each way, with little bandwidth and some loss.',
    needs: image('patchbay-dns'),
  },
} as const satisfies Record<string, SampleText>;

export const sampleTexts = {
  title: 'Sample labs',
  intro: 'One click makes a project and starts its nodes. Its notes beside the canvas guide through it.',
  needs: (what: string) => `Needs ${what}`,
  ready: 'Needs nothing else',
  missing: (images: readonly string[]) =>
    `${images.join(', ')} is not there yet: it is made first, out of Debian's packages, which takes some seconds.`,
  making: (images: readonly string[]) => `Making ${images.join(', ')}`,
  notMade: (images: readonly string[], why: string) =>
    `${images.join(', ')} could not be made: ${why.replace(/\.$/, '')}. In a shell on the machine of the Docker engine, "patchbay images" makes the images of the samples.`,
  create: 'Create',
  createNamed: (title: string) => `Create: ${title}`,
  made: (title: string) => `The lab "${title}" was made.`,
  failed: (title: string, why: string) => `The lab "${title}" could not be made: ${why}`,
  unfinished: 'the server ended the work',
  ended: 'The server ended before the lab was complete.',
  labs: labs as Readonly<Record<keyof typeof labs, SampleText>>,
} as const;
