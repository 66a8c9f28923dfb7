import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, relative } from 'node:path';
import { writeAtomically } from '../../../core/files/atomicFile.ts';
import type { SelectedFile } from '../../../workspace/files/selectedFile.ts';
import type { FlowRunRequest } from '../protocol/runRequest.ts';
import { JOB_FOLDER, jobRequest } from './jobRequest.ts';
import type { StepEntry } from '../../../agents/records/recordSchemas.ts';
import { AppError } from '../../../core/errors.ts';

const START_SCRIPT = `#!/bin/sh
# Runs the flow that flow.json names, with the runtime that lies beside this script.
cd "$(dirname "$0")/.." || exit 1
node=\${FARWHARF_NODE:-node}
if ! command -v "$node" > /dev/null 2>&1; then
  echo "farwharf: Node.js was not found on the machine that runs this job. Flows need Node 22.18 or newer: install it there, or load its module, then submit again." >&2
  exit 127
fi
# An editor's own program is a Node with this.
ELECTRON_RUN_AS_NODE=1 exec "$node" ${JOB_FOLDER}/flowRunner.mjs ${JOB_FOLDER}/flow.json "$@"
`;
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']/g;

export interface FlowJobRequest extends Pick<FlowRunRequest, 'flow' | 'flowName' | 'shared' | 'resume' | 'input'> {
  /** The flow file, relative to the folder, with `/`. */
  readonly file: string;
  /** The rest of the command line, as written; becomes `process.argv` of the file. */
  readonly args?: string | undefined;
  /** The calls of tools in the run that `resume` is of. */
  readonly steps?: readonly StepEntry[] | undefined;
  /** The file, beside the checkpoint, for the id of the job that continues it. */
  readonly continuedBy?: string | undefined;
  /** The built `flowRunner.mjs`. */
  readonly runner: string;
}

interface RuntimeFile {
  /** Relative to the folder of the runner, with `/`. */
  readonly path: string;
  readonly source: string;
}

/** A flow prepared as a job for any service: the files to add to those of its folder. Dispose it when it was sent. */
export class FlowJob implements AsyncDisposable {
  /** The runtime and the description of the flow. */
  readonly files: readonly SelectedFile[];
  readonly script: string;
  readonly #start: string;
  readonly #scratch: string;
  readonly #continuedBy: string | undefined;

  private constructor(
    files: readonly SelectedFile[],
    { start, args }: { readonly start: string; readonly args: string },
    scratch: string,
    continuedBy?: string,
  ) {
    this.files = files;
    this.#start = start;
    this.script = this.scriptWith(args);
    this.#scratch = scratch;
    this.#continuedBy = continuedBy;
  }

  /** @throws AppError `missing` when the runtime is not built. */
  static async prepare({
    file,
    args = '',
    flow,
    flowName,
    shared,
    resume,
    steps,
    input,
    continuedBy,
    runner,
  }: FlowJobRequest): Promise<FlowJob> {
    const runtime = await flowRuntimeFiles(runner);
    const scratch = await mkdtemp(join(tmpdir(), 'farwharf-flowjob-'));
    const request = jobRequest.parse({ version: 1, file, flow, flowName, shared, resume, steps, input });
    // Job lists show the script, so its name contains the flow.
    const name = `${basename(file)}.sh`;
    const [start, json] = [join(scratch, name), join(scratch, 'flow.json')];
    await writeFile(start, START_SCRIPT);
    await chmod(start, 0o755);
    await writeFile(json, JSON.stringify(request));
    const requestFiles = await Promise.all([selected(name, start, 0o755), selected('flow.json', json)]);
    const line = { start: quoted(`${JOB_FOLDER}/${name}`), args };
    return new FlowJob([...runtime, ...requestFiles], line, scratch, continuedBy);
  }

  /** The script of a job that runs the flow with other arguments. */
  scriptWith(args: string): string {
    return `${this.#start} ${args}`.trim();
  }

  /** Records in the continued run which job continues it, so that its work is not repeated unintentionally. */
  async sent(jobId: string): Promise<void> {
    if (this.#continuedBy !== undefined) await writeAtomically(this.#continuedBy, `${jobId}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#scratch, { recursive: true, force: true });
  }
}

/**
 * The files that run a flow, to add to a selection.
 *
 * @param runner the built `flowRunner.mjs`.
 * @throws AppError `missing` when the runtime is not built.
 */
async function flowRuntimeFiles(runner: string): Promise<SelectedFile[]> {
  const runtime = await runtimeFiles(runner);
  return Promise.all(runtime.map(({ path, source }) => selected(path, source)));
}

/** Whether a script is a flow file: a module that imports the library. */
export function isFlowScript(file: string, text: string): boolean {
  const isModule = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'].includes(extname(file));
  return isModule && /(?:\bfrom\s*|\bimport\s*|\brequire\s*\(\s*)['"]farwharf\/agents['"]/.test(text);
}

/** A path as one word of a script line. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `"${path}"`;
}

async function selected(name: string, source: string, mode = 0o644): Promise<SelectedFile> {
  const { size, mtimeMs } = await stat(source);
  return { path: `${JOB_FOLDER}/${name}`, size, mode, mtimeMs, source };
}

/**
 * The built files that a flow needs on another machine: the runner, the library with its zod, and what they import.
 *
 * @param runner path of the built `flowRunner.mjs`.
 * @throws AppError `missing` when the runner is not built.
 */
async function runtimeFiles(runner: string): Promise<readonly RuntimeFile[]> {
  if (!runner.endsWith('.mjs')) {
    throw new AppError(
      'missing',
      'Sending a flow needs the built runtime, but this program runs from its sources. Run npm run build first.',
    );
  }
  const folder = dirname(runner);
  const filesBySource = new Map<string, RuntimeFile>();
  const waiting = [runner, join(folder, 'agents.mjs'), join(folder, 'zod.mjs')];
  for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
    if (filesBySource.has(source)) continue;
    const text = await readFile(source, 'utf8').catch((): undefined => undefined);
    // A string in the program may look like an import.
    if (text === undefined && source !== runner) continue;
    if (text === undefined) throw new AppError('missing', `The flow runtime ${runner} is missing. Reinstall Farwharf.`);
    filesBySource.set(source, { path: relative(folder, source).replaceAll('\\', '/'), source });
    for (const [, specifier = ''] of text.matchAll(IMPORT)) waiting.push(join(dirname(source), specifier));
  }
  return [...filesBySource.values()];
}
