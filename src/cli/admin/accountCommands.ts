import type { Command } from 'commander';
import type { Runs } from '../command/verb.ts';
import { DATA } from './dataFlag.ts';
import { examples } from '../grammar/examples.ts';

/** Adds `farwharf admin account`. */
export function addAccountVerbs(admin: Command, runs: Runs): void {
  const account = admin
    .command('account')
    .description('accounts and their limits')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin account list', 'list all accounts'],
        ['farwharf admin account show ada', 'show one account'],
      ),
    );
  account
    .command('add')
    .argument('<account>', 'its id: small letters, digits, ".", "_" and "-"')
    .description('add an account')
    .option('--name <name>', 'whose it is')
    .option('--plan <name>', 'what the account is told as its plan (default: team)')
    .option('--credits <n>', 'credits to begin with (default: none)')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin account add ada --credits 100', 'add an account with 100 credits'],
        ["farwharf admin account add ada --name 'Ada L.' --plan team", 'add one with a name and a plan'],
      ),
    )
    .action(runs(async () => (await import('./accounts.ts')).addAccount));
  account
    .command('list')
    .description('list all accounts')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin account list', 'list all accounts'],
        ['farwharf admin account list --data /srv/farwharf --json', 'list those of another data folder for a program'],
      ),
    )
    .action(runs(async () => (await import('./accounts.ts')).listAccounts));
  account
    .command('show')
    .argument('<account>')
    .description('show one account with its credits and limits')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin account show ada', 'show credits and limits'],
        ['farwharf admin account show ada --json', 'show them for a program'],
      ),
    )
    .action(runs(async () => (await import('./accounts.ts')).showAccount));
  account
    .command('disable')
    .argument('<account>')
    .description('refuse all its keys at once; its jobs that run go on, those that wait do not start')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin account disable ada', 'refuse the keys of ada'],
        ['farwharf admin account disable ada --data /srv/farwharf', 'do so for the service of another data folder'],
      ),
    )
    .action(runs(async () => (await import('./accounts.ts')).disableAccount));
  account
    .command('enable')
    .argument('<account>')
    .description('accept its keys again')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin account enable ada', 'accept the keys of ada again'],
        ['farwharf admin account enable ada --data /srv/farwharf', 'do so for the service of another data folder'],
      ),
    )
    .action(runs(async () => (await import('./accounts.ts')).enableAccount));
  account
    .command('limits')
    .argument('<account>')
    .description("change an account's own limits; the word default gives one back to the service's configuration")
    .option('--running-jobs <n>', 'jobs at once; others wait')
    .option('--queued-jobs <n>', 'jobs that may wait')
    .option('--upload-gb <n>', 'size of one archive')
    .option('--uploads <n>', 'uploads at once')
    .option('--streams <n>', 'event streams and downloads at once')
    .option('--requests-per-minute <n>', 'requests, a stream counted once')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        [
          'farwharf admin account limits ada --running-jobs 4 --upload-gb 2',
          'allow four jobs at once, and archives of 2 GB',
        ],
        ['farwharf admin account limits ada --running-jobs default', 'use the limit of the configuration again'],
      ),
    )
    .action(runs(async () => (await import('./accounts.ts')).limitAccount));
}

/** Adds `farwharf admin key`. */
export function addKeyVerbs(admin: Command, runs: Runs): void {
  const key = admin
    .command('key')
    .description('API keys of accounts')
    .addHelpText(
      'after',
      examples(['farwharf admin key add ada', 'make a key'], ['farwharf admin key list', 'list all keys']),
    );
  key
    .command('add')
    .argument('<account>')
    .description('make a key and show it, once')
    .option('--label <text>', 'what it is for')
    .option('--expires <when>', 'a day (2027-01-31), or a time from now (90d, 12h)')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin key add ada --label laptop', 'make a key, and show it once'],
        ['farwharf admin key add ada --expires 90d', 'make one that expires after 90 days'],
      ),
    )
    .action(runs(async () => (await import('./keys.ts')).addKey));
  key
    .command('list')
    .argument('[account]', 'of this account only')
    .description('list keys; what a key is nobody can list')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin key list', 'list all keys'],
        ['farwharf admin key list ada', 'list the keys of one account'],
      ),
    )
    .action(runs(async () => (await import('./keys.ts')).listKeys));
  key
    .command('revoke')
    .argument('<key>', 'its id, from farwharf admin key list')
    .description('end a key for good, at once')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin key revoke 7f3a', 'revoke a key'],
        ['farwharf admin key revoke 7f3a --json', 'revoke it, and print the outcome for a program'],
      ),
    )
    .action(runs(async () => (await import('./keys.ts')).revokeKey));
}
