// The innermost loops of indexing, as a WebAssembly program: they go over every byte and every word of a folder. In JavaScript
// they took twice as long, and a thread that starts took several times as long until its engine had optimised them.
import { bordersFunction } from './borderFunction.ts';
import { countFunction, gatherFunction, noteFunction, scatterFunction } from './countFunctions.ts';
import { findFunction, indexFunction } from './findFunctions.ts';
import { dictionaryFunction } from './dictionaryFunction.ts';
import { levelsFunction } from './levelsFunction.ts';
import { listFunction } from './listFunction.ts';
import { writeClasses } from './letters.ts';
import { orderFunction } from './orderFunction.ts';
import { postingsFunction } from './postingsFunction.ts';
import { splitFunction } from './splitFunction.ts';
import { stemFunction } from './stemFunction.ts';
import { writeRules } from './stemRules.ts';
import { programOf } from './assembler/programModule.ts';
import { MASKS } from './kernelLayout.ts';

/** Writes what the program reads and does not change. */
export function writeConstants(memory: ArrayBuffer): void {
  const masks = new BigUint64Array(memory, MASKS, 9);
  for (const size of masks.keys()) masks[size] = (1n << BigInt(8 * size)) - 1n;
  writeClasses(memory);
  writeRules(memory);
}

export const WORD_PROGRAM: Uint8Array<ArrayBuffer> = programOf([
  bordersFunction(),
  findFunction(),
  indexFunction(),
  splitFunction(),
  stemFunction(),
  listFunction(),
  countFunction(),
  gatherFunction(),
  noteFunction(),
  scatterFunction(),
  orderFunction(),
  postingsFunction(),
  levelsFunction(),
  dictionaryFunction(),
]);
