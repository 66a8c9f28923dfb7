import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeded } from '../random.ts';
import { mutate } from './mutate.ts';
import type { FuzzedReader } from './reader.ts';

/** Inputs that once made a reader fail, below a folder with its name. Every run begins with them. */
export const FINDINGS = join(import.meta.dirname, 'findings');

export interface FuzzOptions {
  readonly seed: number;
  /** Asked before each input. */
  readonly goesOn: (inputs: number) => boolean;
  /** Told of each input before it is read, so that one that ends the process is known. */
  readonly onInput?: (input: Buffer) => void;
}

/**
 * Gives a reader its findings, its samples and then mutations of both, until it fails or is stopped.
 *
 * @returns how many inputs it read.
 * @throws FuzzFailure with the input.
 */
export async function fuzz(reader: FuzzedReader, { seed, goesOn, onInput }: FuzzOptions): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), `farwharf-fuzz-`));
  const samples = [...(await findingsOf(reader)), ...(await reader.samples())];
  const words = reader.words.map((word) => Buffer.from(word, 'latin1'));
  const random = seeded(seed);
  await using opened = await reader.open(scratch);
  try {
    let inputs = 0;
    for (; inputs < samples.length || goesOn(inputs); inputs += 1) {
      const input = samples[inputs] ?? mutate({ random, samples, words });
      onInput?.(input);
      try {
        await opened.read(input);
      } catch (error) {
        throw new FuzzFailure(reader.name, input, error);
      }
    }
    return inputs;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

export class FuzzFailure extends Error {
  readonly input: Buffer;

  constructor(reader: string, input: Buffer, cause: unknown) {
    super(`The reader ${reader} failed on an input of ${input.length} bytes: ${String(cause)}`, { cause });
    this.input = input;
  }
}

/** Where a failing input belongs, to be read again by every run from then on. */
export async function findingPath(reader: string, input: Buffer): Promise<string> {
  await mkdir(join(FINDINGS, reader), { recursive: true });
  return join(FINDINGS, reader, createHash('sha256').update(input).digest('hex').slice(0, 16));
}

async function findingsOf({ name }: FuzzedReader): Promise<Buffer[]> {
  const folder = join(FINDINGS, name);
  const names = await readdir(folder).catch((): string[] => []);
  return Promise.all(names.toSorted().map((file) => readFile(join(folder, file))));
}
