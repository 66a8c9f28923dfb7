import { createInterface } from 'node:readline/promises';
import { AppError } from '../core/errors.ts';
import type { JobRecord } from '../jobs/record.ts';
import type { Context } from './context.ts';
import type { Session } from './session.ts';

/**
 * Asks before a folder is sent whose last submit got no answer, since that job may be running. Without a person to ask,
 * only `--again` sends it. A submit that was asked about once is taken off the list.
 *
 * @throws AppError `outcome-unknown` when it is not to be sent.
 */
export async function settleUnanswered(
  session: Session,
  context: Context,
  { folder, again }: { folder: string; again: boolean },
): Promise<void> {
  const unanswered = session.ledger.list({ host: session.host, folder, state: 'unknown' });
  const [last] = unanswered;
  if (last === undefined) return;
  if (!again && !(await agrees(last, session, context))) {
    const sentence = `${describe(last, session)} Nothing was sent now. Check at the service; --again sends it all the same.`;
    throw new AppError('outcome-unknown', sentence);
  }
  for (const { id } of unanswered) session.ledger.remove(id);
}

function describe({ script, createdAt }: JobRecord, { hostName }: Session): string {
  const when = new Date(createdAt).toLocaleString('sv-SE');
  return `The submit of ${script} at ${when} got no answer from ${hostName}, so that job may be running.`;
}

async function agrees(last: JobRecord, session: Session, { terminal, signal }: Context): Promise<boolean> {
  if (!process.stdin.isTTY || !terminal.isScreen('stderr') || terminal.isJson) return false;
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${describe(last, session)} Send the folder again? [y/N] `, { signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}
