/** Computes the MD5 sum of a file, which can be larger than memory, piece by piece. Web Crypto has no MD5. */
import { md5 } from '@noble/hashes/legacy.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Md5Answer } from './md5.ts';

const answer = (message: Md5Answer) => postMessage(message);

addEventListener('message', async ({ data: file }: MessageEvent<File>) => {
  try {
    const hash = md5.create();
    let done = 0;
    for await (const chunk of file.stream()) {
      hash.update(chunk);
      done += chunk.byteLength;
      answer({ part: done / file.size });
    }
    answer({ md5sum: bytesToHex(hash.digest()) });
  } catch (error) {
    answer({ failure: (error as Error).message });
  }
});
