import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileTemplate, joinSlashes, routerPath } from './template.ts';

describe('route templates', () => {
  it('match paths and decode their parameters', () => {
    const template = compileTemplate('/v2/a/{id}/b/{rest:.+}');
    assert.deepEqual(template.match('/v2/a/x%20y/b/c/d'), { id: 'x y', rest: 'c/d' });
    assert.equal(template.match('/v2/a/x/b/'), undefined);
    assert.equal(template.match('/v2/a/%zz/b/c'), undefined);
  });

  it('have a form for the router', () => {
    assert.equal(routerPath('/a/{id}/b/{n:\\d+}/c'), '/a/:id/b/:n(^\\d+$)/c');
    assert.equal(routerPath('/a/{rest:.+}'), '/a/*');
    assert.equal(routerPath('/a/{rest:.+}/raw'), '/a/:rest/raw');
  });

  it('with slashes in the middle become one segment', () => {
    const join = joinSlashes(['/v2/{a}/{b}', '/v2/s/{id:.+}/raw', '/v2/s/{id:.+}/size', '/v2/f/{rest:.+}']);
    assert.equal(join('/v2/s/:/symbols/x.svg/raw?y=a/b'), '/v2/s/:%2Fsymbols%2Fx.svg/raw?y=a/b');
    assert.equal(join('/v2/s//symbols/x.svg/size'), '/v2/s/%2Fsymbols%2Fx.svg/size');
    assert.equal(join('/v2/s/a/raw/b/raw'), '/v2/s/a%2Fraw%2Fb/raw');
    for (const other of ['/v2/s/x', '/v2/f/a/b/c', '/v2/s/a/b?x/raw', '/', '*']) assert.equal(join(other), other);
  });
});
