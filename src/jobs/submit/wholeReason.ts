import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { httpStatus } from '../service/api.ts';

const MAX_WORDS = 200;

/** Says why a whole archive is sent where only the contents that the service lacks were to be sent, in one line. */
export function wholeReason(error: unknown): string {
  if (httpStatus(error) === undefined) {
    return 'The connection broke too often to send only what changed, so the whole archive is sent. Its upload continues where a connection breaks.';
  }
  const words = printableLine(messageOf(error)).replace(/[.\s]+$/, '');
  const short = words.length <= MAX_WORDS ? words : `${words.slice(0, MAX_WORDS - 1).toWellFormed()}…`;
  return `The service did not accept only what changed (${short}), so the whole archive is sent.`;
}
