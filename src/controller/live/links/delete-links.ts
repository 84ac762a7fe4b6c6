/** Deleting links: by themselves, and with a node. */
import type { ProjectContext } from '../host/project-context.ts';
import type { OpenLink } from './link.ts';
import { commitMirror } from './link-mirrors.ts';
import type { LinkRecovery } from './link-recovery.ts';
import type { LinkSet } from './link-set.ts';
import type { LinkWiring } from './link-wiring.ts';

export interface LinkParts {
  readonly links: LinkSet;
  readonly wiring: LinkWiring;
  readonly recovery: LinkRecovery;
}

/** The link's lock is held. @throws what its computes answer, unless `evenIfUnreachable`; `storage_failed`, and the link is as before */
export async function deleteLink(
  context: ProjectContext,
  { links, wiring, recovery }: LinkParts,
  link: OpenLink,
  { evenIfUnreachable = false } = {},
): Promise<void> {
  const { entry, nodes, object, udpPorts } = link;
  const unlessAway = (error: unknown) => (evenIfUnreachable ? undefined : Promise.reject(error));
  try {
    await wiring.unmirror(entry, nodes, udpPorts).catch(unlessAway);
    if (udpPorts) await wiring.disconnect(entry, nodes).catch(unlessAway);
    await context.commit(
      { action: 'link.deleted', event: object, was: entry, undoable: true, ...(udpPorts && { udpPorts }) },
      () => {
        links.remove(link);
        return object;
      },
    );
  } catch (error) {
    await recovery.revert(entry.link_id, 'all');
    throw error;
  }
  links.deletions.emit(entry.link_id);
}

/** The links of a node that goes, and mirrors to it; errors of computes are left aside. @throws `storage_failed` */
export async function deleteLinksOn(context: ProjectContext, parts: LinkParts, nodeId: string): Promise<void> {
  for (const linkId of parts.links.idsOn(nodeId)) {
    await parts.links.ifPresent(linkId, (link) => deleteLink(context, parts, link, { evenIfUnreachable: true }));
  }
  for (const linkId of parts.links.ports.mirroredTo(nodeId)) {
    await parts.links.ifPresent(linkId, async (link) => {
      const { entry, nodes, udpPorts } = link;
      await parts.wiring.unmirror(entry, nodes, udpPorts).catch(() => undefined);
      await commitMirror(context, parts.links, link, undefined);
    });
  }
}
