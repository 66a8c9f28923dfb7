// The innermost loops of indexing, which process every byte and every word of a folder. In JavaScript they took twice as long, and in a
// new thread several times as long until its engine had optimized them.
import { countWords, gatherTerms, listTerms, noteTerms, scatterPostings } from './counts.ts';
import { fillSlots, internWords } from './intern.ts';
import { sortWords } from './order.ts';
import { writeEntry, writeLevels, writePostings } from './termWriter.ts';
import { findSpans } from './spans.ts';
import { splitTerms } from './split.ts';
import { stemTerms } from './stem.ts';

export {
  countWords,
  fillSlots,
  findSpans,
  gatherTerms,
  internWords,
  listTerms,
  noteTerms,
  scatterPostings,
  sortWords,
  splitTerms,
  stemTerms,
  writeEntry,
  writeLevels,
  writePostings,
};
