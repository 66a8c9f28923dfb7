import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { MODEL_TEXT_FOLDER, MODEL_TEXT_LANGUAGE } from '../../src/extension/ui/modelText.ts';
import {
  CONTEXTS,
  FEATURE_COMMANDS,
  FILES_VIEW,
  INDEX_VIEW,
  JOBS_VIEW,
  MCP_PROVIDER,
  RESULTS_VIEW,
  SETTING_MINIMUMS,
  SETTING_SCOPES,
  TASK_TYPE,
} from '../../src/extension/contributions/names.ts';
import { JOB_TERMS, termsWith } from '../../src/remote/protocol/jobTerms.ts';
import { readSubmitArguments } from '../../src/extension/submit/submitArguments.ts';
import { AGENT_TOOL_NAMES } from '../../src/jobs/agentTools/agentToolNames.ts';
import { AGENT_TOOL_TEXTS, agentToolSchema } from '../../src/jobs/agentTools/agentTools.ts';
import { PROFILE_FILE } from '../../src/jobs/profiles/profileFile.ts';
import { SCRIPT_KINDS } from '../../src/workspace/scripts/scriptKinds.ts';
import { SCHEMA_PATH } from '../../scripts/profileSchema.ts';
import { trackedFiles } from '../../scripts/trackedFiles.ts';

const ROOT = join(import.meta.dirname, '../..');
const manifestText = readFileSync(join(ROOT, 'package.json'), 'utf8');
const COMMANDS: readonly string[] = Object.values(FEATURE_COMMANDS).flat();
const texts = JSON.parse(readFileSync(join(ROOT, 'package.nls.json'), 'utf8')) as Record<string, string>;

interface MenuItem {
  readonly command?: string;
  readonly submenu?: string;
  readonly when?: string;
}
interface Manifest {
  readonly icon: string;
  readonly activationEvents: readonly string[];
  readonly capabilities: { readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] } };
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string; readonly category: string }[];
    readonly configuration: {
      readonly properties: Record<
        string,
        { readonly scope: string; readonly default: unknown; readonly minimum?: number; readonly order: number }
      >;
    };
    readonly jsonValidation: readonly object[];
    readonly taskDefinitions: readonly {
      readonly type: string;
      readonly properties: Record<string, { readonly type: string }>;
    }[];
    readonly languageModelTools: readonly {
      readonly name: string;
      readonly modelDescription: string;
      readonly inputSchema: object;
      readonly when: string;
    }[];
    readonly mcpServerDefinitionProviders: readonly { readonly id: string }[];
    readonly keybindings: readonly { readonly key: string }[];
    readonly languages: readonly { readonly id: string }[];
    readonly menus: Record<string, readonly MenuItem[]>;
    readonly submenus: readonly { readonly id: string }[];
    readonly views: Record<string, readonly { readonly id: string; readonly icon: string }[]>;
    readonly walkthroughs: readonly {
      readonly steps: readonly {
        readonly media: { readonly markdown?: string; readonly svg?: string };
        readonly completionEvents: string[];
      }[];
    }[];
    readonly viewsWelcome: readonly { readonly view: string; readonly contents: string; readonly when: string }[];
  };
}
const manifest = JSON.parse(manifestText) as Manifest;
const { contributes } = manifest;
const sources = trackedFiles(['src/extension/**/*.ts']).map((file) => readFileSync(join(ROOT, file), 'utf8'));
/** Views that are always there, so that each needs a welcome text. */
const WELCOMING = [JOBS_VIEW, INDEX_VIEW];
const VIEWS = [...WELCOMING, FILES_VIEW, RESULTS_VIEW];
const matches = (text: string, pattern: RegExp): Set<string> =>
  new Set([...text.matchAll(pattern)].map(([, name = '']) => name));

test('the manifest and the code name the same commands', () => {
  assert.deepEqual(contributes.commands.map(({ command }) => command).sort(), [...COMMANDS].sort());
});

