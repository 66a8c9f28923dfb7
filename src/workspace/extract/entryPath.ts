import { AppError } from '../../core/errors.ts';
import { judgeName } from '../archive/entryNames.ts';
import { refused } from '../archive/tarFields.ts';

const MOST_NAME_BYTES = 255;
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * Converts the name of an entry to a relative path with `/`; `''` for the folder itself.
 *
 * @throws AppError `refused` for names that lead out of the folder or differ between systems, `limit` for names that are too long or
 * nested too deeply.
 */
export function entryPath(name: string, maxDepth: number, platform: NodeJS.Platform = process.platform): string {
  const shown = JSON.stringify(name);
  const fault = judgeName(name);
  if (fault !== undefined) throw refused(`${shown}: ${fault}`);
  if (name === '') throw refused('an entry has no name');
  if (name.startsWith('/')) throw refused(`${shown} is an absolute path`);
  if (/^[A-Za-z]:/.test(name)) throw refused(`${shown} starts with a drive letter`);
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refused(`${shown} leads out of the folder`);
  if (parts.length > maxDepth)
    throw new AppError('limit', `The archive was refused: its folders are nested more than ${maxDepth} levels deep.`);
  for (const part of parts) {
    if (Buffer.byteLength(part) > MOST_NAME_BYTES) {
      throw new AppError('limit', 'The archive was refused: a name in it is longer than 255 bytes.');
    }
    if (platform === 'win32' && (/[<>:"|?*]|[. ]$/.test(part) || WINDOWS_DEVICE.test(part))) {
      throw refused(`${shown} is not a valid name on Windows`);
    }
  }
  return parts.join('/');
}
