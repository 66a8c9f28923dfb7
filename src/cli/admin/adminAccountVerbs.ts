import { Argument } from 'commander';
import { defineGroup, defineVerb } from '../command/verb.ts';
import {
  ADD_ACCOUNT_FLAGS,
  ADD_KEY_FLAGS,
  ADMIN_FLAGS,
  EDIT_ACCOUNT_FLAGS,
  GRANT_ALL_FLAGS,
  GRANT_FLAGS,
  LIMIT_FLAGS,
  LINK_FLAGS,
  LIST_CREDITS_FLAGS,
} from './adminFlags.ts';

export const accountVerb = defineGroup(
  {
    name: 'account',
    summary: 'accounts and their limits',
    examples: [
      ['farwharf admin account list', 'list all accounts'],
      ['farwharf admin account show ada', 'show one account'],
    ],
  },
  [
    defineVerb({
      name: 'add',
      summary: 'add an account',
      args: [new Argument('<account>', 'account ID: lower-case letters, digits, ".", "_" and "-"')],
      flags: ADD_ACCOUNT_FLAGS,
      examples: [
        ['farwharf admin account add ada --credits 100', 'add an account with 100 credits'],
        ["farwharf admin account add ada --name 'Ada L.' --plan team", 'add an account with a name and a plan'],
      ],
      load: async () => (await import('./adminAccounts.ts')).addAccount,
    }),
    defineVerb({
      name: 'list',
      summary: 'list all accounts',
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin account list', 'list all accounts'],
        ['farwharf admin account list --data /srv/farwharf --json', 'list those of another data folder as JSON'],
      ],
      load: async () => (await import('./adminAccounts.ts')).listAccounts,
    }),
    defineVerb({
      name: 'show',
      summary: 'show one account with its credits and limits',
      args: ['<account>'],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin account show ada', 'show credits and limits'],
        ['farwharf admin account show ada --json', 'show the same as JSON'],
      ],
      load: async () => (await import('./adminAccounts.ts')).showServiceAccount,
    }),
    defineVerb({
      name: 'edit',
      summary: 'change the name, the plan or the group of an account',
      args: ['<account>'],
      flags: EDIT_ACCOUNT_FLAGS,
      examples: [
        ["farwharf admin account edit ada --name 'Ada King'", 'change the name of the owner'],
        ['farwharf admin account edit ada --plan guest', 'change the plan that the account shows'],
        ['farwharf admin account edit ada --group lab', 'make the account a member of a group'],
      ],
      load: async () => (await import('./adminAccounts.ts')).editAccount,
    }),
    defineVerb({
      name: 'link',
      summary: 'link an account to a person who signs in with the identity provider',
      args: ['<account>'],
      flags: LINK_FLAGS,
      examples: [
        [
          'farwharf admin account link ada --issuer https://sso.example.org --subject 7f3a91c0',
          'let this person sign in to the account',
        ],
        [
          'farwharf admin account link ada --issuer https://sso.example.org --subject 7f3a91c0 --json',
          'do the same, and print JSON',
        ],
      ],
      load: async () => (await import('./adminAccounts.ts')).linkAccount,
    }),
    defineVerb({
      name: 'unlink',
      summary: 'end sign-ins to an account; its keys still work',
      args: ['<account>'],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin account unlink ada', 'remove the link'],
        ['farwharf admin account unlink ada --json', 'do the same, and print JSON'],
      ],
      load: async () => (await import('./adminAccounts.ts')).unlinkAccount,
    }),
    defineVerb({
      name: 'disable',
      summary: 'refuse all keys of an account at once; running jobs continue, waiting jobs do not start',
      args: ['<account>'],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin account disable ada', 'refuse the keys of ada'],
        ['farwharf admin account disable ada --data /srv/farwharf', 'do the same for another data folder'],
      ],
      load: async () => (await import('./adminAccounts.ts')).disableAccount,
    }),
    defineVerb({
      name: 'enable',
      summary: 'accept the keys of an account again',
      args: ['<account>'],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin account enable ada', 'accept the keys of ada again'],
        ['farwharf admin account enable ada --data /srv/farwharf', 'do the same for another data folder'],
      ],
      load: async () => (await import('./adminAccounts.ts')).enableAccount,
    }),
    defineVerb({
      name: 'delete',
      summary:
        'end an account for good: revoke its keys, its sign-in and its secrets; its jobs and credits stay in the books',
      args: ['<account>'],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin account delete ada', 'end the account of ada'],
        ['farwharf admin account delete ada --json', 'do the same, and print JSON'],
      ],
      load: async () => (await import('./adminAccounts.ts')).deleteAccount,
    }),
    defineVerb({
      name: 'import',
      summary: 'add the accounts of a file with comma-separated values: account, name, plan, group, credits',
      args: [new Argument('<file>', 'its first line names the columns')],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin account import course.csv', 'add the accounts of a course'],
        ['farwharf admin account import course.csv --json', 'do the same, and print JSON'],
      ],
      load: async () => (await import('./adminAccounts.ts')).importAccounts,
    }),
    defineVerb({
      name: 'limits',
      summary: "change the limits of an account; default restores the limit from the service's configuration",
      args: ['<account>'],
      flags: LIMIT_FLAGS,
      examples: [
        ['farwharf admin account limits ada --running-jobs 4 --upload-gb 2', 'allow four jobs and archives of 2 GB'],
        ['farwharf admin account limits ada --running-jobs default', 'restore the limit from the configuration'],
      ],
      load: async () => (await import('./adminAccounts.ts')).limitAccount,
    }),
  ],
);

