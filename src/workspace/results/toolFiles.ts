// Names that tools act on when a folder is opened in an editor or entered in a shell, without being asked. This is the last
// line: hidden names, among which most such files are, are held back by themselves (`pathRisk.ts`). A name belongs here when
//   1. a widely used tool runs it, or runs what it names, or reads instructions from it, because the folder was opened or entered, or
//      because any program of that tool was started in it; a command that names the file does not count;
//   2. the tool's own documentation says so.
// It is looked through once for each release, and whenever an advisory names another file.

const NAMES = new Set(
  [
    // Coding agents read instructions (developers.openai.com/codex: AGENTS.md; docs.claude.com: memory; docs.warp.dev: rules).
    'agents.md agents.override.md claude.md claude.local.md gemini.md skill.md warp.md',
    // Python: at start, or when an editor looks for tests and environments (docs.pytest.org: Configuration file formats).
    'sitecustomize.py usercustomize.py conftest.py pytest.toml pytest.ini tox.ini setup.cfg pyproject.toml pyvenv.cfg ipython_config.py ansible.cfg',
    // JavaScript: language servers load plug-ins and presets, editors list tasks by running the file.
    'package.json tsconfig.json jsconfig.json nx.json angular.json bunfig.toml',
    // Names the hooks that pnpm loads, whatever it is asked to do (pnpm.io: Settings, Config dependencies).
    'pnpm-workspace.yaml',
    // Builds that language servers and editors configure or run when a folder is opened.
    'makefile gnumakefile cmakelists.txt cmakepresets.json cmakeuserpresets.json meson.build platformio.ini module.bazel',
    'cargo.toml build.rs rust-toolchain rust-toolchain.toml build.zig package.swift gemfile mix.exs stack.yaml cabal.project hie.yaml',
    'pom.xml settings.gradle build.gradle settings.gradle.kts build.gradle.kts gradle.properties',
    'gradle-wrapper.properties gradle-wrapper.jar maven-wrapper.properties',
    'global.json nuget.config directory.build.props directory.build.targets directory.build.rsp omnisharp.json',
    // MSBuild imports it into each project below its folder, as those above.
    'directory.packages.props',
    // Shells, file managers and MATLAB, in a folder that they enter.
    'mise.toml desktop.ini autorun.inf startup.m',
  ].flatMap((line) => line.split(' ')),
);

const PATTERNS: readonly RegExp[] = [
  /^lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/, // read each time that git runs a hook (lefthook.dev: Configuration, lefthook install)
  /\.config\.[cm]?[jt]s$/, // eslint.config.mjs, vite.config.ts, …: extensions run them when a folder is opened
  /^(?:gulpfile|gruntfile|jakefile)(?:\.|$)/,
  /^tsconfig\..+\.json$/,
  /^mise\..+\.toml$/,
  /^jupyter.*_config\.(?:py|json)$/, // read from the working folder
  /\.(?:cs|fs|vb|vcx)proj$|\.slnx?$|\.cabal$/,
  /\.(?:lnk|scf|url|library-ms|searchconnector-ms)$/, // showing the folder makes Windows ask another machine
];

/** Folders from which tools load code by name. */
const FOLDERS = new Set(['node_modules', 'conda-meta', 'site-packages']);

/** Whether tools act on a file by themselves. `names` are those of its path, folded (`foldName`). */
export function isToolFile(names: readonly string[]): boolean {
  const last = names.at(-1) ?? '';
  return NAMES.has(last) || PATTERNS.some((pattern) => pattern.test(last)) || names.some((name) => FOLDERS.has(name));
}
