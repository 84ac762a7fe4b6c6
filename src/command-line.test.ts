import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCommandLine, UsageError } from './command-line.ts';

describe('the command line', () => {
  it('has help behind each command of the server', () => {
    for (const word of ['serve', 'compute', 'images', 'doctor', 'openapi', 'configuration'])
      for (const option of ['--help', '-h']) assert.equal(parseCommandLine([word, option]).command, 'help', word);
    assert.equal(parseCommandLine(['--help']).command, 'help');
  });

  it('leaves other words to the command', () => {
    assert.deepEqual(parseCommandLine(['images', '/run/docker.sock']).rest, ['/run/docker.sock']);
    assert.deepEqual(parseCommandLine(['lab', 'list', '--help']).rest, ['lab', 'list', '--help']);
  });

  it('refuses what it does not know', () => {
    for (const words of [['imagse'], ['--prot', '1'], ['compute'], ['serve', '--join', 'http://127.0.0.1']])
      assert.throws(() => parseCommandLine(words), UsageError, words.join(' '));
  });
});
