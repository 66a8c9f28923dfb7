import { randomFillSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const WORDS =
  'import numpy as np def train self model loss batch 0.001 for i in range return config print step None epoch dataset'.split(
    ' ',
  );

/**
 * Writes a tree like a research folder: many small sources and tables, and some large files, a third of all bytes
 * packed already (pictures, weights). The same tree on every run, except for the packed bytes.
 */
export async function writeMixedTree(root: string, fileCount: number, totalBytes: number): Promise<void> {
  const large = Math.max(1, Math.floor(fileCount / 1000));
  const smallBytes = Math.floor((totalBytes * 0.3) / (fileCount - large));
  const largeBytes = Math.floor((totalBytes * 0.7) / large);
  const random = numbers(20_251_120);
  const text = textOf(4 << 20, random);
  for (let i = 0; i < fileCount; i++) {
    const folder = join(root, `part${i % 40}`, `run${Math.floor(i / 40) % 50}`);
    if (i < 2000) await mkdir(folder, { recursive: true });
    const isLarge = i % 1000 === 999;
    const size = isLarge ? largeBytes : Math.floor(smallBytes * (0.5 + random()));
    const isPacked = isLarge ? i % 2000 === 999 : i % 10 === 3;
    const name = isPacked ? `weights${i}.bin` : `table${i}.csv`;
    await writeFile(join(folder, name), isPacked ? randomFillSync(Buffer.allocUnsafe(size)) : cut(text, size, random));
  }
}

function cut(text: Buffer, size: number, random: () => number): Buffer {
  const pieces: Buffer[] = [];
  for (let left = size; left > 0; ) {
    const start = Math.floor(random() * (text.length - 4096));
    const piece = text.subarray(start, start + Math.min(left, 1024 + Math.floor(random() * 3072)));
    pieces.push(piece);
    left -= piece.length;
  }
  return Buffer.concat(pieces);
}

function textOf(bytes: number, random: () => number): Buffer {
  const parts: string[] = [];
  for (let length = 0; length < bytes; ) {
    const pick = random();
    const word = pick < 0.4 ? random().toFixed(6) : (WORDS[Math.floor(pick * 997) % WORDS.length] ?? '');
    const part = word + (random() < 0.1 ? '\n' : ' ');
    parts.push(part);
    length += part.length;
  }
  return Buffer.from(parts.join(''));
}

/** mulberry32: small, and the same on every machine. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
