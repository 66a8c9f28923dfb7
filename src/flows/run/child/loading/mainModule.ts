import type { LoadHookSync } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MAIN } from '../../../graph/mainGuard.ts';

// Of the same length, so that all positions in the file stay the same.
const TRUE = 'true'.padEnd(MAIN.length);

/** Makes `import.meta.main` true in this file, although the runner imports it. */
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
