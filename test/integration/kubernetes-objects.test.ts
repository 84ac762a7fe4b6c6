/** The objects of packaging/kubernetes, rendered by kubectl. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { missingPrograms } from '../support/missing-programs.ts';

const run = promisify(execFile);
const folder = resolve(import.meta.dirname, '../../packaging/kubernetes');
const skip = (await missingPrograms(['kubectl', 'kubernetes-client'])) ?? false;
/** In 1.20 and in today's releases. */
const versions = ['v1', 'apps/v1', 'networking.k8s.io/v1', 'rbac.authorization.k8s.io/v1'];

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec?: Readonly<Record<string, unknown>> } };
}

it('every overlay renders objects that old and new versions of Kubernetes have', { skip }, async () => {
  const overlays = await readdir(join(folder, 'overlays'));
  assert.ok(overlays.length >= 3);
  for (const place of ['base', ...overlays.map((name) => join('overlays', name))]) {
    const { stdout } = await run('kubectl', ['kustomize', join(folder, place)]);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
    assert.deepEqual(
      objects.filter(({ apiVersion }) => !versions.includes(apiVersion)),
      [],
      place,
    );
    const controller = objects.find(({ kind }) => kind === 'StatefulSet')?.spec?.template?.spec;
    assert.deepEqual(controller?.securityContext, {
      fsGroup: 1000,
      fsGroupChangePolicy: 'OnRootMismatch',
      runAsGroup: 1000,
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const settings = objects.find(({ kind, data }) => kind === 'ConfigMap' && data)?.data?.['patchbay.conf'] ?? '';
    assert.match(settings, /^engine = kubernetes$/m, place);
  }
});
