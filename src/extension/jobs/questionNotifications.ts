import * as l10n from '@vscode/l10n';
import { isWaiting, type JobRecord } from '../../jobs/ledger/record.ts';
import { shownScript } from '../../jobs/selection/script.ts';

const ANSWER = l10n.t('Answer');

interface QuestionDeps {
  readonly wasSubmittedHere: (id: string) => boolean;
  /** Shows a notification with a button; returns the button, or undefined when it is closed. */
  readonly show: (text: string, button: string) => PromiseLike<string | undefined>;
  /** Runs a command of this extension. */
  readonly run: (command: string, argument: unknown) => PromiseLike<unknown>;
}

/**
 * Shows the questions of jobs that were submitted from this window and ended to wait for an answer: nothing happens without one. All
 * are shown at once, because a notification can stay open for as long as the window.
 */
export async function notifyQuestions(
  ended: readonly JobRecord[],
  { wasSubmittedHere, show, run }: QuestionDeps,
): Promise<void> {
  const waiting = ended.filter(isWaiting).filter(({ id }) => wasSubmittedHere(id));
  await Promise.all(
    waiting.map(async ({ id, script, waiting: { question } }) => {
      const choice = await show(l10n.t('{0} waits for an answer: {1}', shownScript(script), question), ANSWER);
      if (choice === ANSWER) await run('farwharf.answerJob', id);
    }),
  );
}
