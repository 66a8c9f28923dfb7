import axe from 'axe-core';
import type { Page } from 'playwright-core';

// Rules about whole sites, which a panel inside VS Code is not.
const SITE_RULES = ['region', 'bypass'];

/** What axe finds on a page: the rule and the element. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  const rules = Object.fromEntries(SITE_RULES.map((rule) => [rule, { enabled: false }]));
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    violations: { help: string; id: string; nodes: { target: string[] }[] }[];
  }>(`axe.run(document, { rules: ${JSON.stringify(rules)} })`);
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(' ')}`));
}
