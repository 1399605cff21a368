// Looks at a page by axe-core, with the rules of WCAG 2.2 A and AA and axe's own good practice.
import axe from 'axe-core';
import type { Page } from 'playwright-core';

type Finding = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
};

/** @returns a line for each element with a fault; the page is as it was afterwards */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // By the debugging protocol, which the policy of the page does not bind.
  await page.evaluate(axe.source);
  const { violations }: { violations: readonly Finding[] } = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })');
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  );
}
