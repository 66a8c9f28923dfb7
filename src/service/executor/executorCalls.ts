import { AppError } from '../../core/errors.ts';
import { Emitter } from '../../core/processes/lifetime.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { Executor, RunnableJob } from './executor.ts';

/** A call of an executor that failed. */
export interface FailedCall {
  readonly call: 'launch' | 'status' | 'cancel' | 'end' | 'clean-up' | 'look';
  /** The code of its error; `other` for one without a code of ours. */
  readonly code: string;
  /** By `performance.now()`, in milliseconds. */
  readonly at: number;
}

/** Watches the calls of an executor, and remembers the failed ones until a call of the same name succeeds. */
export class ExecutorCalls {
  readonly #failures = new Map<string, FailedCall>();
  readonly #failed = new Emitter<FailedCall>();
  readonly onDidFail = this.#failed.event;
  /** The same executor, whose calls are watched. */
  readonly executor: Executor;

  /** @param beforeLaunch what a job needs before its runner starts; its failure is one of the launch. */
  constructor(
    executor: Executor,
    beforeLaunch: (job: RunnableJob, folder: JobFolder) => Promise<void> = async () => {},
  ) {
    const { cluster } = executor;
    const takeBack = executor.takeBack?.bind(executor);
    this.executor = {
      capacity: executor.capacity,
      isLocal: executor.isLocal,
      ...(executor.placement && { placement: executor.placement }),
      ...(cluster && {
        cluster: {
          look: () => this.#watch('look', cluster.look()),
          get answeredAt() {
            return cluster.answeredAt;
          },
          get failingSince() {
            return cluster.failingSince;
          },
        },
      }),
      refusal: () => executor.refusal(),
      keepsEnvironments: () => executor.keepsEnvironments(),
      ...(executor.scriptKinds && { scriptKinds: executor.scriptKinds.bind(executor) }),
      ...(executor.packageTools && { packageTools: executor.packageTools.bind(executor) }),
      ...(executor.connect && { connect: executor.connect.bind(executor) }),
      ...(executor.refusalOf && { refusalOf: executor.refusalOf.bind(executor) }),
      ...(executor.refusalOfDebug && { refusalOfDebug: executor.refusalOfDebug.bind(executor) }),
      ...(executor.secondsLeft && { secondsLeft: executor.secondsLeft.bind(executor) }),
      launch: (job, folder, ...rest) =>
        this.#watch(
          'launch',
          beforeLaunch(job, folder).then(() => executor.launch(job, folder, ...rest)),
        ),
      status: (job, folder) => this.#watch('status', executor.status(job, folder)),
      externalId: (job) => executor.externalId(job),
      reportSecret: (jobId) => executor.reportSecret(jobId),
      cancel: (job) => this.#watch('cancel', executor.cancel(job)),
      endNow: (job, folder) => this.#watch('end', executor.endNow(job, folder)),
      ...(takeBack && { takeBack: (job, folder) => this.#watch('cancel', takeBack(job, folder)) }),
      cleanUp: (job, folder) => this.#watch('clean-up', executor.cleanUp(job, folder)),
      forget: (job) => executor.forget(job),
      stop: () => executor.stop(),
    };
  }

  /** The latest failure of each call that has not succeeded since. */
  get failures(): readonly FailedCall[] {
    return [...this.#failures.values()];
  }

  async #watch<T>(call: FailedCall['call'], work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      this.#failures.delete(call);
      return result;
    } catch (error) {
      const code = error instanceof AppError ? error.code : 'other';
      const failure = { call, code, at: performance.now() };
      this.#failures.set(call, failure);
      this.#failed.fire(failure);
      throw error;
    }
  }
}
