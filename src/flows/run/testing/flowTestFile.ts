import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { recordingEntrySchema } from '../../../agents/records/recordSchemas.ts';
import { AppError, messageOf } from '../../../core/errors.ts';
import { readNamedFile } from '../../../core/files/namedFile.ts';
import { writeAtomically } from '../../../core/files/atomicFile.ts';
import { parseJson } from '../../../core/jsonFields.ts';
import { runInput, stepReachSchema } from '../history/runRecord.ts';
import type { StateView } from '../protocol/stateView.ts';

export const FLOW_TEST_SUFFIX = '.flowtest.json';
const FOLDER_TOKEN = '{{folder}}';
const ABOUT =
  'A run of the flow file beside this one, pinned as a test. `farwharf flow test` runs it again without network: unchanged ' +
  'nodes return the results in "recording"; edited nodes run with the replies in "models". `farwharf flow test --update` accepts the changes.';

const stateView: z.ZodType<StateView> = z.json();

const expectedRun = z.object({
  /** The name of the outermost flow. */
  flow: z.string(),
  /** The steps in their order: `Research/Decide -> search`. */
  steps: z.array(z.string()),
  /** The shared state at the end. */
  shared: stateView,
  /** The message of the error, if the run fails. */
  error: z.string().optional(),
});

/** What a model was asked, and its reply. */
export const recordedReply = z.object({ provider: z.string(), request: z.json(), completion: z.json() });

const flowTestSchema = z.object({
  about: z.string(),
  version: z.literal(1),
  /** The flow file, relative to the folder of the test. */
  file: z.string(),
  ...runInput,
  /** What a person answered each time the run waited. */
  answers: z.array(z.json()).optional(),
  /** Usually one; a file can run more than one flow, and each answer continues in a run of its own. */
  expect: z.array(expectedRun),
  /** Keys of the shared state that differ from run to run, such as `report.createdAt`. */
  ignore: z.array(z.string()),
  /** The code that each step could reach when it was recorded. */
  reach: stepReachSchema.optional(),
  recording: z.array(recordingEntrySchema),
  models: z.array(recordedReply),
});

export type FlowTest = z.infer<typeof flowTestSchema>;
export type ExpectedRun = z.infer<typeof expectedRun>;

/**
 * Reads a test.
 *
 * @throws AppError `missing` or `corrupt` with its path.
 */
export async function readFlowTest(path: string): Promise<FlowTest> {
  const text = await readNamedFile(path, { name: `The test ${path}` });
  let value: unknown;
  try {
    value = parseJson(text.replaceAll(FOLDER_TOKEN, asInJson(dirname(path))));
  } catch (cause) {
    throw damaged(path, `it is not valid JSON. ${messageOf(cause)}`, cause);
  }
  const { data, error } = flowTestSchema.safeParse(value);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const place = issue?.path.join('.') ?? '';
  throw damaged(path, `${place === '' ? 'it' : `"${place}"`} is not as expected. ${issue?.message ?? ''}`, error);
}

function damaged(path: string, what: string, cause: unknown): AppError {
  const remedy = 'Restore the file from your version control, or pin the run again.';
  return new AppError('corrupt', `The test ${path} cannot be used: ${what.replace(/[.\s]*$/, '.')} ${remedy}`, {
    cause,
  });
}

/** Writes a test atomically. Paths in the folder of the test are stored so that they are valid on other machines. */
export async function writeFlowTest(path: string, test: Omit<FlowTest, 'about' | 'version'>): Promise<void> {
  const json = JSON.stringify({ about: ABOUT, version: 1, ...test }, undefined, 2);
  await writeAtomically(path, `${json.replaceAll(asInJson(dirname(path)), FOLDER_TOKEN)}\n`, { mode: 0o666 });
}

/** The path of a test beside its flow file: `research.harbours.flowtest.json`. */
export function flowTestPath(file: string, name: string): string {
  return `${file.replace(/\.\w+$/, '')}.${name}${FLOW_TEST_SUFFIX}`;
}

/** The name of a test: `harbours` of `research.harbours.flowtest.json`. */
export function flowTestName(path: string, { file }: Pick<FlowTest, 'file'>): string {
  const stem = basename(path).slice(0, -FLOW_TEST_SUFFIX.length);
  const flow = basename(file).replace(/\.\w+$/, '');
  return stem.startsWith(`${flow}.`) ? stem.slice(flow.length + 1) : stem;
}

/** The tests in these folders, and of these flow files, sorted. Installed packages and hidden folders are not searched. */
export async function findFlowTests(paths: readonly string[]): Promise<readonly string[]> {
  const testLists = await Promise.all(paths.map(testsAt));
  return [...new Set(testLists.flat())].toSorted();
}

async function testsAt(path: string): Promise<readonly string[]> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw new AppError('missing', `${path} does not exist.`, { cause });
  });
  if (stats.isFile()) return path.endsWith(FLOW_TEST_SUFFIX) ? [path] : testsOf(path);
  const entries = await readdir(path, { withFileTypes: true });
  const inner = entries
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
    .map((entry) => testsAt(join(path, entry.name)));
  const testFiles = entries.filter((entry) => entry.isFile() && entry.name.endsWith(FLOW_TEST_SUFFIX));
  return [...testFiles.map(({ name }) => join(path, name)), ...(await Promise.all(inner)).flat()];
}

async function testsOf(file: string): Promise<readonly string[]> {
  const start = `${basename(file).replace(/\.\w+$/, '')}.`;
  const names = await readdir(dirname(file));
  return names
    .filter((name) => name.startsWith(start) && name.endsWith(FLOW_TEST_SUFFIX))
    .map((name) => join(dirname(file), name));
}

function asInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
