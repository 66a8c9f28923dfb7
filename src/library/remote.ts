// farwharf/remote: the client, and the packing of what it sends.
export { RemoteClient } from '../remote/client.ts';
export type {
  DownloadOptions,
  EventOptions,
  RemoteClientOptions,
  RequestOptions,
  TransferOptions,
  UploadOptions,
} from '../remote/client.ts';
export type { JobEventStream } from '../remote/events/eventStream.ts';
export type { FollowOptions } from '../remote/events/followEvents.ts';
export type { JobEvent } from '../remote/events/jobEvent.ts';
export type { KeySource } from '../remote/http/bearer.ts';
export { AppError } from '../core/errors.ts';
export type { ErrorCode } from '../core/errors.ts';
export { ProxyError } from '../core/network/proxyError.ts';
export { AuthError, InsufficientCreditsError, NetworkError, RemoteError } from '../remote/http/remoteErrors.ts';
export type { RetryAfterPolicy } from '../remote/http/retryAfterPolicy.ts';
export type { JobSubmission } from '../remote/protocol/jobTerms.ts';
export { parseEvents } from '../remote/events/parseEvents.ts';
export { isFinalState, isJobState } from '../remote/protocol/states.ts';
export type { JobState } from '../remote/protocol/states.ts';
export type {
  Account,
  Job,
  JobCreated,
  RateCardItem,
  ServerSentEvent,
  SubmissionStatus,
} from '../remote/protocol/schemas.ts';
export { packWorkspace } from './packWorkspace.ts';
export type { PackWorkspaceOptions, PackedWorkspace } from './packWorkspace.ts';
export type { Exclusion, ExclusionReason } from '../workspace/select/selection.ts';
export type { Finding, SelectedFile } from '../workspace/files/selectedFile.ts';
