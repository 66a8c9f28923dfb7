/**
 * What the processes of jobs and flows get of the environment of the program that starts them. Everything else stays out: keys and
 * tokens, `NODE_OPTIONS`, and the variables of an editor, which would make a Node script misbehave.
 */
const ALLOWED = new Set(
  [
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP',
    'LD_LIBRARY_PATH CUDA_HOME CUDA_VISIBLE_DEVICES SSL_CERT_FILE SSL_CERT_DIR',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy',
    'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA',
  ].flatMap((names) => names.split(' ')),
);

/**
 * The part of an environment that such a process may see; on Windows, where case does not count, with names in upper case.
 *
 * @param more names of further variables that it may see.
 */
export function allowedEnvironment(env: NodeJS.ProcessEnv, more: Iterable<string> = []): Record<string, string> {
  const extra = new Set([...more].map(systemName));
  const allowed: Record<string, string> = {};
  for (const [key, value] of Object.entries(env)) {
    const name = systemName(key);
    if (value !== undefined && (ALLOWED.has(name) || extra.has(name) || name.startsWith('LC_'))) allowed[name] = value;
  }
  return allowed;
}

function systemName(name: string): string {
  return process.platform === 'win32' ? name.toUpperCase() : name;
}
