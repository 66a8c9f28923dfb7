import { defineGroup, defineVerb, type Verb } from '../command/verb.ts';
import { conflictFlag, creditsFlag, jsonFlag, numberFlag, switchFlag, textFlag } from '../command/flags.ts';

export const RANKING_FLAGS = {
  highest: switchFlag('--highest', 'the highest value of the metric is the best (default: the lowest)'),
};

/** `farwharf sweep` and its verbs. `submit --profile` starts a sweep. @param more verbs that submit jobs. */
export function sweepVerb(more: readonly Verb[]): Verb {
  return defineGroup(
    {
      name: 'sweep',
      summary: 'compare, continue and cancel the jobs of a profile with a matrix, and download their results',
      examples: [
        ['farwharf submit --profile train', 'submit the sweep: a job for each combination of the matrix'],
        ['farwharf sweep show 3f2a --by loss', 'compare its jobs, the lowest loss first'],
      ],
    },
    [
      defineVerb({
        name: 'list',
        summary: 'list the sweeps sent from this machine',
        flags: {
          limit: numberFlag('--limit <n>', 'maximum number of sweeps to list', { min: 1, fallback: 20 }),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf sweep list', 'list the last 20 sweeps'],
          ['farwharf sweep list --json', 'list them as JSON'],
        ],
        load: async () => (await import('./listSweeps.ts')).listSweeps,
      }),
      defineVerb({
        name: 'show',
        summary: 'compare the jobs of a sweep: parameters, state, cost and metrics',
        args: ['<sweep>'],
        flags: {
          by: textFlag('--by <metric>', 'sort by the last value of this metric, the best first'),
          ...RANKING_FLAGS,
          json: jsonFlag(),
        },
        examples: [
          ['farwharf sweep show 3f2a', 'compare the jobs of the sweep whose ID starts with 3f2a'],
          ['farwharf sweep show 3f2a --by accuracy --highest', 'show the highest accuracy first'],
        ],
        load: async () => (await import('./showSweep.ts')).showSweep,
      }),
      defineVerb({
        name: 'download',
        summary: 'download the results of all jobs of a sweep that have ended',
        args: ['<sweep>'],
        flags: {
          into: textFlag('--into <dir>', 'folder in which each job gets a folder (default: that of its profile)'),
          onConflict: conflictFlag(),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf sweep download 3f2a', 'download the missing results, into a folder for each job'],
          ['farwharf sweep download 3f2a --into results', 'into folders in another folder'],
        ],
        load: async () => (await import('./downloadSweep.ts')).downloadSweep,
      }),
      defineVerb({
        name: 'resume',
        summary: 'send the jobs of a sweep that were not sent yet',
        args: ['<sweep>'],
        flags: {
          maxCost: creditsFlag('--max-cost <credits>', 'new cost limit of the sweep'),
          watch: switchFlag('--watch', 'wait until all jobs have ended'),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf sweep resume 3f2a', 'continue a sweep that was interrupted; no job is sent twice'],
          ['farwharf sweep resume 3f2a --max-cost 50', 'continue a sweep that reached its cost limit'],
        ],
        load: async () => (await import('./resumeSweep.ts')).resumeSweep,
      }),
      defineVerb({
        name: 'cancel',
        summary: 'stop all jobs of a sweep and send no more of them',
        args: ['<sweep>'],
        flags: { json: jsonFlag() },
        examples: [
          ['farwharf sweep cancel 3f2a', 'cancel the sweep whose ID starts with 3f2a'],
          ['farwharf sweep cancel 3f2a --json', 'the same, with the number of stopped jobs as JSON'],
        ],
        load: async () => (await import('./cancelSweepVerb.ts')).cancelSweepVerb,
      }),
      ...more,
    ],
  );
}
