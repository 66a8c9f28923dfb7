import type { Command } from 'commander';
import type { Runs } from '../command/verb.ts';
import { addAccountVerbs, addKeyVerbs } from './accountCommands.ts';
import { addCreditVerbs } from './creditCommands.ts';
import { DATA } from './dataFlag.ts';
import { examples } from '../grammar/examples.ts';

/** Adds `farwharf admin` with its verbs: for whoever runs the service, on the machine where it runs. */
export function addAdminVerbs(program: Command, runs: Runs): Command {
  const admin = program
    .command('admin')
    .description('manage the accounts of a service on this machine, whether it runs or not')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin account add ada --credits 100', 'add an account'],
        ['farwharf admin key add ada', 'make a key for it'],
      ),
    );
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
    .addHelpText(
      'after',
      examples(
        ['farwharf admin usage', 'report the current month'],
        ['farwharf admin usage --from 2026-01-01 --to 2026-01-31 --csv', 'report a month as a table'],
      ),
    )
    .action(runs(async () => (await import('./usage.ts')).reportUsage));
  return program;
}

function addDiskVerbs(admin: Command, runs: Runs): void {
  admin
    .command('disk')
    .description('show what is free, and whose results take how much')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin disk', 'show the free space and the largest results'],
        ['farwharf admin disk --data /srv/farwharf --json', 'show them for another data folder and a program'],
      ),
    )
    .action(runs(async () => (await import('./disk.ts')).showDisk));
  admin
    .command('backup')
    .argument('<file>', 'a .tar.gz to be made')
    .description('write everything that a new machine needs into one file, while the service runs or not')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin backup farwharf.tar.gz', 'write a backup'],
        ['farwharf admin backup farwharf.tar.gz --data /srv/farwharf', 'write one of another data folder'],
      ),
    )
    .action(runs(async () => (await import('./backups.ts')).backUp));
  admin
    .command('restore')
    .argument('<file>', 'a file of farwharf admin backup')
    .description('make a data folder out of a backup; jobs that had not ended are lost, and cost nothing')
    .requiredOption('--data <dir>', 'the folder to make')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin restore farwharf.tar.gz --data /srv/farwharf', 'make a data folder of a backup'],
        [
          'farwharf admin restore farwharf.tar.gz --data /srv/farwharf --json',
          'make it, and print the outcome for a program',
        ],
      ),
    )
    .action(runs(async () => (await import('./backups.ts')).restore));
}
