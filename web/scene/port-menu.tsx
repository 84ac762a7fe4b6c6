/** The ports of a node, to choose one for a link: free ones by name, the others with their peers. */
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { moveFocus } from '../ui/focus.ts';
import { Popup } from '../ui/popup.tsx';
import { choosePort, portsOf } from './wiring.ts';

export function PortMenu() {
  const app = useApp();
  const project = useProject();
  const request = app.portMenu.value;
  const node = request && project.nodes.find(request.nodeId);
  if (!request || !node) return null;
  const close = () => {
    app.portMenu.value = undefined;
  };
  return (
    <Popup x={request.x + 8} y={request.y + 8} close={close} label={texts.portsOf(node.name)}>
      <h3 class="popup-title">{texts.portsOf(node.name)}</h3>
      <div class="menu ports" role="menu" onKeyDown={moveFocus}>
        {portsOf(project, node).map(({ port, linkedTo }) => (
          <div key={`${port.adapter_number}/${port.port_number}`}>
            <button
              type="button"
              role="menuitem"
              disabled={linkedTo !== undefined}
              onClick={() => choosePort(app, project, node, port)}
            >
              <span class={linkedTo === undefined ? 'port free' : 'port'} />
              <span>{port.name}</span>
              {linkedTo !== undefined && <small>{texts.linkedTo(linkedTo)}</small>}
            </button>
          </div>
        ))}
      </div>
    </Popup>
  );
}
