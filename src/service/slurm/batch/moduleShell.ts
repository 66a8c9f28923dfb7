import { shellWord } from '../../../core/text/shellWord.ts';
import { WITHOUT_MODULE } from '../../jobFiles/runnerInput.ts';

// A batch script is no login shell, so it lacks the function that a site's /etc/profile defines. That file may also replace the search
// path, whose folders are put back in front. The others are where Lmod and Environment Modules install themselves.
const DEFINE = [
  'has_module() { declare -F module >/dev/null; }',
  'if ! has_module && [ -r /etc/profile ]; then before=$PATH; . /etc/profile >/dev/null 2>&1; PATH=$before:$PATH; fi',
  'for init in "$LMOD_PKG" "$MODULESHOME" /usr/share/lmod/lmod /usr/share/modules; do',
  '  if ! has_module && [ -r "$init/init/bash" ]; then . "$init/init/bash" >/dev/null 2>&1; fi',
  'done',
];

/**
 * Lines of bash that load modules in order, for all programs that the script starts afterwards. The functions that they need are
 * exported, so that a job's own bash scripts can use them. If one cannot be loaded, `$@` becomes the arguments with which the runner
 * reports that, and the file `log` has the reason.
 */
export function loadModules(modules: readonly string[], log: string): readonly string[] {
  if (modules.length === 0) return [];
  return [
    ...DEFINE,
    `for one in ${modules.map(shellWord).join(' ')}; do`,
    `  if ! has_module || ! module load "$one" >${shellWord(log)} 2>&1; then set -- ${WITHOUT_MODULE} "$one"; break; fi`,
    'done',
    'export -f module _module_raw ml 2>/dev/null',
  ];
}

/**
 * Lines of bash that write what is missing of a class's modules to file descriptor 3, a line each: `module NAME`, or `no-module-command`.
 *
 * @param options.always loaded in order, as each job does.
 * @param options.allowed each loaded after those, as a job may.
 */
export function reportModules(options: {
  readonly always: readonly string[];
  readonly allowed: readonly string[];
}): readonly string[] {
  const { always, allowed } = options;
  if (always.length + allowed.length === 0) return [];
  const words = (names: readonly string[]): string => names.map(shellWord).join(' ');
  return [
    ...DEFINE,
    'if ! has_module; then echo no-module-command >&3; else',
    `for one in ${words(always)}; do module load "$one" >/dev/null 2>&1 || echo "module $one" >&3; done`,
    `for one in ${words(allowed)}; do (module load "$one") >/dev/null 2>&1 || echo "module $one" >&3; done`,
    'fi',
  ];
}
