import { messageOf, systemCode } from '../errors.ts';

/** Why a file that the user named could not be read, and what to do, as sentences that begin with `name`. */
export function readProblem(name: string, cause: unknown): string {
  switch (systemCode(cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `${name} does not exist. Check the path.`;
    case 'EISDIR':
      return `${name} is a folder. Enter the path of a file.`;
    case 'EACCES':
    case 'EPERM':
      return `${name} cannot be read. Change its permissions.`;
    case undefined:
    default:
      return `${name} cannot be read: ${messageOf(cause)}`;
  }
}
