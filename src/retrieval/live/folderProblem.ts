import { AppError, messageOf } from '../../core/errors.ts';
import type { FolderStatus } from './indexService.ts';

/** A failure as shown in the status of a folder; empty if there is none. */
export function problemOf(error: unknown): FolderStatus['problem'] {
  if (error === undefined) return undefined;
  return { code: error instanceof AppError ? error.code : 'failed', message: messageOf(error) };
}
