import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RouteKey, route } from './route.ts';
import { RouteTable } from './route-table.ts';

function tableOf(...keys: RouteKey[]): RouteTable {
  return new RouteTable(keys.map((key) => route(key, { right: 'open', summary: '' }, () => undefined)));
}

/** Returns the key of the route that is found, and its parameters. */
function found(table: RouteTable, method: string, url: string): unknown {
  const match = table.find(method, url);
  return match && [match.route.key, match.params];
}

describe('the table of routes', () => {
  it('finds a route by its path, with percent-decoded parameters', () => {
    const table = tableOf('GET /v2/a/{id}', 'GET /v2/a/{id}/b/{rest:.+}', 'GET /v2/n/{n:\\d+}/x');
    assert.deepEqual(found(table, 'GET', '/v2/a/x%20y%2Fz%25?q=/1'), ['GET /v2/a/{id}', { id: 'x y/z%' }]);
    assert.deepEqual(found(table, 'GET', '/v2/a/1/b/c/d%20e'), ['GET /v2/a/{id}/b/{rest:.+}', { id: '1', rest: 'c/d e' }]);
    assert.deepEqual(found(table, 'GET', '/v2/%61/1#fragment'), ['GET /v2/a/{id}', { id: '1' }]);
    assert.deepEqual(found(table, 'GET', 'http://host:3080/v2/n/12/x'), ['GET /v2/n/{n:\\d+}/x', { n: '12' }]);
    for (const url of [
      '/',
      '*',
      '',
      '/v2',
      '/v2/a',
      '/v2/a/',
      '/v2/a/1/',
      '/v2/a/1/b/',
      '/v2/a/%zz',
      '/v2/n/1a/x',
      '//v2/a/1',
      '/V2/a/1',
    ])
      assert.equal(found(table, 'GET', url), undefined, url);
    assert.equal(found(table, 'POST', '/v2/a/1'), undefined);
  });

  it('tries literal segments first, then parameters, and goes back where the rest of a path does not match', () => {
    const table = tableOf(
      ...(['GET /c/{id}/{kind}/{rest:.+}', 'GET /c/{id}/qemu/images', 'GET /c/{id}/{kind}', 'GET /c/new/{kind}'] as const),
      ...(['GET /c/{n:\\d+}/{kind}', 'POST /c/new/qemu'] as const),
    );
    assert.deepEqual(found(table, 'GET', '/c/x/qemu/images'), ['GET /c/{id}/qemu/images', { id: 'x' }]);
    assert.deepEqual(found(table, 'GET', '/c/x/qemu/other'), [
      'GET /c/{id}/{kind}/{rest:.+}',
      { id: 'x', kind: 'qemu', rest: 'other' },
    ]);
    assert.deepEqual(found(table, 'GET', '/c/new/qemu'), ['GET /c/new/{kind}', { kind: 'qemu' }]);
    assert.deepEqual(found(table, 'GET', '/c/new/qemu/a'), [
      'GET /c/{id}/{kind}/{rest:.+}',
      { id: 'new', kind: 'qemu', rest: 'a' },
    ]);
    assert.deepEqual(found(table, 'GET', '/c/12/a'), ['GET /c/{n:\\d+}/{kind}', { n: '12', kind: 'a' }]);
  });

  it('finds a parameter of several segments before the end of a path', () => {
    const table = tableOf('GET /s/{id:.+}/raw', 'GET /s/{id:.+}', 'GET /s/{id}', 'POST /s/{id:.+}/raw');
    assert.deepEqual(found(table, 'GET', '/s/:/symbols/x.svg/raw?y=a/b'), ['GET /s/{id:.+}/raw', { id: ':/symbols/x.svg' }]);
    assert.deepEqual(found(table, 'GET', '/s//symbols/x.svg/raw'), ['GET /s/{id:.+}/raw', { id: '/symbols/x.svg' }]);
    assert.deepEqual(found(table, 'GET', '/s/a/raw/b/raw'), ['GET /s/{id:.+}/raw', { id: 'a/raw/b' }]);
    assert.deepEqual(found(table, 'GET', '/s/a/b'), ['GET /s/{id:.+}', { id: 'a/b' }]);
    assert.deepEqual(found(table, 'GET', '/s/a'), ['GET /s/{id}', { id: 'a' }]);
    assert.equal(found(table, 'POST', '/s/a'), undefined);
  });

  it('lists the methods of a path, and refuses a second route of the same method and path', () => {
    const table = tableOf('PUT /a/{id}', 'GET /a/{name}', 'DELETE /a/b/c');
    assert.deepEqual(table.methodsOf('/a/1?x'), ['GET', 'PUT']);
    assert.deepEqual(table.methodsOf('/a'), []);
    assert.throws(() => tableOf('GET /a/{id}', 'GET /a/{name}'), /GET \/a\/\{name\} is declared twice/);
  });
});
