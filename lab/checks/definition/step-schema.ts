/** Schema of `checks` and `test` in a lab file. */

import { captureSides } from '../../../src/schema/capture.ts';
import { Name, named, oneOf, strict, TcpPort, Text } from '../../../src/schema/common.ts';
import { type Static, type TSchema, Type } from '../../../src/schema/type.ts';

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
const duration = (description: string) => Text({ maxLength: 20, description: `${description}, such as 500ms, 10s or 2m` });
const range = (description: string) =>
  Type.Union([Type.Number(), Text({ maxLength: 60 })], {
    description: `${description}: a number, <= 5, >= 5 or 5..9, with a unit`,
  });
const count = (maximum: number, description: string) => Type.Integer({ minimum: 1, maximum, description });
const node = (description: string) => Name({ description });
const command = (description: string) => Text({ maxLength: 65_536, minLength: 1, description });

/** A link: one of its ends as `NODE:PORT`, or both as `[R1, R2]` or `[R1:eth0, R2:eth1]`. */
const LinkChoice = Type.Union([Name(), Type.Array(Name(), { minItems: 2, maxItems: 2 })], {
  description: 'A link: one end as `NODE:PORT`, or both as `[R1, R2]`, with ports where several links join them',
});
export type LinkChoice = Static<typeof LinkChoice>;

/** Expected results of a step; the verb decides which fields are allowed. */
const StepExpect = Type.Object(
  {
    text: optional(command('`run`: the output contains this text')),
    not_text: optional(command('`run`: the output does not contain this text')),
    match: optional(command('`run`: the output matches this regular expression (multiline)')),
    not_match: optional(command('`run`: the output does not match this regular expression')),
    exit_code: optional(Type.Integer({ minimum: 0, maximum: 255, description: '`run`: default 0 where the platform reports one' })),
    json: optional(
      Type.Object(
        {
          path: command('JSONPath (RFC 9535)'),
          equals: optional(Type.Unknown()),
          matches: optional(command('Regular expression')),
        },
        {
          ...strict,
          description: '`run`: the output is JSON, and a value that the path selects is equal or matches; without both: exists',
        },
      ),
    ),
    loss: optional(range('`ping`, `traffic`: percentage of lost packets (default 0%)')),
    received: optional(range('`ping`: answers; `traffic`: packets')),
    rtt: optional(range('`ping`: median round trip')),
    rtt_max: optional(range('`ping`: longest round trip')),
    open: optional(Type.Boolean({ description: '`tcp`: the port accepts connections (default true)' })),
    status: optional(range('`http`: status of the answer (default 200)')),
    body: optional(command('`http`: the answer matches this regular expression')),
    address: optional(command('`dns`: an address that the answer must have (default: every answer counts)')),
    resolves: optional(Type.Boolean({ description: '`dns`: false: there must be no answer' })),
    via: optional(
      Type.Array(Name(), {
        maxItems: 64,
        description: '`traceroute`: hops in this order, others may lie between; `route`: exactly these next hops',
      }),
    ),
    not_via: optional(Name({ description: '`traceroute`: no hop has this address' })),
    reached: optional(Type.Boolean({ description: '`traceroute`: the last hop is the target (default true)' })),
    delay: optional(range('`traffic`: median of the one-way delays')),
    delay_p99: optional(range('`traffic`: 99th percentile')),
    delay_max: optional(range('`traffic`: the longest')),
    gap: optional(range('`traffic`: longest time without an arrival')),
    reordered: optional(range('`traffic`: packets that arrived after a later one')),
    present: optional(Type.Boolean({ description: '`route`, `neighbour`: false: there is none (default true)' })),
    protocol: optional(Name({ description: '`route`: where it comes from, as the node writes it: `ospf`, `static`' })),
    interface: optional(Name({ description: '`route`, `neighbour`: the interface that leads there' })),
    metric: optional(range('`route`: its metric')),
    state: optional(Name({ description: '`neighbour`: the beginning of its state, such as `full` or `established`' })),
    rate: optional(range('`iperf`: rate that the receiver measured')),
    packets: optional(range('`capture`: packets that match the filter (default >= 1)')),
    senders: optional(range('`capture`: different source MAC addresses of these packets')),
  },
  named('LabExpect'),
);
export type StepExpect = Static<typeof StepExpect>;

