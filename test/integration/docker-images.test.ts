/** Images that a node needs and the engine lacks: pulled from a real registry, with progress; and errors when that fails. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { type Listener, listen } from '../support/notices.ts';
import { expectFault, expectStatus, type Reply } from '../support/raw-http.ts';
import { Registry } from '../support/registry.ts';
import { openTelnet } from '../support/telnet.ts';
import { createProject, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const skip = await noEngine(['docker-registry', 'docker-registry']);
const engine = skip === undefined ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
const { server, client } = await withServer({ config: { Docker: { socket_path: engine?.socket ?? '' } } });
const mebibyte = 2 ** 20;

/** An image in the registry that the engine does not have. */
async function offer(by: DockerEngine, image: string): Promise<void> {
  const large = join(by.folder, 'large');
  await writeFile(large, randomBytes(4 * mebibyte));
  await by.makeImage(image, ['CMD ["/bin/sh"]', 'STOPSIGNAL SIGKILL', 'ENV FROM_REGISTRY=yes'], { [large]: '/large' });
  await by.push(image);
  await by.removeImage(image);
}

function create(project: ProjectHandle, image: string): Promise<Reply> {
  const body = { name: 'x', node_type: 'docker', compute_id: 'local', console_type: 'telnet', properties: { image, adapters: 0 } };
  return client.send(`POST ${project.path}/nodes`, { body, limitMs: 60_000 });
}

const messages = (listener: Listener): string[] =>
  listener.notices().flatMap(({ action, event }) => (action === 'log.info' ? [String(event.message)] : []));

describe('images of a registry', { skip }, () => {
  test('pulled once for nodes that need it at the same time, with progress; the node runs', async (t) => {
    assert.ok(engine);
    const registry = await Registry.start();
    t.after(() => registry.stop());
    const image = `${registry.host}/lab/box:1`;
    await offer(engine, image);
    const project = await createProject(client);
    const listener = await listen(`${server.url}${project.path}/notifications/ws`);
    const answers = await Promise.all([create(project, image), create(project, image)]);
    for (const answer of answers) expectStatus(answer, 201);
    const texts = messages(listener);
    assert.equal(texts[0], `Pulling image ${image}`);
    assert.ok(texts.some((message) => /: \d\.\d of [45]\.\d MiB$/.test(message)));
    assert.equal(texts.at(-1), `Image ${image} is here`);
    assert.equal(texts.filter((message) => message.endsWith('is here')).length, 1);
    await listener.close();
    assert.ok((await client.get<{ image: string }[]>('/v2/compute/docker/images')).some((listed) => listed.image === image));

    const node = answers[0]?.json<NodeBody>() as NodeBody;
    expectStatus(await client.send(`POST ${project.path}/nodes/${node.node_id}/start`, { body: {} }), 200);
    const console = await openTelnet(node.console as number);
    console.send('echo "it is $FROM_REGISTRY"\r');
    await console.expect(/it is yes/);
    console.close();
    await client.delete(project.path);
  });

  test('that cannot be pulled: an unknown tag, an unknown name, an invalid name, a registry that is down', async (t) => {
    assert.ok(engine);
    const registry = await Registry.start();
    t.after(() => registry.stop());
    await offer(engine, `${registry.host}/lab/box:1`);
    const project = await createProject(client);
    const listener = await listen(`${server.url}${project.path}/notifications/ws`);
    expectFault(await create(project, `${registry.host}/lab/box:2`), 409, /box:2 could not be pulled: .*(?:not found|unknown)/);
    expectFault(await create(project, `${registry.host}/lab/none:1`), 409, /none:1 could not be pulled: .*(?:not found|unknown)/);
    expectFault(await create(project, 'No Name!'), 409, /No Name!.*invalid/);
    await registry.stop();
    expectFault(await create(project, `${registry.host}/lab/box:1`), 409, /box:1 could not be pulled: .*refused/);
    assert.deepEqual(await client.get(`${project.path}/nodes`), []);
    assert.deepEqual(await engine.containers(), []);
    assert.ok(messages(listener).every((message) => !message.endsWith('is here')));
    await listener.close();
  });
});
