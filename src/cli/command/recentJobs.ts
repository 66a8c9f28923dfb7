import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import { printableLine } from '../../core/text/printable.ts';
import { resolveHost } from '../../jobs/service/host.ts';
import { JobLedger } from '../../jobs/ledger/ledger.ts';

const MOST_JOBS = 30;

/** What can be typed next. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** The newest jobs of a service in the ledger of this machine. Creates no ledger, starts no service and sends no request. */
export function recentJobs(remote: string | undefined, env: NodeJS.ProcessEnv): readonly Candidate[] {
  const home = farwharfHome(env);
  if (!existsSync(join(home, 'jobs.sqlite'))) return [];
  const host = resolveHost({ env, ...(remote !== undefined && { remote }) });
  const ledger = new JobLedger(home);
  try {
    return ledger.list({ host, limit: MOST_JOBS }).flatMap(({ jobId, script, state }) => {
      const description = printableLine(`${script}: ${state}`).replaceAll('\t', ' ');
      return jobId === null ? [] : [{ value: jobId, description }];
    });
  } finally {
    ledger.dispose();
  }
}
