import type { Command } from 'commander';
import type { Runs } from '../command/verb.ts';
import { examples } from '../grammar/examples.ts';
import { collect, conflictOption, wholeNumber } from '../grammar/optionValues.ts';

const DEFAULT_MAX_RUNTIME = 3600;

/** Adds `farwharf submit`. */
export function addSubmit(program: Command, runs: Runs): Command {
  program
    .command('submit')
    .argument('[folder]', 'folder to send (default: the current one)')
    .description('send a folder as a job')
    .option('--script <file>', 'file to run, with its arguments: "train.py --epochs 3"')
    .option(
      '--max-runtime <seconds>',
      'time limit of the job',
      wholeNumber('--max-runtime', { min: 1 }),
      DEFAULT_MAX_RUNTIME,
    )
    .option('--machine-class <name>', "machine to run on, from the service's rate card (see farwharf me)")
    .option('--project <name>', 'project that the job is booked under')
    .option('--venv <file>', 'JSON file that describes the Python environment')
    .option('--include <path>', 'send this path although it would be left out; may be repeated', collect)
    .option('--exclude <path>', 'leave this path out; may be repeated', collect)
    .option('--flow <name>', 'of a flow file: the export to run')
    .option('--shared <json>', 'of a flow file: shared state to begin with, as JSON or @FILE')
    .option('--resume <run>', 'of a flow file: go on where this run stood; its folder among results, or its id here')
    .option('--from <node>', 'with --resume: begin again at this node')
    .option('--watch', 'show the log until the job ends')
    .option('--download', 'wait for the end and bring the results into the folder')
    .addOption(conflictOption())
    .option('--again', 'send although the last submit of the folder got no answer')
    .option('--dry-run', 'show what would be sent, and send nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        [
          'farwharf submit --script train.py --watch --download',
          'run train.py of this folder, show its log, bring its results home',
        ],
        [
          "farwharf submit model --script 'train.py --epochs 3' --machine-class a10g --max-runtime 7200",
          'run a script with arguments in the folder model, for at most two hours',
        ],
        [
          'farwharf submit --script train.py --dry-run',
          'show what would be sent, what not, and what the service would refuse',
        ],
      ),
    )
    .action(runs(async () => (await import('./submit.ts')).submit));
  return program;
}
