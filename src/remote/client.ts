import type { Account, Job, JobCreated, JobEvent } from './schemas.ts';

export interface RequestOptions {
  /** Seconds: one number for both, or each on its own. `read` is the silence between bytes, not the total time. */
  readonly timeout?: number | { readonly connect?: number; readonly read?: number };
  readonly signal?: AbortSignal;
}

export interface TransferOptions extends RequestOptions {
  /** Called with the bytes moved so far, and the total where it is known. */
  onProgress?(bytes: number, total?: number): void;
}

export type UploadOptions = TransferOptions;

export interface JobSubmission {
  readonly script: string;
  /** Seconds; truncated to an integer. */
  readonly maxRuntime: number;
  readonly project?: string;
  readonly venv?: Readonly<Record<string, unknown>>;
  readonly machineClass?: string;
}

/** Events of one job. Leaving the loop, or disposing the stream, closes the response. */
export interface JobEventStream extends AsyncIterable<JobEvent>, AsyncDisposable {}

export interface RemoteClientOptions {
  readonly fetch?: typeof fetch;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A thin client of one service and one account (specification, section 4.2). */
export class RemoteClient implements AsyncDisposable {
  readonly host: string;

  constructor(host: string, _apiKey: string, _options: RemoteClientOptions = {}) {
    this.host = host.replace(/\/+$/, '');
  }

  me(_options?: RequestOptions): Promise<Account> {
    throw new Error('not written yet');
  }

  submitJob(_workspaceTar: string, _job: JobSubmission, _options?: UploadOptions): Promise<JobCreated> {
    throw new Error('not written yet');
  }

  getJob(_jobId: string, _options?: RequestOptions): Promise<Job> {
    throw new Error('not written yet');
  }

  cancel(_jobId: string, _options?: RequestOptions): Promise<Record<string, unknown>> {
    throw new Error('not written yet');
  }

  streamEvents(_jobId: string, _options?: RequestOptions & { readonly lastEventId?: string }): JobEventStream {
    throw new Error('not written yet');
  }

  downloadArtifacts(_jobId: string, _dest: string, _options?: TransferOptions): Promise<string> {
    throw new Error('not written yet');
  }

  async close(): Promise<void> {}

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
