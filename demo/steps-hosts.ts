/** `npm run demo -- --hosts N`: a lab over N network namespaces survives the loss of one. */
import { type HostsLab, leaseSeconds, linkDelayMs, until } from './hosts-lab.ts';
import { ms, type Outcome, round, seconds } from './outcome.ts';

interface LinkPath {
  readonly carrier: string | null;
  readonly path?: { readonly via: string; readonly rtt_ms: number | null; readonly excess_ms: number | null };
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};
const pairs = (lab: HostsLab) => Array.from({ length: 2 * lab.hosts.count - 1 }, (_, index) => index + 2);

export const hostsSteps: readonly (readonly [string, (lab: HostsLab) => Promise<Outcome>])[] = [
  [
    'hosts with slices that joined',
    async (lab) => {
      const took = await timed(() => lab.start());
      const { count } = lab.hosts;
      return {
        expected: `${count} hosts`,
        measured: `${count} hosts, ${seconds(took)}`,
        good: true,
        figures: { count, ms: round(took) },
      };
    },
  ],
  [
    'PC1 reaches the PCs of all hosts',
    async (lab) => {
      await lab.build();
      const others = pairs(lab);
      let answered = 0;
      const took = await timed(() =>
        until('PCs that answer', async () => {
          answered = 0;
          for (const to of others) {
            if ((await lab.ping(to)) === undefined) return false;
            answered += 1;
          }
          return true;
        }),
      );
      return answers(answered, others.length, took);
    },
  ],
  [
    `a link of ${linkDelayMs} ms between hosts`,
    async (lab) => {
      const stats = () => lab.api.get<LinkPath>(`${lab.project}/links/${lab.links[0]}/stats`);
      await until('a measured path', async () => typeof (await stats()).path?.rtt_ms === 'number');
      const { carrier, path } = await stats();
      const trip = (await lab.ping(3)) ?? 0;
      // The path of the frames themselves is part of the delay; VPCS and two switches take their time on a busy machine.
      const good = carrier === 'stream' && path?.excess_ms === 0 && trip > 2 * linkDelayMs - 2;
      const measured = `${ms(trip)} by ${carrier}, path ${path?.rtt_ms} ms`;
      return {
        expected: `${2 * linkDelayMs} ms there and back`,
        measured,
        good,
        figures: { trip_ms: round(trip), path_ms: path?.rtt_ms ?? 0 },
      };
    },
  ],
  [
    'power cut of a host',
    async (lab) => {
      const lost = lab.slices.at(-1) ?? '';
      const before = lab.nodes.filter(({ compute_id }) => compute_id === lost).length;
      const took = await timed(async () => {
        await lab.hosts.powerOff(lab.hosts.count);
        await until('nodes on other hosts', async () => {
          await lab.refresh();
          return lab.nodes.every(({ compute_id, status }) => compute_id !== lost && status === 'started');
        });
      });
      const measured = `${before} nodes run elsewhere after ${seconds(took)}`;
      const expected = `its ${before} nodes run elsewhere, not before ${2 * leaseSeconds} s`;
      return { expected, measured, good: took >= 2 * leaseSeconds * 1000, figures: { nodes: before, ms: round(took) } };
    },
  ],
  [
    'PC1 reaches all PCs again',
    async (lab) => {
      const others = pairs(lab);
      let answered = 0;
      const took = await timed(async () => {
        for (const to of others) {
          await until(`PC${to}`, async () => (await lab.ping(to)) !== undefined);
          answered += 1;
        }
      });
      return answers(answered, others.length, took);
    },
  ],
];

/** The row of a step in which `answered` of `count` PCs answered within `ms`. */
function answers(answered: number, count: number, ms: number) {
  return {
    expected: `${count} answer`,
    measured: `${answered} of ${count} answer, ${seconds(ms)}`,
    good: answered === count,
    figures: { answered, ms: round(ms) },
  };
}
