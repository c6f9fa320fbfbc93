import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

// Checks of accessibility in a page. There are no frames.

/** All rules that are on by default, and the target size of WCAG 2.2. */
export const RULES: RunOptions = { rules: { 'target-size': { enabled: true } } }

/** The rules that can have other findings on a phone, where other elements are shown. */
export const ON_PHONE: RunOptions = {
  runOnly: [
    'target-size',
    'scrollable-region-focusable',
    'aria-hidden-focus',
    'button-name',
    'link-name',
    'label',
  ],
}

/** The only rule whose findings depend on the color scheme. */
export const CONTRAST: RunOptions = { runOnly: ['color-contrast'] }

/** Chromium compiles it in half the time that `axe.source` takes. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Loads axe into a page, so that `findingsOf` can run it several times. The pages of an origin store it:
 * the protocol takes three times as long as Chromium needs to compile it.
 */
export async function injectAxe(page: Page): Promise<void> {
  const run = '(0, eval)(localStorage.axe); true'
  if (await page.evaluate(`if ('axe' in localStorage) { ${run} }`)) return
  await page.evaluate(`localStorage.axe = ${JSON.stringify(SOURCE)}; ${run}`)
}

/** Runs rules of axe. Returns the violations. */
export async function findingsOf(page: Page, options: RunOptions): Promise<string[]> {
  // Only rules for media and for the orientation of style sheets need what axe would preload.
  const run = JSON.stringify({ ...options, resultTypes: ['violations'], preload: false })
  return page.evaluate<string[]>(`
    axe.run(${run}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, html }) => id + ': ' + target.join(' ') + ' ' + html.slice(0, 200)),
      ),
    )
  `)
}