const target = { to: optional(Name({ description: 'Address' })) };
const probes = {
  run: optional(command('Types a command at the console of `node`')),
  ping: optional(
    Type.Union([
      Name(),
      Type.Object(
        {
          ...target,
          count: optional(count(100_000, 'Packets (default 5)')),
          interval: optional(duration('Between packets (default 200ms)')),
          timeout: optional(duration('For an answer (default 2s)')),
          size: optional(count(9000, 'Bytes of data (default 56)')),
          resolve: optional(
            Type.Boolean({
              description:
                'Where links lose frames at random: ping until the first answer before packets count, so that the address is known (default true)',
            }),
          ),
        },
        strict,
      ),
    ]),
  ),
  tcp: optional(
    Type.Union([Name(), Type.Object({ ...target, port: TcpPort }, strict)], { description: '`ADDRESS:PORT`, or a map' }),
  ),
  http: optional(Name({ description: 'URL' })),
  dns: optional(Type.Union([Name(), Type.Object({ name: Name(), server: optional(Name()) }, strict)])),
  traceroute: optional(Type.Union([Name(), Type.Object({ ...target, hops: optional(count(64, 'At most (default 16)')) }, strict)])),
  route: optional(Name({ description: 'A prefix of the routing table, an address, or `default`' })),
  neighbour: optional(
    Type.Union([
      Name(),
      Type.Object({ address: Name(), protocol: optional(Name({ description: 'arp, ospf, bgp, … (default arp)' })) }, strict),
    ]),
  ),
  iperf: optional(
    Type.Object({ ...target, server: node('Node that runs the server'), seconds: optional(count(3600, 'Default 5')) }, strict),
  ),
};

const station = (description: string) =>
  Type.Object(
    {
      at: node('Ethernet switch at which the station is'),
      address: Name({ description: 'IPv4 address' }),
      gateway: optional(Name({ description: 'Router of the station; without it the other station is in its network' })),
      vlan: optional(Type.Integer({ minimum: 1, maximum: 4094, description: 'Default 1' })),
    },
    { ...strict, description },
  );
const TrafficStep = Type.Object(
  {
    from: station('Station that sends'),
    to: station('Station that receives'),
    pcap: optional(
      Name({
        description:
          'pcap file beside the lab file: packets at its times and of its sizes, in place of `pattern`, `rate` and `size`',
      }),
    ),
    pattern: optional(oneOf(['constant', 'poisson', 'burst'], { description: 'Times between packets (default constant)' })),
    rate: optional(count(10_000, 'Packets a second, on average (default 100)')),
    burst: optional(count(1000, '`burst`: packets at a time (default 10)')),
    for: optional(duration('How long (default 10s; of a pcap file: all of it)')),
    size: optional(Type.Integer({ minimum: 60, maximum: 1514, description: 'Bytes of a frame (default 200)' })),
  },
  { ...strict, description: 'Measures numbered packets between two stations inside the fabric' },
);

const actions = {
  traffic: optional(TrafficStep),
  impair: optional(
    Type.Object(
      {
        link: LinkChoice,
        filters: Type.Record(Type.String(), Type.Unknown(), { description: 'Filters as of a link; {} removes all' }),
      },
      { ...strict, description: 'Replaces the filters of a link' },
    ),
  ),
  suspend: optional(LinkChoice),
  resume: optional(LinkChoice),
  start: optional(node('Starts a node and waits until it is ready')),
  stop: optional(node('Stops a node as its kind does')),
  kill: optional(node('Switches a node off at once')),
  config: optional(command('Lines for the configuration mode of `node`')),
};

/** Ways in which a step connects to its node. */
const stepWays = ['console', 'container', 'ssh'] as const;
export type StepWay = (typeof stepWays)[number];

const common = {
  name: optional(Name({ description: 'Shown in the report' })),
  node: optional(node('Node at which the step is carried out')),
  by: optional(
    oneOf(stepWays, {
      description: 'How the node is reached: its console (default), a shell inside its container, or SSH as `test.nodes` says',
    }),
  ),
  expect: optional(StepExpect),
  eventually: optional(duration('The step is repeated until it holds, at most for this time')),
  always: optional(duration('The step is repeated for this time, and must hold each time')),
  never: optional(duration('The step is repeated for this time, and must not hold once')),
  every: optional(duration('Pause between repetitions (default 1s)')),
  limit: optional(duration('For one try (default 30s and what its packets take)')),
};

const SimpleStep = Type.Object(
  { ...common, ...probes, ...actions, at: optional(duration('Not before this time')) },
  named('LabStep'),
);

const CaptureStep = Type.Object(
  {
    link: LinkChoice,
    filter: optional(command('Packets that count, as an expression of tcpdump; without it: all')),
    side: optional(oneOf(captureSides, { description: 'Before or after the filters of the link (default after)' })),
    while: Type.Array(SimpleStep, { minItems: 1, maxItems: 100, description: 'Steps during which packets are captured' }),
  },
  strict,
);

