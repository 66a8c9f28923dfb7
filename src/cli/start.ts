import { keepNewObjectSpace } from '../core/processes/newObjectSpace.ts';
import { printableLine } from '../core/text/printable.ts';
import { endOnUncaughtErrors } from './command/uncaught.ts';

/** Runs the command line of this process. @param entry the path of the program. */
export async function start(entry: string): Promise<void> {
  endOnUncaughtErrors(process.env);
  hideExperiments();
  keepNewObjectSpace();
  const { runProgram } = await import('./program.ts');
  process.exitCode = await runProgram(process.argv.slice(2), {
    entry,
    env: process.env,
    cwd: process.cwd(),
    stdio: process,
  });
}

/** Hides the warning that node:sqlite is experimental, which is of no use to users. */
function hideExperiments(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') process.stderr.write(`${printableLine(`${name}: ${message}`)}\n`);
  });
}
