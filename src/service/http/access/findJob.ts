import { JOB_ID } from '../../jobFiles/jobFiles.ts';
import type { StoredJob } from '../../store/jobs/jobTable.ts';
import type { Store } from '../../store/store.ts';
import type { AppContext } from './appEnv.ts';
import { refusal } from './httpRefusal.ts';

/** A job of the account of the request. @throws HTTPException 404, as for a job that never existed, if it is another's. */
export function findJob(
  { req, var: { account } }: AppContext,
  store: Pick<Store, 'jobs'>,
  id = req.param('id') ?? '',
): StoredJob {
  const job = JOB_ID.test(id) ? store.jobs.find(account.id, id) : undefined;
  if (job === undefined) throw refusal(404, 'This job does not exist.');
  return job;
}
