import { Argument } from 'commander';
import { AppError } from '../../core/errors.ts';
import { defineVerb } from '../command/verb.ts';
import { SUBMIT_FLAGS } from './submitFlags.ts';

export const submitVerb = defineVerb({
  name: 'submit',
  summary: 'send a folder as a job',
  args: [new Argument('[folder]', 'folder to send (default: the current one), or a batch script with #SBATCH lines')],
  runsCommands: 'to run in place of a script',
  flags: SUBMIT_FLAGS,
  examples: [
    ['farwharf submit --script train.py --watch --download', 'run train.py, show its log, download its results'],
    [
      "farwharf submit model --script 'train.py --epochs 3' --machine-class a10g --max-runtime 7200",
      'run a script with arguments in the folder model for at most two hours',
    ],
    ['farwharf submit -- torchrun --standalone --nproc-per-node 2 train.py', 'run a command, without a shell'],
    ["farwharf submit model -- sh -c 'make && ./test'", 'run a command in the folder model, with a shell'],
    ['farwharf submit --profile train', 'run the job named train in farwharf.json'],
    ['farwharf submit job.sbatch', 'run a batch script of Slurm, with its time limit and machine class'],
    ['farwharf submit --script train.py --dry-run', 'show what would be sent and what would be refused'],
  ],
  load: async () => {
    const { runSubmit } = await import('./submit.ts');
    return (context, argument, flags, [mark, ...command]) => {
      if (mark === undefined) return runSubmit(context, argument, flags);
      if (flags.script !== undefined) {
        throw new AppError('bad-input', 'A job runs a script or a command. Remove --script, or the command after --.');
      }
      return runSubmit(context, argument, { ...flags, command });
    };
  },
});
