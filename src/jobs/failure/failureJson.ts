import { printableLine } from '../../core/text/printable.ts';
import type { FailureContext } from './failureContext.ts';

const MAX_FILES = 100;

/** The context of a failure for programs. `changes` is null if no earlier success is known. */
export function failureAsJson({ record, lines, frames, changes, hints }: FailureContext) {
  const { jobId, state, reason, exitCode, script, machineClass, maxRuntime, gitCommit, venv } = record;
  return {
    job_id: jobId,
    state,
    reason: reason === null ? null : printableLine(reason),
    exit_code: exitCode,
    likely_causes: hints,
    log: lines,
    code: frames.map(({ path, line, cell, firstLine, lines: text }) => ({
      path,
      ...(cell !== undefined && { cell }),
      line,
      first_line: firstLine,
      lines: text,
    })),
    changes:
      changes === undefined
        ? null
        : {
            since_job_id: changes.since.jobId,
            files: changes.files.slice(0, MAX_FILES),
            diff: changes.diff,
            is_cut: changes.isCut || changes.files.length > MAX_FILES,
          },
    environment: { script, machine_class: machineClass, max_runtime: maxRuntime, git_commit: gitCommit, venv },
  };
}
