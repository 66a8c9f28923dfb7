import { refused } from '../archive/tarFields.ts';

/**
 * Converts the name of an entry to a relative path with `/`; `''` for the folder itself.
 *
 * @throws AppError `refused` for a name that leads out of the folder, or an empty one.
 */
export function entryPath(name: string): string {
  const shown = JSON.stringify(name);
  if (name === '') throw refused('an entry has no name');
  if (name.startsWith('/')) throw refused(`${shown} is an absolute path`);
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refused(`${shown} leads out of the folder`);
  return parts.join('/');
}
