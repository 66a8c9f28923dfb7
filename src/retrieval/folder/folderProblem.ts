import { AppError, messageOf } from '../../core/errors.ts';
import type { FolderStatus } from './indexService.ts';

/** A failure as the status of a folder tells it; nothing for no failure. */
export function problemOf(error: unknown): FolderStatus['problem'] {
  if (error === undefined) return undefined;
  return { code: error instanceof AppError ? error.code : 'failed', message: messageOf(error) };
}
