import type { Command } from 'commander';
import type { Runs } from './verb.ts';

const DATA = "the service's data folder (default: 'serve' in FARWHARF_HOME)";

/** Adds `farwharf admin` with its verbs: for whoever runs the service, on the machine where it runs. */
export function addAdminVerbs(program: Command, runs: Runs): Command {
  const admin = program
    .command('admin')
    .description('manage the accounts of a service on this machine, whether it runs or not')
    .helpCommand(false);
  addAccountVerbs(admin, runs);
  addKeyVerbs(admin, runs);
  addDiskVerbs(admin, runs);
  addCreditVerbs(admin, runs);
  admin
    .command('usage')
    .description('report the jobs, machine minutes and credits of accounts, by machine class')
    .option('--from <day>', 'first day, UTC (default: the first of the month)')
    .option('--to <day>', 'last day, UTC (default: today)')
    .option('--account <account>', 'of this account only')
    .option('--csv', 'print comma-separated values')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/usage.ts')).reportUsage));
  return program;
}

function addAccountVerbs(admin: Command, runs: Runs): void {
  const account = admin.command('account').description('accounts and their limits').helpCommand(false);
  account
    .command('add')
    .argument('<account>', 'its id: small letters, digits, ".", "_" and "-"')
    .description('add an account')
    .option('--name <name>', 'whose it is')
    .option('--plan <name>', 'what the account is told as its plan (default: team)')
    .option('--credits <n>', 'credits to begin with (default: none)')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/accounts.ts')).addAccount));
  account
    .command('list')
    .description('list all accounts')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/accounts.ts')).listAccounts));
  account
    .command('show')
    .argument('<account>')
    .description('show one account with its credits and limits')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/accounts.ts')).showAccount));
  account
    .command('disable')
    .argument('<account>')
    .description('refuse all its keys at once; its jobs that run go on, those that wait do not start')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/accounts.ts')).disableAccount));
  account
    .command('enable')
    .argument('<account>')
    .description('accept its keys again')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/accounts.ts')).enableAccount));
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
    .action(runs(async () => (await import('./verbs/admin/accounts.ts')).limitAccount));
}

function addCreditVerbs(admin: Command, runs: Runs): void {
  const credits = admin.command('credits').description('credits of accounts').helpCommand(false);
  credits
    .command('grant')
    .argument('<account>')
    .argument('<amount>', 'credits to give; a negative number takes some back')
    .description('give an account credits')
    .option('--note <text>', 'why, for the books')
    .option('--reference <text>', 'a grant of this reference happens once, however often it is asked for')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/credits.ts')).grantCredits));
  credits
    .command('list')
    .argument('<account>')
    .description('list what an account was given and what its jobs cost, newest first')
    .option('--limit <n>', 'how many entries', '50')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/credits.ts')).listCredits));
}

function addKeyVerbs(admin: Command, runs: Runs): void {
  const key = admin.command('key').description('API keys of accounts').helpCommand(false);
  key
    .command('add')
    .argument('<account>')
    .description('make a key and show it, once')
    .option('--label <text>', 'what it is for')
    .option('--expires <when>', 'a day (2027-01-31), or a time from now (90d, 12h)')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/keys.ts')).addKey));
  key
    .command('list')
    .argument('[account]', 'of this account only')
    .description('list keys; what a key is nobody can list')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/keys.ts')).listKeys));
  key
    .command('revoke')
    .argument('<key>', 'its id, from farwharf admin key list')
    .description('end a key for good, at once')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/keys.ts')).revokeKey));
}

function addDiskVerbs(admin: Command, runs: Runs): void {
  admin
    .command('disk')
    .description('show what is free, and whose results take how much')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/disk.ts')).showDisk));
  admin
    .command('backup')
    .argument('<file>', 'a .tar.gz to be made')
    .description('write everything that a new machine needs into one file, while the service runs or not')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/backups.ts')).backUp));
  admin
    .command('restore')
    .argument('<file>', 'a file of farwharf admin backup')
    .description('make a data folder out of a backup; jobs that had not ended are lost, and cost nothing')
    .requiredOption('--data <dir>', 'the folder to make')
    .option('--json', 'print JSON')
    .action(runs(async () => (await import('./verbs/admin/backups.ts')).restore));
}
