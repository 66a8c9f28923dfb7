import { defineVerb } from '../command/verb.ts';
import { BEST_FLAGS } from '../sweeps/bestFlags.ts';

/** `farwharf sweep best`. */
export const bestVerb = defineVerb({
  name: 'best',
  summary: 'submit the best job of a sweep again, with changes',
  args: ['<sweep>'],
  flags: BEST_FLAGS,
  examples: [
    ['farwharf sweep best 3f2a --by loss --set epochs=100', 'submit the job with the lowest loss for 100 epochs'],
    ['farwharf sweep best 3f2a --by accuracy --highest --dry-run', 'show the best job without submitting it'],
  ],
  load: async () => (await import('./submitBest.ts')).submitBest,
});
