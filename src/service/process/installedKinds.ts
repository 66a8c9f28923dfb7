import { join } from 'node:path';
import type { ScriptKindName } from '../../workspace/files/scriptKinds.ts';
import { jobFolder } from '../jobFiles/jobFolder.ts';
import { installedKinds } from '../runner/program/interpreter.ts';
import { visibleSearchPath } from '../sandbox/sandbox.ts';
import type { Isolation } from './isolation.ts';

// Programs are installed and removed while the service runs, and clients ask for them often.
const CURRENT_FOR_MS = 30_000;

/** The kinds of scripts whose programs jobs find on this machine. */
export class InstalledKinds {
  readonly #isolation: Isolation;
  #known: { readonly kinds: readonly ScriptKindName[]; readonly at: number } | undefined;

  constructor(isolation: Isolation) {
    this.#isolation = isolation;
  }

  current(): readonly ScriptKindName[] {
    const now = performance.now();
    if (this.#known === undefined || now - this.#known.at > CURRENT_FOR_MS)
      this.#known = { kinds: installedKinds(this.#searchPath()), at: now };
    return this.#known.kinds;
  }

  #searchPath(): string {
    const path = process.env['PATH'] ?? '';
    if (this.#isolation.type === 'none') return path;
    const { sandbox } = this.#isolation;
    // No job has this folder, and every job sees the same programs outside of its own.
    return visibleSearchPath(sandbox, { ...jobFolder(join(sandbox.data, 'jobs', 'none')), packages: undefined }, path);
  }
}
