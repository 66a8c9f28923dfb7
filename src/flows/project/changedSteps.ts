/** For each step, by its path without visit numbers: the files that it reaches, with a hash of what it reaches there. */
export type StepReach = Readonly<Record<string, Readonly<Record<string, string>>>>;

const MAX_FILES = 3;

/**
 * The steps that reach other code than before, each with the files in which it changed. Steps that are only on one side are not
 * among them.
 */
export function changedSteps(before: StepReach, now: StepReach): Readonly<Record<string, string>> {
  const changed = Object.entries(before).flatMap(([step, old]) => {
    const current = Object.hasOwn(now, step) ? now[step] : undefined;
    if (current === undefined) return [];
    const files = [...new Set([...Object.keys(old), ...Object.keys(current)])];
    const other = files.filter((file) => old[file] !== current[file]);
    return other.length === 0 ? [] : [[step, other.slice(0, MAX_FILES).join(', ')] as const];
  });
  return Object.fromEntries(changed);
}
