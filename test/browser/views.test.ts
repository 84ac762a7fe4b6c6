/** What holds in every view of the page, in both themes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import { openTab, picture } from '../support/browser.ts';
import { withServer } from '../support/with-server.ts';
import { createLab, views } from './views.ts';

const { server, client } = await withServer();
const project = await createLab(client);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
await page.evaluate(axe.source);

/** Only colours differ between the themes. */
const checks = { light: {}, dark: { runOnly: ['color-contrast', 'link-in-text-block'] } } as const;
const found = async (options: object): Promise<readonly string[]> => {
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })})`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html.slice(0, 200)} ${any[0]?.message ?? ''}`),
  );
};

describe('accessibility', () => {
  for (const { name, show, leave } of views)
    it(`has no finding in ${name}`, async () => {
      await show(page);
      const findings: string[] = [];
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await picture(page, `view-${name}-${theme}`);
        for (const finding of await found(checks[theme])) findings.push(`${theme}: ${finding}`);
      }
      await leave?.(page);
      assert.deepEqual(findings, []);
    });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
