import { options, render } from 'preact';
import './style/theme.css';
import './style/controls.css';
import './style/fields.css';
import './style/menus.css';
import './style/dialogs.css';
import './style/layout.css';
import './style/panels.css';
import './style/scene.css';
import './style/symbols.css';
import './style/links.css';
import './style/drawings.css';
import './style/consoles.css';
import './style/presence.css';
import './actions/find/find.css';
import './style/narrow.css';
import { actions } from './actions/actions.ts';
import { listenToClipboard } from './actions/clipboard.ts';
import { listenToKeys } from './actions/keys.ts';
import { Page } from './page.tsx';
import { App, AppContext } from './state/app.ts';

// Effects run in the task that changed the page. By default they run one frame later: until then a key or a click that follows would
// meet the handlers, the focus and the position of the view before. Source: https://preactjs.com/guide/v10/options
options.requestAnimationFrame = queueMicrotask;

const app = new App();
listenToKeys(app, actions);
listenToClipboard(app);
const root = document.getElementById('page');
if (root)
  render(
    <AppContext.Provider value={app}>
      <Page />
    </AppContext.Provider>,
    root,
  );
