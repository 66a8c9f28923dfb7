import type * as vscode from 'vscode';
import type { FolderMemory } from '../../../jobs/plan/draft.ts';
import type { StartedProgram } from '../../../jobs/selection/script.ts';
import { remember } from '../../../jobs/selection/scriptSuggestions.ts';

const SUBMITTED_KEY = 'submittedHere';
const MAX_SUBMITTED = 100;

/** Remembers earlier submits. VS Code stores this outside the folder, so that the folder cannot change it. */
export class SubmitMemory {
  readonly #memento: vscode.Memento;

  constructor(memento: vscode.Memento) {
    this.#memento = memento;
  }

  get(folder: string): FolderMemory {
    return this.#memento.get<FolderMemory>(`folder ${folder}`) ?? { scripts: [] };
  }

  async set(
    folder: string,
    memory: Omit<FolderMemory, 'scripts' | 'commands' | 'ranCommand'>,
    { script, command }: StartedProgram,
  ): Promise<void> {
    const { scripts, commands = [] } = this.get(folder);
    const program =
      command === undefined
        ? { scripts: remember(scripts, script), commands, ranCommand: false }
        : { scripts, commands: remember(commands, command), ranCommand: true };
    await this.#memento.update(`folder ${folder}`, { ...memory, ...program } satisfies FolderMemory);
  }

  /** Whether this window submitted the job, before a reload or since. */
  wasSubmittedHere(id: string): boolean {
    return this.#submitted().includes(id);
  }

  async addSubmitted(id: string): Promise<void> {
    await this.#memento.update(SUBMITTED_KEY, [id, ...this.#submitted()].slice(0, MAX_SUBMITTED));
  }

  #submitted(): readonly string[] {
    return this.#memento.get<readonly string[]>(SUBMITTED_KEY) ?? [];
  }
}
