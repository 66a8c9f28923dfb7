/** A terminal inside VS Code, from which tests are often run, passes variables that a new VS Code would obey. */
export function cleanEnvironment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const entries = Object.entries({ ...process.env, ...extra });
  return Object.fromEntries(entries.filter(([name]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$)/.test(name)));
}

/** The environment of a Farwharf that uses only this folder: it neither sees nor reaches a service of the user. */
export function isolatedEnvironment(home: string): NodeJS.ProcessEnv {
  return { FARWHARF_HOME: home, FARWHARF_REMOTE_HOST: undefined, FARWHARF_API_KEY: undefined };
}
