import type { Chunk } from '../../../src/retrieval/chunks/chunk.ts';

/** Numbers from 0 to below `below`, the same in every run. */
export type Random = (below: number) => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d_2b_79_f5) >>> 0; // mulberry32
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** A word, the low numbers often and the high ones seldom, as in real text. */
export function randomWord(random: Random, words: number): string {
  return `word${Math.floor(words ** (random(10_000) / 10_000)) - 1}x`;
}

export function randomText(random: Random, words: number, most: number): string {
  return Array.from({ length: 1 + random(most) }, () => randomWord(random, words)).join(' ');
}

export function textChunk(source: string, text: string, startLine = 1, symbols: readonly string[] = []): Chunk {
  return { text, source, startLine, endLine: startLine, symbols, scope: [] };
}
