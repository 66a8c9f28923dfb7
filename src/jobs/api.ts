/** What the jobs layer needs of `RemoteClient`, so that a test or a proxy can stand in. */
export interface JobService {
  submitJob(
    workspaceTar: string,
    job: {
      script: string;
      maxRuntime: number;
      project?: string;
      venv?: Record<string, unknown>;
      machineClass?: string;
    },
    options?: { signal?: AbortSignal; onProgress?(bytes: number, total?: number): void },
  ): Promise<{ job_id: string; credit_hold?: unknown; credits_remaining?: unknown }>;
  getJob(jobId: string, options?: { signal?: AbortSignal }): Promise<object>;
  streamEvents(
    jobId: string,
    options?: { signal?: AbortSignal; lastEventId?: string },
  ): AsyncIterable<{ event: string; data: unknown; id?: string }>;
  downloadArtifacts(
    jobId: string,
    dest: string,
    options?: { signal?: AbortSignal; onProgress?(bytes: number, total?: number): void },
  ): Promise<string>;
}

/** The HTTP status that a failed call carries; undefined when there was no answer. */
export function httpStatus(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}