export const keyVerb = defineGroup(
  {
    name: 'key',
    summary: 'API keys of accounts',
    examples: [
      ['farwharf admin key add ada', 'create a key'],
      ['farwharf admin key list', 'list all keys'],
    ],
  },
  [
    defineVerb({
      name: 'add',
      summary: 'create a key and show it once',
      args: ['<account>'],
      flags: ADD_KEY_FLAGS,
      examples: [
        ['farwharf admin key add ada --label laptop', 'create a key and show it once'],
        ['farwharf admin key add ada --expires 90d', 'create a key that expires after 90 days'],
        ['farwharf admin key add ada --budget 5 --expires 8h --scope submit,read', 'create a key for an agent'],
      ],
      load: async () => (await import('./adminKeys.ts')).addKey,
    }),
    defineVerb({
      name: 'list',
      summary: 'list keys without their secret values',
      args: [new Argument('[account]', 'only keys of this account')],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin key list', 'list all keys'],
        ['farwharf admin key list ada', 'list the keys of one account'],
      ],
      load: async () => (await import('./adminKeys.ts')).listKeys,
    }),
    defineVerb({
      name: 'rotate',
      summary: 'replace a key by a new one with the same restrictions, in one step',
      args: [new Argument('<key>', 'key ID from farwharf admin key list')],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin key rotate 7f3a', 'revoke a key and show the one that replaces it'],
        ['farwharf admin key rotate 7f3a --json', 'do the same, and print JSON'],
      ],
      load: async () => (await import('./adminKeys.ts')).rotateKey,
    }),
    defineVerb({
      name: 'revoke',
      summary: 'revoke a key permanently, at once',
      args: [new Argument('<key>', 'key ID from farwharf admin key list')],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin key revoke 7f3a', 'revoke a key'],
        ['farwharf admin key revoke 7f3a --json', 'revoke a key and print the result as JSON'],
      ],
      load: async () => (await import('./adminKeys.ts')).revokeKey,
    }),
  ],
);

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
      load: async () => (await import('./adminCredits.ts')).grantCredits,
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
      load: async () => (await import('./adminCredits.ts')).grantToAll,
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
      load: async () => (await import('./adminCredits.ts')).listCredits,
    }),
  ],
);