test('the manifest and the code name the same type of task, with a profile and the terms that are text or numbers', () => {
  const [task, ...others] = contributes.taskDefinitions;
  assert.deepEqual([task?.type, others], [TASK_TYPE, []]);
  const terms = termsWith('flag').flatMap((name) => {
    const { type } = JOB_TERMS[name].flag;
    return type === 'list' ? [] : [[name, type === 'number' ? 'integer' : 'string'] as const];
  });
  const properties = Object.entries(task?.properties ?? {});
  assert.deepEqual(
    Object.fromEntries(properties.map(([name, { type }]) => [name, type])),
    Object.fromEntries([['profile', 'string'], ...terms]),
  );
  for (const [name, { type }] of properties) {
    const value = type === 'integer' ? 5 : 'x';
    assert.deepEqual(readSubmitArguments({ [name]: value }), { [name]: value });
  }
});

test('each step of a walkthrough has its page or picture in the package, and ends with a command or a context that there is', () => {
  const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  assert.deepEqual(
    steps.map(({ media }) => media.markdown ?? media.svg ?? '').toSorted(),
    trackedFiles(['media/walkthrough/*.{md,svg}']).filter((path) => !path.includes('.nls.')),
  );
  const commands = steps.flatMap(({ completionEvents }) => [
    ...matches(completionEvents.join(' '), /onCommand:(\S+)/g),
  ]);
  assert.ok(commands.length > 0);
  for (const command of commands) assert.ok(COMMANDS.includes(command), command);
  for (const { completionEvents } of steps) {
    const [event = '', ...others] = completionEvents;
    assert.deepEqual(others, []);
    const context = /^onContext:farwharf\.(\w+)$/.exec(event)?.[1];
    if (context !== undefined) assert.ok((CONTEXTS as readonly string[]).includes(context), context);
    else assert.match(event, /^onCommand:farwharf\.\w+$|^onContext:workspaceFolderCount != 0$/);
  }
});

