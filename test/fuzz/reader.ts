import { AppError } from '../../src/core/errors.ts';

/** A part of the product that reads what others wrote, as fuzzing sees it. */
export interface FuzzedReader {
  readonly name: string;
  /** Inputs that it reads as they are; mutations begin with these. */
  readonly samples: () => Promise<readonly Buffer[]>;
  /** Pieces of its syntax. */
  readonly words: readonly string[];
  /** Makes it ready to read. `scratch` is an empty folder of its own. */
  readonly open: (scratch: string) => Promise<OpenReader>;
}

export interface OpenReader extends AsyncDisposable {
  /** @throws whatever it must not throw, and an assertion where it gives what it must not give. */
  read(input: Buffer): Promise<void>;
}

/** Runs what may refuse its input, by the product's own errors alone. */
export async function allowRefusal(read: () => unknown): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

/** For readers that hold nothing open. */
export const nothingToClose = (): Promise<void> => Promise.resolve();
