import type { LoadHookSync } from 'node:module';
import { pathToFileURL } from 'node:url';

const MAIN = 'import.meta.main';
// Of the same length, so that every place in the file stays where it is.
const TRUE = 'true'.padEnd(MAIN.length);

/** Whether a file can only run its flow itself, behind a question whether it is the one that Node was given: it exports nothing. */
export function runsOnlyAsMain(text: string): boolean {
  return text.includes(MAIN) && !/^\s*export\b/m.test(text);
}

/** Answers that question with yes in this file, which the runner imports where Node would have started with it. */
export function asMain(file: string): LoadHookSync {
  const main = pathToFileURL(file).href;
  return (url, context, next) => {
    const loaded = next(url, context);
    const { source } = loaded;
    if (url !== main || source === undefined || source === null) return loaded;
    const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
    return { ...loaded, source: text.replaceAll(MAIN, TRUE) };
  };
}
