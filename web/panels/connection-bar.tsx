/** Reports a lost connection to the server, and each retry. */
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';

export function ConnectionBar() {
  const { server, project } = useApp();
  const lives = [server.live, ...(project.value ? [project.value.live] : [])];
  if (lives.every(({ connection }) => connection.value !== 'lost')) return null;
  return (
    <div class="connection" role="alert">
      <span>{texts.lost}</span>
      <Button
        onClick={() => {
          for (const live of lives) live.retryNow();
        }}
      >
        {texts.retry}
      </Button>
    </div>
  );
}
