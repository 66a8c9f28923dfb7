import { join } from 'node:path';
import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { withoutByteOrderMark } from '../../core/text/textEncoding.ts';
import { printableLine } from '../../core/text/printable.ts';
import { schemaMessage } from '../../core/text/schemaMessage.ts';
import { closest } from '../../core/text/similar.ts';
import { isRegularFile, readBounded } from '../../workspace/files/boundedRead.ts';
import { assertFolder } from '../../workspace/select/selection.ts';
import { findNode, type JsonNode, JsonSyntaxError, parseJsonDocument } from './jsonDocument.ts';
import { type Profile, profileFile } from './profileSchema.ts';

/** The file with the profiles of a folder. */
export const PROFILE_FILE = 'farwharf.json';
const MAX_BYTES = 256_000;
const SHOWN_PROBLEMS = 5;
const SHOWN_NAMES = 20;

/** An error in the file, or something that would make a submit fail, with its range in the text. */
export interface ProfileProblem {
  readonly message: string;
  /** In UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

export interface NamedProfile {
  readonly name: string;
  readonly profile: Profile;
  /** Where the name is in the text. */
  readonly start: number;
  /** The range of a field, or of the profile if it has no such field. */
  readonly range: (field: keyof Profile) => { readonly start: number; readonly end: number };
}

export interface ProfileFile {
  /** In the order of the file; empty if there are problems. */
  readonly profiles: readonly NamedProfile[];
  readonly problems: readonly ProfileProblem[];
}

/** Parses the text of the file. */
export function parseProfiles(text: string): ProfileFile {
  let root: JsonNode;
  try {
    root = parseJsonDocument(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { message, offset } = error;
    return { profiles: [], problems: [{ message, start: offset, end: offset + 1 }] };
  }
  const parsed = profileFile.safeParse(root.value, { error: schemaMessage });
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap((issue) => locate(root, issue));
    // Of several issues for one value, the last: the others follow from it.
    const last = new Map(problems.map((problem) => [`${problem.start} ${problem.end}`, problem]));
    return { profiles: [], problems: [...last.values()] };
  }
  const profiles = Object.entries(parsed.data.profiles).map(([name, profile]) => {
    const node = findNode(root, ['profiles', name]);
    return { name, profile, start: node.nameStart ?? 0, range: (field: keyof Profile) => findNode(node, [field]) };
  });
  return { profiles, problems: [] };
}

/**
 * The profiles of a folder.
 *
 * @throws AppError `missing` if it has no `farwharf.json` or does not exist, `bad-input` with the line and column of each error in it.
 */
export async function readProfiles(folder: string): Promise<readonly NamedProfile[]> {
  const path = join(folder, PROFILE_FILE);
  const bytes = await readBounded(path, MAX_BYTES);
  if (bytes === undefined && (await isRegularFile(path, Number.MAX_SAFE_INTEGER))) {
    throw new AppError('bad-input', `${path} cannot be read, or is larger than ${MAX_BYTES / 1_000} KB.`);
  }
  if (bytes === undefined) {
    await assertFolder(folder);
    throw new AppError('missing', `${folder} has no profiles. Describe them in the file ${PROFILE_FILE}.`);
  }
  const text = withoutByteOrderMark(bytes.toString('utf8'));
  const { profiles, problems } = parseProfiles(text);
  if (problems.length === 0) return profiles;
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ start, message }) => {
    const { line, column } = positionAt(text, start);
    return `${PROFILE_FILE}:${line}:${column}: ${printableLine(message)}`;
  });
  const more = problems.length > shown.length ? ` And ${problems.length - shown.length} more.` : '';
  throw new AppError('bad-input', `${shown.join(' ')}${more}`);
}

/** The profile with this name. @throws AppError `missing` with the names that exist, the nearest first. */
export function findProfile(profiles: readonly NamedProfile[], name: string): NamedProfile {
  const found = profiles.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = closest(
    name,
    profiles.map((one) => one.name),
  ).slice(0, SHOWN_NAMES);
  const choices = names.length === 0 ? `${PROFILE_FILE} has none` : `Profiles in ${PROFILE_FILE}: ${names.join(', ')}`;
  throw new AppError('missing', `Profile ${printableLine(name)} does not exist, so nothing was sent. ${choices}.`);
}

/** Line and column of an offset, both 1-based. */
export function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The ranges of an issue: the unknown or invalid names, or else the value. */
function locate(root: JsonNode, { path, message, ...issue }: z.core.$ZodIssue): ProfileProblem[] {
  const node = findNode(root, path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const problem = `Unknown field ${JSON.stringify(key)}.`;
      return { message: problem, ...nameRange(node.children.get(key) ?? node) };
    });
  }
  if (issue.code === 'invalid_key') {
    const [first] = issue.issues;
    return [{ message: sentence(first?.message ?? message), ...nameRange(node) }];
  }
  const isMissing = path.length > 0 && findNode(root, path.slice(0, -1)) === node;
  const field = isMissing ? `${JSON.stringify(String(path.at(-1)))}: ` : '';
  return [
    {
      message: `${field}${isMissing ? 'This field is missing.' : sentence(message)}`,
      start: node.start,
      end: node.end,
    },
  ];
}

function sentence(message: string): string {
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return text.endsWith('.') ? text : `${text}.`;
}

/** From the name of a member to the end of its value. */
function nameRange({ nameStart, start, end }: JsonNode): { readonly start: number; readonly end: number } {
  return { start: nameStart ?? start, end };
}
