import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { httpStatus } from '../../core/network/classifyFailure.ts';

const MAX_WORDS = 200;

/** Explains in one line why the whole archive is sent instead of only the contents that the service lacks. */
export function wholeUploadReason(error: unknown): string {
  const short = shortMessage(error);
  if (httpStatus(error) !== undefined) {
    return `The service did not accept only what changed (${short}), so the whole archive is sent.`;
  }
  if (isLocal(error))
    return `What changed could not be prepared on this machine (${short}), so the whole archive is sent.`;
  return 'The connection broke too often to send only what changed, so the whole archive is sent. Its upload continues where a connection breaks.';
}

/** Explains in one line why all results are downloaded instead of only those that this machine lacks. */
export function wholeDownloadReason(error: unknown): string {
  return `The service did not list the contents of the results (${shortMessage(error)}), so all of them are downloaded.`;
}

function shortMessage(error: unknown): string {
  const words = printableLine(messageOf(error)).replace(/[.\s]+$/, '');
  return words.length <= MAX_WORDS ? words : `${words.slice(0, MAX_WORDS - 1).toWellFormed()}…`;
}

/** Whether a file on this machine was the cause. Connection errors have no path. */
function isLocal(error: unknown): boolean {
  return error instanceof Error && 'path' in error;
}
