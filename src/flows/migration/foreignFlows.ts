const PACKAGES = [
  {
    imported: /['"]pocketflow['"]/,
    remedy: 'It uses PocketFlow: `farwharf flow migrate` converts it.',
  },
  {
    imported: /['"]@langchain\/langgraph(?:\/[^'"]*)?['"]/,
    remedy:
      'It uses LangGraph and has to be rewritten by hand: docs/migration.md shows what takes the place of each part.',
  },
];

/** What to do with a file that has flows of another library; undefined if it has none. */
export function foreignFlows(text: string): string | undefined {
  return PACKAGES.find(({ imported }) => imported.test(text))?.remedy;
}
