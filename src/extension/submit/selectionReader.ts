import * as vscode from 'vscode';
import type { FileChoice } from '../../jobs/selection/fileTree.ts';
import type { FolderMemory } from '../../jobs/plan/draft.ts';
import type { JobReview, ReviewedJob } from '../../jobs/selection/jobReview.ts';
import type { FolderReader } from '../../jobs/plan/plan.ts';
import type { SelectedFolder } from '../../jobs/selection/selectedFolder.ts';
import type { SelectedFile } from '../../workspace/select/selection.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { runtimeOf } from './flowScript.ts';

/** Selects the files of a folder for one submit, and releases all of its selections when disposed. */
export class SelectionReader implements FolderReader, AsyncDisposable {
  readonly #services: SubmitDeps;
  readonly #folder: string;
  readonly #memory: Pick<FolderMemory, 'scripts' | 'include' | 'exclude'>;
  readonly #ids: string[] = [];

  /** @param memory the command lines used lately, newest first, and the paths that were chosen for the last submit. */
  constructor(services: SubmitDeps, folder: string, memory: Pick<FolderMemory, 'scripts' | 'include' | 'exclude'>) {
    this.#services = services;
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

  async withRuntime(selection: SelectedFolder, script: string): Promise<SelectedFolder> {
    const files = await runtimeOf(this.#services, selection.root, script);
    return files.length === 0 ? selection : this.addFiles(selection, files);
  }

  review({ id }: SelectedFolder, job: ReviewedJob): Promise<JobReview> {
    return this.#services.selections.reviewJob(id, job);
  }

  addFiles({ id }: SelectedFolder, files: readonly SelectedFile[]): Promise<SelectedFolder> {
    return this.#note(this.#services.selections.addFiles(id, files));
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
