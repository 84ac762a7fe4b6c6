/** Sizes that CONTRIBUTING promises, read with the compiler: of `src/`, `lab/`, `cli/` and `web/`, without tests. */
import assert from 'node:assert/strict';
import { relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { isFunctionLikeDeclaration, isInterfaceDeclaration } from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

const limits = { fileLines: 400, functionLines: 60, interfaceMembers: 12, parameters: 4 };

/** Interfaces that are larger than the limit, and why. These lists may only shrink: an entry within its limit fails. */
const largeInterfaces = {
  DockerProperties: "GNS3's properties of a container, one member each",
  Emulator: 'all that a running emulator does, in one place for the author of a kind',
  Kind: 'the table of facts of a kind: most are optional',
  Plan: "all that QEMU's command line depends on",
};
const root = resolve(import.meta.dirname, '../..');

interface Found {
  readonly name: string;
  readonly where: string;
}

const found = { files: [] as Found[], functions: [] as Found[], interfaces: [] as Found[], parameters: [] as Found[] };
/** Some belong to both programs. */
const seen = new Set<string>();

const api = new API({ cwd: root });
const openProjects = [resolve(root, 'tsconfig.json'), resolve(root, 'web/tsconfig.json')];
for (const { program } of api.updateSnapshot({ openProjects }).getProjects()) {
  for (const path of program.getSourceFileNames()) {
    const file = relative(root, path);
    if (!/^(src|lab|cli|web)\//.test(file) || file.endsWith('.test.ts')) continue;
    const source = program.getSourceFile(path);
    if (!source || seen.has(file)) continue;
    seen.add(file);
    look(file, source);
  }
}
api.close();

function look(file: string, source: SourceFile): void {
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const lines = source.text.split('\n').length - 1;
  if (lines > limits.fileLines) found.files.push({ name: file, where: `${lines} lines` });
  const visit = (node: Node): void => {
    const at = `${file}:${lineOf(node.getStart(source)) + 1}`;
    if (isFunctionLikeDeclaration(node)) {
      const name = ('name' in node && textOf(node.name, source)) || at;
      const length = lineOf(node.end) - lineOf(node.getStart(source)) + 1;
      if (length > limits.functionLines) found.functions.push({ name, where: `${at}, ${length} lines` });
      if (node.parameters.length > limits.parameters) found.parameters.push({ name, where: at });
    } else if (isInterfaceDeclaration(node)) {
      // Members with quoted names make a table, not an interface.
      const members = node.members.filter(
        (member) => !/^'/.test(textOf('name' in member ? (member.name as Node) : undefined, source) ?? ''),
      ).length;
      if (members > limits.interfaceMembers) found.interfaces.push({ name: node.name.text, where: `${at}, ${members} members` });
    }
    node.forEachChild(visit);
  };
  visit(source);
}

function textOf(node: Node | undefined, source: SourceFile): string | undefined {
  return node && source.text.slice(node.getStart(source), node.end);
}

/** Fails for a violation missing from the list, and for an entry without a violation. */
function compare(over: readonly Found[], known: Readonly<Record<string, string>> = {}): void {
  const fresh = over.filter(({ name }) => !(name in known)).map(({ name, where }) => `${name} (${where})`);
  assert.deepEqual(fresh, [], 'over the limit');
  const gone = Object.keys(known).filter((name) => !over.some((each) => each.name === name));
  assert.deepEqual(gone, [], 'within the limit now: remove it from the list');
}

describe('limits', () => {
  it('are held against all files', () => assert.ok(seen.size > 400, `${seen.size} files`));
  it(`files have at most ${limits.fileLines} lines`, () => compare(found.files));
  it(`functions have at most ${limits.functionLines} lines`, () => compare(found.functions));
  it(`functions have at most ${limits.parameters} positional parameters`, () => compare(found.parameters));
  it(`interfaces have at most ${limits.interfaceMembers} members`, () => compare(found.interfaces, largeInterfaces));
});
