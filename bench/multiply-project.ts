/** Copies the only project of a folder, named `template of all others`, under new ids and names, until there are `count`. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function multiplyProject(folder: string, count: number): Promise<void> {
  const [id = ''] = await readdir(folder);
  const filename = (await readdir(join(folder, id))).find((name) => name.endsWith('.gns3')) ?? '';
  const text = await readFile(join(folder, id, filename), 'utf8');
  for (let number = 1; number < count; number++) {
    const other = crypto.randomUUID();
    await mkdir(join(folder, other));
    await writeFile(
      join(folder, other, filename),
      text.replaceAll(id, other).replace('template of all others', `project ${number}`),
    );
  }
}
