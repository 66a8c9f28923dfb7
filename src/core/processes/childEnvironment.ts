/**
 * The environment variables that processes of jobs and flows inherit. Everything else is left out: keys and tokens, `NODE_OPTIONS`, and
 * the variables of an editor, which would break Node.js scripts.
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
 * The part of an environment that such a process may see. On Windows, where case is ignored, names are in upper case.
 *
 * @param more names of additional variables.
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
