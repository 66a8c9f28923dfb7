import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { describeFinding } from '../../jobs/plan/preflight.ts';
import type { FileChoice } from '../../jobs/selection/fileTree.ts';
import { type JobReview, type ReviewedJob, reviewJob } from '../../jobs/selection/jobReview.ts';
import { requireProgram, type StartedProgram } from '../../jobs/selection/script.ts';
import { startedFile } from '../../jobs/selection/jobReview.ts';
import { lineEndFindings, readScriptHead } from '../../jobs/selection/scriptHead.ts';
import type { SelectedFolder } from '../../jobs/selection/selectedFolder.ts';
import { Selections, withFiles } from '../../jobs/selection/selections.ts';
import type { FlowScript, SubmitFolder } from '../../jobs/submit/submit.ts';
import type { SelectedFile } from '../../workspace/files/selectedFile.ts';
import { replaceWindowsLineEnds } from '../../workspace/scripts/lineEnds.ts';
import { isOwnGit } from '../../workspace/select/exclusion.ts';
import { type Selection, selectFiles } from '../../workspace/select/selection.ts';
import { confirm } from '../command/confirm.ts';
import type { Context } from '../command/commandContext.ts';
import { type FlowSubmitFlags, prepareFlowJob } from '../flows/flowSubmission.ts';
import { describeExclusions } from './selectionSummary.ts';

/** The files of a folder that are to be sent. */
export class FilesToSend implements SubmitFolder {
  readonly selections = new Selections();
  readonly #root: string;
  readonly #context: Context;
  readonly #flags: FlowSubmitFlags & { readonly dryRun: boolean };
  /** Of the command line or the profile. */
  readonly #program: StartedProgram | undefined;
  #selection: Selection | undefined;
  #all: Selection | undefined;

  constructor(
    root: string,
    context: Context,
    flags: FlowSubmitFlags & { readonly dryRun: boolean },
    program: StartedProgram | undefined,
  ) {
    this.#root = root;
    this.#context = context;
    this.#flags = flags;
    this.#program = program;
  }

  /** All of them, with those that start a flow. */
  get all(): Selection {
    return this.#all ?? this.#folder;
  }

  get #folder(): Selection {
    if (this.#selection === undefined) throw new Error('No files were selected.');
    return this.#selection;
  }

  /**
   * Selects the files of the folder. Offers to rewrite a shell script that has the line ends of Windows.
   *
   * @throws AppError `bad-input` if there is nothing to send, or as `selectFiles` and `requireProgram` do.
   */
  async select(choice: FileChoice): Promise<SelectedFolder> {
    this.#selection = await this.#read(choice);
    if (!this.#flags.dryRun && (await this.#offerLineEnds())) this.#selection = await this.#read(choice);
    this.#all = undefined;
    return this.selections.hold(this.#selection);
  }

  async addFiles(_: SelectedFolder, files: readonly SelectedFile[]): Promise<SelectedFolder> {
    this.#all = withFiles(this.#folder, files);
    return this.selections.hold(this.#all);
  }

  review(_: SelectedFolder, job: ReviewedJob): Promise<JobReview> {
    return reviewJob(this.#folder, job);
  }

  prepareFlow(_: SelectedFolder, script: string): Promise<FlowScript | undefined> {
    return prepareFlowJob(this.#folder, script, this.#flags, this.#context);
  }

  async #read({ include, exclude }: FileChoice): Promise<Selection> {
    const { signal, terminal } = this.#context;
    const selection = await selectFiles(this.#root, {
      isTrusted: true,
      include,
      exclude,
      signal,
      onProgress: (files) => terminal.status(`reading ${this.#root}: ${files.toLocaleString('en-US')} files`),
    });
    terminal.clearStatus();
    if (selection.files.length === 0) throw new AppError('bad-input', describeNothing(this.#root, selection));
    if (this.#program !== undefined) {
      requireProgram(selection, this.#program, (path) =>
        exclude.includes(path) ? 'Remove --exclude.' : `Send it with --include ${path}, or change the rule.`,
      );
    }
    return selection;
  }

  /** Whether the script was rewritten, so that the folder must be read again. @throws as `replaceWindowsLineEnds`. */
  async #offerLineEnds(): Promise<boolean> {
    const { root, files } = this.#folder;
    const path = this.#program && startedFile(this.#folder, this.#program);
    const start = await readScriptHead(this.#folder, path);
    const [finding] = start === undefined ? [] : lineEndFindings(start);
    if (start === undefined || finding === undefined) return false;
    // What a link leads to may belong to others.
    if (files.some(({ path, source }) => path === start.path && source !== undefined)) return false;
    if (!(await confirm(`${describeFinding(finding)} Rewrite it now?`, this.#context))) return false;
    await replaceWindowsLineEnds(join(root, start.path));
    this.#context.terminal.note(`${start.path} now has LF line ends.`);
    return true;
  }
}

function describeNothing(folder: string, selection: Selection): string {
  const nothing = `Nothing to send in ${folder}`;
  if (selection.excluded.every(isOwnGit))
    return `${nothing}: the folder has no files. Add the script, or specify another folder.`;
  const why = describeExclusions(selection)
    .map((line) => line.trim())
    .join('; ');
  return `${nothing}: every file is left out. Send a file anyway with --include PATH. Details: ${why}.`;
}
