/** The offer of an empty list of projects: a small lab that is created, wired and started with one click. */
import { useSignal } from '@preact/signals';
import { projectDialogs } from '../dialogs/project-dialogs.tsx';
import { projectPath } from '../router.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Progress } from '../ui/progress.tsx';

export function DemoOffer() {
  const app = useApp();
  const step = useSignal<{ text: string; part: number } | undefined>(undefined);
  const start = async () => {
    const project = await app.toasts.attempt(async () => {
      const { buildDemo } = await import('./demo-lab.ts');
      return buildDemo(app, (text, part) => {
        step.value = { text, part };
      });
    });
    step.value = undefined;
    if (project) app.router.go(projectPath(project.project_id));
  };
  return (
    <section class="offer">
      <span class="offer-mark">
        <Icon name="wire" size={40} />
      </span>
      <h2>{texts.emptyTitle}</h2>
      <p>{texts.emptyText}</p>
      {step.value ? (
        <Progress label={step.value.text} part={step.value.part} />
      ) : (
        <div class="row">
          <Button kind="primary" icon="play" onClick={start}>
            {texts.buildDemo}
          </Button>
          <Button icon="wire" onClick={() => projectDialogs.samples(app)}>
            {texts.samples}
          </Button>
          <Button icon="plus" onClick={() => projectDialogs.create(app)}>
            {texts.newProject}
          </Button>
        </div>
      )}
    </section>
  );
}
