import { choiceFlagOr, type Flag } from '../grammar/flags.ts';

/** What to do when a result and a local file have the same name. */
export type ConflictChoice = 'keep-both' | 'overwrite' | 'skip';

/** `--on-conflict`, for the verbs that download results. */
export function conflictFlag(): Flag<ConflictChoice> {
  return choiceFlagOr('--on-conflict <choice>', 'what to do when a result has the name of one of your files', {
    choices: ['keep-both', 'overwrite', 'skip'],
    fallback: 'keep-both',
  });
}
