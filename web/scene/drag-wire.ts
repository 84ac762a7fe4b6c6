/** Creates a link by a drag from the handle of one node to another node; moves an end of a link in the same way. */
import type { Link, LinkEnd } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import type { Drag } from './drag-items.ts';
import { beginMove, choosePort, portsOf } from './wiring.ts';

/** Links the first free ports of both nodes; with Shift the ports of the second node are offered. */
export function dragWire(app: App, project: ProjectState, nodeId: string): Drag {
  const node = project.nodes.peek(nodeId);
  const port = node && freePort(project, node);
  if (!node || !port) {
    if (node) app.toasts.show('error', texts.noFreePort(node.name));
    return { move: () => undefined, end: () => undefined, cancel: () => undefined };
  }
  const from = { node_id: nodeId, adapter_number: port.adapter_number, port_number: port.port_number };
  return dragTo(app, project, from, () => {
    app.tools.tool.value = { name: 'wire', from };
  });
}

/** The other end stays where it is. */
export function dragEnd(app: App, project: ProjectState, link: Link, end: 0 | 1): Drag {
  const kept = link.nodes[end === 0 ? 1 : 0] as LinkEnd;
  return dragTo(app, project, kept, () => beginMove(app, link, end));
}

/** `begin`: has the tool expect a port, which is chosen then. */
function dragTo(app: App, project: ProjectState, from: LinkEnd, begin: () => void): Drag {
  const { sketch, tools, toasts, portMenu, viewport } = app;
  let last: PointerEvent | undefined;
  const clear = () => {
    sketch.value = {};
  };
  const finish = ({ clientX: x, clientY: y, shiftKey }: PointerEvent) => {
    const target = nodeAt(project, x, y);
    if (!target || target.node_id === from.node_id) return;
    const free = freePort(project, target);
    if (!free) {
      toasts.show('error', texts.noFreePort(target.name));
      return;
    }
    begin();
    if (shiftKey && target.ports.length > 1) portMenu.value = { nodeId: target.node_id, x, y };
    else {
      choosePort(app, project, target, free);
      tools.reset();
    }
  };
  return {
    move: (now) => {
      last = now;
      sketch.value = { wire: { from, to: viewport.toScene(now.clientX, now.clientY) } };
    },
    end: () => {
      clear();
      if (last) finish(last);
    },
    cancel: clear,
  };
}

function freePort(project: ProjectState, node: Node) {
  return portsOf(project, node).find(({ linkedTo }) => linkedTo === undefined)?.port;
}

/** The canvas has captured the pointer, so its events do not name the node. */
function nodeAt(project: ProjectState, x: number, y: number): Node | undefined {
  const id = document.elementFromPoint(x, y)?.closest<SVGElement>('.node')?.dataset.id;
  return id === undefined ? undefined : project.nodes.peek(id);
}
