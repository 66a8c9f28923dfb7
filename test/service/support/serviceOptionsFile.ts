/** Options for `serviceProgram.ts` in its home: an embedded service has little of the environment of who starts it. */
export const OPTIONS_FILE = 'serve-options.json';
