/** Texts use one vocabulary, the field's terms (CONTRIBUTING.md), so that a reader need not decode them. */
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const sources = [
  '{src,lab,cli,web,test,docs,scripts,bench,demo}/**/*.{ts,tsx,mjs,md,css}',
  '{packaging,labs,appliances}/**/*.{mjs,sh,yml,yaml,conf,service,gns3a,md}',
  'clients/{typescript/src,typescript/test,pytest/pytest_patchbay,pytest/tests}/*.{ts,py,yaml}',
  '{.,clients/*}/*.{md,mjs}',
];

/** Files whose comments name their subject. */
const commented = '{src,lab,cli,web,test,bench,demo,scripts,packaging,clients}/**/*.{ts,tsx,mjs}';

/** A word or name that texts no longer use, and its replacement. */
const rules: readonly (readonly [found: RegExp, replacement: string])[] = [
  [/\b(un)?told\b|\bTold\w*/, 'notified, registered, informed, reported'],
  [/\bheard\b/i, 'received, noticed'],
  [/\b(un)?heeded\b/i, 'followed, ignored'],
  [/\b(nobody|somebody|whoever)\b|\bwho asked\b/i, 'the client, another user, the process, the requester'],
  [/\b(go|goes|going|gone|went) on\b(?! strike)/i, 'continues, keeps running, resumes'],
  [/\b(takes?|taken|taking|took) (it |them |all |that |this )?back\b|\btakeBack\b/i, 'undo, revert'],
  [/\b(bring|put|set|join)(Back|Again)\b|\b(bring|brings|brought|set|sets) back\b/i, 'restore, reapply, reconnect'],
  [/\bhad back\b/i, 'restored'],
  [/\bmend(s|ed|ing)?\b|\bLinkMending\b|\bgetMended\b/i, 'recover, repair, getOrReload'],
  [/\bcompute_said\b/, 'compute_error'],
  [/\bleadsOut\b|\bleads? out\b|\bways? out\b|\blink_outside\b/i, 'uplink, outside of the folder'],
  [/\bestablished (server|api|client|program|page|ones?|kind|style|filters?|format)s?\b/i, 'GNS3'],
  [/\b(computes?|nodes?|switch) elsewhere\b|\bof another make\b/i, 'remote compute, stock GNS3 compute'],
  [/\bexisting (client|server|program)s?\b|\bprograms? of this format\b/i, "GNS3's clients, GNS3"],
  [/\blast whole record\b/i, 'last complete record'],
  [/\bis no number of\b/i, 'is not a valid number'],
  [/\bfabric.s ear\b/i, "the fabric's control socket"],
  [/\b(absent kinds?|kinds that never run)\b/i, 'storage-only kinds'],
  [/\bPassingFolders\b|\bLateFabric\b|\b[Ff]urther ?[Cc]aptures\b/, 'StagingFolders, FabricClient, captures'],
  [/\bisSound\b|\bcanIt\b/, 'a getter that says what it gets: isStarted, findLink, portCount'],
];

/** Phrases that contain such a word for a reason. */
const exceptions: readonly (readonly [phrase: RegExp, reason: string])[] = [
  [/[`'",] ?nobody[`'",]/g, 'the system user of this name'],
  [/\bnobody, (\[|'cat')/g, 'the system user of this name, in a variable'],
  [/const nobody = \{ user/g, 'the system user of this name, in a variable'],
];

/** Words with which a comment begins that names no thing: its reader must decode the code first. */
const pronoun =
  /^(What|Those|Of|Ones?|Such|They|It|That|Neither|None|Theirs|As|By|Whose|Which|Else|Both|Each of them|All of them|The (rest|others|same))\b/;
/** Prepositions, conjunctions, adverbs and possessives with which a comment begins that leaves its noun to the code below. */
const bare =
  /^(For|In|To|From|With|Without|At|On|Until|Since|How|Its|Their|Beside|Between|Behind|Not|No one|Only those|So (that|many|much)|There|After|Before|While|When|Once|Also|Over|Under|Up|Below|Among|Towards?|Instead|Who|Same)\b/;

/** First lines of the comments in the text that begin with such a word, doc comments and lines before code. */
function findRiddles(text: string): string[] {
  const comments = text.matchAll(/\/\*\*\s*\n?\s*\*?\s*([^\n*]+)|(?<=^\s*)(?<!\/\/[^\n]*\n\s*)\/\/ ([^\n]+)/gm);
  return Array.from(comments, ([, doc, line]) => (doc ?? line ?? '').trim()).filter(
    (comment) => pronoun.test(comment) || bare.test(comment),
  );
}

/** This test, which quotes the words. */
const self = 'test/docs/words.test.ts';

/** `line: word, use replacement` for each word in the text. */
function findWords(text: string): string[] {
  const plain = exceptions.reduce((rest, [phrase]) => rest.replaceAll(phrase, ''), text);
  return plain.split('\n').flatMap((line, index) =>
    rules.flatMap(([found, replacement]) => {
      const [word] = found.exec(line) ?? [];
      return word === undefined ? [] : [`${index + 1}: "${word}": use ${replacement}`];
    }),
  );
}

describe('words', () => {
  it('are those of the field in every file', async () => {
    const wrong: string[] = [];
    let count = 0;
    for await (const file of glob(sources, { cwd: root })) {
      if (file === self) continue;
      count += 1;
      const words = findWords(await readFile(resolve(root, file), 'utf8'));
      wrong.push(...words.map((word) => `${file}:${word}`));
    }
    assert.ok(count > 900, `${count} files`);
    assert.deepEqual(wrong, []);
  });

  it('at the begin of a comment name its subject', async () => {
    const found: string[] = [];
    for await (const file of glob(commented, { cwd: root })) {
      // Descriptions of the API are the comments of generated files.
      if (file === self || /node_modules|\/dist\/|\/generated\.ts$/.test(file)) continue;
      found.push(
        ...findRiddles(await readFile(resolve(root, file), 'utf8')).map(
          (comment) => `${file}: begin with a noun or a verb: ${comment}`,
        ),
      );
    }
    assert.deepEqual(found, []);
    const text =
      '/** What it was. */\n// Those that wait\nconst a = 1; // Of the log\n/**\n * One node.\n */\n// A port\n// of a link\n/** Until it answers. */\n';
    assert.deepEqual(findRiddles(text), ['What it was.', 'Those that wait', 'One node.', 'Until it answers.']);
  });

  it('are found in prose and in names, and a reason excepts a phrase', () => {
    assert.equal(findWords('a client is told once\nclass PassingFolders {}\n').length, 2);
    assert.equal(findWords('The established API, on a compute elsewhere').length, 2);
    assert.deepEqual(findWords("as the user 'nobody'\nThe connection is established."), []);
  });
});
