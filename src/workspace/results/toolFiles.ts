// Names that tools act on automatically when a folder is opened in an editor or entered in a shell. Most such files are hidden, and
// `pathRisk.ts` catches all hidden names, so this list is the last line of defence. A name belongs here if
//   1. a widely used tool runs it, runs a file that it names, or reads instructions from it, because the folder was opened or entered or
//      because any program of that tool was started in it (not by a command that names the file), and
//   2. the tool's own documentation says so.
// Review the list for each release, and whenever an advisory names another file.

const NAMES = new Set(
  [
    // Coding agents read instructions (developers.openai.com/codex: AGENTS.md; docs.claude.com: memory; docs.warp.dev: rules).
    'agents.md agents.override.md claude.md claude.local.md gemini.md skill.md warp.md',
    // Python: at startup, or when an editor searches for tests and environments (docs.pytest.org: Configuration file formats).
    'sitecustomize.py usercustomize.py conftest.py pytest.toml pytest.ini tox.ini setup.cfg pyproject.toml pyvenv.cfg ipython_config.py ansible.cfg',
    // JavaScript: language servers load plug-ins and presets, and editors run the file to list tasks.
    'package.json tsconfig.json jsconfig.json nx.json angular.json bunfig.toml',
    // Names hooks that pnpm loads for every command (pnpm.io: Settings, Config dependencies).
    'pnpm-workspace.yaml',
    // Build files that language servers and editors configure or run when a folder is opened.
    'makefile gnumakefile cmakelists.txt cmakepresets.json cmakeuserpresets.json meson.build platformio.ini module.bazel',
    'cargo.toml build.rs rust-toolchain rust-toolchain.toml build.zig package.swift gemfile mix.exs stack.yaml cabal.project hie.yaml',
    'pom.xml settings.gradle build.gradle settings.gradle.kts build.gradle.kts gradle.properties',
    'gradle-wrapper.properties gradle-wrapper.jar maven-wrapper.properties',
    'global.json nuget.config directory.build.props directory.build.targets directory.build.rsp omnisharp.json',
    // MSBuild imports it into each project below its folder, like the files above.
    'directory.packages.props',
    // Shells, file managers and MATLAB, when they enter the folder.
    'mise.toml desktop.ini autorun.inf startup.m',
  ].flatMap((line) => line.split(' ')),
);

const PATTERNS: readonly RegExp[] = [
  /^lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/, // read whenever git runs a hook (lefthook.dev: Configuration, lefthook install)
  /\.config\.[cm]?[jt]s$/, // eslint.config.mjs, vite.config.ts, …: extensions run them when a folder is opened
  /^(?:gulpfile|gruntfile|jakefile)(?:\.|$)/,
  /^tsconfig\..+\.json$/,
  /^mise\..+\.toml$/,
  /^jupyter.*_config\.(?:py|json)$/, // read from the working folder
  /\.(?:cs|fs|vb|vcx)proj$|\.slnx?$|\.cabal$/,
  /\.(?:lnk|scf|url|library-ms|searchconnector-ms)$/, // showing the folder makes Windows contact another machine
];

/** Folders from which tools load code by name. */
const FOLDERS = new Set(['node_modules', 'conda-meta', 'site-packages']);

/** Whether tools act on a file automatically. `names` are the parts of its path, converted by `foldName`. */
export function isToolFile(names: readonly string[]): boolean {
  const last = names.at(-1) ?? '';
  return NAMES.has(last) || PATTERNS.some((pattern) => pattern.test(last)) || names.some((name) => FOLDERS.has(name));
}
