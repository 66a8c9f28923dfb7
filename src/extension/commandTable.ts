import type { CommandId } from './contributions/names.ts';
import type { Command } from './commands/command.ts';
import { failureCommands } from './commands/failures/failureCommands.ts';
import { flowCommands } from './commands/flows/flowCommands.ts';
import { jobListCommands } from './commands/jobList/jobListCommands.ts';
import { jobCommands } from './commands/jobs/jobCommands.ts';
import { logCommands } from './commands/logs/logCommands.ts';
import { resultCommands } from './commands/results/resultCommands.ts';
import { searchCommands } from './commands/search/searchCommands.ts';
import { serviceCommands } from './commands/services/serviceCommands.ts';
import { submitCommands } from './commands/submit/submitCommands.ts';
import { sweepCommands } from './commands/sweeps/sweepCommands.ts';

/** The commands of the manifest. */
export const commands: Readonly<Record<CommandId, Command>> = {
  ...submitCommands,
  ...jobCommands,
  ...jobListCommands,
  ...logCommands,
  ...resultCommands,
  ...failureCommands,
  ...sweepCommands,
  ...serviceCommands,
  ...searchCommands,
  ...flowCommands,
};
