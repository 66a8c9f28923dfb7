import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrowableBuffer, KernelMemory } from '../../../../src/retrieval/tokenizer/kernelMemory.ts';
import { FIRST } from '../../../../src/retrieval/kernel/assembly/kernelLayout.ts';
import { bytesOf } from './bytesOf.ts';
import { TermInternTable } from '../../../../src/retrieval/tokenizer/termInternTable.ts';

/** Finds words of a table, adding those that are not there; gives their records. */
function find(memory: KernelMemory, table: TermInternTable, words: readonly string[]): number[] {
  const bytes = Buffer.from(words.join(''));
  const [text, spans, found] = [new GrowableBuffer(memory), new GrowableBuffer(memory), new GrowableBuffer(memory)];
  text.reserve(bytes.length + 8);
  spans.reserve(8 * words.length);
  found.reserve(4 * words.length);
  bytes.copy(memory.bytes, text.address);
  let end = text.address;
  for (const [index, word] of words.entries()) {
    memory.numbers[spans.address / 4 + 2 * index] = end;
    end += Buffer.byteLength(word);
    memory.numbers[spans.address / 4 + 2 * index + 1] = end;
  }
  table.find(spans.address, words.length, found.address);
  return [...memory.numbers.subarray(found.address / 4, found.address / 4 + words.length)];
}

test('a table finds 50,000 words of all lengths by their bytes', () => {
  const memory = new KernelMemory();
  const table = new TermInternTable(memory);
  const words = Array.from({ length: 50_000 }, (_, at) => `${'größe'.slice(at % 6)}${at}${'x'.repeat(at % 23)}`);
  const distinct = [...new Set(words)];
  for (const round of [1, 2]) {
    const records = new Map(find(memory, table, words).map((record, at) => [words[at], record]));
    assert.equal(table.size, distinct.length, `round ${round}`);
    assert.equal(new Set(records.values()).size, distinct.length);
    assert.deepEqual(
      find(memory, table, words.toReversed()),
      words.toReversed().map((word) => records.get(word)),
    );
    let record = table.first;
    for (const [at, word] of distinct.entries()) {
      assert.equal(bytesOf(memory, table, record).toString(), word);
      assert.equal(table.numberOf(record, FIRST), at);
      record = table.behind(record);
    }
    assert.equal(record, table.end);
    table.clear();
    assert.deepEqual([table.size, table.end], [0, table.first]);
  }
});
