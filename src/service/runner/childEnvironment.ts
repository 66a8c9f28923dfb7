/**
 * What a job gets from the service's own environment. Everything else stays out: keys, `NODE_OPTIONS`, and the
 * variables of an editor that started the service, which would make a Node script misbehave.
 */
const ALLOWED = new Set(
  [
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP',
    'LD_LIBRARY_PATH CUDA_HOME CUDA_VISIBLE_DEVICES SSL_CERT_FILE SSL_CERT_DIR',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy',
    'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA',
  ].flatMap((names) => names.split(' ')),
);

/** The part of an environment that jobs may see; on Windows, where case does not count, with names in upper case. */
export function allowedEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [key, value] of Object.entries(env)) {
    const name = process.platform === 'win32' ? key.toUpperCase() : key;
    if (value !== undefined && (ALLOWED.has(name) || name.startsWith('LC_'))) allowed[name] = value;
  }
  return allowed;
}
