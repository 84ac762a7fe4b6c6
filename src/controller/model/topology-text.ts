/** The text of a project file: keys sorted, four spaces. Made in slices, so that a large project does not hold up requests. */
import { type FileForm, gns3Revision, nodeToGns3 } from './gns3-revision.ts';
import { linkToFile } from './link-file.ts';
import { projectToFile } from './project-file.ts';
import { type Topology, topologyRevision } from './topology.ts';

/** Time after which other work gets a turn, milliseconds. */
const sliceMs = 5;

/**
 * Formats a project file in pieces, which need not be copied into one. `topology` must be canonical (sorted keys), as all data of a
 * project is. `form`: the version of this server, or that of another format.
 */
export async function topologyText(topology: Topology, form: string | FileForm): Promise<Buffer[]> {
  const writer = new SlicedWriter();
  const { revision, version } = typeof form === 'string' ? { revision: topologyRevision, version: form } : form;
  const nodes = revision === gns3Revision ? topology.nodes.map(nodeToGns3) : topology.nodes;
  const fields: Record<string, unknown> = {
    ...projectToFile(topology.project),
    revision,
    type: 'topology',
    version,
    topology: null,
  };
  writer.add('{');
  for (const [index, key] of Object.keys(fields).sort().entries()) {
    writer.add(`${index === 0 ? '' : ','}\n    ${JSON.stringify(key)}: `);
    if (key !== 'topology') writer.add(indented(fields[key], '    '));
    else await writeLists(writer, { ...topology, nodes, links: topology.links.map(linkToFile) });
  }
  writer.add('\n}\n');
  return writer.end();
}

async function writeLists(writer: SlicedWriter, { computes, drawings, links, nodes }: Topology): Promise<void> {
  writer.add('{');
  for (const [index, [key, list]] of Object.entries({ computes, drawings, links, nodes }).entries()) {
    writer.add(`${index === 0 ? '' : ','}\n        "${key}": [`);
    for (const [position, entry] of list.entries()) {
      writer.add(`${position === 0 ? '' : ','}\n            ${indented(entry, '            ')}`);
      await writer.breathe();
    }
    writer.add(list.length === 0 ? ']' : '\n        ]');
  }
  writer.add('\n    }');
}

function indented(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 4).replaceAll('\n', `\n${indent}`);
}

class SlicedWriter {
  readonly #done: Buffer[] = [];
  #pieces: string[] = [];
  #sliceEnds = performance.now() + sliceMs;

  add(text: string): void {
    this.#pieces.push(text);
  }

  async breathe(): Promise<void> {
    if (performance.now() < this.#sliceEnds) return;
    this.#flush();
    await new Promise(setImmediate);
    this.#sliceEnds = performance.now() + sliceMs;
  }

  end(): Buffer[] {
    this.#flush();
    return this.#done;
  }

  #flush(): void {
    this.#done.push(Buffer.from(this.#pieces.join('')));
    this.#pieces = [];
  }
}
