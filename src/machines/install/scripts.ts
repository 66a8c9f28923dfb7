// What runs on a machine, as POSIX shell scripts of one line. They contain neither single quotes, backslashes, exclamation marks nor line
// breaks (see `startSsh`), and no text of a user except a checked path.

/** Exit status of a step that failed; its standard error has the reason. */
const FAILED = 91;
// On a disk that users share, another one may have created the folder, with a program in it.
const ROOT = `base="\${XDG_DATA_HOME:-$HOME/.local/share}"; root="$base/farwharf-service"; if test -e "$root"; then test -O "$root" || { echo "farwharf: $root belongs to another user" >&2; exit ${FAILED}; }; fi`;
const SERVICE = '$root/versions';
const ENTRY = 'machineService.mjs';

/**
 * One call that reads everything that is needed to choose what to copy. Changes nothing. Prints `key=value` lines.
 *
 * @param node a path of Node.js that the user has named.
 */
export function inspectScript(nonce: string, node?: string): string {
  const named =
    node === undefined
      ? []
      : [`test -f "${node}" -a -x "${node}" && echo "named=$("${node}" --version 2>/dev/null || echo unknown)"`];
  return [
    ROOT,
    `echo; echo "${nonce} inspect"`,
    'echo "system=$(uname -s)"; echo "architecture=$(uname -m)"',
    'echo "libc=$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)"',
    'echo "home=$HOME"; echo "root=$root"; echo "time=$(date +%s)"',
    'echo "cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null)"',
    'd="$base"; until test -d "${d:-/}"; do d="${d%/*}"; done',
    'test -w "${d:-/}" && echo "writable=yes"',
    'echo "free_kb=$(df -Pk "${d:-/}" 2>/dev/null | tail -n 1 | tr -s " " | cut -d " " -f 4)"',
    'command -v sbatch >/dev/null 2>&1 && echo "slurm=$(command -v sbatch)"',
    'test -e "$root/service.toml" && echo "config=yes"',
    'echo "gpus=$(nvidia-smi -L 2>/dev/null | grep -c GPU)"',
    'for v in "$root"/versions/*/; do test -f "${v}machineService.mjs" && echo "build=$(basename "$v")"; done',
    'own="$(cat "$root/node" 2>/dev/null)"',
    ...named,
    `for n in "${node ?? ''}" "$own" "$(command -v node 2>/dev/null)" "$root"/node-*/node "$HOME"/.nvm/versions/node/*/bin/node "$HOME"/.volta/bin/node "$HOME"/.local/bin/node /usr/local/bin/node /usr/bin/node; do test -x "$n" && echo "node=$("$n" --version 2>/dev/null) $n"; done`,
    `echo "${nonce}"`,
  ].join('; ');
}

/** Receives a gzipped tar archive on standard input, checks it, and places it as `destination` in the root, completely or not at all. */
export function uploadScript(
  nonce: string,
  {
    destination,
    size,
    sha256,
    check,
  }: { destination: string; size: number; sha256: string; check?: string | undefined },
): string {
  const fail = `exit ${FAILED}`;
  return [
    'umask 077',
    ROOT,
    'parents=""; for p in .local .local/share; do test -d "$HOME/$p" || parents="$p $parents"; done',
    `mkdir -p "$root" || ${fail}`,
    'chmod 700 "$root"; test -f "$root/parents" || echo "$parents" > "$root/parents"',
    // What earlier interrupted uploads left.
    'find "$root" -maxdepth 1 -name "tmp.*" -mmin +60 -exec rm -rf {} + 2>/dev/null',
    `tmp="$root/tmp.$$"; clean() { rm -rf "$tmp"; echo; echo "${nonce} end"; }; trap clean EXIT; trap "exit 90" HUP INT TERM PIPE`,
    `mkdir -p "$tmp/new" || ${fail}`,
    `echo; echo "${nonce} send"`,
    `cat > "$tmp/file" || ${fail}`,
    `test "$(wc -c < "$tmp/file")" -eq ${size} || exit 90`,
    'sum="$( (sha256sum "$tmp/file" || shasum -a 256 "$tmp/file" || openssl dgst -r -sha256 "$tmp/file") 2>/dev/null | cut -d " " -f 1)"',
    `test -z "$sum" -o "$sum" = ${sha256} || { echo "checksum differs" >&2; ${fail}; }`,
    `(cd "$tmp/new" && gzip -dc ../file | tar xf -) || ${fail}`,
    ...(check === undefined ? [] : [`(${check}) || ${fail}`]),
    `mkdir -p "$(dirname "$root/${destination}")" || ${fail}`,
    // Another laptop may have placed the same one at this moment.
    `test -d "$root/${destination}" || mv "$tmp/new" "$root/${destination}" || test -d "$root/${destination}" || ${fail}`,
    `echo; echo "${nonce} placed"`,
  ].join('; ');
}

/** In an upload of Node.js: moves the binary to the top, and runs it once. */
export const PLACE_NODE =
  'mv "$tmp/new/package/bin/node" "$tmp/new/node" && rm -rf "$tmp/new/package" && chmod 700 "$tmp/new/node" && "$tmp/new/node" --version >/dev/null';

/** Starts the service if none runs, and connects the session to it. @param node records this path of Node.js, and replaces an older service. */
export function attachScript(nonce: string, build: string, node?: string): string {
  const record =
    node === undefined ? [] : [`umask 077; echo "${node}" > "$root/node.$$" && mv "$root/node.$$" "$root/node"`];
  return [
    ROOT,
    ...record,
    'node="$(cat "$root/node" 2>/dev/null)"',
    `entry="${SERVICE}/${build}/${ENTRY}"`,
    `if test -x "$node" -a -f "$entry"; then exec "$node" "$entry" attach "$root" ${nonce}${node === undefined ? '' : ' upgrade'}; fi`,
    `echo; echo "${nonce} missing"`,
  ].join('; ');
}

/** Says what jobs could use of the cluster. @param isAccepted also configures the service for it. */
export function clusterScript(nonce: string, build: string, node: string, isAccepted: boolean): string {
  const command = `cluster "$root" ${nonce} ${isAccepted ? 'accept' : 'ask'}`;
  return [ROOT, `exec "${node}" "${SERVICE}/${build}/${ENTRY}" ${command}`].join('; ');
}

/** Stops the service for good. @param isForced cancels its jobs. */
export function dismantleScript(nonce: string, build: string, isForced: boolean): string {
  return [
    ROOT,
    'node="$(cat "$root/node" 2>/dev/null)"',
    `entry="${SERVICE}/${build}/${ENTRY}"`,
    `if test -x "$node" -a -f "$entry"; then exec "$node" "$entry" dismantle "$root" ${nonce} ${isForced ? 'force' : 'ask'}; fi`,
    `echo; echo "${nonce} missing"`,
  ].join('; ');
}

/** Deletes everything that was installed, and the parent folders that were created for it, if nothing else is in them. */
export function deleteScript(nonce: string): string {
  return [
    ROOT,
    'parents="$(cat "$root/parents" 2>/dev/null)"',
    // The packages that jobs installed are read-only, and jobs leave folders as they like.
    'find "$root" -type d -exec chmod u+rwx {} + 2>/dev/null',
    `rm -rf "$root" || exit ${FAILED}`,
    'for p in $parents; do case "$p" in .local|.local/share) rmdir "$HOME/$p" 2>/dev/null;; esac; done',
    `echo; echo "${nonce} deleted"`,
  ].join('; ');
}
