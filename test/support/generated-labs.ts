/** Makes labs at random from the keys that each format documents, and from keys of later versions. */
import { stringify } from 'yaml';
import * as cml from '../../lab/import/cml-keys.ts';
import * as clab from '../../lab/import/containerlab-keys.ts';
import * as eve from '../../lab/import/eve-keys.ts';
import type { ForeignProgram } from '../../lab/import/import-lab.ts';
import * as netlab from '../../lab/import/netlab-keys.ts';
import type { KeyTable } from '../../src/schema/foreign-map.ts';
import { makeChance } from '../durability/random.ts';

/** Makes values and notes what must be found again. */
export class LabMaker {
  readonly #random: () => number;
  #next = 100;
  /** Words that stand in the lab file or in the report. */
  readonly words: string[] = [];
  constructor(seed: number) {
    this.#random = makeChance(seed).next;
  }
  chance(of: number): boolean {
    return this.#random() < of;
  }
  upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }
  /** A word that is found again. */
  word(kind: string): string {
    this.#next += 1;
    const word = `${kind}${this.#next}x`;
    this.words.push(word);
    return word;
  }
  /** Returns the value; the word is found again. */
  noted<T>(word: string, value: T): T {
    this.words.push(word);
    return value;
  }
  /** Fields with some of the keys that a table calls missing, and with keys that it does not know: the report has each of their names. */
  others(table: KeyTable): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    for (const [key, { fate }] of Object.entries(table)) {
      if (!this.chance(0.3) || (fate !== 'missing' && fate !== 'needless')) continue;
      fields[key] = `of-${key}`;
      if (fate === 'missing') this.words.push(key);
    }
    if (this.chance(0.5)) fields[this.word('later-')] = 'new';
    return fields;
  }
}

const pairs = (count: number) => Array.from({ length: Math.floor(count / 2) }, (_, index) => [2 * index, 2 * index + 1] as const);

function containerlabOf(make: LabMaker): string {
  const count = 2 + make.upTo(4);
  const names = Array.from({ length: count }, () => make.word('n'));
  const kinds = ['linux', 'nokia_srlinux', 'arista_ceos', 'cisco_xrv9k', 'cisco_iol', 'bridge'];
  const nodes = names.map((name) => {
    const kind = kinds[make.upTo(kinds.length - 1)] ?? 'linux';
    const isPlain = kind !== 'bridge' && kind !== 'cisco_xrv9k';
    return [
      name,
      {
        kind,
        image: kind === 'bridge' ? undefined : make.word(isPlain ? 'image' : 'vrnetlab/x:'),
        ...(make.chance(0.5) && kind !== 'bridge' && { env: { [make.word('E')]: isPlain ? make.word('e') : 'x' } }),
        ...(make.chance(0.5) && { cmd: isPlain ? make.word('cmd') : make.noted('cmd', 'x') }),
        ...(make.chance(0.5) && {
          'startup-config':
            kind === 'cisco_iol' || kind === 'cisco_xrv9k' ? `${make.word('f')}.cfg` : make.noted('startup-config', 'x.cfg'),
        }),
        ...(make.chance(0.5) && {
          binds:
            kind === 'bridge'
              ? make.noted('binds', ['x:/y/z'])
              : isPlain
                ? [`/${make.word('b')}:/x`]
                : make.noted('binds', ['x:/y/z']),
        }),
        ...make.others(clab.nodeKeys),
      },
    ] as const;
  });
  const links = pairs(count).map(([one, other], index) => ({
    endpoints: [
      `${names[one]}:eth${index + 1}`,
      make.chance(0.5) ? `${names[other]}:eth1` : { node: names[other], interface: 'eth1', ...make.others(clab.endKeys) },
    ],
    ...make.others(clab.linkKeys),
  }));
  return stringify({
    name: make.word('lab'),
    ...make.others(clab.fileKeys),
    topology: { nodes: Object.fromEntries(nodes), links },
  });
}

