import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isImageHost, parseImageHosts } from './image-hosts.ts';

test('entries are https unless they say otherwise, and are written as the origins of URLs', () => {
  assert.deepEqual(parseImageHosts(' Example.org, appliances,, *.a.example:8443,http://10.0.0.5:80,https://[FD00::1]:443 '), [
    'https://example.org',
    'appliances',
    'https://*.a.example:8443',
    'http://10.0.0.5',
    'https://[fd00::1]',
  ]);
  for (const wrong of [
    'ftp://a.example',
    'https://a.example/path',
    'user@a.example',
    '*',
    'a.*.example',
    '*.0.1',
    'a:b',
    'a b',
    'a:99999',
  ])
    assert.throws(
      () => parseImageHosts(`good.example, ${wrong}`),
      new RegExp(`"${wrong.replaceAll(/[.*?/]/g, '\\$&')}" is no host`),
    );
});

test('a URL is of the list when its scheme, name and port are', () => {
  const hosts = parseImageHosts('a.example, *.b.example, http://127.0.0.1:8080');
  const listed = ['https://a.example/x', 'https://A.example:443', 'https://x.y.b.example/', 'http://127.1:8080/x'];
  const others = ['http://a.example', 'https://a.example:8443', 'https://a.example.', 'https://b.example', 'https://xb.example'];
  for (const url of listed) assert.ok(isImageHost(hosts, new URL(url)), url);
  for (const url of [
    ...others,
    'https://a.example.evil.example',
    'http://x.b.example',
    'https://127.0.0.1:8080',
    'http://127.0.0.1',
  ])
    assert.ok(!isImageHost(hosts, new URL(url)), url);
});
