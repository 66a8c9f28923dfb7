import type { Chunk } from '../../../src/retrieval/chunks/chunk.ts';
import type { Below } from '../../random.ts';

/** A word, the low numbers often and the high ones seldom, as in real text. */
export function randomWord(random: Below, words: number): string {
  return `word${Math.floor(words ** (random(10_000) / 10_000)) - 1}x`;
}

export function randomText(random: Below, words: number, most: number): string {
  return Array.from({ length: 1 + random(most) }, () => randomWord(random, words)).join(' ');
}

export function textChunk(source: string, text: string, startLine = 1, symbols: readonly string[] = []): Chunk {
  return { text, source, startLine, endLine: startLine, symbols, scope: [] };
}
