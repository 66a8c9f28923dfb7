import * as vscode from 'vscode';
import { PROFILE_FILE, readProfiles } from '../../jobs/profiles/profileFile.ts';
import { TASK_TYPE } from '../contributions/names.ts';
import { diskFolders, requireTrust } from '../workspace/folders.ts';
import { JobTerminal, type JobTerminalDeps } from './jobTerminal.ts';

/** Tasks that run jobs: one for each profile, and those that people write in tasks.json. */
export class JobTasks implements vscode.TaskProvider {
  readonly #deps: JobTerminalDeps;

  constructor(deps: JobTerminalDeps) {
    this.#deps = deps;
  }

  async provideTasks(): Promise<vscode.Task[]> {
    const perFolder = diskFolders().map(async (folder) => {
      try {
        const profiles = await readProfiles(folder.uri.fsPath);
        return profiles.map(({ name }) => this.#task({ type: TASK_TYPE, profile: name }, folder, name));
      } catch (error) {
        // Most folders have no profiles. Errors in the file are shown in it, and when one is submitted.
        this.#deps.log.debug(`no tasks of ${PROFILE_FILE}`, { error });
        return [];
      }
    });
    return (await Promise.all(perFolder)).flat();
  }

  /** VS Code shows the task only if its definition stays the same. */
  resolveTask({ definition, scope, name }: vscode.Task): vscode.Task {
    return this.#task(definition, typeof scope === 'object' ? scope : vscode.TaskScope.Workspace, name);
  }

  #task(definition: vscode.TaskDefinition, scope: vscode.WorkspaceFolder | vscode.TaskScope.Workspace, name: string) {
    const folder = typeof scope === 'object' ? scope.uri.fsPath : undefined;
    const execution = new vscode.CustomExecution(async (resolved) => {
      requireTrust();
      return new JobTerminal(this.#deps, { ...resolved, ...(folder !== undefined && { folder }) });
    });
    return new vscode.Task(definition, scope, name, TASK_TYPE, execution, []);
  }
}
