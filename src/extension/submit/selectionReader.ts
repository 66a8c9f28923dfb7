import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Checkpoint } from '../../agents/records/recordSchemas.ts';
import { readNamedFile } from '../../core/files/namedFile.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { FlowJob, isFlowScript } from '../../flows/run/start/flowJob.ts';
import type { FileChoice } from '../../jobs/selection/fileTree.ts';
import type { FolderMemory } from '../../jobs/plan/draft.ts';
import type { JobReview, ReviewedJob } from '../../jobs/selection/jobReview.ts';
import { scriptArguments, scriptPath } from '../../jobs/selection/script.ts';
import type { SelectedFolder } from '../../jobs/selection/selectedFolder.ts';
import type { SubmitFolder } from '../../jobs/submit/submit.ts';
import type { SelectedFile } from '../../workspace/select/selection.ts';
import type { SubmitDeps } from './submitDeps.ts';
import type { SubmitArguments } from './submitArguments.ts';

/** An answer with which a new job continues the flow of one that waits. */
export interface FlowAnswer {
  readonly resume: Checkpoint;
  readonly input: unknown;
}

type AskedFlow = Pick<SubmitArguments, 'file' | 'flow' | 'flowName' | 'shared'> & Partial<FlowAnswer>;

/** Selects the files of a folder for one submit, and releases all of its selections when disposed. */
export class SelectionReader implements SubmitFolder, AsyncDisposable {
  readonly #services: SubmitDeps;
  readonly #folder: string;
  readonly #memory: Pick<FolderMemory, 'scripts' | 'include' | 'exclude'>;
  readonly #asked: AskedFlow;
  readonly #ids: string[] = [];

  /**
   * @param memory the command lines used lately, newest first, and the paths that were chosen for the last submit.
   * @param asked the flow to run, if the file is a flow file.
   */
  constructor(
    services: SubmitDeps,
    folder: string,
    memory: Pick<FolderMemory, 'scripts' | 'include' | 'exclude'>,
    asked: AskedFlow,
  ) {
    this.#services = services;
    this.#asked = asked;
    this.#folder = folder;
    this.#memory = memory;
  }

  select({ include, exclude }: FileChoice): Promise<SelectedFolder> {
    const { selections, signal } = this.#services;
    const { isTrusted } = vscode.workspace;
    const { scripts: recentScripts, include: included = [], exclude: excluded = [] } = this.#memory;
    const remembered = [...included, ...excluded];
    const options = { isTrusted, include, exclude, remembered, signal, recentScripts };
    return this.#note(selections.select(this.#folder, options));
  }

  review({ id }: SelectedFolder, job: ReviewedJob): Promise<JobReview> {
    return this.#services.selections.reviewJob(id, job);
  }

  addFiles({ id }: SelectedFolder, files: readonly SelectedFile[]): Promise<SelectedFolder> {
    return this.#note(this.#services.selections.addFiles(id, files));
  }

  async prepareFlow({ root }: SelectedFolder, script: string): Promise<FlowJob | undefined> {
    const file = scriptPath(script);
    if (!isFlowScript(file, await readNamedFile(join(root, file)).catch(() => ''))) return undefined;
    const { file: asked, flow, flowName, shared, resume, input } = this.#asked;
    // The flow belongs to the requested file; the user may have chosen another script since.
    const isAsked = asked === undefined || pathInside(root, asked) === file;
    const wanted = isAsked ? { flow, flowName, shared, resume, input } : {};
    const { runner } = this.#services.flowRuntime;
    return FlowJob.prepare({ file, args: scriptArguments(script), ...wanted, runner });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of this.#ids) await this.#services.selections.release(id).catch(() => {}); // lost with its thread
  }

  async #note(selecting: Promise<SelectedFolder>): Promise<SelectedFolder> {
    const selected = await selecting;
    this.#ids.push(selected.id);
    return selected;
  }
}