// The page that shows them forbids styles and scripts, and what moves longer than five seconds would need a way to stop it.
test('the moving pictures of the walkthrough follow the theme, load nothing, and stop within five seconds', () => {
  for (const path of trackedFiles(['media/walkthrough/*.svg'])) {
    const picture = readFileSync(join(ROOT, path), 'utf8');
    assert.match(picture, /fill="var\(--vscode-sideBar-background, transparent\)"/, path);
    assert.doesNotMatch(picture, /<style|<script|\bstyle=|\bon\w+=|href="(?!data:image)|(?:fill|stroke)="#/, path);
    const changes = [...picture.matchAll(/<set [^>]*begin="([\d.]+)s" dur="([\d.]+)s"/g)];
    assert.ok(changes.length > 0, path);
    for (const [change, begin, duration] of changes) assert.ok(Number(begin) + Number(duration) <= 5, change);
    assert.ok(!picture.includes(tmpdir()), path);
  }
});

test('the manifest describes the tools for chat models as the code does, and acts on a folder only where it is trusted', () => {
  const { languageModelTools: tools, mcpServerDefinitionProviders: providers } = contributes;
  assert.deepEqual(
    tools.map(({ name, modelDescription, inputSchema }) => ({ name, modelDescription, inputSchema })),
    AGENT_TOOL_NAMES.map((name) => {
      return { name, modelDescription: AGENT_TOOL_TEXTS[name].description, inputSchema: agentToolSchema(name) };
    }),
  );
  assert.deepEqual(
    tools.filter(({ when }) => !when.includes('isWorkspaceTrusted')).map(({ name }) => name),
    ['list_jobs', 'get_job', 'wait_for_job', 'read_job_log', 'explain_failure'],
  );
  assert.deepEqual(
    providers.map(({ id }) => id),
    [MCP_PROVIDER],
  );
});

// With Ctrl+Alt, or AltGr, many layouts type a character: https://code.visualstudio.com/docs/configure/keybindings
test('no shortcut collides with a character that a keyboard layout types', () => {
  const keys = contributes.keybindings.map(({ key }) => key);
  assert.deepEqual(
    keys.filter((key) => /ctrl\+(shift\+)?alt|alt\+[a-z]/.test(key)),
    [],
  );
});

test('the schema of profiles is for the file that is read', () => {
  assert.deepEqual(contributes.jsonValidation, [
    { fileMatch: PROFILE_FILE, url: `./${relative(ROOT, SCHEMA_PATH).replaceAll('\\', '/')}` },
  ]);
});

test('the manifest and the code name the same settings, with the same scopes and lowest numbers', () => {
  const scopes = Object.fromEntries(
    Object.entries(contributes.configuration.properties).map(([name, { scope }]) => [
      name.replace('farwharf.', ''),
      scope,
    ]),
  );
  assert.deepEqual(scopes, SETTING_SCOPES);
  const minimums = Object.entries(contributes.configuration.properties)
    .filter(([, { default: value }]) => typeof value === 'number')
    .map(([name, { minimum }]) => [name.replace('farwharf.', ''), minimum]);
  assert.deepEqual(Object.fromEntries(minimums), SETTING_MINIMUMS);
});

test('every setting has its default in the manifest', () => {
  const without = Object.entries(contributes.configuration.properties).filter(
    ([, property]) => property.default === undefined,
  );
  assert.deepEqual(without, []);
});

test('the settings editor lists the settings in one order, without two in the same place', () => {
  const places = Object.values(contributes.configuration.properties).map(({ order }) => order);
  assert.equal(new Set(places).size, places.length);
});

test('every setting is restricted to trusted folders', () => {
  assert.deepEqual(
    [...manifest.capabilities.untrustedWorkspaces.restrictedConfigurations].sort(),
    Object.keys(SETTING_SCOPES)
      .map((name) => `farwharf.${name}`)
      .sort(),
  );
});

test('when clauses and steps of walkthroughs use only context keys that the code sets, and all of them', () => {
  const clauses = [...manifestText.matchAll(/"(?:when|enablement)": "([^"]*)"|"onContext:([^"]*)"/g)]
    .map(([, clause, context = '']) => clause ?? context)
    .join(' ');
  const used = matches(clauses, /\bfarwharf\.(\w+)/g);
  for (const view of VIEWS) used.delete(view.replace('farwharf.', ''));
  assert.deepEqual([...used].sort(), [...CONTEXTS].sort());
});

test('menus, welcome texts and code refer to commands that exist', () => {
  const inMenus = Object.values(contributes.menus)
    .flat()
    .flatMap(({ command }) => command ?? []);
  const inWelcome = Object.values(texts).flatMap((text) => [...matches(text, /command:(farwharf[.\w]+)/g)]);
  const inCode = sources.flatMap((text) => [...matches(text, /command:(farwharf[.\w]+)/g)]);
  // VS Code makes a command of its own for every view.
  const known = new Set<string>([...COMMANDS, ...VIEWS.map((view) => `${view}.focus`)]);
  assert.deepEqual(
    [...inMenus, ...inWelcome, ...inCode].filter((command) => !known.has(command)),
    [],
  );
});

test('menu entries name submenus that exist', () => {
  const named = Object.values(contributes.menus)
    .flat()
    .flatMap(({ submenu }) => submenu ?? []);
  assert.deepEqual(
    named,
    named.filter((name) => contributes.submenus.some(({ id }) => id === name)),
  );
});

test('commands that send, run or write are not offered in restricted or virtual workspaces', () => {
  for (const place of ['explorer/context', 'editor/context', 'editor/title/run']) {
    for (const { command = '', when = '' } of contributes.menus[place] ?? []) {
      if (command === 'farwharf.findRelated') continue; // it only reads
      assert.match(when, /isWorkspaceTrusted && !virtualWorkspace/, place);
    }
  }
});

test('the command that submits the open file is offered for each type of script, and for nothing else', () => {
  const clauses = Object.values(contributes.menus)
    .flat()
    .filter(({ command }) => command === 'farwharf.submitFile')
    .flatMap(({ when = '' }) => /resourceFilename =~ \/(\S+)\//.exec(when)?.[1] ?? []);
  assert.equal(clauses.length, 3);
  const scripts = [...SCRIPT_KINDS.flatMap(({ files }) => files), '*.sbatch', '*.slurm'].map((name) =>
    name.replace('*', 'train'),
  );
  const others = ['train.txt', 'train.pyc', 'notes.ipynbx', 'README', 'py', 'notMakefile', 'Makefile.md'];
  for (const clause of clauses)
    assert.deepEqual(
      [...scripts, ...others].filter((name) => new RegExp(clause).test(name)),
      scripts,
    );
});

test('exactly one welcome text fits each state of the window', () => {
  const evaluate = (clause: string, facts: Readonly<Record<string, unknown>>): boolean =>
    clause.split(' && ').every((term) => {
      const [, negated, name = '', operator, operand] =
        /^(!?)([\w.]+)(?: (==|>) (\w+))?$/.exec(term) ?? assert.fail(term);
      const value = facts[name];
      if (operator === undefined) return Boolean(value) !== (negated === '!');
      return operator === '==' ? String(value) === operand : Number(value) > Number(operand);
    });
  for (const workspaceFolderCount of [0, 1, 2])
    for (const virtualWorkspace of [undefined, 'vscode-vfs'])
      for (const isWorkspaceTrusted of [true, false])
        for (const connection of ['ready', 'signedOut', 'refused', 'unreachable', 'unusable'])
          for (const [isIndexed, isRemoteHost] of [
            [true, undefined],
            [false, true],
          ]) {
            const facts = {
              workspaceFolderCount,
              virtualWorkspace,
              isWorkspaceTrusted,
              'farwharf.connection': connection,
              'farwharf.isRemoteHost': isRemoteHost,
              'config.farwharf.index.enabled': isIndexed,
            };
            const shown = contributes.viewsWelcome.filter(({ when }) => evaluate(when, facts));
            assert.deepEqual(shown.map(({ view }) => view).sort(), [...WELCOMING].sort(), JSON.stringify(facts));
          }
});

test('every text of the manifest comes from package.nls.json, and none is left over', () => {
  const used = matches(manifestText, /"%([^%"]+)%"/g);
  assert.deepEqual([...used].sort(), Object.keys(texts).sort());
  for (const { title, category } of contributes.commands) {
    assert.match(title, /^%.+%$/);
    assert.equal(category, 'Farwharf');
  }
});

test('icons that the manifest names exist', () => {
  const icons = [
    manifest.icon,
    ...Object.values(contributes.views)
      .flat()
      .map(({ icon }) => icon),
  ];
  for (const icon of icons) assert.ok(readFileSync(join(ROOT, icon)).length > 0, icon);
});

test('a link from elsewhere reaches one function, which asks before it shows a job', () => {
  const handlers = sources.flatMap((text) => [...text.matchAll(/registerUriHandler\(\{(.*?)\}\)/gs)]);
  assert.deepEqual(
    handlers.map(([, handler = '']) => handler.replaceAll(/\s/g, '')),
    ['handleUri:(uri)=>load().then((loaded)=>loaded.openLink(uri)).catch(report),'],
  );
});

test('nothing activates the extension for every event', () => {
  assert.deepEqual(manifest.activationEvents, ['onStartupFinished', 'onUri']);
});

test('a folder cannot choose the variables of flows or the recipients of keys and files', () => {
  for (const name of ['flows.environment', 'host', 'model.provider', 'model.name', 'model.baseUrl']) {
    assert.equal(contributes.configuration.properties[`farwharf.${name}`]?.scope, 'machine', name);
  }
});

test('a prompt, an answer or a reply of a model is no Markdown to VS Code, whose preview loads images from anywhere', () => {
  const [language] = contributes.languages.filter(({ id }) => id === MODEL_TEXT_LANGUAGE);
  assert.deepEqual(language, { id: MODEL_TEXT_LANGUAGE, aliases: [], filenamePatterns: [`${MODEL_TEXT_FOLDER}*`] });
  const made = sources.filter((text) =>
    /language: 'markdown'|vscode\.Uri\.from\([^)]*\.md\b|'markdown\.showPreview/.test(text),
  );
  assert.deepEqual(made, []);
});
