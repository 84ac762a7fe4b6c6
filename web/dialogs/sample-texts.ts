/** Texts of the sample labs, loaded with them. */
interface SampleText {
  readonly title: string;
  readonly about: string;
  /** Programs and images that the sample needs beside this package; empty: none. */
  readonly needs: string;
  /** First steps, in Markdown. */
  readonly steps: string;
}

const image = (name: string) => `Docker, and the image ${name}: the command "patchbay images" makes it.`;

const labs = {
  campus: {
    title: 'Campus with VLANs',
    about: 'Two floors, staff and guests in VLANs of their own, trunks to the core. Nine nodes.',
    needs: '',
    steps:
      'Open the console of [STAFF1](#STAFF1) and type `ping 10.0.10.12`: it reaches [STAFF2](#STAFF2) over both trunks. `ping 10.0.20.11` gets no answer: guests are in VLAN 20.\n\nCapture a trunk and look for the tags: select the link from [FLOOR1](#FLOOR1) to [CORE](#CORE), press `W`, filter `vlan 10`.',
  },
  'lossy-wan': {
    title: 'Lossy WAN',
    about: 'Two sites on a line with 140 ms of delay, 3 % loss and 2 Mbit/s. Six nodes.',
    needs: '',
    steps:
      'Open the console of [PC1](#PC1): `ping 10.0.0.2` stays in Berlin, `ping 10.0.0.3 -c 20` crosses the line.\n\nSelect the link from [BERLIN](#BERLIN) to [SYDNEY](#SYDNEY) and change its delay while the ping runs.',
  },
  'vlan-trunk': {
    title: 'VLANs on a lossy trunk',
    about: 'Two switches and a trunk that loses one frame in ten. Five nodes.',
    needs: '',
    steps:
      'Open the console of [PC1](#PC1): `ping 10.0.0.3 -c 20` crosses the trunk and loses some; `ping 10.0.0.2` is another VLAN.',
  },
  'ospf-failover': {
    title: 'Three FRR routers with OSPF',
    about: 'A ring of three routers. Suspend the direct link, and OSPF finds the way around it.',
    needs: image('patchbay-frr'),
    steps:
      'Open the console of [R1](#R1) and type `vtysh -c "show ip route"`. Select the link from [R1](#R1) to [R3](#R3), press `U`, and look again: the way leads over [R2](#R2).',
  },
  'bgp-filters': {
    title: 'BGP filters',
    about: 'A customer, its provider and another network. A prefix list keeps an internal prefix from leaking.',
    needs: image('patchbay-frr'),
    steps: 'Type `vtysh -c "show bgp ipv4 unicast"` in the consoles of the routers and compare their tables.',
  },
  'vrrp-split-brain': {
    title: 'VRRP split brain',
    about: 'Two gateways share an address. Cut the link between the switches, and both believe to be the master.',
    needs: image('patchbay-keepalived'),
    steps:
      'The console of [GW2](#GW2) shows the shared address 10.0.0.254 with `ip addr`, that of [GW1](#GW1) does not. Suspend the link between the switches with `U`, and look again: both have it.',
  },
  'dns-satellite': {
    title: 'DNS over a satellite line',
    about: 'A client resolves names over 280 ms each way, with little bandwidth and some loss.',
    needs: image('patchbay-dns'),
    steps:
      'Capture the link from [CLIENT](#CLIENT) to [SERVER](#SERVER), type `nslookup www.example 10.0.0.53` in the console of [CLIENT](#CLIENT), and follow the query. `printf "GET /index.html HTTP/1.0\\r\\n\\r\\n" | nc 10.0.0.53 80` fetches a page.',
  },
} as const satisfies Record<string, SampleText>;

export const sampleTexts = {
  title: 'Sample labs',
  intro: 'One click makes a project and starts its nodes. Its notes beside the canvas guide through it.',
  needs: (what: string) => `Needs ${what}`,
  ready: 'Needs nothing else',
  create: 'Create',
  createNamed: (title: string) => `Create: ${title}`,
  made: (title: string) => `The lab "${title}" was made.`,
  failed: (title: string, why: string) => `The lab "${title}" could not be made: ${why}`,
  ended: 'The server ended before the lab was complete.',
  labs: labs as Readonly<Record<keyof typeof labs, SampleText>>,
  notes: (id: keyof typeof labs) => `# ${labs[id].title}\n\n${labs[id].about}\n\n## First steps\n\n${labs[id].steps}\n`,
} as const;
