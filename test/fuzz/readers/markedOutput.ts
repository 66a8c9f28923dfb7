import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { MarkedLineReader, MarkedLineWriter, type OutputPiece, textOf } from '../../../src/core/text/markedLines.ts';
import { type FuzzedReader, nothingToClose } from '../reader.ts';

function sample(): Buffer {
  const lines: string[] = ['epoch 1\n'];
  const writer = new MarkedLineWriter((line) => lines.push(line));
  writer.write({ type: 'node', run: 1, path: 'write' });
  lines.push('epoch 2\r\n');
  writer.write({ type: 'state', run: 1, value: 'x'.repeat(4_000) });
  return Buffer.from(lines.join(''));
}

function read(...parts: readonly string[]): OutputPiece[] {
  const reader = new MarkedLineReader();
  return [...parts.flatMap((part) => reader.push(part)), ...reader.end()];
}

/** A value that nests as deep as the first bytes of the input say, in marked lines that are right in themselves. */
function nestedValue(input: Buffer): string {
  const depth = input.length < 2 ? 0 : input.readUInt16LE(0);
  const json = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const parts = json.match(/.{1,3000}/g) ?? [];
  const lines = parts.map((piece, index) => {
    const checksum = crc32(piece).toString(16).padStart(8, '0');
    return `@@farwharf/flow:1:0123abcd:1:${index + 1}/${parts.length}:${piece.length}:${checksum}:${piece}\n`;
  });
  return lines.join('');
}

/** What a job prints: wherever it is cut, the same text and the same values come out, and values can be passed on as JSON. */
export const markedOutput: FuzzedReader = {
  name: 'marked-lines',
  samples: () => Promise.resolve([sample()]),
  words: ['@@farwharf/flow:1:', '@@farwharf', '00000000:1:1/1:2:', '[[[[[[[[[[[[', '\n', ':1/99999:'],
  open: () =>
    Promise.resolve({
      read: async (input) => {
        const text = input.toString() + nestedValue(input);
        const whole = read(text);
        JSON.stringify(whole);
        const middle = Math.floor(text.length / 2);
        assert.equal(textOf(read(text.slice(0, middle), text.slice(middle))), textOf(whole));
        return Promise.resolve();
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
