import assert from 'node:assert/strict';
import { SegmentBuilder } from '../../../src/retrieval/segments/segmentBuilder.ts';
import { decodeSegment, encodeSegment } from '../../../src/retrieval/segments/segmentFile.ts';
import { textChunk } from '../../unit/retrieval/randomCorpus.ts';
import { type FuzzedReader, nothingToClose } from '../reader.ts';

function sample(): Buffer {
  const builder = new SegmentBuilder();
  for (const path of ['a.ts', 'größe.md']) {
    builder.add({ path, size: 7, mtimeMs: 1, hash: path, status: 'indexed' }, [
      textChunk(path, 'lighthouse on a rock'),
    ]);
  }
  return Buffer.from(encodeSegment(builder.finish()));
}

/** Files of the index: one that is not exactly as it was written is not read. */
export const indexFiles: FuzzedReader = {
  name: 'index-files',
  samples: () => Promise.resolve([sample()]),
  words: ['\x31\x53\x57\x46', '\xff\xff\xff\xff', '\0\0\0\0'],
  open: () =>
    Promise.resolve({
      read: (input) => {
        const segment = decodeSegment(input);
        if (segment !== undefined) assert.deepEqual(Buffer.from(encodeSegment(segment)), input);
        return Promise.resolve();
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
