import { randomFillSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomFrom } from '../../test/random.ts';

const WORDS =
  'import numpy as np def train self model loss batch 0.001 for i in range return config print step None epoch dataset'.split(
    ' ',
  );
const FILES_IN_A_FOLDER = 20;

interface FilePlan {
  readonly size: number;
  readonly isPacked: boolean;
}

/**
 * Writes a tree like a research folder: many small sources and tables, and a few large files, a third of all bytes
 * packed already (pictures, weights). The same tree on every run, except for what the packed bytes are.
 */
export async function writeMixedTree(root: string, fileCount: number, totalBytes: number): Promise<void> {
  const largeCount = Math.max(1, Math.floor(fileCount / 1000));
  const smallBytes = (totalBytes * 0.3) / (fileCount - largeCount);
  const largeBytes = (totalBytes * 0.7) / largeCount;
  await writeFiles(root, fileCount, (index, random) =>
    index % 1000 === 999
      ? { size: largeBytes, isPacked: index % 2000 === 999 }
      : { size: smallBytes * (0.5 + random()), isPacked: index % 10 === 3 },
  );
}

/** Large files, every second one packed already. */
export async function writeLargeFiles(root: string, fileCount: number, totalBytes: number): Promise<void> {
  await writeFiles(root, fileCount, (index) => ({ size: totalBytes / fileCount, isPacked: index % 2 === 1 }));
}

/** Small text files of different sizes. */
export async function writeSmallFiles(root: string, fileCount: number, totalBytes: number): Promise<void> {
  await writeFiles(root, fileCount, (_, random) => ({
    size: (totalBytes / fileCount) * 2 * random(),
    isPacked: false,
  }));
}

async function writeFiles(
  root: string,
  count: number,
  plan: (index: number, random: () => number) => FilePlan,
): Promise<void> {
  const random = randomFrom(20_251_120);
  const text = textOf(4 << 20, random);
  for (let index = 0; index < count; index++) {
    const { size, isPacked } = plan(index, random);
    const bytes = Math.floor(size);
    const folder = `part${Math.floor(index / 1000)}/run${Math.floor(index / FILES_IN_A_FOLDER) % 50}`;
    const path = join(root, folder, isPacked ? `weights${index}.bin` : `table${index}.csv`);
    if (index % FILES_IN_A_FOLDER === 0) await mkdir(dirname(path), { recursive: true });
    await writeFile(path, isPacked ? randomFillSync(Buffer.allocUnsafe(bytes)) : cut(text, bytes, random));
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
