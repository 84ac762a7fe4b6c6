/** Details of a link: the live figures, the impairments, the mirror and the schedule. */
import type { Link } from '../../src/schema/link.ts';
import { Impairments } from './impairments.tsx';
import './impair.css';
import { LinkGraph, useLinkStats } from './link-graph.tsx';
import { Mirror } from './mirror.tsx';
import { Schedule } from './schedule.tsx';

export function LinkDetails({ link }: { readonly link: Link }) {
  const live = useLinkStats(link.link_id);
  return (
    <>
      <LinkGraph link={link} live={live} />
      <Impairments link={link} />
      <Mirror link={link} stats={live.stats} />
      <Schedule link={link} now={live.stats?.schedule} />
    </>
  );
}
