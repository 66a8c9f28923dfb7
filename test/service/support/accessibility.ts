import axe from 'axe-core';
import type { Page } from 'playwright-core';

// Rules about whole sites, which a panel inside VS Code is not.
const SITE_RULES = ['region', 'bypass'];

/**
 * What axe finds on a page: the rule and the element.
 *
 * @param only IDs of the rules that are checked; all of the levels A and AA by default.
 */
export async function accessibilityProblems(page: Page, only?: readonly string[]): Promise<readonly string[]> {
  const rules = Object.fromEntries(SITE_RULES.map((rule) => [rule, { enabled: false }]));
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    violations: { help: string; id: string; nodes: { target: string[] }[] }[];
  }>(`axe.run(document, ${JSON.stringify({ rules, ...(only && { runOnly: only }) })})`);
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(' ')}`));
}
