import { dirname, join } from 'node:path/posix';
import { AppError } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { withoutUserinfo } from '../../core/redact.ts';
import { MAX_PACKAGE_BYTES, readPackageFile, type PackageFile } from './packageFile.ts';

const MAX_FILES = 100;
const INCLUDE = /^(?:-r|--requirement|-c|--constraint)(?:\s*=\s*|\s+|(?<=-[rc]))(\S.*)$/;
const EDITABLE = /^(?:-e|--editable)(?:[\s=]|$)/;
const FIND_LINKS = /^(?:-f|--find-links)(?:\s*=\s*|\s+|(?<=-f))(\S+)/;
const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i;
const PACKAGE_FILE = /\.(?:whl|zip|tar\.(?:gz|bz2|xz)|tgz)$/i;

/**
 * Reads a requirements file and those that it includes (`-r`, `-c`).
 *
 * @throws AppError as `readListedFile`, and `bad-input` if there are too many.
 */
export async function readPipFiles(root: string, file: string): Promise<readonly PackageFile[]> {
  const files: PackageFile[] = [];
  let length = 0;
  // Grows while it is read.
  const paths = new Set([file]);
  for (const path of paths) {
    if (files.length === MAX_FILES)
      throw new AppError('bad-input', `${file} includes more than ${MAX_FILES} files. Merge some of them.`);
    const listed = await readPackageFile(root, path);
    length += listed.text.length;
    if (length > MAX_PACKAGE_BYTES) {
      const message = `${file} and what it includes have more than ${formatBytes(MAX_PACKAGE_BYTES)}. Remove what is not a package.`;
      throw new AppError('bad-input', message);
    }
    files.push(listed);
    for (const line of linesOf(listed.text)) {
      const included = INCLUDE.exec(line)?.[1];
      if (included !== undefined && !URL_START.test(included)) paths.add(join(dirname(path), included));
    }
  }
  return files;
}

/**
 * The first line that installs something of the folder, or something that pip reads anew each time.
 *
 * The format is in the documentation of pip, "Requirements File Format".
 */
export function localPipPackage(text: string): string | undefined {
  const found = linesOf(text).find((line) => {
    const included = INCLUDE.exec(line)?.[1];
    if (included !== undefined) return URL_START.test(included);
    if (EDITABLE.test(line)) return true;
    const folder = FIND_LINKS.exec(line)?.[1];
    if (folder !== undefined) return !/^https?:/i.test(folder);
    return !line.startsWith('-') && isPath(line);
  });
  return found && withoutUserinfo(found);
}

function isPath(requirement: string): boolean {
  const target = (requirement.split(/;|\s--/)[0] ?? '').trim();
  const url = target.includes(' @ ') ? target.slice(target.indexOf(' @ ') + 3) : target;
  if (/^file:|\bfile:\//i.test(url)) return true;
  return !url.includes('://') && (/[/\\]/.test(url) || PACKAGE_FILE.test(url) || url === '.');
}

/** The lines without comments; a backslash joins one to the next. */
function linesOf(text: string): readonly string[] {
  return text
    .replaceAll(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');
}
