// The recorded model of a template with its comment, and the import that only it needs.
const RECORDED = /^\/\/ [^\n]*new LLMClient\(\)\n(const \w+ = )recordedModel\(\{[\s\S]*?^\}\);$/m;
const IMPORT = /import \{([^}]*)\} from 'farwharf\/agents';/;

/** The text of a template whose model is the user's own instead of the recorded one. */
export function withOwnModel(template: string): string {
  return template
    .replace(RECORDED, '$1new LLMClient();')
    .replace(IMPORT, (_all, names: string) => `import { ${importedNames(names).join(', ')} } from 'farwharf/agents';`);
}

function importedNames(names: string): readonly string[] {
  const bare = (name: string): string => name.replace(/^type /, '').toLowerCase();
  return names
    .split(',')
    .map((name) => name.trim())
    .map((name) => (name === 'recordedModel' ? 'LLMClient' : name))
    .filter((name) => name !== '')
    .toSorted((a, b) => (bare(a) < bare(b) ? -1 : 1));
}