export const LabCheck = Type.Object(
  {
    ...common,
    ...probes,
    ...actions,
    capture: optional(CaptureStep),
    timeline: optional(
      Type.Array(SimpleStep, { minItems: 1, maxItems: 100, description: 'Steps that begin together, each `at` its time' }),
    ),
  },
  named('LabCheck'),
);
export type LabCheck = Static<typeof LabCheck>;
export type LabStep = Static<typeof SimpleStep>;
export const LabChecks = Type.Array(LabCheck, { maxItems: 5000, description: 'Checks on the running lab, in this order' });

const Ready = Type.Union([
  oneOf(['prompt', 'started'], { description: 'prompt: its console shows the prompt of its platform; started: it was started' }),
  Type.Object(
    {
      run: command('Command that must succeed'),
      by: optional(oneOf(stepWays, { description: 'Connection to the node, as of a step (default console)' })),
      expect: optional(StepExpect),
    },
    strict,
  ),
  Type.Object(
    { tcp: Name({ description: '`ADDRESS:PORT` that must accept connections' }), from: node('Node that connects') },
    strict,
  ),
]);
/** Value of `host_key` that stands for any key. */
export const anyHostKey = 'any';
const variable = (description: string) => Type.String({ pattern: '^PATCHBAY_SSH_[A-Z0-9_]{1,60}$', description });
const Ssh = Type.Object(
  {
    host: Type.String({
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,252}$',
      description: 'Address or name, as seen from `via` or from the machine that runs `patchbay test`',
    }),
    port: optional(TcpPort),
    via: optional(node('Container node of the lab through which the connection is made')),
    user: optional(
      Type.String({ pattern: '^[^-\\s][^\\s]{0,63}$', description: 'Default: `user` of the node, then of its platform' }),
    ),
    password_env: optional(variable('Environment variable with the password, PATCHBAY_SSH_…')),
    key: optional(Name({ description: 'Private key without passphrase: a file below the folder of the lab file' })),
    key_env: optional(variable('Environment variable with the path of a private key, PATCHBAY_SSH_…')),
    host_key: optional(
      Type.String({
        pattern: `^(${anyHostKey}|[a-z0-9@.-]{4,60} [A-Za-z0-9+/=]{40,4000})$`,
        description:
          'Public key of the host, as in `ssh-ed25519 AAAA…`; `any`: not checked; without it the first one seen in this test counts',
      }),
    ),
    platform: optional(Name({ description: 'Platform over SSH, if it differs from the console' })),
  },
  { ...named('LabSsh'), description: 'How steps with `by: ssh` reach the node' },
);
export type SshSettings = Static<typeof Ssh>;
const TestNode = Type.Object(
  {
    ssh: optional(Ssh),
    platform: optional(
      Name({ description: 'Name of a platform, or a file below the folder of the lab, like those of lab/checks/platforms' }),
    ),
    user: optional(Text()),
    password: optional(Text()),
    ready: optional(Ready),
    ready_within: optional(duration('Limit (default 5m)')),
  },
  named('LabTestNode'),
);
export type TestNode = Static<typeof TestNode>;

const Fidelity = Type.Object(
  {
    delay_error_p50: optional(duration('How much later than due frames leave a delay: median (default 1ms)')),
    delay_error_p99: optional(duration('99th percentile (default 10ms)')),
    delay_error_worst: optional(duration('Worst (default 100ms)')),
    loop_late_p99: optional(duration('How late the event loop of the fabric is (default 20ms with delays in the lab, else 250ms)')),
    loop_late_worst: optional(duration('Worst (default 200ms with delays in the lab, else 1s)')),
    missed_frames: optional(Type.Integer({ minimum: 0, description: 'Frames that captures of checks may miss (default 0)' })),
    loss_significance: optional(
      Type.Number({ minimum: 0, maximum: 0.1, description: 'Loss less probable than this is not faithful (default 1e-6)' }),
    ),
    steal: optional(range('Part of the processor time that the host withheld (default <= 20%)')),
  },
  { ...named('LabFidelity'), description: 'Limits of the fidelity certificate' },
);
export type FidelitySettings = Static<typeof Fidelity>;

export const LabTest = Type.Object(
  {
    seed: optional(
      Type.Integer({ minimum: 1, maximum: 0x7fff_ffff, description: 'Seed of filters without one (default: chosen)' }),
    ),
    nodes: optional(
      Type.Record(Type.String(), TestNode, { description: 'How the consoles of nodes are used; `PC[1-3]` stands for several' }),
    ),
    fidelity: optional(Fidelity),
  },
  { ...named('LabTest'), description: 'How `patchbay test` runs the checks' },
);
export type LabTest = Static<typeof LabTest>;
