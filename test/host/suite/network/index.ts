import { runMocha } from '../../support/mocha.ts';

/** Called by VS Code when the window is open. */
export function run(): Promise<void> {
  return runMocha(__dirname);
}
