import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import fastify from 'fastify';
import { addPage, pagePaths } from './page.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-'));
const app = fastify();
addPage(app, folder);
after(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

describe('the page', () => {
  it('says how it is built while it is not', async () => {
    const answer = await app.inject('/');
    assert.match(answer.body, /npm start/);
    assert.equal(answer.statusCode, 200);
  });

  it('is sent compressed to those who take that, is never kept, and forbids inline scripts', async () => {
    await writeFile(join(folder, 'index.html'), '<p>page');
    await writeFile(join(folder, 'index.html.br'), brotliCompressSync('<p>page'));
    for (const url of ['/', '/projects/5b2c0f2e-0000-4000-8000-000000000000', '/templates']) {
      const plain = await app.inject(url);
      assert.equal(plain.body, '<p>page');
      assert.equal(plain.headers['cache-control'], 'no-cache');
      assert.match(String(plain.headers['content-security-policy']), /script-src 'self'/);
      const packed = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } });
      assert.equal(packed.headers['content-encoding'], 'br');
    }
  });

  it('has files that never change under their name, and nothing beside them', async () => {
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'assets', 'index-abc.js'), 'let x;');
    const found = await app.inject('/assets/index-abc.js');
    assert.match(String(found.headers['cache-control']), /immutable/);
    assert.match(String(found.headers['content-type']), /javascript/);
    for (const url of ['/assets/other.js', '/assets/..%2Findex.html', '/assets/.hidden', '/projects/x/y', '/elsewhere'])
      assert.equal((await app.inject(url)).statusCode, 404, url);
  });

  it('knows every address that the page gives its views', async () => {
    const router = await readFile(resolve(import.meta.dirname, '../../web/router.ts'), 'utf8');
    for (const path of ['/projects/', '/templates', '/appliances', '/images', '/server']) {
      assert.ok(router.includes(path.replaceAll('/', '')), path);
      assert.ok(
        pagePaths.some((known) => known.startsWith(path)),
        path,
      );
    }
  });
});
