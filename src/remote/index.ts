export { RemoteClient } from './client.ts';
export type {
  DownloadOptions,
  EventOptions,
  RemoteClientOptions,
  RequestOptions,
  TransferOptions,
  UploadOptions,
} from './client.ts';
export type { JobEventStream } from './eventStream.ts';
export { AuthError, InsufficientCreditsError, NetworkError, RemoteError } from './errors.ts';
export type { Patience } from './patience.ts';
export type { JobSubmission } from './submission.ts';
export { parseEvents } from './events.ts';
export { isFinalState, isJobState } from './schemas.ts';
export type { Account, Job, JobCreated, JobEvent, JobState, RateCardItem, SubmissionStatus } from './schemas.ts';
