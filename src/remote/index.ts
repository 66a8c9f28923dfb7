export { RemoteClient } from './client.ts';
export type {
  DownloadOptions,
  EventOptions,
  RemoteClientOptions,
  RequestOptions,
  TransferOptions,
  UploadOptions,
} from './client.ts';
export type { JobEventStream } from './events/eventStream.ts';
export type { KeySource } from './http/bearer.ts';
export { AuthError, InsufficientCreditsError, NetworkError, RemoteError } from './http/errors.ts';
export type { RetryAfterPolicy } from './http/retryAfterPolicy.ts';
export type { JobSubmission } from './transfers/submission.ts';
export { parseEvents } from './events/events.ts';
export { isFinalState, isJobState } from './protocol/states.ts';
export type { JobState } from './protocol/states.ts';
export type {
  Account,
  Job,
  JobCreated,
  JobEvent,
  RateCardItem,
  SubmissionStatus,
} from './protocol/schemas.ts';
