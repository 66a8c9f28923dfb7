import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chunk } from '../../../../src/retrieval/chunks/chunk.ts';
import { SegmentBuilder } from '../../../../src/retrieval/segments/segmentBuilder.ts';
import { encodeSegment } from '../../../../src/retrieval/segments/segmentFile.ts';
import { type Random, seeded } from '../randomCorpus.ts';

interface RandomFile {
  readonly path: string;
  readonly chunks: readonly Chunk[];
}

function randomWord(random: Random): string {
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

function randomFile(random: Random): RandomFile {
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

test('a segment does not depend on those that were built before, or are built meanwhile', () => {
  const random = seeded(61);
  const open: { readonly used: SegmentBuilder; readonly files: RandomFile[] }[] = [];
  for (let round = 0; round < 3000; round += 1) {
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

test('the memory of a builder serves the next one, unless it is large', (t) => {
  const api = Reflect.get(globalThis, 'WebAssembly') as { Memory: new (limits: object) => object };
  let made = 0;
  const { Memory } = api;
  t.after(() => (api.Memory = Memory));
  api.Memory = class extends Memory {
    constructor(limits: object) {
      super(limits);
      made += 1;
    }
  };
  const memoriesFor = (text: string): number => {
    const before = made;
    const builder = new SegmentBuilder();
    const chunk = { text, source: 'a', startLine: 1, endLine: 1, symbols: [], scope: [] };
    add(builder, { path: 'a', chunks: [chunk] });
    builder.finish();
    return made - before;
  };
  memoriesFor('small');
  assert.equal(memoriesFor('small'), 0);
  assert.equal(memoriesFor('large '.repeat(4_000_000)), 0);
  assert.equal(memoriesFor('small'), 1);
  assert.equal(memoriesFor('small'), 0);
});
