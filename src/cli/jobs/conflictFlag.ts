import { choiceFlagOr, type Flag } from '../grammar/flags.ts';
import type { ConflictChoice } from './results.ts';

/** `--on-conflict`, for the verbs that download results. */
export function conflictFlag(): Flag<ConflictChoice> {
  return choiceFlagOr('--on-conflict <choice>', 'what to do when a result has the name of one of your files', {
    choices: ['keep-both', 'overwrite', 'skip'],
    fallback: 'keep-both',
  });
}
