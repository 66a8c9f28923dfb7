import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Checkout } from './docstrings.ts';

/** Writes the files of a checkout, which have lost the comments that are the questions, and returns their folder. */
export function writeUncommented({ files }: Checkout, home: string): string {
  const copy = join(home, 'without comments');
  for (const { path, text } of files) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }
  return copy;
}