function cmlOf(make: LabMaker): string {
  const count = 2 + make.upTo(4);
  const definitions = ['iosv', 'cat8000v', 'ubuntu', 'alpine'];
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: `n${index}`,
    label: make.word('n'),
    node_definition: definitions[make.upTo(3)],
    image_definition: make.word('image'),
    ram: 1024 + index,
    x: index,
    y: -index,
    ...(make.chance(0.7) && {
      configuration: make.chance(0.5) ? `hostname ${make.word('h')}\nend\n` : [{ name: 'ios_config.txt', content: make.word('c') }],
    }),
    interfaces: [{ id: 'i0', type: 'physical', slot: 0, ...make.others(cml.interfaceKeys) }],
    ...make.others(cml.nodeKeys),
  }));
  const links = pairs(count).map(([one, other]) => ({
    n1: `n${one}`,
    i1: 'i0',
    n2: `n${other}`,
    i2: 'i0',
    ...(make.chance(0.5) && { conditioning: { enabled: true, latency: 7, loss: 1, ...make.others(cml.conditioningKeys) } }),
    ...make.others(cml.linkKeys),
  }));
  const annotations = make.chance(0.5) ? [{ type: 'text', text_content: make.word('note'), x1: 1, y1: 2 }] : [];
  return stringify({ lab: { title: make.word('lab'), ...make.others(cml.labKeys) }, nodes, links, annotations });
}

function netlabOf(make: LabMaker): string {
  const count = 2 + make.upTo(4);
  const names = Array.from({ length: count }, () => make.word('n'));
  const nodes = names.map((name, index) => [
    name,
    {
      device: 'frr',
      box: make.word('image'),
      clab: {
        kind: 'linux',
        binds: [{ source: `node_files/${make.word('f')}`, target: '/etc/frr/daemons' }],
        ...make.others(netlab.clabKeys),
      },
      interfaces: [{ ifname: 'eth1', ipv4: `10.9.${index}.1/24`, ...make.others(netlab.interfaceKeys) }],
      ...make.others(netlab.nodeKeys),
    },
  ]);
  const links = pairs(count).map(([one, other]) => ({
    interfaces: [one, other].map((index) => ({ node: names[index], ifname: 'eth1' })),
    ...(make.chance(0.4) && { tc: { delay: 5, ...make.others(netlab.tcKeys) } }),
    ...make.others(netlab.linkKeys),
  }));
  return `%YAML 1.1\n---\n${stringify({ name: make.word('lab'), provider: 'clab', ...make.others(netlab.fileKeys), nodes: Object.fromEntries(nodes), links })}`;
}

function eveOf(make: LabMaker): string {
  const attributes = (fields: Record<string, unknown>) =>
    Object.entries(fields)
      .map(([key, value]) => ` ${key}="${String(value)}"`)
      .join('');
  const types = ['qemu', 'iol', 'dynamips', 'vpcs', 'docker'];
  const nodes = Array.from({ length: 2 + make.upTo(4) }, (_, index) => {
    const type = types[make.upTo(4)] ?? 'qemu';
    const image = type === 'vpcs' ? {} : { image: make.word('image') };
    const own = {
      id: index + 1,
      name: make.word('n'),
      type,
      template: 'x',
      ...image,
      left: index,
      top: index,
      ...(type === 'dynamips' && { slot1: 'PA-FE-TX' }),
      ...make.others(eve.nodeKeys),
    };
    const port = {
      id: 1,
      name: type === 'iol' || type === 'dynamips' ? 'e1/0' : 'eth1',
      type: 'ethernet',
      network_id: Math.floor(index / 2) + 1,
      ...make.others(eve.interfaceKeys),
    };
    return `<node${attributes(own)}><interface${attributes(port)}/></node>`;
  });
  const networks = [1, 2, 3].map((id) => `<network id="${id}" type="bridge" name="Net${id}"/>`);
  return `<lab${attributes({ name: make.word('lab'), ...make.others(eve.labKeys) })}><topology><nodes>${nodes.join('')}</nodes><networks>${networks.join('')}</networks></topology></lab>`;
}

/** Makes the text of a lab of each program. */
export const generators: Record<ForeignProgram, (make: LabMaker) => string> = {
  containerlab: containerlabOf,
  cml: cmlOf,
  netlab: netlabOf,
  'eve-ng': eveOf,
};
