const CONFIGURES =
  /^(?:(?:PIP|UV|CONDA|MAMBA|NPM_CONFIG|CMAKE|HTTPS?|ALL|NO)_.*|CC|CXX|FC|MAX_JOBS|.*(?:FLAGS|_PROXY|_HOME|_BUILD|_ARCH_LIST))$/i;

/**
 * Whether a variable of a job configures an installer or a compiler. A build of packages that are kept sees only these, and they are part of
 * what identifies it, so that jobs that differ in others, such as those of a sweep, use the same packages.
 */
export function isInstallerVariable(name: string): boolean {
  return CONFIGURES.test(name);
}
