import { extname } from 'node:path';
import { formatBytes } from '../../core/text/format.ts';
import { type Printable, printableLine } from '../../core/text/printable.ts';
import type { BrowsedFile, ResultIndex } from './resultIndex.ts';

/** A result that is shown without being opened. */
export type ResultPreview =
  | {
      readonly type: 'picture';
      readonly name: Printable;
      /** A `data:` URL. */
      readonly data: string;
    }
  | {
      readonly type: 'table';
      readonly name: Printable;
      /** The first rows, the head among them. */
      readonly rows: readonly (readonly Printable[])[];
    };

const PICTURES: ReadonlyMap<string, string> = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
  ['.svg', 'image/svg+xml'],
]);
const TABLES: ReadonlyMap<string, string> = new Map([
  ['.csv', ','],
  ['.tsv', '\t'],
]);
const MOST_PICTURES = 6;
const MOST_PICTURE_BYTES = 1_000_000;
const MOST_TABLES = 3;
const MOST_TABLE_BYTES = 16_000;
const MOST_ROWS = 6;
const MOST_COLUMNS = 8;
const MOST_CELL = 40;
// Of more results, only the first are considered.
const MOST_FILES = 10_000;

/** The `data:` URL of a picture; undefined for a file of another type. @param base64 its content. */
export function pictureUrl(path: string, base64: string): string | undefined {
  const type = PICTURES.get(extensionOf(path));
  return type === undefined ? undefined : `data:${type};base64,${base64}`;
}

/** Pictures and the heads of tables among the results, those with the shortest paths first. */
export async function readPreviews(
  index: ResultIndex,
  read: (file: BrowsedFile, mostBytes: number) => Promise<Buffer>,
): Promise<readonly ResultPreview[]> {
  const files = index.files
    .slice(0, MOST_FILES)
    .filter(({ offset, size }) => offset !== null && size > 0)
    .toSorted((a, b) => depthOf(a) - depthOf(b));
  const of = (types: ReadonlyMap<string, string>) => files.filter(({ path }) => types.has(extensionOf(path)));
  const pictures = of(PICTURES).filter(({ size }) => size <= MOST_PICTURE_BYTES);
  const previews: ResultPreview[] = [];
  for (const file of pictures.slice(0, MOST_PICTURES)) {
    const data = pictureUrl(file.path, (await read(file, MOST_PICTURE_BYTES)).toString('base64'));
    if (data !== undefined) previews.push({ type: 'picture', name: nameOf(file), data });
  }
  for (const file of of(TABLES).slice(0, MOST_TABLES)) {
    const head = (await read(file, MOST_TABLE_BYTES)).toString();
    const rows = parseHead(head, TABLES.get(extensionOf(file.path)) ?? ',', file.size > MOST_TABLE_BYTES);
    if (rows.length > 0) previews.push({ type: 'table', name: nameOf(file), rows });
  }
  return previews;
}

/** The first rows of a table (RFC 4180). `isCut`: the text ends somewhere in the file. */
function parseHead(text: string, separator: string, isCut: boolean): readonly (readonly Printable[])[] {
  const rows: Printable[][] = [[]];
  let cell = '';
  let isQuoted = false;
  const endCell = (): void => {
    const row = rows.at(-1);
    if (row !== undefined && row.length < MOST_COLUMNS) row.push(printableLine(cell.trim().slice(0, MOST_CELL)));
    cell = '';
  };
  for (let at = 0; at < text.length && rows.length <= MOST_ROWS; at += 1) {
    const character = text.charAt(at);
    if (character === '"' && isQuoted && text.charAt(at + 1) === '"') {
      cell += character;
      at += 1;
    } else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted || (character !== separator && character !== '\n')) cell += character;
    else {
      endCell();
      if (character === '\n') rows.push([]);
    }
  }
  if (!isCut && cell !== '') endCell();
  return rows.slice(0, MOST_ROWS).filter((row) => row.some((each) => each !== ''));
}

function nameOf({ path, size }: BrowsedFile): Printable {
  return printableLine(`${path} (${formatBytes(size)})`);
}

function depthOf({ path }: BrowsedFile): number {
  return path.split('/').length;
}

function extensionOf(path: string): string {
  return extname(path).toLowerCase();
}
