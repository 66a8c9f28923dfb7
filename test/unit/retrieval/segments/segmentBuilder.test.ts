import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Chunk } from '../../../../src/retrieval/chunks/chunk.ts';
import { SegmentBuilder } from '../../../../src/retrieval/segments/segmentBuilder.ts';
import { encodeSegment } from '../../../../src/retrieval/segments/segmentFile.ts';
import { type Below, seeded, TIMES } from '../../../random.ts';

interface RandomFile {
  readonly path: string;
  readonly chunks: readonly Chunk[];
}

function randomWord(random: Below): string {
  const [small, large] = [random(9), random(40)];
  const words = [
    `word${large}x`,
    `fooBar${small}`,
    `größe${small}`,
    `検索${small}`,
    `HTTPServer_${large}`,
    'running',
    '$',
  ];
  return words[random(words.length)] ?? 'x'.repeat(large + 60);
}

function randomFile(random: Below): RandomFile {
  const text = (most: number): string => Array.from({ length: random(most) }, () => randomWord(random)).join(' ');
  const path = text(4).replaceAll(' ', '/');
  const names = (): string[] => (random(2) === 0 ? [] : [randomWord(random)]);
  const chunks = Array.from({ length: Math.max(0, random(5) - 1) }, () => ({
    text: `${text(random(20) === 0 ? 2000 : 30)}${random(4) === 0 ? `\n/** ${text(5)} */` : ''}`,
    source: path,
    startLine: 1,
    endLine: 2,
    symbols: names(),
    scope: names(),
  }));
  return { path, chunks };
}

const add = (builder: SegmentBuilder, { path, chunks }: RandomFile): void =>
  builder.add({ path, size: 0, mtimeMs: 0, hash: '', status: 'indexed' }, chunks);

test('a segment does not depend on those that were built before, or are being built', () => {
  const random = seeded(61);
  const open: { readonly used: SegmentBuilder; readonly files: RandomFile[] }[] = [];
  for (let round = 0; round < 600 * TIMES; round += 1) {
    if (open.length < 2 || random(3) > 0) {
      const one = open[random(3)] ?? { used: new SegmentBuilder(), files: [] };
      if (one.files.length === 0) open.push(one);
      const file = randomFile(random);
      one.files.push(file);
      add(one.used, file);
      continue;
    }
    const [{ used, files } = { used: new SegmentBuilder(), files: [] }] = open.splice(random(open.length), 1);
    const fresh = new SegmentBuilder();
    for (const file of files) add(fresh, file);
    assert.equal(Buffer.compare(encodeSegment(used.finish()), encodeSegment(fresh.finish())), 0, `round ${round}`);
  }
});

/** Counts the memories that are made for words, and how often they grow, until the end of the test. */
function countMemories(t: TestContext): { made: number; grown: number } {
  interface Memory {
    grow(pages: number): number;
  }
  const api = Reflect.get(globalThis, 'WebAssembly') as { Memory: new (limits: object) => Memory };
  const counts = { made: 0, grown: 0 };
  const { Memory } = api;
  t.after(() => (api.Memory = Memory));
  api.Memory = class extends Memory {
    constructor(limits: object) {
      super(limits);
      counts.made += 1;
    }
    override grow(pages: number): number {
      counts.grown += 1;
      return super.grow(pages);
    }
  };
  return counts;
}

function build(text: string, path = 'a'): void {
  const builder = new SegmentBuilder();
  add(builder, { path, chunks: [{ text, source: path, startLine: 1, endLine: 1, symbols: [], scope: [] }] });
  builder.finish();
}

test('the memory of a builder serves the next one, unless it is large', (t) => {
  const counts = countMemories(t);
  const memoriesFor = (text: string): number => {
    const before = counts.made;
    build(text);
    return counts.made - before;
  };
  memoriesFor('small');
  assert.equal(memoriesFor('small'), 0);
  assert.equal(memoriesFor('large '.repeat(4_000_000)), 0);
  assert.equal(memoriesFor('small'), 1);
  assert.equal(memoriesFor('small'), 0);
});

test('one small builder after the other needs no more memory than one', (t) => {
  const counts = countMemories(t);
  build('large '.repeat(4_000_000)); // gives its memory up
  const path = 'folder/'.repeat(500);
  build('words '.repeat(100), path);
  counts.grown = 0;
  for (let round = 0; round < 600 * TIMES; round += 1) build('words '.repeat(100), path);
  assert.equal(counts.grown, 0);
});
