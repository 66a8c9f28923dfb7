import { AppError } from '../core/errors.ts';
import type { JobRecord } from '../jobs/record.ts';
import { confirm } from './confirm.ts';
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
  if (!again && !(await confirm(`${describe(last, session)} Send the folder again?`, context))) {
    const sentence = `${describe(last, session)} Nothing was sent now. Check at the service; --again sends it all the same.`;
    throw new AppError('outcome-unknown', sentence);
  }
  for (const { id } of unanswered) session.ledger.remove(id);
}

function describe({ script, createdAt }: JobRecord, { hostName }: Session): string {
  const when = new Date(createdAt).toLocaleString('sv-SE');
  return `The submit of ${script} at ${when} got no answer from ${hostName}, so that job may be running.`;
}
