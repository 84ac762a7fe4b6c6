/** The objects of packaging/kubernetes, rendered by kubectl. Their schemas are those of Kubernetes 1.34 or later. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as rbac from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import * as core from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { missingPrograms } from '../support/missing-programs.ts';

const run = promisify(execFile);
const folder = resolve(import.meta.dirname, '../../packaging/kubernetes');
const skip = (await missingPrograms(['kubectl', 'kubernetes-client'])) ?? false;
/** Versions of the API that 1.20 and current releases have. */
const versions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  v1: core,
  'apps/v1': apps,
  'networking.k8s.io/v1': networking,
  'rbac.authorization.k8s.io/v1': rbac,
};

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec?: Readonly<Record<string, unknown>> } };
}

type Model = new (object: Rendered) => { validate(): void };

/** @throws what its schema refuses */
function validate(object: Rendered): void {
  const model = versions[object.apiVersion]?.[object.kind];
  assert.ok(model, `${object.apiVersion} ${object.kind} is in 1.20 and in current releases`);
  new (model as Model)(object).validate();
}

it('the schemas refuse an object with a wrong field', () => {
  const object = { apiVersion: 'v1', kind: 'Service', metadata: {}, spec: { ports: [{ port: 'http' }] } };
  assert.throws(() => validate(object as Rendered), /port must be integer/);
});

it('every overlay renders objects that old and new versions of Kubernetes have', { skip }, async () => {
  const overlays = await readdir(join(folder, 'overlays'));
  assert.ok(overlays.length >= 3);
  for (const place of ['base', ...overlays.map((name) => join('overlays', name))]) {
    const { stdout } = await run('kubectl', ['kustomize', join(folder, place)]);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
    for (const object of objects) validate(object);
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
    for (const line of [/^engine = kubernetes$/m, /^relay_port = 3081$/m]) assert.match(settings, line, place);
  }
});
