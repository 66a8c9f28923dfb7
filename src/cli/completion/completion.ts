import { AppError } from '../../core/errors.ts';
import { completionScript, SHELLS } from './shellScripts.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';

/** `farwharf completion SHELL`: prints the script that the shell runs at its start. */
export async function printCompletion({ terminal }: Context, name: string): Promise<number> {
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined) throw new AppError('bad-input', `Enter one of these shells: ${SHELLS.join(', ')}.`);
  terminal.answerText(completionScript(shell));
  return EXIT.done;
}
