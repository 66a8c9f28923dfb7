import type { Command } from 'commander';
import type { Runs } from '../command/verb.ts';
import { DATA } from './dataFlag.ts';
import { examples } from '../grammar/examples.ts';

/** Adds `farwharf admin credits`. */
export function addCreditVerbs(admin: Command, runs: Runs): void {
  const credits = admin
    .command('credits')
    .description('credits of accounts')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin credits grant ada 50', 'give credits'],
        ['farwharf admin credits list ada', 'list what changed them'],
      ),
    );
  credits
    .command('grant')
    .argument('<account>')
    .argument('<amount>', 'credits to give; a negative number takes some back')
    .description('give an account credits')
    .option('--note <text>', 'why, for the books')
    .option('--reference <text>', 'a grant of this reference happens once, however often it is asked for')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ["farwharf admin credits grant ada 50 --note 'course 2026'", 'give 50 credits, with a note'],
        ['farwharf admin credits grant ada 50 --reference invoice-17', 'give them once, however often this is run'],
      ),
    )
    .action(runs(async () => (await import('./credits.ts')).grantCredits));
  credits
    .command('list')
    .argument('<account>')
    .description('list what an account was given and what its jobs cost, newest first')
    .option('--limit <n>', 'how many entries', '50')
    .option('--data <dir>', DATA)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf admin credits list ada', 'list the last 50 entries'],
        ['farwharf admin credits list ada --limit 500 --json', 'list more of them for a program'],
      ),
    )
    .action(runs(async () => (await import('./credits.ts')).listCredits));
}
