import { AppError, messageOf, systemCode } from '../../core/errors.ts';

/** Converts the system's error for a failed write into an AppError; other errors are returned unchanged. */
export function writeFailure(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (code === undefined || error instanceof AppError) return error;
  const cause = { cause: error };
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new AppError(
        'no-space',
        `The disk is full, so ${path} was not written. Free some space and try again.`,
        cause,
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new AppError(
        'permission',
        `${path} may not be written. Change the folder's permissions or choose another one.`,
        cause,
      );
    case 'ENOENT':
    case 'ENOTDIR':
      return new AppError('missing', `${path} cannot be written: its folder does not exist.`, cause);
    case 'EEXIST':
      return new AppError(
        'refused',
        `${path} cannot be written: a file is in its place. Move the file elsewhere, and try again.`,
        cause,
      );
    case 'ENAMETOOLONG':
      return new AppError('limit', `${path} cannot be written: its name is too long for this disk.`, cause);
    case 'ABORT_ERR':
      return error;
    default:
      return new AppError('permission', `${path} cannot be written: ${messageOf(error)}.`, cause);
  }
}
