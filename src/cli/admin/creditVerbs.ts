import { Argument } from 'commander';
import { defineGroup, defineVerb, type Verb } from '../command/verb.ts';
import { jsonFlag, textFlag, textFlagOr } from '../grammar/flags.ts';
import { dataFlag } from './dataFlag.ts';

/** `farwharf admin credits` and its verbs. */
export function creditVerb(): Verb {
  return defineGroup(
    {
      name: 'credits',
      summary: 'credits of accounts',
      examples: [
        ['farwharf admin credits grant ada 50', 'give credits'],
        ['farwharf admin credits list ada', 'list what changed them'],
      ],
    },
    [
      defineVerb({
        name: 'grant',
        summary: 'give an account credits',
        args: ['<account>', new Argument('<amount>', 'credits to give; a negative number takes some back')],
        flags: {
          note: textFlag('--note <text>', 'why, for the books'),
          reference: textFlag(
            '--reference <text>',
            'a grant of this reference happens once, however often it is asked for',
          ),
          data: dataFlag(),
          json: jsonFlag(),
        },
        examples: [
          ["farwharf admin credits grant ada 50 --note 'course 2026'", 'give 50 credits, with a note'],
          ['farwharf admin credits grant ada 50 --reference invoice-17', 'give them once, however often this is run'],
        ],
        load: async () => (await import('./credits.ts')).grantCredits,
      }),
      defineVerb({
        name: 'list',
        summary: 'list what an account was given and what its jobs cost, newest first',
        args: ['<account>'],
        flags: {
          limit: textFlagOr('--limit <n>', 'how many entries', '50'),
          data: dataFlag(),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf admin credits list ada', 'list the last 50 entries'],
          ['farwharf admin credits list ada --limit 500 --json', 'list more of them for a program'],
        ],
        load: async () => (await import('./credits.ts')).listCredits,
      }),
    ],
  );
}
