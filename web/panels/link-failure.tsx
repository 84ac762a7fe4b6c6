/** Why a link is not made, or not connected to other ports, with the button that tries again. */
import type { Link } from '../../src/schema/link.ts';
import { useApp, useProject } from '../state/app.ts';
import { portKey } from '../state/work.ts';
import { failure as words } from '../texts/links.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

interface LinkFailureProps {
  readonly link: Link;
  readonly failure: string;
}

export function LinkFailure({ link: { link_id, nodes }, failure }: LinkFailureProps) {
  const { api } = useApp();
  const { work, path } = useProject();
  const tried = work.ends.value.get(link_id) ?? nodes;
  const isElsewhere = tried.length === 2 && tried.map(portKey).join() !== nodes.map(portKey).join();
  const address = `${path}/links/${link_id}`;
  const again = () =>
    work.run(link_id, words.again, () =>
      isElsewhere ? api.put(`${address}/ends`, { nodes: tried }) : api.post(`${address}/reconnect`),
    );
  return (
    <>
      <Notice level="error" close={() => work.dismiss(link_id)}>
        {isElsewhere ? words.notMoved(failure) : failure}
      </Notice>
      <div class="row">
        <Button disabled={work.busy.value.has(link_id)} onClick={again}>
          {words.again}
        </Button>
      </div>
    </>
  );
}
