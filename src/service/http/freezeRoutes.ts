import type { IncomingMessage } from 'node:http';
import { parseOwnJson, tryParseJson } from '../../core/jsonFields.ts';
import { formatCredits, formatDuration } from '../../core/text/format.ts';
import { schemaMessage } from '../../core/text/schemaMessage.ts';
import { type Frozen, freezeExtension } from '../../remote/protocol/debugging.ts';
import { insideRefusal, type InsideSettings, maxHoldOf } from '../config/insideConfig.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import type { Executor } from '../executor/executor.ts';
import { type HoldOrder, writeHoldOrder } from '../jobFiles/holdOrder.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import { writeMarker } from '../jobFiles/jobFolder.ts';
import { toCredits } from '../store/accounts/creditLedger.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import type { AppContext } from './access/appEnv.ts';
import { findJob } from './access/findJob.ts';
import { refusal } from './access/httpRefusal.ts';
import { readRequestBody } from './access/readBody.ts';
import type { RouteHandlers } from './apiRoutes.ts';
import { showJob } from './jobRoutes.ts';
import { requireOwnJob } from './tunnelRoutes.ts';

const MAX_BODY_BYTES = 1_024;

export interface FreezeOptions {
  readonly store: Store;
  readonly files: Pick<JobFiles, 'folder' | 'requireThere'>;
  readonly executor: Pick<Executor, 'reportSecret' | 'secondsLeft'>;
  readonly machineClasses: MachineClasses;
  readonly inside: InsideSettings;
}

/**
 * Lets frozen jobs wait longer, or continue. What the service allows reaches the runner through a file, so that it survives restarts of
 * both.
 */
export function freezeHandlers(options: FreezeOptions): Pick<RouteHandlers, 'extendFreeze' | 'endFreeze'> {
  const { store, files, executor, machineClasses, inside } = options;
  const order = ({ id }: StoredJob, what: HoldOrder): void => {
    files.requireThere();
    writeMarker(files.folder(id).hold, writeHoldOrder(what, executor.reportSecret(id)));
  };
  return {
    extendFreeze: async (context) => {
      // Whose job it is comes before what the request says, and the job may have changed by then.
      const refused = insideRefusal(inside, frozenJob(context, store).job);
      if (refused !== undefined) throw refusal(403, refused);
      const seconds = await readSeconds(context.env.incoming);
      await requireRoom(frozenJob(context, store), seconds, executor);
      const { job, holdSeconds } = frozenJob(context, store);
      const longer = holdSeconds + seconds;
      const maxHold = maxHoldOf(inside, job.account);
      if (longer > maxHold) {
        const left = formatDuration(Math.max(0, maxHold - holdSeconds));
        throw refusal(409, `A job may be frozen for ${formatDuration(maxHold)} in all. At most ${left} can be added.`);
      }
      const hold = machineClasses.priceOf(job.machineClass, job.maxRuntime, longer);
      const lacking = store.extendHold(job, { hold, holdSeconds: longer });
      if (lacking !== undefined) {
        const [needed, left] = [hold - job.hold, lacking.amount].map((micro) => formatCredits(toCredits(micro)));
        throw refusal(402, `The job needs ${needed} more credits for that, but only ${left} are left.`);
      }
      order(job, { hold: longer, isOver: false });
      return showJob(findJob(context, store));
    },
    endFreeze: (context) => {
      const { job, holdSeconds } = frozenJob(context, store);
      order(job, { hold: holdSeconds, isOver: true });
      return showJob(job);
    },
  };
}

interface FrozenJob {
  readonly job: StoredJob;
  readonly holdSeconds: number;
  /** When it continues, in milliseconds. */
  readonly until: number;
}

/** @throws HTTPException 403, 404, or 409 for a job that does not wait. */
function frozenJob(context: AppContext, store: Store): FrozenJob {
  const job = findJob(context, store);
  requireOwnJob(context, job);
  const { finishedAt, frozen, holdSeconds } = job;
  if (finishedAt !== null || frozen === null || holdSeconds === null) {
    throw refusal(409, 'The job does not wait for a debugger.');
  }
  return { job, holdSeconds, until: Date.parse(parseOwnJson<Frozen>(frozen).until) };
}

/** @throws HTTPException 409 if the job would outlive what its cluster gave it. */
async function requireRoom(
  { job, until }: FrozenJob,
  seconds: number,
  executor: FreezeOptions['executor'],
): Promise<void> {
  const left = await executor.secondsLeft?.(job);
  if (left === undefined) return;
  const most = Math.max(0, Math.floor(left - (until - Date.now()) / 1000));
  if (seconds <= most) return;
  const message = `A frozen job never outlives its allocation on the cluster. At most ${formatDuration(most)} can be added.`;
  throw refusal(409, message);
}

async function readSeconds(incoming: IncomingMessage): Promise<number> {
  const body = tryParseJson((await readRequestBody(incoming, MAX_BODY_BYTES)).toString('utf8'));
  const { data, error } = freezeExtension.safeParse(body, { error: schemaMessage });
  if (data !== undefined) return data.seconds;
  const [issue] = error.issues;
  throw refusal(400, `${issue?.path.join('.') || 'The body'} ${issue?.message}.`);
}
