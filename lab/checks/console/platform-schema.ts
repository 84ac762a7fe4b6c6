/** Schema of a platform, which describes the console of an operating system. The files are in `../platforms`. */
import { named, strict } from '../../../src/schema/common.ts';
import { type Static, type TSchema, Type } from '../../../src/schema/type.ts';

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
const text = (description: string) => Type.String({ maxLength: 4096, description });
const pattern = (description: string) => text(`${description}; a regular expression`);

const Answer = Type.Object(
  {
    when: pattern('The last line of the console'),
    send: text('`{user}` and `{password}` stand for those of the node; the newline follows unless `raw`'),
    raw: optional(Type.Boolean()),
    secret: optional(Type.Boolean({ description: 'Hidden in reports' })),
    most: optional(Type.Integer({ minimum: 1, description: 'How often at most; more is an error (default: unlimited)' })),
  },
  strict,
);

const probe = <T extends Record<string, TSchema>>(fields: T) =>
  optional(Type.Object({ command: text('With {placeholders} for the values of the step'), ...fields }, strict));

const column = Type.Union([text(''), Type.Array(text(''))]);
const table = {
  command: text('With {placeholders} for the values of the step'),
  rows: optional(text('The output is JSON: a JSONPath that selects the rows')),
  entry: optional(pattern('The output is text: matches each row; without it the output is one row')),
  columns: Type.Record(Type.String(), column, {
    description: 'JSON: paths in the row, or `{key}` for the row’s name in the table. Text: regular expressions with a group',
  }),
};

export const PlatformFile = Type.Object(
  {
    title: text('For people'),
    kinds: optional(Type.Array(Type.String(), { description: 'Types of nodes that have this platform by default' })),
    shells: optional(Type.Array(Type.String(), { description: 'Types of nodes whose auxiliary console is this platform' })),
    newline: text('Characters that the Enter key sends'),
    clear: text('Keys that discard a line that was typed'),
    clear_answers: optional(
      Type.Boolean({ description: 'Whether the console answers these keys; input before the answer is lost' }),
    ),
    prompt: pattern('The last line when a command is expected'),
    sync: text('A harmless command that shows `{token}`, or is it'),
    user: optional(text('Default user')),
    password: optional(text('Default password')),
    answers: optional(Type.Array(Answer, { description: 'Logins, pagers, questions: the first that matches is given' })),
    prepare: optional(Type.Array(text('Command'), { description: 'Once, at the first prompt: width, pager' })),
    shell: optional(
      text(
        'A command line around `{quoted}`, the command in single quotes, that shows `pb-begin-{token}`, its output, and `pb-end-{token}-CODE=`',
      ),
    ),
    error: optional(pattern('In the output of a command that was refused, for platforms without `shell`')),
    configure: optional(Type.Object({ enter: Type.Array(text('')), leave: Type.Array(text('')) }, strict)),
    own_probes: optional(
      Type.Boolean({ description: 'Nodes answer ping, tcp, dns, traceroute and neighbour (arp) over the HTTP API' }),
    ),
    ready: optional(text('Command that must succeed before the node is ready')),
    ping: probe({
      reply: pattern('Each answer; its group is the round trip in ms'),
      summary: optional(pattern('Groups: sent, received')),
    }),
    tcp: probe({ open: pattern('The output when the port accepts connections') }),
    http: probe({ status: pattern('The group is the status') }),
    dns: probe({ address: pattern('Each address'), after: optional(pattern('Skip the output up to here')) }),
    traceroute: probe({ hop: pattern('Each hop; its group is the address') }),
    route: optional(Type.Object(table, strict)),
    neighbour: optional(
      Type.Record(Type.String(), Type.Object(table, strict), { description: 'Tables by protocol: arp, ospf, bgp, …' }),
    ),
    iperf: probe({ server: text('Starts a server for one client'), rate: pattern('The group is the rate in kbit/s') }),
  },
  named('Platform'),
);
export type PlatformFile = Static<typeof PlatformFile>;
