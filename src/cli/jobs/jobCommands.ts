import type { Command } from 'commander';
import type { Runs } from '../command/verb.ts';
import { examples } from '../grammar/examples.ts';
import { conflictOption, wholeNumber } from '../grammar/optionValues.ts';

/** Adds the commands about jobs that were submitted, and `farwharf me`. */
export function addJobVerbs(program: Command, runs: Runs): Command {
  program
    .command('jobs')
    .description('list the jobs that were sent from here')
    .option('--limit <n>', 'how many of them', wholeNumber('--limit', { min: 1 }), 20)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf jobs', 'list the last 20 jobs'],
        ['farwharf jobs --limit 100 --json', 'list up to 100 jobs for a program'],
      ),
    )
    .action(runs(async () => (await import('./jobs.ts')).listJobs));
  program
    .command('job')
    .argument('<id>')
    .description('show one job')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf job 3f2a', 'show the job whose ID begins with 3f2a'],
        ['farwharf job 3f2a --json', 'show it as the service describes it'],
      ),
    )
    .action(runs(async () => (await import('./job.ts')).showJob));
  program
    .command('watch')
    .argument('<id>')
    .description('show the log of a job until it ends; Ctrl+C leaves the job running')
    .option('--json', 'print JSON, a line for each event')
    .addHelpText(
      'after',
      examples(
        ['farwharf watch 3f2a', 'show the log from its start until the job ends'],
        ['farwharf watch 3f2a --json', 'print each event as a line of JSON'],
      ),
    )
    .action(runs(async () => (await import('./watch.ts')).watch));
  program
    .command('cancel')
    .argument('<id>')
    .description('stop a job')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf cancel 3f2a', 'stop the job whose ID begins with 3f2a'],
        ['farwharf cancel 3f2a --json', "stop it and print the service's response"],
      ),
    )
    .action(runs(async () => (await import('./cancel.ts')).cancel));
  program
    .command('download')
    .argument('<id>')
    .description("bring a job's results home")
    .option('--into <dir>', 'where to (default: the folder that was sent)')
    .addOption(conflictOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf download 3f2a', 'bring the results into the folder that was sent'],
        [
          'farwharf download 3f2a --into results --on-conflict overwrite',
          'bring them into another folder, over files of the same name',
        ],
      ),
    )
    .action(runs(async () => (await import('./download.ts')).download));
  program
    .command('me')
    .description('show credits, plan and rate card')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf me', 'show your credits, and what a minute costs on which machine'],
        ['farwharf me --remote https://gpu.example.org', 'show them for another service'],
      ),
    )
    .action(runs(async () => (await import('./me.ts')).showAccount));
  return program;
}
