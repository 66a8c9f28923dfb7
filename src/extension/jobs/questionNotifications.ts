import * as vscode from 'vscode';
import { isWaiting, type JobRecord } from '../../jobs/ledger/record.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import type { SubmitMemory } from '../submit/preflight/submitMemory.ts';
import { showInformation } from '../ui/show.ts';

const ANSWER = 'Answer';

/** Shows the questions of jobs that were submitted from this window and ended to wait for an answer: nothing happens without one. */
export async function tellQuestions(
  ended: readonly JobRecord[],
  memory: Pick<SubmitMemory, 'wasSubmittedHere'>,
): Promise<void> {
  for (const record of ended) {
    if (!isWaiting(record) || !memory.wasSubmittedHere(record.id)) continue;
    const choice = await showInformation(
      `${shownScript(record.script)} waits for an answer: ${record.waiting.question}`,
      ANSWER,
    );
    if (choice === ANSWER) await vscode.commands.executeCommand('farwharf.answerJob', record.id);
  }
}
