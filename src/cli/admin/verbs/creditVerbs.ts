import { Argument } from 'commander';
import { defineGroup, defineVerb } from '../../command/verb.ts';
import { GRANT_ALL_FLAGS, GRANT_FLAGS, LIST_CREDITS_FLAGS } from '../adminFlags.ts';

export const creditVerb = defineGroup(
  {
    name: 'credits',
    summary: 'grant and list credits',
    examples: [
      ['farwharf admin credits grant ada 50', 'grant credits'],
      ['farwharf admin credits list ada', 'list the entries of an account'],
    ],
  },
  [
    defineVerb({
      name: 'grant',
      summary: 'grant credits to an account',
      args: ['<account>', new Argument('<amount>', 'credits to grant; a negative number takes credits back')],
      flags: GRANT_FLAGS,
      examples: [
        ["farwharf admin credits grant ada 50 --note 'course 2026'", 'grant 50 credits with a note'],
        ['farwharf admin credits grant ada 50 --reference invoice-17', 'grant 50 credits once, even if repeated'],
      ],
      load: async () => (await import('../credits.ts')).grantCredits,
    }),
    defineVerb({
      name: 'grant-all',
      summary: 'grant credits to every enabled account, once a month unless another reference is given',
      args: [new Argument('<amount>', 'credits for each account')],
      flags: GRANT_ALL_FLAGS,
      examples: [
        ['farwharf admin credits grant-all 100', 'grant 100 credits to each account, once in this month'],
        ['farwharf admin credits grant-all 20 --reference course-2027', 'grant 20 credits once, even if repeated'],
      ],
      load: async () => (await import('../credits.ts')).grantToAll,
    }),
    defineVerb({
      name: 'list',
      summary: 'list the grants and job costs of an account, newest first',
      args: ['<account>'],
      flags: LIST_CREDITS_FLAGS,
      examples: [
        ['farwharf admin credits list ada', 'list the last 50 entries'],
        ['farwharf admin credits list ada --limit 500 --json', 'list up to 500 entries as JSON'],
      ],
      load: async () => (await import('../credits.ts')).listCredits,
    }),
  ],
);
