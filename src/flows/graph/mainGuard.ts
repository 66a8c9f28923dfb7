export const MAIN = 'import.meta.main';

/** Whether a file runs its flow only as the main module and exports nothing; Farwharf then runs it as the main module. */
export function runsOnlyAsMain(text: string): boolean {
  return text.includes(MAIN) && !exportsSomething(text);
}

/** Whether a file has code for the main module that Farwharf skips, because it runs what the file exports. */
export function skipsMain(text: string): boolean {
  return text.includes(MAIN) && exportsSomething(text);
}

function exportsSomething(text: string): boolean {
  return /^\s*export\b/m.test(text);
}
